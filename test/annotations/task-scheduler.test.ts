import { DateTime } from 'luxon'
import { describe, expect, test } from 'vitest'
import {
  ConcurrentTaskScheduler,
  type ConcurrentTaskSchedulerOptions,
} from '../../src/annotations/concurrent-task-scheduler.ts'
import { CronTaskTrigger } from '../../src/annotations/cron-task-trigger.ts'
import type { TaskScheduler } from '../../src/annotations/task-scheduler.ts'
import { TaskRejectedError } from '../../src/annotations/task-scheduler.ts'
import { ThreadPoolTaskScheduler } from '../../src/annotations/thread-pool-task-scheduler.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { ScheduledExecutor } from '../../src/executors/scheduled-executor.ts'
import { CancellationError } from '../../src/executors/scheduled-future.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

interface Bench {
  readonly clock: ManualClock
  readonly scheduler: TaskScheduler
  readonly startMs: number
  /** Milliseconds since the start at which runs began. */
  readonly runs: number[]
  readonly note: () => void
  readonly close: () => Promise<void>
}

type Options = Omit<ConcurrentTaskSchedulerOptions, 'clock'>
type Make = (options?: Options, slots?: number) => Bench

function bench(clock: ManualClock, scheduler: TaskScheduler, close: () => Promise<void>): Bench {
  const startMs = clock.now()
  const runs: number[] = []
  return { clock, scheduler, startMs, runs, note: () => runs.push(clock.now() - startMs), close }
}

const implementations: readonly (readonly [string, Make])[] = [
  [
    'ThreadPoolTaskScheduler',
    (options = {}, poolSize = 4) => {
      const clock = new ManualClock()
      const scheduler = new ThreadPoolTaskScheduler({ ...options, clock, poolSize })
      return bench(clock, scheduler, async () => {
        await scheduler.close()
      })
    },
  ],
  [
    'ConcurrentTaskScheduler',
    (options = {}, corePoolSize = 4) => {
      const clock = new ManualClock()
      const executor = new ScheduledExecutor({ clock, corePoolSize })
      return bench(clock, new ConcurrentTaskScheduler(executor, { ...options, clock }), async () => {
        executor.shutdownNow()
        await executor.awaitTermination()
      })
    },
  ],
]

function recordingLogger(): { readonly lines: string[]; readonly logger: NonNullable<Options['logger']> } {
  const lines: string[] = []
  const log = (fields: object, message: string): void => {
    lines.push(`${message}: ${String(Reflect.get(Reflect.get(fields, 'err') ?? fields, 'message'))}`)
  }
  return { lines, logger: { debug: log, info: log, warn: log, error: log } }
}

/** Ends when it is interrupted, by throwing. */
const obedient = ({ signal }: { readonly signal: AbortSignal }): Promise<void> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('aborted'))
    })
  })

