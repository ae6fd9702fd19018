import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import { ramJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { createScheduler, type SchedulerOptions } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { summaryOfMetaData } from '../../src/scheduler/scheduler-metadata.ts'
import type { SchedulerPlugin } from '../../src/scheduler/scheduler-plugin.ts'
import { inProcessThreadPool } from '../../src/threadpool/in-process-thread-pool.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'

const shutDown = expect.objectContaining({ code: 'ERR_SCHEDULER_SHUTDOWN' }) as object

/** A job that ends when it is told to. */
function gatedJob(): {
  readonly definition: ReturnType<typeof defineJob>
  readonly started: Promise<void>
  readonly end: () => void
} {
  let end: () => void = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  let begin: () => void = () => {}
  const started = new Promise<void>((resolve) => {
    begin = resolve
  })
  const definition = defineJob('gated', async () => {
    begin()
    await ended
  })
  return { definition, started, end }
}

describe('the life of a scheduler', () => {
  it('is standby, started, standby, started, shut down, and its flags and callbacks say so', async () => {
    const { scheduler, told } = await schedulerFixture()
    const flags = () => [scheduler.isStarted, scheduler.isInStandbyMode, scheduler.isShutdown]
    expect(flags()).toEqual([false, true, false])
    await scheduler.start()
    await scheduler.start()
    expect(flags()).toEqual([true, false, false])
    await scheduler.standby()
    expect(flags()).toEqual([false, true, false])
    await scheduler.start()
    await scheduler.shutdown()
    expect(flags()).toEqual([false, false, true])
    expect(told).toEqual([
      'schedulerStarting',
      'schedulerStarted',
      'schedulerInStandbyMode',
      'schedulerStarting',
      'schedulerStarted',
      'schedulerInStandbyMode',
      'schedulerShuttingdown',
      'schedulerShutdown',
    ])
  })

  it.each(['standby', 'a first start'])(
    'is not started any more once a shutdown has begun: %s',
    async (from) => {
      for (let turns = 0; turns < 15; turns++) {
        const { scheduler, told } = await schedulerFixture()
        if (from === 'standby') {
          await scheduler.start()
          await scheduler.standby()
        }
        told.length = 0
        const starting = scheduler.start().then(
          () => 'started',
          () => 'refused',
        )
        for (let turn = 0; turn < turns; turn++) await Promise.resolve()
        const wasStarted = scheduler.isStarted
        const ending = scheduler.shutdown()
        expect(scheduler.isStarted).toBe(false)
        expect(await starting).toBe(wasStarted ? 'started' : 'refused')
        await ending
        expect(told.includes('schedulerStarted')).toBe(wasStarted)
      }
    },
  )

  it('is shut down without limit also where a start was asked for in the same turn, which tells nobody', async () => {
    const { scheduler, told } = await schedulerFixture()
    scheduler.listenerManager.addSchedulerListener({ schedulerStarting: () => scheduler.shutdown() })
    const starting = expect(scheduler.start()).rejects.toThrow(shutDown)
    await scheduler.shutdown({ waitForJobsToComplete: true })
    await starting
    expect(told).not.toContain('schedulerStarting')
  })

  it('fires nothing before the start and in standby', async () => {
    const { scheduler, clock, ran, job, everySecond } = await schedulerFixture()
    await scheduler.scheduleJob(job('j'), everySecond('t'))
    await clock.advance(5000)
    expect(ran).toEqual([])
    await scheduler.start()
    await clock.advance(0)
    await scheduler.standby()
    const before = ran.length
    await clock.advance(5000)
    expect(ran).toHaveLength(before)
    await scheduler.shutdown()
  })

  it('starts after a delay, unless it was shut down by then', async () => {
    const { scheduler, clock } = await schedulerFixture()
    scheduler.startDelayed(5000)
    await clock.advance(4999)
    expect(scheduler.isStarted).toBe(false)
    await clock.advance(1)
    expect(scheduler.isStarted).toBe(true)
    await scheduler.shutdown()

    const other = await schedulerFixture()
    other.scheduler.startDelayed(5000)
    await other.scheduler.shutdown()
    expect(other.clock.timerCount).toBe(0)
    await other.clock.advance(10_000)
    expect(other.scheduler.isStarted).toBe(false)
    expect(other.errors).toEqual([])
  })

  it('refuses everything after a shutdown', async () => {
    const { scheduler, job, once } = await schedulerFixture()
    await scheduler.shutdown()
    await expect(scheduler.start()).rejects.toEqual(shutDown)
    await expect(scheduler.standby()).rejects.toEqual(shutDown)
    await expect(scheduler.scheduleJob(job('j'), once('t'))).rejects.toEqual(shutDown)
    await expect(scheduler.getJobKeys(GroupMatcher.anyGroup())).rejects.toEqual(shutDown)
    await expect(scheduler.pauseAll()).rejects.toEqual(shutDown)
    expect(() => {
      scheduler.startDelayed(1)
    }).toThrow(shutDown)
    await scheduler.shutdown()
  })

  it('waits for running jobs when asked to, and says how many still ran when the time was over', async () => {
    const gated = gatedJob()
    const { scheduler, clock, errors, once } = await schedulerFixture({ jobs: [gated.definition] })
    await scheduler.scheduleJob(JobBuilder.newJob(gated.definition).withIdentity('j').build(), once('t'))
    await scheduler.start()
    await gated.started
    expect(scheduler.getCurrentlyExecutingJobs().map((context) => context.jobKey.name)).toEqual(['j'])
    let isDown = false
    const down = scheduler.shutdown({ waitForJobsToComplete: true, timeoutMs: 1000 }).then(() => {
      isDown = true
    })
    await clock.advance(999)
    expect(isDown).toBe(false)
    await clock.advance(1)
    await down
    expect(errors.join()).toMatch(/^An execution still runs/)
    gated.end()
    await clock.settle()
    expect(scheduler.getCurrentlyExecutingJobs()).toEqual([])
    expect(clock.timerCount).toBe(0)
  })

  it('does not wait for running jobs unless asked to', async () => {
    const gated = gatedJob()
    const { scheduler, once } = await schedulerFixture({ jobs: [gated.definition] })
    await scheduler.scheduleJob(JobBuilder.newJob(gated.definition).build(), once('t'))
    await scheduler.start()
    await gated.started
    await scheduler.shutdown()
    expect(scheduler.isShutdown).toBe(true)
    gated.end()
  })

  it.each([
    [{ interruptJobsOnShutdown: true }, false, true],
    [{ interruptJobsOnShutdownWithWait: true }, true, true],
    [{ interruptJobsOnShutdown: true }, true, false],
    [{ interruptJobsOnShutdownWithWait: true }, false, false],
  ])('with %j a shutdown that waits=%s interrupts=%s', async (option, waitForJobsToComplete, interrupts) => {
    let isAborted = false
    let begin: () => void = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    let end: () => void = () => {}
    const definition = defineJob('stubborn', (context) => {
      begin()
      return new Promise<void>((resolve) => {
        end = resolve
        context.signal.addEventListener('abort', () => {
          isAborted = true
          resolve()
        })
      })
    })
    const { scheduler, clock, once } = await schedulerFixture({ jobs: [definition], ...option })
    await scheduler.scheduleJob(JobBuilder.newJob(definition).build(), once('t'))
    await scheduler.start()
    await begun
    const down = scheduler.shutdown({ waitForJobsToComplete })
    await clock.settle()
    expect(isAborted).toBe(interrupts)
    end()
    await down
  })

  it.each([
    [{ interruptAfterMs: 1000 }, 7000],
    [{ interruptAfterMs: 1000, timeoutMs: 2500 }, 2500],
  ])(
    'with %j a shutdown that waits interrupts after a second, and ends after %i ms',
    async (given, endMs) => {
      let begin: () => void = () => {}
      const begun = new Promise<void>((resolve) => {
        begin = resolve
      })
      const aborted: number[] = []
      const definition = defineJob('endless', ({ signal }) => {
        begin()
        signal.addEventListener('abort', () => aborted.push(clock.elapsedMs() - startedMs))
        return new Promise<void>(() => {})
      })
      const { scheduler, clock, once } = await schedulerFixture({ jobs: [definition] })
      await scheduler.scheduleJob(JobBuilder.newJob(definition).build(), once('t'))
      await scheduler.start()
      await begun
      const startedMs = clock.elapsedMs()
      const down = scheduler.shutdown({ waitForJobsToComplete: true, ...given })
      await clock.advance(endMs - 1)
      expect([aborted, scheduler.isShutdown]).toEqual([[1000], false])
      await clock.advance(1)
      await down
      expect(clock.timerCount).toBe(0)
    },
  )

  it('interrupts late only where it waits', async () => {
    const { scheduler } = await schedulerFixture()
    await expect(scheduler.shutdown({ interruptAfterMs: 1 })).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      field: 'interruptAfterMs',
    })
    await scheduler.shutdown({ waitForJobsToComplete: true, interruptAfterMs: 1 })
    expect(scheduler.isShutdown).toBe(true)
  })

  it('is disposed of at the end of a block, waiting for what runs', async () => {
    const gated = gatedJob()
    const { scheduler, once } = await schedulerFixture({ jobs: [gated.definition] })
    await scheduler.scheduleJob(JobBuilder.newJob(gated.definition).build(), once('t'))
    await scheduler.start()
    await gated.started
    const disposed = scheduler[Symbol.asyncDispose]()
    gated.end()
    await disposed
    expect(scheduler.isShutdown).toBe(true)
  })

  it('tells what it is', async () => {
    const { scheduler, clock, job, once } = await schedulerFixture({ schedulerName: 'S', instanceId: 'I' })
    await scheduler.scheduleJob(job('j'), once('t'))
    const startedAt = clock.now()
    await scheduler.start()
    await clock.settle()
    const metaData = scheduler.getMetaData()
    expect(metaData).toMatchObject({
      schedulerName: 'S',
      schedulerInstanceId: 'I',
      isStarted: true,
      runningSince: new Date(startedAt),
      numberOfJobsExecuted: 1,
      jobStorePersistent: false,
      jobStoreClustered: false,
      jobStatusIsKept: true,
      threadPoolSize: 10,
    })
    expect(summaryOfMetaData(metaData)).toMatch(/scheduler 'S', instance 'I'/)
    await scheduler.shutdown()
  })
})

