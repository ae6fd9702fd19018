import { describe, expect, expectTypeOf, test } from 'vitest'
import { ConcurrentTaskScheduler } from '../../src/annotations/concurrent-task-scheduler.ts'
import { enableScheduling } from '../../src/annotations/enable-scheduling.ts'
import type { Scheduling } from '../../src/annotations/local-scheduling.ts'
import { Scheduled, scheduled } from '../../src/annotations/scheduled.ts'
import type { SchedulingConfigurer } from '../../src/annotations/scheduled-task-registrar.ts'
import type { TaskTrigger } from '../../src/annotations/task-trigger.ts'
import { ThreadPoolTaskScheduler } from '../../src/annotations/thread-pool-task-scheduler.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { TypedEventEmitter } from '../../src/core/typed-events.ts'
import { ScheduledExecutor } from '../../src/executors/scheduled-executor.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

class Reports {
  readonly #clock: ManualClock
  readonly #startMs: number
  readonly runs: string[] = []

  constructor(clock: ManualClock) {
    this.#clock = clock
    this.#startMs = clock.now()
  }

  @Scheduled({ cron: '*/2 * * * * *', name: 'cron' })
  onCron(): void {
    this.#note('cron')
  }

  @Scheduled({ fixedRate: '${reports.rate:1s}', initialDelay: '500ms' })
  atRate(): void {
    this.#note('rate')
  }

  @Scheduled({ fixedDelay: 2, timeUnit: 'seconds', initialDelay: 1 })
  async withDelay(): Promise<void> {
    this.#note('delay')
    await new Promise<void>((resolve) => this.#clock.setTimer(200, resolve))
  }

  @Scheduled({ cron: '-' })
  never(): void {
    this.#note('never')
  }

  #note(name: string): void {
    this.runs.push(`${name} ${this.#clock.now() - this.#startMs}`)
  }
}

const clusterLike = { scheduleJobs: () => {}, registerJobs: () => {} }

