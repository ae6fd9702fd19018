import { join } from 'node:path'
import { describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest'
import type { ClusterScheduling } from '../../src/annotations/cluster/cluster-scheduling.ts'
import { enableScheduling } from '../../src/annotations/enable-scheduling.ts'
import { Scheduled, type ScheduledContext, scheduled } from '../../src/annotations/scheduled.ts'
import { JobKey } from '../../src/core/key.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { ramJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { CronTrigger } from '../../src/triggers/families/cron/cron-trigger.ts'
import {
  type Application,
  Recorder,
  restart,
  type Store,
  startApplication,
} from '../support/scheduled-application.ts'
import { temporaryFolder } from '../support/sqlite.ts'

const keysOf = async ({ scheduler, scheduling: { group } }: Application): Promise<string[]> => {
  const { items } = await scheduler.queryTriggers()
  return items.filter(({ key }) => key.group === group).map(({ key }) => key.name.replace(/@.*/, ''))
}

const stores: readonly (readonly [string, () => () => Store])[] = [
  ['RAM', () => () => ramJobStore()],
  [
    'SQLite',
    () => {
      const filename = join(temporaryFolder(), 'jobs.sqlite')
      return () => sqliteJobStore({ filename })
    },
  ],
  [
    'SQLite with job data as properties',
    () => {
      const filename = join(temporaryFolder(), 'jobs.sqlite')
      return () => sqliteJobStore({ filename, jobData: 'properties' })
    },
  ],
]

describe.each(stores)('in a cluster on %s', (_name, makeStore) => {
  test('methods are jobs that run at their planned times', async () => {
    const clock = new ManualClock()
    const recorder = new Recorder(clock)
    class Reports {
      @Scheduled({ cron: '*/2 * * * * *' })
      onCron({ execution, signal }: ScheduledContext): void {
        recorder.note(`cron ${execution?.scheduledFireTime.toISOString().slice(17, 19)} ${signal.aborted}`)
      }
      @Scheduled({ fixedRate: '1500ms' })
      @Scheduled({ fixedRate: '2500ms', initialDelay: '1s' })
      atRate(): void {
        recorder.note('rate')
      }
      @Scheduled({ fixedRate: 800, initialDelay: 100, name: 'static' })
      static atRate(): void {
        recorder.note('static')
      }
    }
    const { scheduling, scheduler } = await startApplication(clock, makeStore()(), [new Reports(), Reports])
    expectTypeOf(scheduling).toEqualTypeOf<ClusterScheduling>()
    await clock.advance(3000)
    expect(recorder.runs.toSorted()).toEqual(
      [
        'rate 0',
        'static 100',
        'static 900',
        'rate 1000',
        'rate 1500',
        'static 1700',
        'cron 02 false 2000',
        'static 2500',
        'rate 3000',
      ].toSorted(),
    )
    expect(scheduling.group).toBe('annotations')
    expect(scheduling.tasks().map(({ name, kind }) => [name, kind])).toEqual([
      ['Reports.onCron', 'cron'],
      ['Reports.atRate', 'fixedRate'],
      ['Reports.atRate', 'fixedRate'],
      ['static', 'fixedRate'],
    ])
    expect(await scheduling.tasks()[0]?.nextExecution()).toEqual(new Date(clock.now() + 1000))
    const job = await scheduler.getJobDetail(new JobKey('Reports.onCron', 'annotations'))
    expect(job).toMatchObject({
      jobType: 'annotations.Reports.onCron',
      description: '@Scheduled Reports.onCron',
      durable: true,
      disallowConcurrentExecution: true,
    })
  })

  test('a fixed delay counts from the end of a run, and runs never overlap', async () => {
    const clock = new ManualClock()
    const recorder = new Recorder(clock)
    await startApplication(clock, makeStore()(), [
      recorder.task('delay', { fixedDelay: '1s', initialDelay: 500 }, 2300),
      recorder.task('cron', { cron: '* * * * * *' }, 1800),
    ])
    await clock.advance(8000)
    expect(recorder.runs.filter((run) => run.startsWith('delay'))).toEqual([
      'delay 500',
      'delay 3800',
      'delay 7100',
    ])
    // Each planned time runs, the late ones when the run before has ended.
    expect(recorder.runs.filter((run) => run.startsWith('cron'))).toEqual([
      'cron 1000',
      'cron 2800',
      'cron 4600',
      'cron 6400',
    ])
  })

  test('a fixed delay goes on after a run that fails', async () => {
    const clock = new ManualClock()
    const recorder = new Recorder(clock)
    const failing = scheduled({ fixedDelay: '1s', name: 'failing' }, () => {
      recorder.note('failing')
      throw new Error('planned')
    })
    await startApplication(clock, makeStore()(), [{ failing }])
    await clock.advance(2500)
    expect(recorder.runs).toEqual(['failing 0', 'failing 1000', 'failing 2000'])
  })

  test('a run whose next one cannot be moved has not failed, and the delay goes on', async () => {
    const clock = new ManualClock()
    const recorder = new Recorder(clock)
    class Unmovable extends DelegatingJobStore {
      override rescheduleTrigger(): Promise<boolean> {
        return Promise.reject(new Error('away'))
      }
    }
    const { scheduler } = await startApplication(clock, new Unmovable(makeStore()()), [
      recorder.task('delay', { fixedDelay: '1s' }),
    ])
    const ends: unknown[] = []
    scheduler.events.on('jobWasExecuted', ({ error }) => ends.push(error))
    await clock.advance(1500)
    expect(recorder.runs).toEqual(['delay 0', 'delay 1000'])
    expect(ends.length).toBeGreaterThan(0)
    expect(ends.filter((error) => error !== null)).toEqual([])
  })

  test('what an operator pauses during a run stays paused', async () => {
    const clock = new ManualClock()
    const recorder = new Recorder(clock)
    const application = await startApplication(clock, makeStore()(), [
      recorder.task('delay', { fixedDelay: '1s' }, 500),
    ])
    const { scheduler, scheduling } = application
    await clock.advance(100)
    const [task] = scheduling.tasks()
    const jobKey = task?.jobKey ?? expect.fail('no task')
    await scheduler.pauseJob(jobKey)
    await clock.advance(5000)
    expect(recorder.runs).toEqual(['delay 0'])
    await scheduler.resumeJob(jobKey)
    await clock.advance(100)
    expect(recorder.runs).toEqual(['delay 0', 'delay 5100'])
  })

  test('what an operator pauses just before the next run is stored stays paused', async () => {
    const clock = new ManualClock()
    const recorder = new Recorder(clock)
    class PausingStore extends DelegatingJobStore {
      override async rescheduleTrigger(...call: Parameters<JobStore['rescheduleTrigger']>): Promise<boolean> {
        await this.inner.pauseTrigger(call[0])
        return super.rescheduleTrigger(...call)
      }
    }
    const { scheduler, scheduling } = await startApplication(clock, new PausingStore(makeStore()()), [
      recorder.task('delay', { fixedDelay: '1s' }, 500),
    ])
    await clock.advance(5000)
    expect(recorder.runs).toEqual(['delay 0'])
    const [task] = scheduling.tasks()
    expect(await task?.nextExecution()).toEqual(new Date(clock.now() - 3500))
    await scheduler.resumeJob(task?.jobKey ?? expect.fail('no task'))
    await clock.advance(100)
    expect(recorder.runs).toEqual(['delay 0', 'delay 5000'])
  })

  test('tasks can be cancelled', async () => {
    const clock = new ManualClock()
    const recorder = new Recorder(clock)
    const application = await startApplication(clock, makeStore()(), [
      recorder.task('one', { fixedRate: '1s' }),
      recorder.task('two', { fixedRate: '1s', initialDelay: 10 }),
    ])
    const { scheduling } = application
    const [one] = scheduling.tasks()
    expect([await one?.cancel(), await one?.cancel(), await one?.nextExecution()]).toEqual([
      true,
      false,
      null,
    ])
    await clock.advance(500)
    await scheduling.cancel()
    await clock.advance(5000)
    expect(recorder.runs.slice(-1)).toEqual(['two 10'])
    expect(await keysOf(application)).toEqual([])
  })

  test('tasks that are cancelled before the start stay away', async () => {
    const clock = new ManualClock()
    const recorder = new Recorder(clock)
    const scheduler = await createScheduler({ logger: false, clock, jobStore: makeStore()() })
    onTestFinished(() => scheduler.shutdown())
    const enable = (...names: readonly string[]): Promise<ClusterScheduling> =>
      enableScheduling({
        cluster: scheduler,
        instances: names.map((name) => recorder.task(name, { fixedRate: '1s' })),
      })
    const [all, one] = [await enable('a', 'b'), await enable('c', 'd')]
    await all.cancel()
    await one.tasks()[0]?.cancel()
    await scheduler.start()
    await clock.advance(500)
    expect(recorder.runs).toEqual(['d 0'])
  })

  test('jobs that the store fails to take at the start are stored a minute later', async () => {
    const clock = new ManualClock()
    const recorder = new Recorder(clock)
    class FailingStore extends DelegatingJobStore {
      isAway = false
      override async getJob(key: JobKey): Promise<JobDetail | null> {
        if (this.isAway) throw new Error('away')
        return super.getJob(key)
      }
    }
    const jobStore = new FailingStore(makeStore()())
    const warn = vi.fn()
    const logger = { ...silentLogger, warn, error: warn }
    const scheduler = await createScheduler({ logger, clock, jobStore })
    onTestFinished(() => scheduler.shutdown())
    await enableScheduling({ cluster: scheduler, instances: [recorder.task('a', { fixedRate: '1h' })] })
    await scheduler.deleteJob(new JobKey('a', 'annotations'))
    jobStore.isAway = true
    await scheduler.start()
    jobStore.isAway = false
    await clock.advance(60_000)
    expect(recorder.runs).toEqual(['a 60000'])
    expect(warn.mock.calls.map(([, text]: unknown[]) => text)).toEqual([
      'The jobs of methods could not be kept up to date; trying again',
    ])
  })

  test('jobs are registered before the scheduler starts', async () => {
    const clock = new ManualClock()
    const { scheduler } = await startApplication(clock, makeStore()(), [])
    const late = enableScheduling({
      cluster: scheduler,
      instances: [new Recorder(clock).task('a', { fixedRate: 1 })],
    })
    await expect(late).rejects.toMatchObject({ code: 'ERR_SCHEDULER_STATE' })
    expect(await scheduler.checkExists(new JobKey('a', 'annotations'))).toBe(false)
  })
})

describe('the jobs of an application that starts again', () => {
  test('keep their times when nothing changed, whatever the initial delay is now', async () => {
    const { clock, recorder, store } = restart()
    const first = await startApplication(clock, store(), [
      recorder.task('rate', { fixedRate: '10s', initialDelay: '3s' }),
      recorder.task('delay', { fixedDelay: '10s' }),
      recorder.task('cron', { cron: '0 0 * * * *', zone: 'UTC' }),
    ])
    await clock.advance(15_000)
    const before = await Promise.all(first.scheduling.tasks().map((task) => task.nextExecution()))
    await first.stop()
    await clock.advance(1234)
    const second = await startApplication(clock, store(), [
      recorder.task('rate', { fixedRate: 10_000, initialDelay: '7s' }),
      recorder.task('delay', { fixedDelay: 'PT10S' }),
      recorder.task('cron', { cron: '0 0 * * * *', zone: 'UTC' }),
    ])
    expect(await Promise.all(second.scheduling.tasks().map((task) => task.nextExecution()))).toEqual(before)
    recorder.runs.length = 0
    await clock.advance(10_000)
    expect(recorder.runs.toSorted()).toEqual(['delay 20000', 'rate 23000'])
  })

  test('keep the phase of a fixed rate and run a fixed delay at once when nothing ran for long', async () => {
    const { clock, recorder, store } = restart()
    const instances = [
      recorder.task('rate', { fixedRate: '1h' }),
      recorder.task('delay', { fixedDelay: '1h' }),
      recorder.task('now', { cron: '0 30 * * * *', zone: 'UTC' }),
      recorder.task('skip', { cron: '0 30 * * * *', zone: 'UTC', misfireInstruction: 'doNothing' }),
    ]
    const first = await startApplication(clock, store(), instances)
    await clock.advance(60_000)
    await first.stop()
    clock.jump(10 * 3_600_000 + 15 * 60_000)
    recorder.runs.length = 0
    await startApplication(clock, store(), instances)
    await clock.advance(20 * 60_000)
    const startedMs = 10 * 3_600_000 + 16 * 60_000
    expect(recorder.runs.toSorted()).toEqual([
      `delay ${startedMs}`,
      `now ${startedMs}`,
      `now ${10.5 * 3_600_000}`,
      `skip ${10.5 * 3_600_000}`,
    ])
    await clock.advance(25 * 60_000)
    expect(recorder.runs.filter((run) => run.startsWith('rate'))).toEqual([`rate ${11 * 3_600_000}`])
  })

  test('go on after a crash in the middle of a run', async () => {
    const { clock, recorder, store } = restart()
    const hangs = scheduled({ fixedDelay: '10s', name: 'delay' }, () => {
      recorder.note('hangs')
      return new Promise<void>(() => {})
    })
    const first = await createScheduler({ logger: false, clock, jobStore: store() })
    await enableScheduling({ cluster: first, instances: [{ hangs }] })
    await first.start()
    await clock.advance(1000)
    await first.shutdown()
    await clock.advance(2000)
    await startApplication(clock, store(), [recorder.task('delay', { fixedDelay: '10s' }, 500)])
    await clock.advance(20_000)
    expect(recorder.runs).toEqual(['hangs 0', 'delay 10000', 'delay 20500'])
  })

  test('follow what was added, changed, disabled and removed', async () => {
    const { clock, recorder, store } = restart()
    const first = await startApplication(clock, store(), [
      recorder.task('kept', { fixedRate: '10s', initialDelay: '5s' }),
      recorder.task('changed', { fixedRate: '10s', initialDelay: '5s' }),
      recorder.task('disabled', { fixedRate: '10s', initialDelay: '5s' }),
      recorder.task('removed', { fixedRate: '10s', initialDelay: '5s' }),
    ])
    expect(await keysOf(first)).toEqual(['changed', 'disabled', 'kept', 'removed'])
    await first.stop()
    const second = await startApplication(clock, store(), [
      recorder.task('kept', { fixedRate: '10s' }),
      recorder.task('changed', { cron: '*/4 * * * * *' }),
      recorder.task('disabled', { fixedRate: '${rate:-}' }),
      recorder.task('added', { fixedRate: '10s', initialDelay: '1s' }),
    ])
    expect(await keysOf(second)).toEqual(['added', 'changed', 'kept'])
    const jobs = await second.scheduler.queryJobs()
    expect(jobs.items.map(({ key }) => key.name)).toEqual(['added', 'changed', 'kept'])
    await clock.advance(6000)
    expect(recorder.runs).toEqual(['added 1000', 'changed 4000', 'kept 5000'])
  })

  test('leave jobs and triggers of others alone', async () => {
    const { clock, recorder, store } = restart()
    const first = await startApplication(clock, store(), [recorder.task('mine', { fixedRate: '10s' })])
    const foreign = JobBuilder.newJob('other').withIdentity('foreign', 'annotations').storeDurably().build()
    await first.scheduler.addJob(foreign)
    await first.scheduler.triggerJob(new JobKey('mine', 'annotations'))
    await first.stop()
    const app = { application: 'billing' }
    const billing = await startApplication(clock, store(), [recorder.task('mine', { fixedRate: '10s' })], app)
    expect(billing.scheduling.group).toBe('annotations.billing')
    await billing.stop()
    const last = await startApplication(clock, store(), [recorder.task('yours', { fixedRate: '10s' })])
    const jobs = await last.scheduler.queryJobs()
    expect(jobs.items.map(({ key }) => key.toString())).toEqual([
      'annotations.foreign',
      'annotations.yours',
      'annotations.billing.mine',
    ])
  })

  test('have types of their own whatever dots are in the names of applications and methods', async () => {
    const { clock, recorder } = restart()
    const enable = (name: string, application?: string): Promise<Application> =>
      startApplication(
        clock,
        restart().store(),
        [recorder.task(name, { fixedRate: '10s' })],
        application === undefined ? {} : { application },
      )
    const typesOf = async ({ scheduler }: Application): Promise<string[]> =>
      (await scheduler.queryJobs()).items.map(({ jobType }) => jobType)
    const applications = [
      await enable('c', 'a.b'),
      await enable('b.c', 'a'),
      await enable('a.b.c'),
      await enable('b:c', 'a'),
      await enable('c', 'a:b'),
    ]
    const types = await Promise.all(applications.map(typesOf))
    expect(new Set(types.flat()).size).toBe(5)
  })

  test('stay when unknown ones are not to be removed', async () => {
    const { clock, recorder, store } = restart()
    const first = await startApplication(clock, store(), [recorder.task('one', { fixedRate: '10s' })])
    await first.stop()
    const keep = { removeUnknown: false }
    const second = await startApplication(clock, store(), [recorder.task('two', { fixedRate: '10s' })], keep)
    expect(await keysOf(second)).toEqual(['one', 'two'])
  })

  test('are stored in Quartz’s dialect where it can say them', async () => {
    const { clock, recorder, store } = restart()
    const instances = [
      recorder.task('plain', { cron: '0 0 7 * * MON-FRI', zone: 'Europe/Paris', dst: 'quartz' }),
      recorder.task('friday13', { cron: '0 0 7 13 * FRI', zone: 'Europe/Paris' }),
    ]
    const first = await startApplication(clock, store(), instances)
    const expressions = async ({ scheduler, scheduling }: Application): Promise<unknown[]> => {
      const triggers = await Promise.all(
        scheduling.tasks().map((task) => scheduler.getTrigger(task.triggerKey)),
      )
      return triggers.map((trigger) =>
        trigger instanceof CronTrigger ? trigger.cronExpression.toJSON() : null,
      )
    }
    await first.stop()
    const second = await startApplication(clock, store(), instances)
    expect(await expressions(second)).toMatchObject([
      { expression: '0 0 7 ? * MON-FRI', dialect: 'quartz', timeZone: 'Europe/Paris', dst: 'quartz' },
      { expression: '0 0 7 13 * FRI', dialect: 'spring', timeZone: 'Europe/Paris', dst: 'vixie' },
    ])
    expect(await second.scheduling.tasks()[1]?.nextExecution()).toEqual(new Date('2026-02-13T06:00:00Z'))
  })
})

describe('names in a cluster', () => {
  const enable = async (instances: readonly object[], options: object = {}): Promise<unknown> => {
    await using scheduler = await createScheduler()
    return await enableScheduling({ cluster: scheduler, instances, ...options })
  }
  class Reports {
    @Scheduled({ fixedRate: '1s' })
    daily(): void {}
  }

  test('are unique', async () => {
    await expect(enable([new Reports(), new Reports()])).rejects.toThrow(
      /name 'Reports\.daily' is not unique, two objects/,
    )
    const one = scheduled({ fixedRate: '1s', name: 'same' }, () => 1)
    const two = scheduled({ fixedRate: '1s', name: 'same' }, () => 2)
    await expect(enable([{ one, two }])).rejects.toThrow(/'same' is not unique, two methods/)
    const twice = scheduled(
      { fixedRate: '1s' },
      scheduled({ fixedRate: 1000 }, () => 1),
    )
    await expect(enable([{ twice }])).rejects.toThrow(/one schedule is there twice/)
  })

  test('of the application are not blank', async () => {
    for (const application of [' ', null]) {
      await expect(enable([new Reports()], { application })).rejects.toThrow(/'application' must be a name/)
    }
  })
})