describe('createScheduler', () => {
  it.each([
    [{ idleWaitMs: 999 }, 'idleWaitMs'],
    [{ maxBatchSize: 0 }, 'maxBatchSize'],
    [{ batchTimeWindowMs: 30_001 }, 'batchTimeWindowMs'],
    [{ misfireThresholdMs: 0 }, 'misfireThresholdMs'],
    [{ maxRefires: -1 }, 'maxRefires'],
    [{ interruptGraceMs: 1.5 }, 'interruptGraceMs'],
    [{ maxJobDataBytes: Number.NaN }, 'maxJobDataBytes'],
    [{ schedulerName: ' ' }, 'schedulerName'],
    [{ instanceId: '' }, 'instanceId'],
    [{ threadPool: { size: -1 } }, 'size'],
    [{ idleWaitMS: 5000 }, 'idleWaitMS'],
  ])('refuses %j and names the option', async (options, field) => {
    await expect(createScheduler(options as SchedulerOptions)).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      field,
    })
  })

  it('names the option that bounds another', async () => {
    await expect(createScheduler({ idleWaitMs: 2000, batchTimeWindowMs: 2001 })).rejects.toThrow(
      "'batchTimeWindowMs' must be at most 'idleWaitMs', 2000, got 2001",
    )
  })

  it('proposes the nearest name for an option it does not know', async () => {
    await expect(createScheduler({ idleWaitMS: 5000 } as object)).rejects.toThrow(
      "Did you mean 'idleWaitMs'?",
    )
  })

  it('closes what it opened when a plugin cannot be initialized', async () => {
    const clock = new ManualClock()
    const failing = {
      name: 'failing',
      initialize: () => {
        throw new Error('no such luck')
      },
    }
    await expect(createScheduler({ clock, plugins: [failing] })).rejects.toThrow('no such luck')
    expect(clock.timerCount).toBe(0)
  })

  it('shuts down the plugins up to the one that cannot be initialized, and no other', async () => {
    const calls: string[] = []
    const plugin = (name: string, fails = false): SchedulerPlugin => ({
      name,
      initialize: () => {
        calls.push(`initialize ${name}`)
        if (fails) throw new Error('no such luck')
      },
      shutdown: () => void calls.push(`shutdown ${name}`),
    })
    const plugins = [plugin('a'), plugin('b', true), plugin('c')]
    await expect(createScheduler({ plugins, logger: false })).rejects.toThrow('no such luck')
    expect(calls).toEqual(['initialize a', 'initialize b', 'shutdown a', 'shutdown b'])
  })
})

