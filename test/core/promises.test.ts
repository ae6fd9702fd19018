import { expect, test } from 'vitest'
import { unawaited } from '../../src/core/promises.ts'

test('work that nothing waits for hands over its failure, and success goes by', async () => {
  const failures: unknown[] = []
  const failure = new Error('lost')
  unawaited(Promise.resolve(), (error) => failures.push(error))
  unawaited(Promise.reject(failure), (error) => failures.push(error))
  await Promise.resolve()
  await Promise.resolve()
  expect(failures).toEqual([failure])
})
