import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  createScheduler,
  defineRemoteJob,
  JobBuilder,
  jobKey,
  ramJobStore,
  type Scheduler,
} from '../../src/index.ts'
import type { JobStoreAwaitedResults } from '../../src/jobstore/awaited-results.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { type Latch, latch } from '../support/latch.ts'
import { temporaryFolder } from '../support/sqlite.ts'

const theJob = jobKey('billing')
const billing = defineRemoteJob('billing', (context) =>
  context.awaitResult({ reference: 'run', timeoutMs: 3_600_000 }),
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

/** A firing of it goes on elsewhere, and a listener holds up its end. */
async function openWithSlowEnd(jobStore: JobStore): Promise<{ scheduler: Scheduler; end: Latch }> {
  const scheduler = await open(jobStore)
  await scheduler.addJob(JobBuilder.newJob(billing).withIdentity(theJob).storeDurably().build())
  await scheduler.start()
  await scheduler.triggerJob(theJob)
  await scheduler.idle()
  const end = latch()
  scheduler.listenerManager.addJobListener({ name: 'slow', jobWasExecuted: () => end.promise })
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
  ['reportResult', (scheduler) => scheduler.reportResult('run', { result: 'paid' })],
  ['interrupt', (scheduler) => scheduler.interrupt(theJob)],
])(
  '%s throws when the scheduler closes before the end is stored, and works after the next start',
  async (_, act) => {
    const filename = join(temporaryFolder(), 'jobs.db')
    const { scheduler, end } = await openWithSlowEnd(sqliteJobStore({ filename }))
    const told = scheduler.events.next('jobWasExecuted')
    const refused = expect(act(scheduler)).rejects.toMatchObject(shutDown)
    await told
    await close(scheduler)
    warnings.length = 0
    end.open()
    await refused
    expect(warnings).toContainEqual(expect.stringContaining('awaited until it is reported again'))
    expect(warnings).not.toContainEqual(expect.stringContaining('counts it as lost'))
    const second = await open(sqliteJobStore({ filename }))
    expect(await second.cluster.executingJobs()).toHaveLength(1)
    expect(await act(second)).toBe(true)
    expect(await second.cluster.executingJobs()).toEqual([])
  },
)

/** Its looks for results answer when the gate is open. */
class SlowLooks extends DelegatingJobStore {
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
  const told = scheduler.events.next('jobWasExecuted')
  const first = expect(scheduler.reportResult('run')).rejects.toMatchObject(shutDown)
  await told
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