describe('the end of `await using`', () => {
  /** A scheduler at the end of its scope while a job runs that ends when it is interrupted, or never. */
  async function disposed(obeys: boolean) {
    const outcomes: string[] = []
    const definition = defineJob('hangs', ({ signal }) => {
      return new Promise((_, reject) => {
        if (!obeys) return
        signal.addEventListener('abort', () => {
          reject(new Error('stopped'))
        })
      })
    })
    const { scheduler, clock, errors, once } = await schedulerFixture({
      jobs: [definition],
      disposeTimeoutMs: 10_000,
      interruptGraceMs: 2000,
    })
    scheduler.events.on('jobWasExecuted', ({ error }) => outcomes.push(error?.code ?? 'ended'))
    await scheduler.scheduleJob(JobBuilder.newJob(definition).withIdentity('stuck').build(), once('t'))
    await scheduler.start()
    await clock.settle()
    const [running] = scheduler.getCurrentlyExecutingJobs()
    const end = scheduler[Symbol.asyncDispose]()
    await clock.advance(9999)
    expect([scheduler.isShutdown, outcomes]).toEqual([false, []])
    return { scheduler, clock, errors, outcomes, end, id: running?.fireInstanceId ?? '' }
  }

  it('interrupts what still runs when its time is over, and lets it end', async () => {
    const { clock, errors, outcomes, end } = await disposed(true)
    await clock.advance(1)
    await end
    expect([outcomes, errors, clock.timerCount]).toEqual([['ERR_JOB_INTERRUPTED'], [], 0])
  })

  it('does not wait for a job that hangs, and says which one is left', async () => {
    const { scheduler, clock, errors, outcomes, end, id } = await disposed(false)
    await clock.advance(3001)
    await end
    expect(errors).toEqual([
      `An execution still runs although the time to shut down is over: DEFAULT.stuck (${id}).`,
    ])
    expect([scheduler.isShutdown, outcomes, clock.timerCount]).toEqual([true, [], 0])
  })
})

