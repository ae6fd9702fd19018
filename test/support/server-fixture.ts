import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import type { SchedulerPlugin } from '../../src/scheduler/scheduler-plugin.ts'
import { catalogue } from '../../src/server/catalogue/catalogue.ts'
import type { Operation } from '../../src/server/catalogue/operation.ts'
import { createServer } from '../../src/server/create-server.ts'
import type { SchedulerServer } from '../../src/server/server-face.ts'
import type { SchedulerServerOptions } from '../../src/server/server-options.ts'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { DailyTimeIntervalScheduleBuilder } from '../../src/triggers/families/daily/daily-time-interval-trigger.ts'
import { CalendarIntervalScheduleBuilder } from '../../src/triggers/families/interval/calendar-interval-trigger.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { ScheduleBuilder } from '../../src/triggers/fluent-trigger-builder.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'

/** One token for each role, and one for an operator of the job group `reports` alone. */
export const tokens = {
  viewer: 'viewer-token',
  operator: 'operator-token',
  admin: 'admin-token',
  reports: 'reports-token',
} as const
export type Who = keyof typeof tokens

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export const auth: SchedulerServerOptions['auth'] = {
  kind: 'token',
  tokens: [
    { name: 'viewer', sha256: sha256(tokens.viewer), role: 'viewer' },
    { name: 'operator', sha256: sha256(tokens.operator), role: 'operator' },
    { name: 'admin', sha256: sha256(tokens.admin), role: 'admin' },
    { name: 'reports', sha256: sha256(tokens.reports), role: null, jobGroups: { reports: 'operator' } },
  ],
}

export const echo = defineJob('echo', (context) => context.mergedJobDataMap)
export const failing = defineJob('failing', () => {
  throw new Error('it broke')
})
export const waiting = defineJob('waiting', async ({ signal }) => {
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve)
  })
})

const laterMs = Date.UTC(2199, 0, 1)

/** A scheduler with two groups of jobs and triggers of every kind, all far in the future. */
export async function filledScheduler(
  options: {
    readonly jobStore?: JobStore
    readonly schedulerName?: string
    readonly instanceId?: string
    readonly plugins?: readonly SchedulerPlugin[]
  } = {},
): Promise<Scheduler> {
  const scheduler = await createScheduler({
    logger: false,
    jobStore: new RAMJobStore({ history: { record: 'all' } }),
    jobs: [echo, failing, waiting],
    ...options,
  })
  await scheduler.addCalendar(
    'holidays',
    new HolidayCalendar({ timeZone: 'UTC', excludedDates: ['2199-12-25'] }),
  )
  await addJob(
    scheduler,
    'daily',
    'reports',
    CronScheduleBuilder.cronSchedule('0 0 7 ? * MON-FRI').inTimeZone('Europe/Paris'),
  )
  await addJob(scheduler, 'hourly', 'mail', SimpleScheduleBuilder.repeatHourlyForever())
  await addJob(
    scheduler,
    'monthly',
    'mail',
    CalendarIntervalScheduleBuilder.calendarIntervalSchedule().withIntervalInMonths(1),
  )
  await addJob(
    scheduler,
    'daytime',
    'mail',
    DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule().withIntervalInHours(1),
  )
  return scheduler
}

async function addJob(
  scheduler: Scheduler,
  name: string,
  group: string,
  schedule: ScheduleBuilder<Trigger>,
): Promise<void> {
  const job = JobBuilder.newJob('echo')
    .withIdentity(name, group)
    .withDescription(`${name} of ${group}`)
    .usingJobData({ to: 'ops@example.com', apiKey: 'k-123' })
    .storeDurably()
    .build()
  const trigger = TriggerBuilder.newTrigger()
    .withIdentity(name, group)
    .startAt(new Date(laterMs))
    .withSchedule(schedule)
    .usingJobData({ password: 'hunter2' })
    .build()
  await scheduler.scheduleJob(job, trigger)
}

/** A durable job without triggers. */
export async function addPlainJob(
  scheduler: Scheduler,
  type: string,
  name: string,
  group: string,
): Promise<JobKey> {
  const key = new JobKey(name, group)
  await scheduler.addJob(JobBuilder.newJob(type).withIdentity(key).storeDurably().build())
  return key
}

export interface Asked {
  readonly who?: Who | null
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** What the text is as JSON; undefined for another text. */
  readonly json: unknown
}

export interface ServerFixture extends AsyncDisposable {
  readonly scheduler: Scheduler
  readonly server: SchedulerServer
  readonly address: string
  /** Sends a request over the wire: `GET /jobs`, with paths below /api. */
  ask(request: string, options?: Asked): Promise<Answered>
}

export async function serverFixture(
  options: Partial<SchedulerServerOptions> & { readonly served?: Scheduler } = {},
): Promise<ServerFixture> {
  const { served, ...rest } = options
  const scheduler = served ?? (await filledScheduler())
  const server = await createServer({
    scheduler,
    auth,
    logger: false,
    requestsPerMinute: 1_000_000,
    loginsPerMinute: 1000,
    dashboard: false,
    ...rest,
  })
  const address = await server.listen({ port: 0 })
  return {
    scheduler,
    server,
    address,
    ask: (request, asked) => ask(address, request, asked),
    async [Symbol.asyncDispose]() {
      await server.close()
      await scheduler.shutdown()
    },
  }
}

export async function ask(
  address: string,
  request: string,
  { who = 'admin', body, headers = {} }: Asked = {},
): Promise<Answered> {
  const [method = 'GET', path = ''] = request.split(' ', 2)
  const response = await fetch(`${address}/api${path}`, {
    method,
    headers: {
      ...(who !== null && { authorization: `Bearer ${tokens[who]}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '')
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  }
}

export function operationOf(id: string): Operation {
  return catalogue.find((each) => each.id === id) ?? expect.fail(`no operation ${id}`)
}
