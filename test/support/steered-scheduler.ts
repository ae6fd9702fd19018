import { GroupMatcher } from '../../src/core/matcher.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobExecutionContext } from '../../src/jobs/job-definition.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { echo } from './server-fixture.ts'

const hourMs = 3_600_000

/** A job whose class cannot be made until it is mended. */
export class Fragile {
  static readonly jobType = 'fragile'
  static isBroken = true

  constructor() {
    if (Fragile.isBroken) throw new Error('no configuration')
  }

  execute(): void {
    // It is enough that it is made.
  }
}

export interface Steered {
  readonly scheduler: Scheduler
  /** The executions of the job `mail/slow`, which run until they are interrupted. */
  nextExecution(): Promise<JobExecutionContext>
}

/** A scheduler for tests of what an operator does to single triggers, many triggers and executions. */
export async function steeredScheduler(
  jobStore: JobStore = sqliteJobStore({ filename: ':memory:', history: { record: 'all' } }),
): Promise<Steered> {
  const begun: JobExecutionContext[] = []
  let onBegun = (): void => undefined
  const slow = defineJob('slow', async (context) => {
    begun.push(context)
    onBegun()
    await new Promise((resolve) => {
      context.signal.addEventListener('abort', resolve)
    })
  })
  const scheduler = await createScheduler({ logger: false, jobStore, jobs: [slow, echo, Fragile] })
  await scheduler.addJob(JobBuilder.newJob(slow).withIdentity('slow', 'mail').storeDurably().build())
  return {
    scheduler,
    async nextExecution() {
      while (begun.length === 0) {
        await new Promise<void>((resolve) => {
          onBegun = resolve
        })
      }
      const context = begun.shift()
      if (context === undefined) throw new Error('no execution has begun')
      return context
    },
  }
}

/** Stores a job of its own with an hourly trigger of the same name. */
export async function addHourly(
  scheduler: Scheduler,
  name: string,
  group: string,
  firstMs: number,
  type = 'echo',
): Promise<void> {
  const job = JobBuilder.newJob(type).withIdentity(name, group).storeDurably().build()
  const trigger = TriggerBuilder.newTrigger()
    .withIdentity(name, group)
    .startAt(new Date(firstMs))
    .withSchedule(SimpleScheduleBuilder.repeatHourlyForever().withMisfireInstruction('fireNow'))
    .build()
  await scheduler.scheduleJob(job, trigger)
}

/** A paused trigger of an hour ago, by the clock of the test. */
export async function addMissed(scheduler: Scheduler, name: string, nowMs: number): Promise<void> {
  await scheduler.pauseTriggers(GroupMatcher.groupEquals('missed'))
  await addHourly(scheduler, name, 'missed', nowMs - 1.5 * hourMs)
}
