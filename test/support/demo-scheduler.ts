import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobExecutionContext } from '../../src/jobs/job-definition.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'

const minuteMs = 60_000
const beginMs = Date.UTC(2026, 2, 12, 8, 22)
/** How long it has run when the pictures are taken. */
const runsMs = 74 * minuteMs + 20_000

/** What a job of the demonstration does: it takes its time, logs, reports how far it is, and may fail. */
interface Part {
  readonly name: string
  readonly group: string
  readonly description: string
  readonly cron: string
  readonly data: Readonly<Record<string, unknown>>
  readonly seconds: (run: number) => number
  readonly failsAt?: (run: number) => string | null
}

const parts: readonly Part[] = [
  {
    name: 'newsletter',
    group: 'mail',
    description: 'Sends what waits in the outbox',
    cron: '0 0/3 * * * ?',
    data: { outbox: 'main', batch: 200 },
    seconds: (run) => 20 + ((run * 37) % 90),
  },
  {
    name: 'bounces',
    group: 'mail',
    description: 'Takes addresses off the lists that do not exist',
    cron: '30 0/4 * * * ?',
    data: { mailbox: 'bounces@example.com' },
    seconds: (run) => 6 + ((run * 13) % 30),
    failsAt: (run) => (run > 14 ? 'The mailbox bounces@example.com is full.' : null),
  },
  {
    name: 'invoices',
    group: 'billing',
    description: 'Writes the invoices of orders that were shipped',
    cron: '0 5/10 * * * ?',
    data: { currency: 'EUR', limit: 500 },
    seconds: (run) => 100 + ((run * 71) % 240),
    failsAt: (run) => (run === 3 ? 'The bank does not answer.' : null),
  },
  {
    name: 'rates',
    group: 'billing',
    description: 'Fetches the exchange rates',
    cron: '15 0/5 * * * ?',
    data: { source: 'ecb' },
    seconds: (run) => 4 + ((run * 5) % 9),
  },
  {
    name: 'snapshot',
    group: 'archive',
    description: 'Copies the database',
    cron: '0 0/30 * * * ?',
    data: { target: 's3://archive', apiKey: 'k-123' },
    seconds: () => 11 * 60,
  },
  {
    name: 'search-index',
    group: 'shop',
    description: 'Puts changed products into the search',
    cron: '40 1/2 * * * ?',
    data: { shard: 3 },
    seconds: (run) => 30 + ((run * 17) % 60),
  },
]

export interface Demo {
  readonly scheduler: Scheduler
  readonly clock: ManualClock
}

/** A scheduler that looks like one of a small shop, after an hour and a quarter; each time the same. */
export async function demoScheduler(): Promise<Demo> {
  const clock = new ManualClock(beginMs)
  const scheduler = await createScheduler({
    schedulerName: 'shop',
    instanceId: 'shop-1',
    clock,
    logger: false,
    jobs: parts.map((part) => jobOf(part, clock)).concat(defineJob('report', () => ({ pages: 12 }))),
    jobStore: sqliteJobStore({ filename: ':memory:', history: { record: 'all' } }),
  })
  for (const part of parts) await store(scheduler, part)
  await storeReports(scheduler)
  await scheduler.start()
  await clock.advance(runsMs)
  return { scheduler, clock }
}

function jobOf(part: Part, clock: ManualClock): ReturnType<typeof defineJob> {
  const { name, seconds, failsAt } = part
  let runs = 0
  return defineJob(name, async (context) => {
    const run = ++runs
    await work(context, seconds(run), clock)
    const failure = failsAt?.(run) ?? null
    if (failure !== null) throw new Error(failure)
    context.log.info({}, 'all is done')
    return { done: 40 + ((run * 29) % 160) }
  })
}

async function work(context: JobExecutionContext, seconds: number, clock: ManualClock): Promise<void> {
  const { log } = context
  log.info({ seconds }, 'it begins')
  for (let step = 1; step <= 10; step++) {
    await new Promise<void>((resolve) => {
      clock.setTimer(seconds * 100, resolve)
    })
    context.progress(step / 10)
    if (step % 3 === 0) log.info({ part: step }, 'a part is done')
  }
}

async function store(scheduler: Scheduler, { name, group, description, cron, data }: Part): Promise<void> {
  const job = JobBuilder.newJob(name).withIdentity(name, group).withDescription(description)
  const trigger = TriggerBuilder.newTrigger()
    .withIdentity(name, group)
    .startAt(new Date(beginMs))
    .withSchedule(CronScheduleBuilder.cronSchedule(cron).inTimeZone('UTC'))
  const detail = job.usingJobData(data).disallowConcurrentExecution().build()
  await scheduler.scheduleJob(detail, trigger.build())
}

/** Reports of the office, by a calendar; one of them waits for somebody to come back. */
async function storeReports(scheduler: Scheduler): Promise<void> {
  const days = ['2026-04-03', '2026-04-06', '2026-05-01', '2026-12-25']
  await scheduler.addCalendar(
    'holidays',
    new HolidayCalendar({ timeZone: 'Europe/Paris', excludedDates: days }),
  )
  for (const [name, cron, description] of [
    ['daily', '0 0 7 ? * MON-FRI', 'What was sold yesterday'],
    ['weekly', '0 30 7 ? * MON', 'What was sold in a week'],
  ] as const) {
    await scheduler.scheduleJob(
      JobBuilder.newJob('report').withIdentity(name, 'reports').withDescription(description).build(),
      TriggerBuilder.newTrigger()
        .withIdentity(name, 'reports')
        .startAt(new Date(beginMs))
        .withSchedule(CronScheduleBuilder.cronSchedule(cron).inTimeZone('Europe/Paris'))
        .modifiedByCalendar('holidays')
        .build(),
    )
  }
  const [weekly] = (await scheduler.queryTriggers({ search: 'weekly', take: 1 })).items
  if (weekly !== undefined)
    await scheduler.pauseTrigger(weekly.key, { reason: 'until Ann is back', by: 'ben' })
}
