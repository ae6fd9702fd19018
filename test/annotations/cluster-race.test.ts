import { expect, onTestFinished, test } from 'vitest'
import { type ClusterJob, clusterJobsOf, methodsGroup } from '../../src/annotations/cluster/cluster-jobs.ts'
import { storeJobs } from '../../src/annotations/cluster/reconcile.ts'
import { enableScheduling } from '../../src/annotations/enable-scheduling.ts'
import { scheduled } from '../../src/annotations/scheduled.ts'
import { scheduledMethodsOf } from '../../src/annotations/scheduled-methods.ts'
import { JobKey, type TriggerKey } from '../../src/core/key.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import type { RescheduleOptions } from '../../src/jobs/schedule-options.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import { ramJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { SimpleTrigger } from '../../src/triggers/families/simple/simple-trigger.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'
import { Recorder, startApplication } from '../support/scheduled-application.ts'
import { SimRandom } from '../support/sim-random.ts'

const clock = new ManualClock()
const taskKey = new JobKey('task', methodsGroup)

/** What another instance does comes between a reading and what is written by it, at random. */
class CrowdedStore extends DelegatingJobStore {
  random: SimRandom | null = null

  async #otherTurns(): Promise<void> {
    for (let turns = this.random?.integer(0, 40) ?? 0; turns > 0; turns--) await Promise.resolve()
  }

  override async getJob(key: JobKey): Promise<JobDetail | null> {
    const job = await super.getJob(key)
    await this.#otherTurns()
    return job
  }

  override async getTriggersOfJob(key: JobKey): Promise<readonly Trigger[]> {
    const triggers = await super.getTriggersOfJob(key)
    await this.#otherTurns()
    return triggers
  }
}

async function crowdedScheduler(): Promise<{ scheduler: Scheduler; store: CrowdedStore }> {
  const store = new CrowdedStore(ramJobStore())
  const scheduler = await createScheduler({ logger: false, clock, jobStore: store })
  onTestFinished(() => scheduler.shutdown())
  scheduler.registerJobs(jobsAt(scheduler, [7]).map(({ definition }) => definition))
  return { scheduler, store }
}

/** The method of one version of the code, which is disabled without hours. */
function jobsAt(scheduler: Scheduler, hours: readonly number[]): ClusterJob[] {
  const crons = hours.length === 0 ? ['-'] : hours.map((hour) => `0 0 ${hour} * * *`)
  const run = crons.reduce<() => void>(
    (next, cron) => scheduled({ name: 'task', cron, zone: 'UTC' }, next),
    () => {},
  )
  const options = { group: methodsGroup, scheduler, clock, logger: silentLogger, resolve: () => undefined }
  return clusterJobsOf(scheduledMethodsOf([{ run }]), options)
}

test.each<[string, number[], number[], number[]]>([
  ['none is stored', [], [7], [8]],
  ['a former one is stored', [6], [7], [8]],
  ['one of two has changed', [7, 8], [7, 8], [8, 9]],
  ['there is one less', [6, 7], [6], [9, 10]],
  ['there is one more', [6], [7], [8, 9]],
])(
  'instances with other schedules that start together leave those of one, when %s',
  async (_name, former, one, other) => {
    const { scheduler, store } = await crowdedScheduler()
    for (let seed = 1; seed <= 100; seed++) {
      await scheduler.clear()
      store.random = null
      if (former.length > 0) await storeJobs(scheduler, jobsAt(scheduler, former), { decides: true })
      store.random = new SimRandom(seed)
      const instances = [jobsAt(scheduler, one), jobsAt(scheduler, other)]
      // They start, and look once more when their schedulers have started.
      await Promise.all(
        instances.map(async (jobs) => {
          await storeJobs(scheduler, jobs, { decides: true })
          await storeJobs(scheduler, jobs, { decides: false })
        }),
      )
      const triggers = await scheduler.getTriggersOfJob(taskKey)
      const hours = triggers.map(({ nextFireTimeMs }) => new Date(nextFireTimeMs ?? 0).getUTCHours())
      expect([one, other], `seed ${seed}`).toContainEqual(hours.toSorted((a, b) => a - b))
    }
  },
)

test('an instance that was there before leaves the schedules of the one that started last', async () => {
  const { scheduler } = await crowdedScheduler()
  const [before, last] = [jobsAt(scheduler, [7]), jobsAt(scheduler, [8])]
  await storeJobs(scheduler, before, { decides: true })
  await storeJobs(scheduler, last, { decides: true })
  await storeJobs(scheduler, before, { decides: false })
  const hoursNow = async (): Promise<(number | undefined)[]> =>
    (await scheduler.getTriggersOfJob(taskKey)).map((trigger) => trigger.nextFireTime?.getUTCHours())
  expect(await hoursNow()).toEqual([8])
  await scheduler.deleteJob(taskKey)
  await storeJobs(scheduler, before, { decides: false })
  expect(await hoursNow()).toEqual([7])
})

test('an instance whose method is disabled leaves the job of the one that started last', async () => {
  const { scheduler } = await crowdedScheduler()
  const [disabled, last] = [jobsAt(scheduler, []), jobsAt(scheduler, [8])]
  await storeJobs(scheduler, disabled, { decides: true })
  await storeJobs(scheduler, last, { decides: true })
  await storeJobs(scheduler, disabled, { decides: false })
  expect(await scheduler.getTriggersOfJob(taskKey)).toHaveLength(1)
  await storeJobs(scheduler, disabled, { decides: true })
  expect(await scheduler.getJobDetail(taskKey)).toBeNull()
})