describe.each(implementations)('S12: %s', (_name, make) => {
  describe('S8: runs a task', () => {
    test.each([
      ['a Date', (ms: number) => new Date(ms)],
      ['epoch milliseconds', (ms: number) => ms],
      ['ISO 8601', (ms: number) => new Date(ms).toISOString()],
      ['a DateTime of luxon', (ms: number) => DateTime.fromMillis(ms, { zone: 'Asia/Kathmandu' })],
    ])('once, at %s', async (_what, instant) => {
      const { clock, scheduler, startMs, runs, note } = make()
      const future = scheduler.schedule(
        () => {
          note()
          return 'done'
        },
        instant(startMs + 1500),
      )
      await clock.advance(1499)
      expect(runs).toEqual([])
      await clock.advance(10_000)
      expect(runs).toEqual([1500])
      await expect(future.get()).resolves.toBe('done')
    })

    test('at once when the instant is past', async () => {
      const { clock, scheduler, startMs, runs, note } = make()
      scheduler.schedule(note, startMs - 5000)
      await clock.settle()
      expect(runs).toEqual([0])
    })

    test('at a fixed rate: now or from an instant on, late runs made up', async () => {
      const { clock, scheduler, startMs, runs, note } = make()
      const slow = [1500]
      scheduler.scheduleAtFixedRate(
        () => {
          note()
          return new Promise<void>((resolve) => clock.setTimer(slow.pop() ?? 0, resolve))
        },
        startMs + 1000,
        '1s',
      )
      await clock.advance(5000)
      expect(runs).toEqual([1000, 2500, 3000, 4000, 5000])
      const immediate = make()
      immediate.scheduler.scheduleAtFixedRate(immediate.note, 1000)
      await immediate.clock.advance(2000)
      expect(immediate.runs).toEqual([0, 1000, 2000])
    })

    test('with a fixed delay: from the end of each run', async () => {
      const { clock, scheduler, startMs, runs, note } = make()
      scheduler.scheduleWithFixedDelay(
        () => {
          note()
          return new Promise<void>((resolve) => clock.setTimer(300, resolve))
        },
        new Date(startMs + 100),
        'PT1S',
      )
      await clock.advance(3000)
      expect(runs).toEqual([100, 1400, 2700])
      const immediate = make()
      immediate.scheduler.scheduleWithFixedDelay(immediate.note, 500)
      await immediate.clock.advance(1000)
      expect(immediate.runs).toEqual([0, 500, 1000])
    })

    test('and refuses what is no instant, no period and no task', () => {
      const { scheduler, note } = make()
      expect(() => scheduler.schedule(note, '2026-01-01T00:00:00')).toThrow(
        /'startTime' must be a Date.*its offset/,
      )
      expect(() => scheduler.scheduleAtFixedRate(note, 0)).toThrow(
        /'period' must be a duration, at least 1 ms/,
      )
      expect(() => scheduler.scheduleWithFixedDelay(note, 'tomorrow', '1s')).toThrow(/'startTime'/)
      expect(() => scheduler.scheduleWithFixedDelay(note, '1w')).toThrow(/'delay'/)
      expect(() => scheduler.schedule('note' as never, 0)).toThrow(/must be a function/)
    })
  })

  describe('S9: asks a trigger', () => {
    test('before each run, with what is known of the last', async () => {
      const { clock, scheduler, startMs, runs, note } = make()
      const contexts: (number | null)[][] = []
      const since = (date: Date | null): number | null => (date === null ? null : date.getTime() - startMs)
      const future = scheduler.schedule(
        () => {
          note()
          return new Promise<void>((resolve) => clock.setTimer(20, resolve))
        },
        {
          nextExecution: ({ lastScheduledExecution, lastActualExecution, lastCompletion }) => {
            contexts.push([since(lastScheduledExecution), since(lastActualExecution), since(lastCompletion)])
            return contexts.length > 3 ? null : new Date(startMs + contexts.length * 100)
          },
        },
      )
      const ended = expect(future?.get()).rejects.toThrow(/has no next time/)
      await clock.advance(1000)
      expect(runs).toEqual([100, 200, 300])
      expect(contexts).toEqual([
        [null, null, null],
        [100, 100, 120],
        [200, 200, 220],
        [300, 300, 320],
      ])
      await ended
      expect([future?.isDone, future?.isCancelled, future?.isPeriodic]).toEqual([true, false, true])
    })

    test('and answers null when it never fires', () => {
      const { scheduler, note } = make()
      expect(scheduler.schedule(note, { nextExecution: () => null })).toBeNull()
    })

    test.each([undefined, 'soon', 5, new Date(Number.NaN)])(
      'and refuses %s as the next time',
      async (answer) => {
        const { clock, scheduler, note } = make({ logger: false })
        const refusal = { name: 'InvalidArgumentError', field: 'trigger' }
        expect(() => scheduler.schedule(note, { nextExecution: () => answer as Date })).toThrow(
          expect.objectContaining(refusal),
        )
        const answers: unknown[] = [new Date(clock.now()), answer]
        const future = scheduler.schedule(note, { nextExecution: () => answers.shift() as Date })
        const ended = expect(future?.get()).rejects.toMatchObject(refusal)
        await clock.advance(10)
        await ended
      },
    )

    test('and follows a wall clock that is set, within half a minute', async () => {
      const { clock, scheduler, runs, note } = make()
      const future = scheduler.schedule(note, new CronTaskTrigger('0 0 * * * *', { zone: 'UTC' }))
      expect(future?.getDelay()).toBe(3_600_000)
      clock.jump(3_590_000)
      await clock.advance(30_000)
      expect(runs).toEqual([3_620_000])
      // The clock is set back: the same hour is not run early.
      clock.jump(-1_800_000)
      await clock.advance(3_600_000)
      expect(runs).toEqual([3_620_000])
    })

    test('and reports one that throws', async () => {
      const { lines, logger } = recordingLogger()
      const { clock, scheduler, note } = make({ logger })
      const failures: unknown[] = []
      scheduler.events.on('taskFailed', ({ error }) => failures.push(error))
      const broken = new Error('no idea')
      let asked = 0
      const future = scheduler.schedule(note, {
        nextExecution: () => {
          asked += 1
          if (asked > 1) throw broken
          return new Date(clock.now())
        },
      })
      const ended = expect(future?.get()).rejects.toBe(broken)
      await clock.advance(10)
      await ended
      expect(failures).toEqual([broken])
      expect(lines).toEqual(['The trigger of a scheduled task failed: no idea'])
    })
  })

  describe('S11: a cron task', () => {
    test('never overlaps itself: it is submitted again after each run', async () => {
      const { clock, scheduler, runs, note } = make()
      let running = 0
      let most = 0
      scheduler.schedule(
        async () => {
          note()
          running += 1
          most = Math.max(most, running)
          await new Promise<void>((resolve) => clock.setTimer(2500, resolve))
          running -= 1
        },
        new CronTaskTrigger('* * * * * *', { zone: 'UTC' }),
      )
      await clock.advance(9000)
      expect(most).toBe(1)
      expect(runs).toEqual([1000, 4000, 7000])
    })

    test('ends when it is cancelled, and interrupts the run only when told to', async () => {
      const { clock, scheduler, runs, note } = make()
      const signals: AbortSignal[] = []
      const run = ({ signal }: { signal: AbortSignal }): Promise<void> => {
        note()
        signals.push(signal)
        return new Promise((resolve) => clock.setTimer(100, resolve))
      }
      const first = scheduler.schedule(run, new CronTaskTrigger('* * * * * *'))
      const second = scheduler.schedule(run, new CronTaskTrigger('* * * * * *'))
      const ended = expect(first?.get()).rejects.toThrow(CancellationError)
      await clock.advance(1050)
      expect(first?.cancel()).toBe(true)
      expect(second?.cancel({ mayInterrupt: true })).toBe(true)
      expect(signals.map(({ aborted }) => aborted)).toEqual([false, true])
      await clock.advance(5000)
      expect(runs).toEqual([1000, 1000])
      expect([first?.isCancelled, first?.cancel(), first?.getDelay()]).toEqual([true, false, 0])
      await ended
    })

    test('can end itself', async () => {
      const { clock, scheduler, runs, note } = make()
      scheduler.schedule(({ future }) => {
        note()
        if (runs.length === 2) future.cancel()
      }, new CronTaskTrigger('* * * * * *'))
      await clock.advance(5000)
      expect(runs).toEqual([1000, 2000])
    })
  })

  describe('S13: what tasks throw', () => {
    const failing = (): never => {
      throw new Error('planned')
    }

    test('is logged and suppressed for repeating tasks', async () => {
      const { lines, logger } = recordingLogger()
      const { clock, scheduler } = make({ logger })
      const failures: string[] = []
      scheduler.events.on('taskFailed', ({ task, runsAgain }) => failures.push(`${task} ${runsAgain}`))
      const futures = [
        scheduler.scheduleAtFixedRate(failing, '1s'),
        scheduler.scheduleWithFixedDelay(failing, '1s'),
        scheduler.schedule(failing, new CronTaskTrigger('* * * * * *')),
      ]
      await clock.advance(2000)
      expect(failures).toEqual(Array(8).fill('failing true'))
      expect(lines).toEqual(
        Array(8).fill('A scheduled task failed; it will run again at its next time: planned'),
      )
      expect(futures.map((future) => future?.isDone)).toEqual([false, false, false])
    })

    test('is logged and fails the future of a task that runs once', async () => {
      const logged: unknown[][] = []
      const logger = { ...silentLogger, error: (...line: unknown[]) => logged.push(line) }
      const { clock, scheduler, startMs } = make({ logger })
      const ended = expect(scheduler.schedule(failing, startMs + 1).get()).rejects.toThrow('planned')
      await clock.advance(1)
      await ended
      expect(logged).toEqual([[{ err: new Error('planned'), task: 'failing' }, 'A scheduled task failed']])
    })

    test('goes to the error handler that was given, which decides', async () => {
      const told: unknown[] = []
      const lenient = make({ errorHandler: (error, task) => told.push(error, task) })
      const once = lenient.scheduler.schedule(failing, lenient.startMs)
      await lenient.clock.settle()
      await expect(once.get()).resolves.toBeUndefined()
      expect(told).toEqual([new Error('planned'), 'failing'])
      const strict = make({
        errorHandler: async (error) => {
          throw new Error('enough', { cause: error })
        },
      })
      const futures = [
        strict.scheduler.scheduleAtFixedRate(failing, '1s'),
        strict.scheduler.schedule(failing, new CronTaskTrigger('* * * * * *')),
      ]
      const ended = futures.map((future) => expect(future?.get()).rejects.toThrow('enough'))
      await strict.clock.advance(5000)
      await Promise.all(ended)
    })

    test('of a task on a trigger is logged when the handler ends the task and no caller waits for it', async () => {
      const { lines, logger } = recordingLogger()
      const errorHandler = (error: unknown): never => {
        throw error
      }
      const { clock, scheduler } = make({ logger, errorHandler })
      const future = scheduler.schedule(failing, new CronTaskTrigger('* * * * * *'))
      await clock.advance(5000)
      expect(future?.isDone).toBe(true)
      expect(lines).toEqual(['A scheduled task failed, and ends: planned'])
    })

    test('is nobody’s business once the run was asked to end', async () => {
      const told: unknown[] = []
      const { clock, scheduler, startMs } = make({ errorHandler: (error) => told.push(error) })
      const future = scheduler.schedule(obedient, startMs)
      await clock.settle()
      future.cancel({ mayInterrupt: true })
      await clock.settle()
      expect(told).toEqual([])
    })
  })

  test('and what obeys the interrupt of the shutdown is no failure', async () => {
    const { lines, logger } = recordingLogger()
    const told: unknown[] = []
    const { clock, scheduler, startMs, close } = make({ logger, errorHandler: (error) => told.push(error) })
    scheduler.events.on('taskFailed', ({ error }) => told.push(error))
    const futures = [
      scheduler.schedule(obedient, startMs),
      scheduler.scheduleAtFixedRate(obedient, '1s'),
      scheduler.schedule(obedient, new CronTaskTrigger('* * * * * *')),
    ]
    await clock.advance(1000)
    await close()
    await clock.settle()
    expect([lines, told]).toEqual([[], []])
    expect(futures.map((future) => future?.isCancelled)).toEqual([true, true, true])
  })

  test('S13: is refused after shutdown, and what waits is cancelled', async () => {
    const { clock, scheduler, startMs, runs, note, close } = make()
    const futures = [
      scheduler.schedule(note, startMs + 1000),
      scheduler.scheduleAtFixedRate(note, startMs + 1000, '1s'),
      scheduler.schedule(note, new CronTaskTrigger('* * * * * *')),
    ]
    await close()
    await clock.advance(5000)
    expect(runs).toEqual([])
    expect(futures.map((future) => future?.isCancelled)).toEqual([true, true, true])
    for (const submit of [
      () => scheduler.schedule(note, startMs),
      () => scheduler.scheduleAtFixedRate(note, '1s'),
      () => scheduler.scheduleWithFixedDelay(note, '1s'),
      () => scheduler.schedule(note, new CronTaskTrigger('* * * * * *')),
    ]) {
      expect(submit).toThrow(TaskRejectedError)
    }
    expect(clock.timerCount).toBe(0)
  })

  test('S7: tells of tasks that wait for a slot', async () => {
    const { clock, scheduler, startMs, note } = make({}, 1)
    const starved: object[] = []
    scheduler.events.on('taskWaiting', (payload) => starved.push(payload))
    const slow = (): Promise<void> => new Promise((resolve) => clock.setTimer(500, resolve))
    scheduler.schedule(slow, startMs)
    scheduler.schedule(note, startMs + 100)
    await clock.advance(1000)
    expect(starved).toEqual([{ task: 'note', lateMs: 0 }])
  })
})

