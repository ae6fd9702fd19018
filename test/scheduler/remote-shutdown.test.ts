import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  createScheduler,
  defineRemoteJob,
  JobBuilder,
  type JobKey,
  jobKey,
  ramJobStore,
  type Scheduler,
} from '../../src/index.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import type { JobStoreAwaitedResults } from '../../src/jobstore/awaited-results.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { type Latch, latch } from '../support/latch.ts'
import { temporaryFolder } from '../support/sqlite.ts'

const theJob = jobKey('billing')
const billing = defineRemoteJob(
  'billing',
  (context) => context.awaitResult({ reference: 'run', timeoutMs: 3_600_000 }),
  { retry: { attempts: 2, backoff: { initialMs: 60_000 } } },
)
const shutDown = { code: 'ERR_SCHEDULER_SHUTDOWN' }

const warnings: string[] = []
const warn = (_fields: object, message: string): void => {
  warnings.push(message)
}

async function open(jobStore: JobStore): Promise<Scheduler> {
  const logger = { debug: () => {}, info: () => {}, warn, error: () => {} }
  const scheduler = await createScheduler({ logger, jobs: [billing], jobStore })
  onTestFinished(() => scheduler.shutdown())
  return scheduler
}

/** What a failed execution asks before its end is written is answered when the gate is open. */
class SlowEnd extends DelegatingJobStore {
  asked = latch()
  mayAnswer: Promise<void> = Promise.resolve()

  override async getJob(key: JobKey): Promise<JobDetail | null> {
    this.asked.open()
    await this.mayAnswer
    return super.getJob(key)
  }
}

/** A firing of it goes on elsewhere, and the store holds up its end when it fails. */
async function openWithSlowEnd(jobStore: SlowEnd): Promise<{ scheduler: Scheduler; end: Latch }> {
  const scheduler = await open(jobStore)
  await scheduler.addJob(JobBuilder.newJob(billing).withIdentity(theJob).storeDurably().build())
  await scheduler.start()
  await scheduler.triggerJob(theJob)
  await scheduler.idle()
  const end = latch()
  jobStore.asked = latch()
  jobStore.mayAnswer = end.promise
  return { scheduler, end }
}

/** The scheduler shuts down, and its store is closed. */
async function close(scheduler: Scheduler): Promise<void> {
  const closed = scheduler.events.next('schedulerShutdown')
  onTestFinished(() => scheduler.shutdown())
  scheduler.shutdown().catch(() => expect.fail())
  await closed
}

test.each<[string, (scheduler: Scheduler) => Promise<boolean>]>([
  ['reportResult', (scheduler) => scheduler.reportResult('run', { error: 'no money' })],
  ['interrupt', (scheduler) => scheduler.interrupt(theJob)],
])(
  '%s throws when the scheduler closes before the end is stored, and works after the next start',
  async (_, act) => {
    const filename = join(temporaryFolder(), 'jobs.db')
    const store = new SlowEnd(sqliteJobStore({ filename }))
    const { scheduler, end } = await openWithSlowEnd(store)
    const told: string[] = []
    for (const event of ['jobWasExecuted', 'jobRetryScheduled', 'jobInterrupted'] as const) {
      scheduler.events.on(event, () => told.push(event))
    }
    const refused = expect(act(scheduler)).rejects.toMatchObject(shutDown)
    await store.asked.promise
    await close(scheduler)
    warnings.length = 0
    end.open()
    await refused
    expect(told, 'nobody is told of an end that did not happen').toEqual([])
    expect(warnings).toContainEqual(expect.stringContaining('awaited until it is reported again'))
    expect(warnings).not.toContainEqual(expect.stringContaining('counts it as lost'))
    const second = await open(sqliteJobStore({ filename }))
    expect(await second.cluster.executingJobs()).toHaveLength(1)
    expect(await act(second)).toBe(true)
    expect(await second.cluster.executingJobs()).toEqual([])
  },
)

/** Its looks for results answer when the gate is open. */
class SlowLooks extends SlowEnd {
  looking = latch()
  answers: Promise<void> = Promise.resolve()

  override get awaitedResults(): JobStoreAwaitedResults | null {
    const { awaitedResults: inner } = this.inner
    return (
      inner && {
        put: (results) => inner.put(results),
        find: async (references) => {
          const found = await inner.find(references)
          this.looking.open()
          await this.answers
          return found
        },
        findTarget: (target) => inner.findTarget(target),
        inFlight: (skip) => inner.inFlight(skip),
        overdue: (nowMs, skip) => inner.overdue(nowMs, skip),
      }
    )
  }
}

test('a second report that was looked up before is refused too, when the end of the first is not stored', async () => {
  const store = new SlowLooks(ramJobStore())
  const { scheduler, end } = await openWithSlowEnd(store)
  const first = expect(scheduler.reportResult('run', { error: 'no money' })).rejects.toMatchObject(shutDown)
  await store.asked.promise
  const look = latch()
  store.answers = look.promise
  store.looking = latch()
  const second = expect(scheduler.reportResult('run')).rejects.toMatchObject(shutDown)
  await store.looking.promise
  await close(scheduler)
  end.open()
  await first
  look.open()
  await second
})
