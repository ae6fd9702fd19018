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

  addToken: `import { createScheduler } from 'quartz-ts'
import { createServer } from 'quartz-ts/server'

const scheduler = await createScheduler()
const sha256 = '0d5ba81c0d2ac2a8d3c1a1a9dd7e8c7ff8a4c7a2b1c3b9e4f6d5a7c8b9e0f1a2'
const tokens = [{ name: 'deploy', sha256, role: 'operator' }] as const
const server = await createServer({ scheduler, auth: { kind: 'token', hashFile: 'token.sha256', tokens } })
await server.listen()`,

  addUser: `import { createScheduler } from 'quartz-ts'
import { createServer } from 'quartz-ts/server'

const scheduler = await createScheduler()
const passwordHash = 'scrypt:AAAAAAAAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
const users = [{ name: 'ann', role: 'admin', passwordHash }] as const
const server = await createServer({ scheduler, auth: { kind: 'users', users } })
await server.listen()`,

  showExecutors: `import { createScheduler } from 'quartz-ts'
import { createServer } from 'quartz-ts/server'
import { createXxlJobAdmin, xxlJob } from 'quartz-ts/xxl-job'

const xxlJobAdmin = createXxlJobAdmin({ accessToken: process.env['XXL_JOB_TOKEN'] ?? null })
const job = { appName: 'billing-executor', jobId: 17, handler: 'invoices' }
const billing = xxlJob('billing', { admin: xxlJobAdmin, ...job })
const scheduler = await createScheduler({ jobs: [billing] })
const server = await createServer({ scheduler, xxlJob: xxlJobAdmin, auth: { kind: 'token' } })
await server.listen()`,

  rememberAll: `import { sqliteJobStore } from 'quartz-ts/sqlite'

const jobStore = sqliteJobStore({ filename: 'jobs.db', history: { record: 'all' } })`,
} as const
