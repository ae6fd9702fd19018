import { expect, onTestFinished, test } from 'vitest'
import {
  createScheduler,
  defineJob,
  defineRemoteJob,
  JobBuilder,
  jobKey,
  ramJobStore,
} from '../../src/index.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { CompletionAnswer, JobCompletion } from '../../src/jobstore/job-store.ts'
import { latch } from '../support/latch.ts'

/** Takes no end of a firing that goes on elsewhere while it is away. */
class Away extends DelegatingJobStore {
  readonly asked = latch()
  isAway = true

  override async triggeredJobsComplete(completions: readonly JobCompletion[]): Promise<CompletionAnswer> {
    if (!this.isAway || completions.every(({ isAwaited }) => isAwaited !== true)) {
      return super.triggeredJobsComplete(completions)
    }
    this.asked.open()
    throw new Error('The database is away.')
  }
}

const sending = defineRemoteJob('sending', async (context) => {
  await context.awaitResult({ reference: 'run', timeoutMs: 3_600_000 })
  throw new Error('cannot send')
})

/** The only slot has run a job that threw after it was written down, and the store does not take its end. */
async function open() {
  const said: string[] = []
  const say = (fields: { err?: unknown }, message: string): void => {
    const { err } = fields
    const cause = err instanceof Error ? err.cause : undefined
    said.push(cause instanceof Error ? `${message} ${cause.message}` : message)
  }
  const ran = latch()
  const other = defineJob('other', () => {
    ran.open()
  })
  const store = new Away(ramJobStore())
  const scheduler = await createScheduler({
    logger: { debug: () => {}, info: () => {}, warn: say, error: say },
    jobs: [sending, other],
    threadPool: { size: 1 },
    jobStore: store,
  })
  onTestFinished(() => scheduler.shutdown())
  await scheduler.addJob(JobBuilder.newJob(sending).withIdentity(jobKey('sending')).storeDurably().build())
  await scheduler.addJob(JobBuilder.newJob(other).withIdentity(jobKey('other')).storeDurably().build())
  await scheduler.start()
  await scheduler.triggerJob(jobKey('sending'))
  await store.asked.promise
  return { scheduler, store, said, ran }
}

const threw = 'Job DEFAULT.sending threw after awaitResult, which ends its firing.'

test('a job that fails to send frees its slot and is in the log before the store has taken its end', async () => {
  const { scheduler, said, ran } = await open()
  expect(said).toContainEqual(expect.stringContaining(threw))
  await scheduler.triggerJob(jobKey('other'))
  await ran.promise
  await scheduler.shutdown({ waitForJobsToComplete: true, timeoutMs: 1 })
  expect(said).not.toContainEqual(expect.stringContaining('still run'))
})

test('the scheduler is idle when the end of a job that failed to send is told', async () => {
  const { scheduler, store } = await open()
  const told: string[] = []
  scheduler.listenerManager.addJobListener({
    name: 'slow',
    jobWasExecuted: async () => {
      await new Promise(setImmediate)
      told.push('jobWasExecuted')
    },
  })
  store.isAway = false
  await scheduler.idle()
  expect(told).toEqual(['jobWasExecuted'])
})
