import { describe, expect, it, onTestFinished } from 'vitest'
import { createScheduler, defineJob, JobBuilder, type Scheduler } from '../../src/index.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { JobStoreContext } from '../../src/jobstore/job-store.ts'
import { ramJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'

const minutes = 60_000
/** Longer than a slow machine takes between two lines of a test. */
const slackMs = 30_000

const work = defineJob('work', () => {})

/** A scheduler whose store says that its time is so far ahead of the machine's. */
async function besideStore(aheadMs: number): Promise<Scheduler> {
  const store = new (class extends DelegatingJobStore {
    override async initialize(context: JobStoreContext): Promise<void> {
      await super.initialize(context)
      context.signaler.clockOffsetMeasured(aheadMs, 0)
    }
  })(ramJobStore())
  const scheduler = await createScheduler({ jobs: [work], jobStore: store, logger: false })
  onTestFinished(() => scheduler.shutdown())
  await scheduler.addJob(JobBuilder.newJob(work).withIdentity('work').storeDurably().build())
  return scheduler
}

/** How far the stored start of a trigger is from the scheduler's "now". */
async function startOf(scheduler: Scheduler, trigger: Trigger): Promise<number> {
  await scheduler.scheduleJob(trigger)
  const stored = await scheduler.getTrigger(trigger.key)
  return (stored?.startTimeMs ?? Number.NaN) - scheduler.clock.now()
}

describe.each([
  ['behind', 7 * minutes],
  ['ahead', -7 * minutes],
])("where the machine's clock is 7 minutes %s", (_where, aheadMs) => {
  it.each([
    ['no start', () => TriggerBuilder.newTrigger().forJob('work').build()],
    ['startNow()', () => TriggerBuilder.newTrigger().startAt(new Date(0)).startNow().forJob('work').build()],
    [
      'a cron schedule',
      () =>
        TriggerBuilder.newTrigger()
          .withSchedule(CronScheduleBuilder.cronSchedule('0/10 * * * * ?').withMisfireInstruction('ignore'))
          .forJob('work')
          .build(),
    ],
    ['a copy', () => TriggerBuilder.newTrigger().forJob('work').build().getTriggerBuilder().build()],
  ])("a builder with %s starts at the scheduler's now", async (_how, build) => {
    const scheduler = await besideStore(aheadMs)
    const trigger = build()
    expect(Math.abs(trigger.startTimeMs - Date.now())).toBeLessThan(slackMs)
    expect(Math.abs(await startOf(scheduler, trigger))).toBeLessThan(slackMs)
  })

  it('a start that is given stays, and that of a builder with the clock of the scheduler', async () => {
    const scheduler = await besideStore(aheadMs)
    const startAt = new Date(scheduler.clock.now() + 60 * minutes)
    const given = TriggerBuilder.newTrigger().startAt(startAt).forJob('work').build()
    await scheduler.scheduleJob(given)
    expect((await scheduler.getTrigger(given.key))?.startTime).toEqual(startAt)
    const { clock } = scheduler
    const right = TriggerBuilder.newTrigger({ clock }).startNow().forJob('work').build()
    await scheduler.scheduleJob(right)
    expect((await scheduler.getTrigger(right.key))?.startTimeMs).toBe(right.startTimeMs)
  })

  it('what is stored, and is scheduled again, is not moved again', async () => {
    const scheduler = await besideStore(aheadMs)
    const first = TriggerBuilder.newTrigger()
      .withSchedule(CronScheduleBuilder.cronSchedule('0 0 0 * * ?'))
      .forJob('work')
      .build()
    await scheduler.scheduleJob(first)
    const stored = (await scheduler.getTrigger(first.key)) as Trigger
    await scheduler.rescheduleJob(first.key, stored.getTriggerBuilder().withPriority(6).build())
    expect((await scheduler.getTrigger(first.key))?.startTimeMs).toBe(stored.startTimeMs)
  })
})

it('a start is left alone where the clocks agree as well as maxClockSkewMs wants', async () => {
  const scheduler = await besideStore(900)
  const trigger = TriggerBuilder.newTrigger().forJob('work').build()
  await scheduler.scheduleJob(trigger)
  expect((await scheduler.getTrigger(trigger.key))?.startTimeMs).toBe(trigger.startTimeMs)
})