describe('a store or pool that belongs to another scheduler', () => {
  it.each([
    ['ERR_STORE_IN_USE', { jobStore: ramJobStore() }],
    ['ERR_THREAD_POOL_IN_USE', { threadPool: inProcessThreadPool() }],
  ])('is refused with %s, and goes on for that one', async (code, parts) => {
    const clock = new ManualClock()
    const ran: string[] = []
    const jobs = [defineJob('job', () => ran.push('ran'))]
    await using first = await createScheduler({ clock, jobs, ...parts })
    await expect(createScheduler({ clock, jobs, ...parts })).rejects.toMatchObject({ code })
    const trigger = TriggerBuilder.newTrigger({ clock }).build()
    await first.scheduleJob(JobBuilder.newJob('job').build(), trigger)
    await first.start()
    await clock.advance(1)
    expect(ran).toEqual(['ran'])
  })

  it('may have it when that one has shut down', async () => {
    const jobStore = ramJobStore()
    const first = await createScheduler({ jobStore })
    await first.shutdown()
    await using second = await createScheduler({ jobStore })
    expect(second.isInStandbyMode).toBe(true)
  })
})

describe('a job', () => {
  it('may use its scheduler, also while a shutdown waits for it', async () => {
    const added: string[] = []
    const definition = defineJob('adds', async (context) => {
      await context.scheduler.deleteJob(jobKey('other'))
      added.push(String(await context.scheduler.checkExists(jobKey('other'))))
    })
    const { scheduler, clock, job, once } = await schedulerFixture({ jobs: [definition] })
    await scheduler.scheduleJob(job('other'), once('later', 60_000))
    await scheduler.scheduleJob(JobBuilder.newJob(definition).build(), once('t'))
    await scheduler.start()
    await clock.settle()
    expect(added).toEqual(['false'])
    expect(await scheduler.checkExists(triggerKey('later'))).toBe(false)
    await scheduler.shutdown()
  })
})

interface LateEntry {
  readonly job: JobDetail
  readonly triggers: readonly [Trigger]
}

it.each([
  ['scheduleJob', (scheduler, entry) => scheduler.scheduleJob(entry.job, ...entry.triggers)],
  ['scheduleJobs', (scheduler, entry) => scheduler.scheduleJobs([entry])],
] as const satisfies readonly [string, (scheduler: Scheduler, entry: LateEntry) => Promise<unknown>][])(
  '%s whose checks outlast the shutdown stores nothing: the store may be another scheduler’s',
  async (_, call) => {
    const jobStore = ramJobStore()
    let pass: () => void = () => {}
    const checked = new Promise<void>((resolve) => {
      pass = resolve
    })
    const schema = z.object({}).refine(() => checked.then(() => true))
    const slow = defineJob('slow', () => {}, { schema })
    const former = await createScheduler({ jobs: [slow], jobStore, logger: false })
    const job = JobBuilder.newJob(slow).usingJobData({}).build()
    const late = call(former, { job, triggers: [TriggerBuilder.newTrigger().startNow().build()] })
    await former.shutdown()
    const next = await createScheduler({ jobStore, logger: false })
    pass()
    await expect(late).rejects.toMatchObject({ code: 'ERR_SCHEDULER_SHUTDOWN' })
    expect(await next.checkExists(job.key)).toBe(false)
    await next.shutdown()
  },
)
