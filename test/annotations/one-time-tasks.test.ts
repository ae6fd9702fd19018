import { describe, expect, test } from 'vitest'
import { ConcurrentTaskScheduler } from '../../src/annotations/concurrent-task-scheduler.ts'
import type { TaskScheduler } from '../../src/annotations/task-scheduler.ts'
import { ThreadPoolTaskScheduler } from '../../src/annotations/thread-pool-task-scheduler.ts'
import { ScheduledExecutor } from '../../src/executors/scheduled-executor.ts'
import { CancellationError } from '../../src/executors/scheduled-future.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

const hourMs = 3_600_000

interface Made {
  readonly scheduler: TaskScheduler
  readonly close: () => unknown
}

const implementations: readonly (readonly [string, (clock: ManualClock) => Made])[] = [
  [
    'ThreadPoolTaskScheduler',
    (clock) => {
      const scheduler = new ThreadPoolTaskScheduler({ clock, logger: false })
      return { scheduler, close: () => scheduler.close() }
    },
  ],
  [
    'ConcurrentTaskScheduler',
    (clock) => {
      const executor = new ScheduledExecutor({ clock, logger: false })
      const scheduler = new ConcurrentTaskScheduler(executor, { clock, logger: false })
      return { scheduler, close: () => executor.shutdownNow() }
    },
  ],
]

function bench(newScheduler: (clock: ManualClock) => Made) {
  const clock = new ManualClock()
  const startMs = clock.now()
  const runs: number[] = []
  return { clock, startMs, runs, note: () => runs.push(clock.now() - startMs), ...newScheduler(clock) }
}

describe.each(implementations)(
  'a task that runs once, of a %s, when the wall clock is set',
  (_, newScheduler) => {
    test.each([
      ['ahead', hourMs / 2],
      ['back', -hourMs / 2],
    ])('%s, runs at the instant all the same', async (_how, jumpMs) => {
      const { clock, scheduler, startMs, runs, note } = bench(newScheduler)
      const future = scheduler.schedule(
        () => {
          note()
          return 'done'
        },
        new Date(startMs + hourMs),
      )
      const got = future.get()
      await clock.advance(60_000)
      clock.jump(jumpMs)
      expect(future.getDelay()).toBe(startMs + hourMs - clock.now())
      await clock.advance(hourMs * 2)
      expect(runs).toEqual([hourMs])
      expect(await got).toBe('done')
      expect(await future).toBe('done')
      expect([future.isDone, future.isPeriodic, future.cancel()]).toEqual([true, false, false])
    })

    test('past it, runs within half a minute', async () => {
      const { clock, scheduler, startMs, runs, note } = bench(newScheduler)
      scheduler.schedule(note, startMs + hourMs)
      clock.jump(2 * hourMs)
      await clock.advance(30_000)
      expect(runs).toEqual([2 * hourMs + 30_000])
      await clock.advance(2 * hourMs)
      expect(runs).toHaveLength(1)
    })

    test('does not run when it is cancelled after that', async () => {
      const { clock, scheduler, startMs, runs, note } = bench(newScheduler)
      const future = scheduler.schedule(note, startMs + hourMs)
      const ended = expect(future.get()).rejects.toThrow(CancellationError)
      clock.jump(hourMs / 2)
      await clock.advance(60_000)
      expect(future.cancel()).toBe(true)
      await clock.advance(2 * hourMs)
      await ended
      expect([runs, future.isCancelled]).toEqual([[], true])
    })

    test('fails as it would have, and ends with its scheduler', async () => {
      const { clock, scheduler, startMs, close } = bench(newScheduler)
      const failing = scheduler.schedule(() => {
        throw new Error('no paper')
      }, startMs + hourMs)
      const failed = expect(failing.get()).rejects.toThrow('no paper')
      const later = scheduler.schedule(() => {}, startMs + 3 * hourMs)
      const cancelled = expect(later.get()).rejects.toThrow(CancellationError)
      clock.jump(hourMs / 2)
      await clock.advance(hourMs)
      await failed
      await close()
      await clock.advance(60_000)
      await cancelled
    })
  },
)

test('a scheduler that lets its tasks run at the end runs one once that was moved before', async () => {
  const clock = new ManualClock()
  const scheduler = new ThreadPoolTaskScheduler({ clock, waitForTasksToCompleteOnShutdown: true })
  const startMs = clock.now()
  const runs: number[] = []
  scheduler.schedule(() => runs.push(clock.now() - startMs), startMs + 3_600_000)
  clock.jump(600_000)
  await clock.advance(60_000)
  const closed = scheduler.close()
  await clock.advance(3_600_000)
  expect(await closed).toBe(true)
  expect(runs).toEqual([3_600_000])
})
