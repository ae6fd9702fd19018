import { expect, test } from 'vitest'
import { ObjectAlreadyExistsError } from '../../src/core/errors.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { ListenerManager } from '../../src/listeners/listener-manager.ts'
import { type BulkJson, BulkRuns } from '../../src/server/bulk/bulk-runs.ts'
import { ManualClock } from '../../src/testing.ts'
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
      listeners: new ListenerManager(),
      keys: [key, key],
      carryOut: async () => {
        throw errors.shift() ?? new Error('one more')
      },
      onEnd: () => {
        resolve()
      },
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

/** A run of three objects; the second one waits until it is let go. */
function heldRun(): {
  readonly runs: BulkRuns
  readonly clock: ManualClock
  readonly listeners: ListenerManager
  readonly warned: object[]
  readonly ended: BulkJson[]
  readonly atSecond: Promise<void>
  readonly letGo: () => void
} {
  const clock = new ManualClock()
  const warned: object[] = []
  const runs = new BulkRuns(clock, {
    ...silentLogger,
    warn: (fields) => {
      warned.push(Object(fields) as object)
    },
  })
  const listeners = new ListenerManager()
  const ended: BulkJson[] = []
  let letGo = (): void => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const atSecond = new Promise<void>((resolve) => {
    runs.begin({
      ...({ scheduler: 's', action: 'delete', of: 'jobs', by: 'ann' } as const),
      listeners,
      keys: ['a', 'b', 'c'].map((name) => ({ group: 'g', name })),
      carryOut: async ({ name }) => {
        if (name === 'b') {
          resolve()
          await held
        }
        return { changed: true }
      },
      onEnd: (state) => {
        ended.push(state)
      },
    })
  })
  return { runs, clock, listeners, warned, ended, atSecond, letGo }
}

test('the close waits for the object that an action is at, and tells its end once', async () => {
  const { runs, clock, listeners, warned, ended, atSecond, letGo } = heldRun()
  await clock.advance(0)
  await atSecond
  const closed = runs.close()
  expect(ended).toEqual([])
  letGo()
  await clock.advance(0)
  await closed
  expect(ended).toMatchObject([{ status: 'stopped', total: 3, done: 2, changed: 2, by: 'ann' }])
  expect(warned).toMatchObject([{ bulk: ended[0]?.id, done: 2, total: 3 }])
  expect(listeners.getSchedulerListeners()).toEqual([])
})

test('an object that hangs holds up neither the close nor the end of its action', async () => {
  const { runs, clock, warned, ended, atSecond, letGo } = heldRun()
  await clock.advance(0)
  await atSecond
  const closed = runs.close()
  await clock.advance(2000)
  await closed
  expect(ended).toMatchObject([{ status: 'stopped', done: 1, changed: 1 }])
  letGo()
  await clock.advance(1000)
  expect(runs.all()).toEqual(ended)
  expect(warned).toHaveLength(1)
})
