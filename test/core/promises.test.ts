import { expect, test } from 'vitest'
import { calledSafely, unawaited } from '../../src/core/promises.ts'

test('work that nothing waits for hands over its failure, and success goes by', async () => {
  const failures: unknown[] = []
  const failure = new Error('lost')
  unawaited(Promise.resolve(), (error) => failures.push(error))
  unawaited(Promise.reject(failure), (error) => failures.push(error))
  await Promise.resolve()
  await Promise.resolve()
  expect(failures).toEqual([failure])
})

test('what a function of the user throws or rejects with is handed over, whatever promises it uses', async () => {
  const failures: unknown[] = []
  const note = (error: unknown): unknown => failures.push(error)
  const calls = [
    () => 'an answer',
    async () => 'an answer',
    () => {
      throw new Error('thrown')
    },
    () => Promise.reject(new Error('rejected')),
    // biome-ignore lint/suspicious/noThenProperty: promises of other libraries are such objects
    () => ({
      then: (_: unknown, reject: (error: Error) => void) => {
        reject(new Error('of another make'))
      },
    }),
  ]
  for (const call of calls) calledSafely(call, note)
  await Promise.resolve()
  expect(failures.map(String).sort()).toEqual(['Error: of another make', 'Error: rejected', 'Error: thrown'])
})
