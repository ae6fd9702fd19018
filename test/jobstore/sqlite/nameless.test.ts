import { join } from 'node:path'
import { expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { defineJob } from '../../../src/jobs/define-job.ts'
import { JobBuilder } from '../../../src/jobs/job-builder.ts'
import type { JobStore } from '../../../src/jobstore/job-store.ts'
import { ramJobStore } from '../../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../../src/scheduler/scheduler.ts'
import { SimpleScheduleBuilder } from '../../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../../src/triggers/families/trigger-builder.ts'
import { temporaryFolder } from '../../support/sqlite.ts'

const work = defineJob('work', () => {})
const inMs = (ms: number): Date => new Date(new Date().getTime() + ms)
const hourly = () => TriggerBuilder.newTrigger().withSchedule(SimpleScheduleBuilder.repeatHourlyForever())

/** The warnings about names that a scheduler gives while it is used so. */
async function warningsOf(
  use: (scheduler: Scheduler) => Promise<unknown>,
  jobStore: JobStore = sqliteJobStore({ filename: join(temporaryFolder(), 'jobs.db') }),
): Promise<string[]> {
  const warnings: string[] = []
  const warn = (_fields: object, message: string): void => {
    if (message.includes('withIdentity')) warnings.push(message)
  }
  await using scheduler = await createScheduler({ jobs: [work], jobStore, logger: { ...silentLogger, warn } })
  await use(scheduler)
  return warnings
}

const nameless = JobBuilder.newJob(work)

test('something without a name that lasts in a lasting store is warned of once', async () => {
  const warnings = await warningsOf(async (scheduler) => {
    await scheduler.scheduleJob(nameless.build(), hourly().build())
    await scheduler.scheduleJobs([{ job: nameless.build(), triggers: [hourly().build()] }])
  })
  expect(warnings).toEqual([expect.stringMatching(/^Trigger DEFAULT\.\S+ has a generated name/)])
})

test('also a durable job, a trigger of its own, and one that fires later', async () => {
  const job = JobBuilder.newJob(work).withIdentity('job').storeDurably().build()
  expect(await warningsOf((it) => it.addJob(JobBuilder.newJob(work).storeDurably().build()))).toHaveLength(1)
  const uses = [
    hourly().forJob(job).build(),
    TriggerBuilder.newTrigger().forJob(job).startAt(inMs(90_000)).build(),
  ]
  for (const trigger of uses) {
    const warnings = await warningsOf(async (scheduler) => {
      await scheduler.addJob(job)
      await scheduler.scheduleJob(trigger)
    })
    expect(warnings).toHaveLength(1)
  }
})

test('what has a name, runs once and soon, or lies in memory is not', async () => {
  const quiet = await warningsOf(async (scheduler) => {
    await scheduler.scheduleJob(nameless.build(), hourly().withIdentity('hourly').build())
    await scheduler.scheduleJob(nameless.build(), TriggerBuilder.newTrigger().startNow().build())
    await scheduler.addJob(JobBuilder.newJob(work).withIdentity('durable').storeDurably().build())
    await scheduler.triggerJob(JobBuilder.newJob(work).withIdentity('durable').build().key)
  })
  expect(quiet).toEqual([])
  const inMemory = (it: Scheduler): Promise<Date> => it.scheduleJob(nameless.build(), hourly().build())
  expect(await warningsOf(inMemory, ramJobStore())).toEqual([])
})
