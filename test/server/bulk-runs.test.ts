import { expect, test } from 'vitest'
import { ObjectAlreadyExistsError } from '../../src/core/errors.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { BulkRuns } from '../../src/server/bulk/bulk-runs.ts'
import { systemClock } from '../../src/time/clock.ts'

test('the failures of a bulk action say no more than those of a single request, and the log has the rest', async () => {
  const logged: unknown[] = []
  const runs = new BulkRuns(systemClock, {
    ...silentLogger,
    error: (fields) => {
      logged.push(fields)
    },
  })
  const internal = new Error('connect failed postgres://u:pw@db/x')
  const errors = [internal, new ObjectAlreadyExistsError('job', 'g.second')]
  const key = { group: 'g', name: 'j' }
  const plan = { scheduler: 's', action: 'pause', of: 'jobs', by: 'admin' } as const
  await new Promise<void>((resolve) => {
    runs.begin({
      ...plan,
      keys: [key, key],
      carryOut: async () => {
        throw errors.shift() ?? new Error('one more')
      },
      onEnd: resolve,
    })
  })
  const [{ failed, failures } = { failed: 0, failures: [] }] = runs.all()
  expect(failed).toBe(2)
  expect(failures.map(({ message }) => message)).toEqual([
    'The server failed. Its log has the error.',
    expect.stringContaining('g.second'),
  ])
  expect(logged).toMatchObject([{ err: internal, request: 'bulk pause' }])
})