/** Something comes between what a caller has read and the next trigger that it replaces. */
class InterruptedStore extends DelegatingJobStore {
  interrupt: (() => Promise<void>) | null = null

  override async rescheduleTrigger(
    key: TriggerKey,
    trigger: Trigger,
    options?: RescheduleOptions,
  ): Promise<boolean> {
    const { interrupt } = this
    this.interrupt = null
    await interrupt?.()
    return super.rescheduleTrigger(key, trigger, options)
  }
}

test('the end of a run leaves the delay of an instance that starts at that moment', async () => {
  const ownClock = new ManualClock()
  const recorder = new Recorder(ownClock)
  const store = new InterruptedStore(ramJobStore())
  const delay = (fixedDelay: string): object => recorder.task('task', { fixedDelay }, 1000)
  const { scheduler } = await startApplication(ownClock, store, [delay('10s')])
  const options = { group: methodsGroup, scheduler, clock: ownClock, logger: silentLogger }
  const ofOther = clusterJobsOf(scheduledMethodsOf([delay('20s')]), { ...options, resolve: () => undefined })
  store.interrupt = () => storeJobs(scheduler, ofOther, { decides: true })
  await ownClock.advance(30_000)
  const [trigger] = await scheduler.getTriggersOfJob(taskKey)
  expect(trigger).toBeInstanceOf(SimpleTrigger)
  expect(trigger).toMatchObject({ repeatIntervalMs: 20_000 })
  expect(recorder.runs).toEqual(['task 0', 'task 21000'])
})

/** Once told so, it answers questions for jobs only when the test says. */
class SlowStore extends DelegatingJobStore {
  whenAsked: (() => Promise<void>) | null = null

  override async getJob(key: JobKey): Promise<JobDetail | null> {
    const job = await super.getJob(key)
    await this.whenAsked?.()
    return job
  }
}

test('methods that are cancelled while their scheduler looks at them stay away', async () => {
  const store = new SlowStore(ramJobStore())
  const scheduler = await createScheduler({ logger: false, clock, jobStore: store })
  onTestFinished(() => scheduler.shutdown())
  const methods = ['a', 'b'].map((name) => ({ run: scheduled({ name, fixedRate: '1h' }, () => {}) }))
  const scheduling = await enableScheduling({ cluster: scheduler, instances: methods })
  let answer = (): void => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const asked = new Promise<void>((resolve) => {
    store.whenAsked = () => {
      resolve()
      return answered
    }
  })
  const started = scheduler.start()
  await asked
  const cancelled = scheduling.cancel()
  answer()
  await Promise.all([started, cancelled])
  await scheduling.close()
  for (const { jobKey } of scheduling.tasks()) expect(await scheduler.getJobDetail(jobKey)).toBeNull()
})

test('a listener that the look itself tells may cancel the methods, and they stay away', async () => {
  const scheduler = await createScheduler({ logger: false, clock })
  onTestFinished(() => scheduler.shutdown())
  const happened: string[] = []
  const run = (name: string): (() => void) =>
    scheduled({ name, fixedRate: '1h' }, () => {
      happened.push('run')
    })
  const methods = ['a', 'b'].map((name) => ({ run: run(name) }))
  const scheduling = await enableScheduling({ cluster: scheduler, instances: methods })
  // Another instance deletes them before the first look stores them again.
  await scheduler.deleteJobs(scheduling.tasks().map(({ jobKey }) => jobKey))
  scheduler.listenerManager.addSchedulerListener({
    jobScheduled: async () => {
      happened.push('stored')
      await scheduling.cancel()
    },
  })
  await scheduler.start()
  await scheduler.idle()
  await scheduling.close()
  expect(happened).toEqual(['stored'])
  for (const { jobKey } of scheduling.tasks()) expect(await scheduler.getJobDetail(jobKey)).toBeNull()
})

test('a listener that the look itself tells may cancel one schedule of a method, whose other ones stay', async () => {
  const scheduler = await createScheduler({ logger: false, clock })
  onTestFinished(() => scheduler.shutdown())
  const run = [1, 2, 3].reduce<() => void>(
    (next, hours) => scheduled({ name: 'task', fixedRate: `${hours}h` }, next),
    () => {},
  )
  const scheduling = await enableScheduling({ cluster: scheduler, instances: [{ run }] })
  const tasks = scheduling.tasks()
  await scheduler.deleteJob(taskKey)
  const cancelled = new Set<string>()
  scheduler.listenerManager.addSchedulerListener({
    jobScheduled: async ({ key }) => {
      if (cancelled.size > 0) return
      cancelled.add(key.name)
      await tasks.find(({ triggerKey }) => triggerKey.equals(key))?.cancel()
    },
  })
  await scheduler.start()
  await scheduling.close()
  const names = (await scheduler.getTriggersOfJob(taskKey)).map(({ key }) => key.name)
  expect(cancelled.size).toBe(1)
  expect(new Set([...names, ...cancelled]).size).toBe(3)
  expect(names).toHaveLength(2)
})