describe('S1: enableScheduling', () => {
  test('runs the scheduled methods of objects', async () => {
    const clock = new ManualClock()
    const reports = new Reports(clock)
    const scheduling = await enableScheduling({ instances: [reports], clock })
    expectTypeOf(scheduling).toEqualTypeOf<Scheduling>()
    await clock.advance(3500)
    expect(reports.runs).toEqual([
      'rate 500',
      'delay 1000',
      'rate 1500',
      'cron 2000',
      'rate 2500',
      'delay 3200',
      'rate 3500',
    ])
    expect(scheduling.tasks().map(({ name, kind }) => [name, kind])).toEqual([
      ['cron', 'cron'],
      ['Reports.atRate', 'fixedRate'],
      ['Reports.withDelay', 'fixedDelay'],
    ])
    await scheduling.close()
    await clock.advance(5000)
    expect(reports.runs).toHaveLength(7)
    expect(clock.timerCount).toBe(0)
  })

  test('refuses a method that has one schedule twice, as of a constructor that schedules it', async () => {
    const tick = (): void => {}
    class Ticks {
      readonly tick = scheduled({ fixedRate: '1s' }, tick)
    }
    new Ticks()
    await expect(enableScheduling({ instances: [new Ticks()] })).rejects.toThrow(
      /@Scheduled Ticks\.tick: one schedule is there twice\. .*not in its constructor/,
    )
  })

  test('takes a TaskScheduler with a method submit of its own for what it is', async () => {
    const clock = new ManualClock()
    class Submitting extends ThreadPoolTaskScheduler {
      submit(): void {}
    }
    await using scheduler = new Submitting({ clock })
    const scheduling = await enableScheduling({ instances: [new Reports(clock)], scheduler })
    expect(scheduling.scheduler).toBe(scheduler)
    await scheduling.close()
  })

  test('S14: cancels one task, or all', async () => {
    const clock = new ManualClock()
    const reports = new Reports(clock)
    await using scheduling = await enableScheduling({ instances: [reports], clock })
    scheduling.tasks()[0]?.cancel()
    await clock.advance(2000)
    expect(reports.runs).toEqual(['rate 500', 'delay 1000', 'rate 1500'])
    scheduling.cancel()
    await clock.advance(5000)
    expect(reports.runs).toHaveLength(3)
    expect(scheduling.tasks().every(({ isCancelled }) => isCancelled)).toBe(true)
  })

  test('S4: fills placeholders from a resolver or the environment', async () => {
    const clock = new ManualClock()
    const reports = new Reports(clock)
    const names: string[] = []
    await using resolved = await enableScheduling({
      instances: [reports],
      clock,
      resolve: (name) => {
        names.push(name)
        return '3s'
      },
    })
    await clock.advance(3600)
    expect(names).toEqual(['reports.rate'])
    expect(resolved.tasks()).toHaveLength(3)
    expect(reports.runs.filter((run) => run.startsWith('rate'))).toEqual(['rate 500', 'rate 3500'])
    process.env['REPORTS_RATE'] = '-'
    try {
      await using disabled = await enableScheduling({ instances: [reports], clock })
      expect(disabled.tasks().map(({ name }) => name)).toEqual(['cron', 'Reports.withDelay'])
    } finally {
      delete process.env['REPORTS_RATE']
    }
  })

  test('S3: takes either what is for this process or what is for a cluster', () => {
    const scheduler = new ThreadPoolTaskScheduler()
    const instances: object[] = []
    // @ts-expect-error -- a cluster runs the tasks itself
    const both = (cluster: Scheduler) => enableScheduling({ cluster, instances, scheduler })
    // @ts-expect-error -- names a group in a cluster
    const application = () => enableScheduling({ instances, application: 'billing' })
    expectTypeOf(both).toBeFunction()
    expectTypeOf(application).toBeFunction()
  })

  test('runs nothing when something is wrong', async () => {
    class Wrong {
      @Scheduled({ cron: '0 0 0 * *' })
      broken(): void {}
    }
    const clock = new ManualClock()
    await expect(enableScheduling({ instances: [new Reports(clock), new Wrong()], clock })).rejects.toThrow(
      /needed are 6/,
    )
    expect(clock.timerCount).toBe(0)
  })

  test.each(['its own', 'a given'])(
    'leaves nothing running in %s scheduler when a task is refused',
    async (which) => {
      const clock = new ManualClock()
      await using given = new ThreadPoolTaskScheduler({ clock })
      const broken: TaskTrigger = {
        nextExecution: () => {
          throw new Error('planted')
        },
      }
      const reports = new Reports(clock)
      const enabling = enableScheduling({
        instances: [reports],
        clock,
        ...(which === 'a given' ? { scheduler: given } : {}),
        configurers: [{ configureTasks: (registrar) => registrar.addTriggerTask(() => {}, broken) }],
      })
      await expect(enabling).rejects.toThrow('planted')
      await clock.advance(5000)
      expect([reports.runs, clock.timerCount]).toEqual([[], 0])
      expect(given.schedule(() => {}, clock.now()).isDone).toBe(false)
    },
  )

  test('leaves nothing running that a configurer began when a later one fails', async () => {
    const clock = new ManualClock()
    await using given = new ThreadPoolTaskScheduler({ clock })
    const reports = new Reports(clock)
    const enabling = enableScheduling({
      instances: [reports],
      configurers: [
        {
          configureTasks: (registrar) => {
            registrar.setTaskScheduler(given)
            registrar.schedule()
          },
        },
        { configureTasks: () => Promise.reject(new Error('planted')) },
      ],
    })
    await expect(enabling).rejects.toThrow('planted')
    await clock.advance(5000)
    expect([reports.runs, clock.timerCount]).toEqual([[], 0])
  })

  test.each<[object, string]>([
    [{ instances: [], scheduller: null }, `Did you mean 'scheduler'?`],
    [{ instances: {} }, `'instances' must be an array`],
    [{ instances: [], resolve: 'env' }, `'resolve' must be a function`],
    [{ instances: [], application: 'a' }, `'application' is for a cluster`],
    [{ instances: [], cluster: clusterLike, configurers: [] }, `'configurers' does not go with a cluster`],
  ])('refuses %j', async (options, message) => {
    await expect(enableScheduling(options as never)).rejects.toThrow(message)
  })
})

