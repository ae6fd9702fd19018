import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  createScheduler,
  defineJob,
  defineRemoteJob,
  JobBuilder,
  type JobSource,
  jobKey,
  type Scheduler,
} from '../../src/index.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { ManualClock } from '../../src/testing.ts'
import { temporaryFolder } from '../support/sqlite.ts'

const theJob = jobKey('billing')
const timeoutMs = 30_000

/** A file of which one firing goes on elsewhere, after a shutdown; and what opens it with other code. */
async function sentBefore() {
  const clock = new ManualClock()
  const filename = join(temporaryFolder(), 'jobs.db')
  const open = async (jobs: readonly JobSource[]): Promise<Scheduler> => {
    const jobStore = sqliteJobStore({ filename })
    const scheduler = await createScheduler({ clock, logger: false, jobs, jobStore })
    onTestFinished(() => scheduler.shutdown())
    return scheduler
  }
  const billing = defineRemoteJob('billing', (context) =>
    context.awaitResult({ reference: 'run', timeoutMs }),
  )
  const scheduler = await open([billing])
  await scheduler.addJob(JobBuilder.newJob(billing).withIdentity(theJob).storeDurably().build())
  await scheduler.start()
  await scheduler.triggerJob(theJob)
  await scheduler.idle()
  await scheduler.shutdown()
  return { clock, open }
}

const inFlight = async (scheduler: Scheduler): Promise<number> =>
  (await scheduler.cluster.executingJobs()).length

test.each([
  ['no remote job', defineJob('other', () => {})],
  ['another remote job', defineRemoteJob('other', () => {})],
])('a firing of a job whose code is gone ends at its deadline, with %s', async (_, other) => {
  const { clock, open } = await sentBefore()
  const scheduler = await open([other])
  await scheduler.start()
  expect(await inFlight(scheduler)).toBe(1)
  const ended = scheduler.events.next('jobWasExecuted')
  await clock.advance(timeoutMs)
  expect((await ended).error?.code).toBe('ERR_JOB_TIMEOUT')
  await scheduler.idle()
  expect(await inFlight(scheduler)).toBe(0)
})

test.each([
  ['no remote job', defineJob('other', () => {})],
  ['another remote job', defineRemoteJob('other', () => {})],
  ['the job as one that runs here', defineJob('billing', () => {})],
])('it is interrupted, and it is said that it was not stopped, with %s', async (_, other) => {
  const { open } = await sentBefore()
  const scheduler = await open([other])
  const errors: string[] = []
  scheduler.events.on('schedulerError', ({ error }) => errors.push(error.message))
  expect(await scheduler.interrupt(theJob)).toBe(true)
  expect(errors).toEqual([expect.stringContaining('was not stopped')])
  expect(await inFlight(scheduler)).toBe(0)
  expect(await scheduler.interrupt(theJob)).toBe(false)
})
