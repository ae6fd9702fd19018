import { sqliteJobStore } from 'quartz-ts/sqlite'
import { describe, expect, it } from 'vitest'
import { defineJob } from '../../../src/jobs/define-job.ts'
import { JobBuilder } from '../../../src/jobs/job-builder.ts'
import { createScheduler } from '../../../src/scheduler/create-scheduler.ts'
import { schedulerFixture } from '../../support/scheduler-fixture.ts'

describe('a store that keeps job data as properties', () => {
  it('lets an execution end that left a number in its data, and says so', async () => {
    const runs: unknown[] = []
    const counter = defineJob(
      'counter',
      ({ jobDetail }) => {
        runs.push(jobDetail.jobDataMap['count'])
        jobDetail.jobDataMap['count'] = runs.length
      },
      { persistJobDataAfterExecution: true, disallowConcurrentExecution: true },
    )
    const { scheduler, clock, errors, everySecond } = await schedulerFixture({
      jobStore: sqliteJobStore({ filename: ':memory:', jobData: 'properties' }),
      jobs: [counter],
    })
    const job = JobBuilder.newJob(counter).withIdentity('c').usingJobData({ count: 'zero' }).build()
    await scheduler.scheduleJob(job, everySecond('t').getTriggerBuilder().forJob(job).build())
    await scheduler.start()
    await clock.advance(3000)
    expect(runs.slice(0, 2)).toEqual(['zero', 'zero'])
    expect(errors[0]).toContain("'DEFAULT.c'")
    await scheduler.shutdown({ waitForJobsToComplete: true })
  })
})

describe('the identity of a scheduler', () => {
  it('is refused when it is longer than its column', async () => {
    const long = createScheduler({
      schedulerName: 'n'.repeat(121),
      jobStore: sqliteJobStore({ filename: ':memory:' }),
    })
    await expect(long).rejects.toMatchObject({ name: 'InvalidArgumentError', field: 'schedulerName' })
  })

  it('may be as long as its column: names of firings are shorter', async () => {
    const ids: string[] = []
    const note = defineJob('id', ({ fireInstanceId }) => {
      ids.push(fireInstanceId)
    })
    const { scheduler, clock } = await schedulerFixture({
      instanceId: 'i'.repeat(200),
      jobs: [note],
      jobStore: sqliteJobStore({ filename: ':memory:' }),
    })
    const job = JobBuilder.newJob(note).withIdentity('c').storeDurably().build()
    await scheduler.addJob(job)
    await scheduler.start()
    await scheduler.triggerJob(job.key)
    await clock.advance(1000)
    expect(ids).toHaveLength(1)
    expect(ids[0]?.length).toBeLessThanOrEqual(95)
    await scheduler.shutdown()
  })
})