describe('ThreadPoolTaskScheduler', () => {
  test('S7: runs several tasks at once by default', async () => {
    const clock = new ManualClock()
    await using scheduler = new ThreadPoolTaskScheduler({ clock })
    const gates: (() => void)[] = []
    for (let task = 0; task < 3; task++) {
      scheduler.schedule(() => new Promise<void>((resolve) => gates.push(resolve)), clock.now())
    }
    await clock.settle()
    expect(scheduler.activeCount).toBe(3)
    for (const open of gates) open()
  })

  test('interrupts on close, or waits when told to', async () => {
    const clock = new ManualClock()
    const run = (log: string[]) =>
      async function task({ signal }: { signal: AbortSignal }): Promise<void> {
        await new Promise<void>((resolve) => {
          clock.setTimer(100, resolve)
          signal.addEventListener('abort', () => {
            resolve()
          })
        })
        log.push(signal.aborted ? 'interrupted' : 'ended')
      }
    const [hasty, patient]: string[][] = [[], []]
    const first = new ThreadPoolTaskScheduler({ clock })
    const second = new ThreadPoolTaskScheduler({ clock, waitForTasksToCompleteOnShutdown: true })
    first.schedule(run(hasty ?? []), clock.now())
    second.schedule(run(patient ?? []), clock.now())
    await clock.settle()
    const closing = [first.close(), second.close()]
    await clock.advance(100)
    expect(await Promise.all(closing)).toEqual([true, true])
    expect([hasty, patient]).toEqual([['interrupted'], ['ended']])
  })

  test('does not wait for the next run of a trigger', async () => {
    const clock = new ManualClock()
    const scheduler = new ThreadPoolTaskScheduler({ clock, waitForTasksToCompleteOnShutdown: true })
    const runs: number[] = []
    const yearly = scheduler.schedule(
      () => runs.push(clock.now()),
      new CronTaskTrigger('@yearly', { zone: 'UTC' }),
    )
    await clock.advance(60_000)
    expect(await scheduler.close()).toBe(true)
    expect([yearly?.isCancelled, runs, clock.timerCount]).toEqual([true, [], 0])
  })

  test('says when something still runs after awaitTerminationMs', async () => {
    const clock = new ManualClock()
    const scheduler = new ThreadPoolTaskScheduler({ clock, awaitTerminationMs: 50 })
    let open = (): void => {}
    scheduler.schedule(() => new Promise<void>((resolve) => (open = resolve)), clock.now())
    await clock.settle()
    const closing = scheduler.close()
    await clock.advance(50)
    expect(await closing).toBe(false)
    open()
    expect(await scheduler.close()).toBe(true)
  })

  test('checks its options', () => {
    expect(() => new ThreadPoolTaskScheduler({ poolSize: 0 })).toThrow(/'poolSize' must be a whole number/)
    expect(() => new ThreadPoolTaskScheduler({ size: 1 } as object)).toThrow(/unknown option 'size'/)
    expect(() => new ThreadPoolTaskScheduler({ awaitTerminationMs: -1 })).toThrow(/'awaitTerminationMs'/)
  })
})

test('an instant without a period is refused, also by the types of the class', async () => {
  await using scheduler = new ThreadPoolTaskScheduler({ logger: false })
  const task = (): void => {}
  // @ts-expect-error -- the period is missing
  expect(() => scheduler.scheduleAtFixedRate(task, new Date())).toThrow(/'period'/)
  // @ts-expect-error -- the delay is missing
  expect(() => scheduler.scheduleWithFixedDelay(task, new Date())).toThrow(/'delay'/)
})
