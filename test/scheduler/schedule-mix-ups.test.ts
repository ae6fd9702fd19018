import { describe, expect, it } from 'vitest'
import { jobKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { defineWorkerJob } from '../../src/jobs/define-worker-job.ts'
import type { JobSource } from '../../src/jobs/job-definition.ts'
import type { ScheduleOptions } from '../../src/jobs/schedule-options.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'

const run = (): void => {}
const report = defineJob('report', run)
const clean = defineJob('clean', () => {})
class Mail {
  execute(): void {}
}
const jobs: readonly JobSource[] = [report, clean, Mail]
const daily = { key: 'daily', every: '1d' } as const

/** A scheduler, with the warnings that it writes. */
async function open(jobStore: JobStore = new RAMJobStore()) {
  const warnings: string[] = []
  const logger = {
    debug: () => {},
    info: () => {},
    warn: (_: unknown, message: string) => warnings.push(message),
    error: () => {},
  }
  const { scheduler } = await schedulerFixture({ jobs, logger, jobStore })
  return { scheduler, warnings }
}

describe('schedule under a key that another job type has', () => {
  it('takes its place, and says so each time', async () => {
    const { scheduler, warnings } = await open()
    await scheduler.schedule(report, daily)
    expect((await scheduler.schedule(report, { ...daily, every: '2d' })).change).toBe('changed')
    expect(warnings).toEqual([])
    expect((await scheduler.schedule(clean, daily)).change).toBe('changed')
    expect((await scheduler.schedule(clean, daily)).change).toBe('unchanged')
    expect((await scheduler.getJobDetail(jobKey('daily')))?.jobType).toBe('clean')
    expect(warnings).toEqual([expect.stringMatching(/'DEFAULT\.daily' .*'clean'.*'report'.*key of its own/)])
  })

  it('says so also where an earlier program has stored it', async () => {
    const filename = `${temporaryFolder()}/jobs.db`
    const before = await open(sqliteJobStore({ filename }))
    await before.scheduler.schedule(report, daily)
    await before.scheduler.shutdown()
    const { scheduler, warnings } = await open(sqliteJobStore({ filename }))
    await scheduler.schedule(clean, daily)
    expect(warnings).toHaveLength(1)
    await scheduler.shutdown()
  })
})

describe('schedule of a definition under whose name another one is registered', () => {
  it.each<[string, JobSource]>([
    ['with another function', defineJob('report', () => {})],
    ['of a worker', defineWorkerJob('report', new URL('../fixtures/workers/thread.mjs', import.meta.url))],
    [
      'of a class',
      class {
        static readonly jobType = 'report'
        execute(): void {}
      },
    ],
  ])('goes on, and says once that the registered one runs: %s', async (_, other) => {
    const { scheduler, warnings } = await open()
    await scheduler.schedule(other, daily)
    await scheduler.schedule(other, { ...daily, key: 'again' })
    expect(warnings).toEqual([expect.stringMatching(/'report'.*registered.*'jobs' of createScheduler/)])
  })

  it.each<[string, JobSource | string]>([
    ['the registered one', report],
    ['its name', 'report'],
    ['the same function with other options', defineJob('report', run, { timeoutMs: 1000 })],
    ['a registered class', Mail],
  ])('says nothing of %s', async (_, job) => {
    const { scheduler, warnings } = await open()
    await scheduler.schedule(job, daily)
    expect(warnings).toEqual([])
  })
})

describe('an option of the job that is given to its schedule', () => {
  it.each<[string, object, RegExp]>([
    ['retry', { retry: { attempts: 3 } }, /'retry' belongs to the job.*defineJob.*withRetry of JobBuilder/],
    ['attempts', { attempts: 3 }, /'attempts' is a field of 'retry', which belongs to the job/],
    ['backoff', { backoff: {} }, /'backoff' is a field of 'retry', which belongs to the job/],
    [
      'timeoutMs',
      { timeoutMs: 5000 },
      /'timeoutMs' belongs to the job.*defineJob.*withTimeout of JobBuilder/,
    ],
    [
      'disallowConcurrentExecution',
      { disallowConcurrentExecution: true },
      /belongs to the job.*disallowConcurrentExecution of JobBuilder/,
    ],
    ['schema', { schema: {} }, /'schema' belongs to the job.*{ schema }\)\.$/],
  ])('is refused with where it belongs: %s', async (field, options, message) => {
    const { scheduler } = await open()
    const schedule = { in: 0, ...options } as ScheduleOptions
    await expect(scheduler.schedule('report', schedule)).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      field,
      message: expect.stringMatching(message) as string,
    })
  })
})

it("takes '0s' for at once, and says so of '0'", async () => {
  const { scheduler } = await open()
  expect((await scheduler.schedule('report', { in: '0s' })).change).toBe('added')
  await expect(scheduler.schedule('report', { in: '0' })).rejects.toThrow(/pass the number 0 .* such as '0s'/)
})