describe('S6: the scheduler that runs the tasks', () => {
  const configurerOf = (scheduler: ThreadPoolTaskScheduler): SchedulingConfigurer => ({
    configureTasks: async (registrar) => {
      await Promise.resolve()
      registrar.setTaskScheduler(scheduler)
    },
  })

  test('is the one that was given, which stays open', async () => {
    const clock = new ManualClock()
    await using given = new ThreadPoolTaskScheduler({ clock })
    await using configured = new ThreadPoolTaskScheduler({ clock })
    const scheduling = await enableScheduling({
      instances: [new Reports(clock)],
      scheduler: given,
      configurers: [configurerOf(configured)],
    })
    expect(scheduling.scheduler).toBe(given)
    await scheduling.close()
    expect(given.schedule(() => {}, clock.now()).isDone).toBe(false)
  })

  test('is an executor that was given, with the error handler', async () => {
    const clock = new ManualClock()
    await using executor = new ScheduledExecutor({ clock })
    const told: unknown[] = []
    class Failing {
      @Scheduled({ fixedRate: '1s' })
      fail(): never {
        throw new Error('planned')
      }
    }
    await using scheduling = await enableScheduling({
      instances: [new Failing()],
      scheduler: executor,
      clock,
      errorHandler: (error) => told.push(error),
    })
    expect(scheduling.scheduler).toBeInstanceOf(ConcurrentTaskScheduler)
    await clock.advance(1000)
    expect(told).toHaveLength(2)
  })

  test('is else the one that a configurer sets, which may add tasks too', async () => {
    const clock = new ManualClock()
    await using configured = new ThreadPoolTaskScheduler({ clock })
    const runs: number[] = []
    await using scheduling = await enableScheduling({
      instances: [],
      clock,
      configurers: [
        configurerOf(configured),
        {
          configureTasks: (registrar) => {
            registrar.addFixedRateTask(() => runs.push(clock.now()), '1s')
          },
        },
      ],
    })
    expect(scheduling.scheduler).toBe(configured)
    await clock.advance(1000)
    expect(runs).toHaveLength(2)
    expect(scheduling.tasks()).toHaveLength(1)
  })

  test('is else a pool of its own, of more than one slot, which is closed', async () => {
    const clock = new ManualClock()
    const scheduling = await enableScheduling({ instances: [new Reports(clock)], clock })
    expect(scheduling.scheduler).toBeInstanceOf(ThreadPoolTaskScheduler)
    await scheduling.close()
    expect(() => scheduling.scheduler.schedule(() => {}, clock.now())).toThrow(/executor is shut down/)
  })

  test('closes in 30 seconds also when a method awaits that, and names the method in a warning', async () => {
    const clock = new ManualClock()
    const warnings: object[] = []
    const logger = { ...silentLogger, warn: (fields: object) => warnings.push(fields) }
    const ended: string[] = []
    const run = scheduled({ fixedDelay: '1h', name: 'last' }, async () => {
      await scheduling.close()
      ended.push('method')
    })
    const scheduling = await enableScheduling({ instances: [{ run }], clock, logger })
    await clock.advance(29_999)
    expect(ended).toEqual([])
    await clock.advance(1)
    expect(ended).toEqual(['method'])
    expect(warnings).toEqual([{ tasks: 'last' }])
  })

  test('is not kept by the executor that it was given, once it is closed', async () => {
    const clock = new ManualClock()
    await using executor = new ScheduledExecutor({ clock })
    const { events } = executor
    if (!(events instanceof TypedEventEmitter)) throw new Error('events of another kind')
    const scheduling = await enableScheduling({
      instances: [new Reports(clock)],
      scheduler: executor,
      clock,
    })
    expect(events.has('taskWaiting')).toBe(true)
    await scheduling.close()
    expect(events.has('taskWaiting')).toBe(false)
  })

  test('has an error handler of its own', async () => {
    const clock = new ManualClock()
    await using given = new ThreadPoolTaskScheduler({ clock })
    await expect(
      enableScheduling({ instances: [], scheduler: given, errorHandler: () => {} }),
    ).rejects.toThrow(/Give 'errorHandler' to the TaskScheduler/)
  })
})
