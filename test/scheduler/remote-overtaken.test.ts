import { expect, test } from 'vitest'
import { createScheduler, defineRemoteJob, JobBuilder, jobKey, ramJobStore } from '../../src/index.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { JobCompletion } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'

/** Another node's deadline ends what this one ends, between its look and its write. */
class Overtaken extends DelegatingJobStore {
  override async triggeredJobsComplete(
    completions: readonly JobCompletion[],
  ): Promise<readonly JobCompletion[]> {
    const late = completions.filter(({ isAwaited }) => isAwaited)
    await this.inner.triggeredJobsComplete(late.map((each) => ({ ...each, mayBeLate: true })))
    return super.triggeredJobsComplete(completions)
  }
}

test.each([
  ['memory', () => ramJobStore()],
  ['SQLite', () => sqliteJobStore({ filename: ':memory:' })],
] as const)(
  'a result is late when a deadline is faster than its write, on a store in %s',
  async (_, newStore) => {
    const job = defineRemoteJob('r', (context) => context.awaitResult({ reference: 'run', timeoutMs: 5000 }))
    const jobStore = new Overtaken(newStore())
    await using scheduler = await createScheduler({ logger: false, jobs: [job], jobStore })
    const key = jobKey('orders')
    await scheduler.addJob(JobBuilder.newJob(job).withIdentity(key).storeDurably().build())
    await scheduler.start()
    await scheduler.triggerJob(key)
    await scheduler.idle()
    const [first = expect.fail('it executes')] = await scheduler.cluster.executingJobs()
    const late = scheduler.events.next('resultLate')
    expect(await scheduler.reportResult('run', { result: 'paid' })).toBe(false)
    expect(await late).toMatchObject({ reference: 'run', fireInstanceId: first.fireInstanceId })
    expect(await scheduler.reportResult('run')).toBe(false)
  },
)
