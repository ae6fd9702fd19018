import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'

const minuteMs = 60_000
const beginMs = Date.UTC(2026, 2, 12, 8, 30)

export interface Troubled {
  readonly scheduler: Scheduler
  readonly clock: ManualClock
}

/**
 * An hour in which much did not run: a listener vetoed, a job took longer than its interval, the scheduler stood by for
 * ten minutes, and a trigger was paused. At its end a trigger is due and waits for its job.
 */
export async function troubledScheduler(): Promise<Troubled> {
  const clock = new ManualClock(beginMs)
  const takes = (minutes: number) => (): Promise<void> =>
    new Promise((resolve) => {
      clock.setTimer(minutes * minuteMs, resolve)
    })
  const schedules = [
    { name: 'vetoed', group: 'mail', cron: '0 0/5 * * * ?', minutes: 1 },
    { name: 'slow', group: 'billing', cron: '0 0/10 * * * ?', minutes: 14 },
    { name: 'often', group: 'shop', cron: '0 0/2 * * * ?', minutes: 1 },
    { name: 'paused', group: 'archive', cron: '0 0/6 * * * ?', minutes: 2 },
  ]
  const scheduler = await createScheduler({
    schedulerName: 'trouble',
    instanceId: 'n1',
    clock,
    logger: false,
    jobs: schedules.map(({ name, minutes }) => defineJob(name, takes(minutes))),
    jobStore: sqliteJobStore({ filename: ':memory:', history: { record: 'all' } }),
  })
  scheduler.listenerManager.addTriggerListener({
    name: 'maintenance',
    vetoJobExecution: ({ key }) => key.name === 'vetoed' && new Date(clock.now()).getUTCMinutes() % 10 === 0,
  })
  for (const { name, group, cron } of schedules) {
    await scheduler.scheduleJob(
      JobBuilder.newJob(name).withIdentity(name, group).disallowConcurrentExecution().build(),
      TriggerBuilder.newTrigger()
        .withIdentity(name, group)
        .startAt(new Date(beginMs))
        .withSchedule(CronScheduleBuilder.cronSchedule(cron).inTimeZone('UTC'))
        .build(),
    )
  }
  await scheduler.start()
  await clock.advance(20 * minuteMs)
  const [paused] = (await scheduler.queryTriggers({ search: 'paused', take: 1 })).items
  if (paused !== undefined) await scheduler.pauseTrigger(paused.key)
  await scheduler.standby()
  await clock.advance(10 * minuteMs)
  await scheduler.start()
  await clock.advance(12 * minuteMs)
  if (paused !== undefined) await scheduler.resumeTrigger(paused.key, { withoutMissed: true })
  // `slow` began at 9:22 or so, and is due again at 9:30.
  await clock.advance(20 * minuteMs)
  return { scheduler, clock }
}
