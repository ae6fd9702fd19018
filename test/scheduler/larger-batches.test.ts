import { expect, onTestFinished, test, vi } from 'vitest'
import { defineJob } from '../../src/jobs/define-job.ts'
import { defineRemoteJob } from '../../src/jobs/define-remote-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobDefinition } from '../../src/jobs/job-definition.ts'
import { DelegatingJobStore, type JobStoreOperation } from '../../src/jobstore/delegating-job-store.ts'
import type { AcquiredAndFired } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler, type SchedulerOptions } from '../../src/scheduler/create-scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'

/** How many triggers each search has fired, without those that fired none. */
class CountingStore extends DelegatingJobStore {
  readonly batches: number[] = []

  protected override async around<Answer>(
    operation: JobStoreOperation,
    proceed: () => Promise<Answer>,
  ): Promise<Answer> {
    const answer = await proceed()
    if (operation === 'acquireAndFire') {
      const { fired } = answer as AcquiredAndFired
      if (fired.length > 0) this.batches.push(fired.length)
    }
    return answer
  }
}

/** Lets go on what has begun, until this many have. */
async function letGoOn(list: (() => void)[], count: number): Promise<void> {
  for (let ended = 0; ended < count; ) {
    await vi.waitUntil(() => list.length > 0, { timeout: 10_000 })
    for (const goOn of list.splice(0)) {
      goOn()
      ended++
    }
  }
}

/** A pool of two slots; sends and work last until they are let go on. */
async function open(sendsAtOnce: number, options: SchedulerOptions = {}) {
  const clock = new ManualClock()
  const store = new CountingStore(sqliteJobStore({ filename: ':memory:' }))
  const sends: (() => void)[] = []
  const works: (() => void)[] = []
  const waitIn = (list: (() => void)[]) => new Promise<void>((resolve) => void list.push(resolve))
  const send = defineRemoteJob(
    'send',
    async (context) => {
      await context.awaitResult({ timeoutMs: 600_000 })
      await waitIn(sends)
    },
    { sendsAtOnce },
  )
  const work = defineJob('work', () => waitIn(works))
  const scheduler = await createScheduler({
    clock,
    logger: false,
    jobStore: store,
    jobs: [send, work],
    threadPool: { size: 2 },
    ...options,
  })
  onTestFinished(() => scheduler.shutdown())
  const errors: string[] = []
  scheduler.events.on('schedulerError', ({ message }) => {
    errors.push(message)
  })
  /** Stores a trigger for each of these, all due at once, in this order. */
  const schedule = async (definitions: readonly JobDefinition[], name: string): Promise<void> => {
    const entries = [...new Set(definitions)].map((definition) => {
      const job = JobBuilder.newJob(definition).withIdentity(`${name} ${definition.jobType}`).build()
      const triggers = [...definitions.entries()].flatMap(([index, each]) =>
        each === definition
          ? TriggerBuilder.newTrigger({ clock })
              .withIdentity(`${name} ${String(index).padStart(3, '0')}`)
              .startAt(new Date(clock.now()))
              .forJob(job)
              .build()
          : [],
      )
      return { job, triggers }
    })
    await scheduler.scheduleJobs(entries)
  }
  const times = (count: number) => Array.from({ length: count }, () => send)
  const finish = async (list: (() => void)[], count: number): Promise<void> => {
    await letGoOn(list, count)
    await scheduler.idle()
  }
  await scheduler.start()
  return {
    clock,
    scheduler,
    schedule,
    finish,
    sends,
    works,
    send,
    work,
    times,
    batches: store.batches,
    errors,
  }
}

test('sends that are due at once are fired in large batches, whatever the size of the pool', async () => {
  const { schedule, finish, sends, times, batches } = await open(500)
  await schedule(times(350), 'first')
  await finish(sends, 350)
  // While little was due, the loop left a slot to triggers that fire as they are stored.
  expect(batches).toEqual([1, 302, 47])
  batches.length = 0
  await schedule(times(60), 'second')
  await finish(sends, 60)
  expect(batches).toEqual([60])
})

test('no more than the definition says at one time, beside the slots', async () => {
  const { schedule, finish, sends, times, batches, scheduler } = await open(10)
  await schedule(times(2), 'first')
  await finish(sends, 2)
  await schedule(times(30), 'second')
  await vi.waitUntil(() => sends.length === 12, { timeout: 10_000 })
  expect(scheduler.getCurrentlyExecutingJobs()).toHaveLength(12)
  await finish(sends, 30)
  expect(Math.max(...batches)).toBeLessThanOrEqual(12)
})

test('a batch size that was asked for is kept', async () => {
  const { schedule, finish, sends, times, batches } = await open(500, { maxBatchSize: 4 })
  await schedule(times(2), 'first')
  await finish(sends, 2)
  await schedule(times(30), 'second')
  await finish(sends, 30)
  expect(Math.max(...batches)).toBe(2)
})

test('jobs that take slots get no more than there are', async () => {
  const { schedule, finish, sends, works, send, work, times, batches, errors } = await open(500)
  await schedule(times(2), 'first')
  await finish(sends, 2)
  batches.length = 0
  const mixed = Array.from({ length: 40 }, (_, index) => (index % 4 === 3 ? work : send))
  await schedule(mixed, 'mixed')
  await vi.waitUntil(() => works.length === 2, { timeout: 10_000 })
  // The sends need no slot, so they wait for none.
  expect([sends.length, batches]).toEqual([30, [31, 1]])
  await Promise.all([finish(works, 10), finish(sends, 30)])
  expect(errors).toEqual([])
})
