import { expect, onTestFinished, test, vi } from 'vitest'
import { invariant } from '../../src/core/errors.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { DelegatingJobStore, type JobStoreOperation } from '../../src/jobstore/delegating-job-store.ts'
import type { JobStoreContext } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { inProcessThreadPool } from '../../src/threadpool/in-process-thread-pool.ts'
import { AdjustableClock } from '../../src/time/adjustable-clock.ts'
import type { Clock } from '../../src/time/clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { type Latch, latch } from '../support/latch.ts'

/** A store whose calls are noted, and whose answers can be kept back. */
class WatchedStore extends DelegatingJobStore {
  clock: Clock | null = null
  readonly calls: string[] = []
  /** What is waited for, or thrown, after an operation was carried out. */
  after: Partial<Record<JobStoreOperation, () => Promise<void>>> = {}

  protected override async around<Answer>(
    operation: JobStoreOperation,
    proceed: () => Promise<Answer>,
  ): Promise<Answer> {
    this.calls.push(operation)
    const answer = await proceed()
    await this.after[operation]?.()
    return answer
  }

  override initialize(context: JobStoreContext): Promise<void> {
    this.clock = context.clock
    return super.initialize(context)
  }

  /** How often these were called since the last look. */
  counts(...operations: readonly JobStoreOperation[]): number[] {
    const calls = this.calls.splice(0)
    return operations.map((operation) => calls.filter((call) => call === operation).length)
  }
}

async function started(size = 2) {
  const clock = new ManualClock()
  const store = new WatchedStore(sqliteJobStore({ filename: ':memory:' }))
  const log: string[] = []
  const running: Latch[] = []
  const quick = defineJob('quick', ({ triggerKey }) => {
    log.push(`ran ${triggerKey.name}`)
  })
  const slow = defineJob('slow', async ({ triggerKey }) => {
    log.push(`began ${triggerKey.name}`)
    const end = latch()
    running.push(end)
    await end.promise
  })
  const scheduler = await createScheduler({
    clock,
    jobs: [quick, slow],
    jobStore: store,
    threadPool: inProcessThreadPool({ size }),
    logger: false,
  })
  onTestFinished(async () => {
    store.after = {}
    for (const { open } of running) open()
    await scheduler.shutdown({ waitForJobsToComplete: true })
  })
  await scheduler.start()
  await clock.settle()
  store.calls.length = 0
  const now = (name: string) =>
    TriggerBuilder.newTrigger({ clock }).withIdentity(name).startAt(new Date(clock.now())).build()
  const job = (name: string, definition = quick) => JobBuilder.newJob(definition).withIdentity(name).build()
  return { clock, store, log, running, quick, slow, scheduler, now, job }
}

test('a trigger that is due fires in the call that stores it, and the loop sleeps on', async () => {
  const { clock, store, log, scheduler, now, job } = await started()
  for (const event of ['jobAdded', 'jobScheduled'] as const) scheduler.events.on(event, () => log.push(event))
  await scheduler.scheduleJob(job('j'), now('t'))
  log.push('answered')
  await clock.settle()
  expect(log).toEqual(['jobAdded', 'jobScheduled', 'answered', 'ran t'])
  expect(store.counts('scheduleAndFire', 'scheduleJobs', 'acquireAndFire', 'triggeredJobsComplete')).toEqual([
    1, 0, 0, 1,
  ])
  await scheduler.idle()
  expect(await scheduler.checkExists(job('j').key)).toBe(false)
})

test('so does that of triggerJob, and the caller has its key before the job begins', async () => {
  const { clock, store, log, scheduler, quick } = await started()
  const durable = JobBuilder.newJob(quick).withIdentity('j').storeDurably().build()
  await scheduler.addJob(durable)
  store.calls.length = 0
  const { name } = await scheduler.triggerJob(durable.key)
  log.push('answered')
  await clock.settle()
  expect(log).toEqual(['answered', `ran ${name}`])
  expect(store.counts('scheduleAndFire', 'acquireAndFire')).toEqual([1, 0])
})

test('a trigger that is due by the machine’s clock fires in the call that stores it', async () => {
  const { clock, store, log, scheduler, job } = await started()
  invariant(store.clock instanceof AdjustableClock, 'a scheduler has a clock that its store corrects')
  store.clock.adjust(-12, 0)
  const dueInMs = (name: string, delayMs: number) =>
    TriggerBuilder.newTrigger({ clock })
      .withIdentity(name)
      .startAt(new Date((store.clock?.now() ?? 0) + delayMs))
      .build()
  await scheduler.scheduleJob(job('a'), dueInMs('a', 5))
  await scheduler.scheduleJob(job('b'), dueInMs('b', 6))
  await clock.settle()
  expect(log).toEqual(['ran a'])
  expect(store.counts('scheduleAndFire', 'scheduleJobs')).toEqual([1, 1])
})

