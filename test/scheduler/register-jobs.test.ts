import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'

describe('registerJobs', () => {
  const late = defineJob('late', () => undefined)
  const later = defineJob('later', () => undefined)

  test('makes jobs known between createScheduler and start', async () => {
    const { scheduler, clock, once } = await schedulerFixture()
    scheduler.registerJobs([late, later])
    const ran = scheduler.events.next('jobWasExecuted')
    await scheduler.scheduleJob(JobBuilder.newJob('late').build(), once('trigger', 10))
    await scheduler.start()
    await clock.advance(10)
    expect((await ran).context.jobDetail.jobType).toBe('late')
    expect((await scheduler.cluster.nodes())[0]?.jobTypes).toEqual(['note', 'late', 'later'])
    await scheduler.shutdown()
  })

  test('takes all or none', async () => {
    const { scheduler } = await schedulerFixture()
    expect(() => {
      scheduler.registerJobs([late, defineJob('note', () => 1)])
    }).toThrow(/'note' is registered already/)
    expect(() => {
      scheduler.registerJobs([late, later, defineJob('later', () => 1)])
    }).toThrow(/'later' is registered already/)
    expect((await scheduler.cluster.nodes())[0]?.jobTypes).toEqual(['note'])
    await scheduler.shutdown()
  })

  test('is refused once a start has begun, and after a shutdown', async () => {
    const { scheduler } = await schedulerFixture()
    const register = (): void => {
      scheduler.registerJobs([late])
    }
    const started = scheduler.start()
    await Promise.resolve()
    await Promise.resolve()
    expect(register).toThrow(expect.objectContaining({ code: 'ERR_SCHEDULER_STATE' }))
    await started
    await scheduler.standby()
    expect(register).toThrow(/before the first start only/)
    await scheduler.shutdown()
    expect(register).toThrow(expect.objectContaining({ code: 'ERR_SCHEDULER_SHUTDOWN' }))
  })
})
