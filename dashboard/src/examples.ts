/** Code to paste, for pages that have nothing to show yet; a test compiles it. */
export const examples = {
  firstTrigger: `import {
  createScheduler,
  CronScheduleBuilder,
  defineJob,
  JobBuilder,
  TriggerBuilder,
} from 'quartz-ts'

const hello = defineJob('hello', () => console.log('hello'))
const scheduler = await createScheduler({ jobs: [hello] })
await scheduler.scheduleJob(
  JobBuilder.newJob(hello).withIdentity('hello').build(),
  TriggerBuilder.newTrigger()
    .withIdentity('every-minute')
    .withSchedule(CronScheduleBuilder.cronSchedule('0 * * * * ?'))
    .build(),
)
await scheduler.start()`,

  firstJob: `import { createScheduler, defineJob, JobBuilder } from 'quartz-ts'

const report = defineJob('report', () => 'done')
const scheduler = await createScheduler({ jobs: [report] })
await scheduler.addJob(JobBuilder.newJob(report).withIdentity('daily', 'reports').storeDurably().build())`,

  firstCalendar: `import { createScheduler, HolidayCalendar } from 'quartz-ts'

const scheduler = await createScheduler()
const days = new HolidayCalendar({ timeZone: 'Europe/Paris', excludedDates: ['2026-12-25'] })
await scheduler.addCalendar('holidays', days)`,

  rememberAll: `import { sqliteJobStore } from 'quartz-ts/sqlite'

const jobStore = sqliteJobStore({ filename: 'jobs.db', history: { record: 'all' } })`,
} as const
