import { expect, test } from 'vitest'
import { IdempotentAnswers } from '../../src/server/http/idempotency.ts'
import { ManualClock } from '../../src/testing.ts'

test.each([
  [200, [200, 200]],
  [409, [409, 409]],
  [429, [429, 200]],
  [503, [503, 200]],
])('after an answer of %i a request under the same key has %j', async (first, expected) => {
  const answers = new IdempotentAnswers(new ManualClock())
  const later = [first, 200]
  const once = () => answers.once(['key'], ['a'], async () => ({ status: later.shift() ?? 0, body: '' }))
  expect([(await once()).status, (await once()).status]).toEqual(expected)
})