test('a trigger fires in the call that stores it also when the loop is about to sleep', async () => {
  const { clock, store, log, scheduler, now, job } = await started()
  // A search that takes long: the loop lets others have their turn before it goes on.
  store.after = { acquireAndFire: () => clock.advance(5) }
  const ofClock = clock.setImmediate.bind(clock)
  clock.setImmediate = (onFire) => {
    clock.setImmediate = ofClock
    return ofClock(() => {
      log.push('between two turns')
      void scheduler.scheduleJob(job('j'), now('t')).then(onFire)
    })
  }
  // Stored as by another node, and announced to the loop.
  const later = TriggerBuilder.newTrigger({ clock }).withIdentity('later').forJob(job('later').key)
  const trigger = later
    .startAt(new Date(clock.now() + 10_000))
    .build()
    .computeFirstFireTime(null)
  await store.scheduleJobs([{ job: job('later'), triggers: [trigger] }], { replace: false })
  await vi.waitFor(
    () => {
      expect(log).toEqual(['between two turns', 'ran t'])
    },
    { timeout: 10_000 },
  )
  expect(store.counts('scheduleAndFire', 'acquireAndFire')).toEqual([1, 1])
})

test('a scheduler in standby only stores', async () => {
  const { clock, store, log, scheduler, now, job } = await started()
  await scheduler.standby()
  await scheduler.scheduleJob(job('j'), now('t'))
  await clock.settle()
  expect([log, store.counts('scheduleAndFire', 'scheduleJobs')]).toEqual([[], [0, 1]])
  await scheduler.start()
  await vi.waitFor(
    () => {
      expect(log).toEqual(['ran t'])
    },
    { timeout: 5000 },
  )
})

test('what finds no free thread waits for one as any trigger', async () => {
  const { clock, log, running, slow, scheduler, now, job } = await started(1)
  await scheduler.scheduleJob(job('a', slow), now('a'))
  await clock.settle()
  await scheduler.scheduleJob(job('b', slow), now('b'))
  await clock.settle()
  expect(log).toEqual(['began a'])
  running[0]?.open()
  await vi.waitFor(
    () => {
      expect(log).toEqual(['began a', 'began b'])
    },
    { timeout: 5000 },
  )
})

test('the loop takes no thread that is reserved, and goes on when that is taken', async () => {
  const { clock, store, log, scheduler, now, job } = await started(1)
  const held = latch()
  store.after = { scheduleAndFire: () => held.promise }
  const first = scheduler.scheduleJob(job('first'), now('first'))
  await clock.settle()
  // Stored as by another node, and announced to the loop.
  const trigger = now('second').withJobKey(job('second').key).computeFirstFireTime(null)
  await store.scheduleJobs([{ job: job('second'), triggers: [trigger] }], { replace: false })
  await clock.settle()
  expect([log, store.counts('acquireAndFire')]).toEqual([[], [0]])
  held.open()
  await first
  await vi.waitFor(
    () => {
      expect(log).toEqual(['ran first', 'ran second'])
    },
    { timeout: 5000 },
  )
})

test('a call that fails leaves the thread free', async () => {
  const { clock, store, log, scheduler, now, job } = await started(1)
  await scheduler.scheduleJob(job('j'), now('t'))
  await clock.settle()
  store.after = { scheduleAndFire: () => Promise.reject(new Error('the answer is lost')) }
  await expect(scheduler.scheduleJob(job('lost'), now('lost'))).rejects.toThrow('the answer is lost')
  store.after = {}
  await scheduler.scheduleJob(job('next'), now('next'))
  await clock.settle()
  expect(log).toEqual(['ran t', 'ran next'])
})

test.each(['standby', 'shutdown'] as const)('a %s runs what was fired while it began', async (how) => {
  const { clock, store, log, scheduler, now, job } = await started()
  const held = latch()
  store.after = { scheduleAndFire: () => held.promise }
  const scheduled = scheduler.scheduleJob(job('j'), now('t'))
  await clock.settle()
  let hasEnded = false
  const ending = (
    how === 'standby' ? scheduler.standby() : scheduler.shutdown({ waitForJobsToComplete: true })
  ).then(() => {
    hasEnded = true
  })
  await clock.settle()
  expect([hasEnded, log]).toEqual([false, []])
  held.open()
  await scheduled
  await ending
  expect(log).toEqual(['ran t'])
})
