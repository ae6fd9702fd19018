import { alertsPlugin } from '../../src/alerts.ts'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { systemClock } from '../../src/time/clock.ts'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { createXxlJobAdmin, xxlJob } from '../../src/xxl-job.ts'
import { type DashboardFixture, dashboardFixture } from './dashboard-fixture.ts'
import { auth } from './server-fixture.ts'

const hourMs = 3_600_000
const laterMs = Date.UTC(2199, 0, 1)

/** A text that says what it is, and runs where a page takes it for HTML. It has no blank, as names of executors. */
export function scripted(what: string): string {
  return `<img/src=x/onerror=document.title='hacked'>${what}`
}

/** The path of a job or a trigger of the scripted group. */
export function scriptedPath(name: string): string {
  return `${encodeURIComponent(scripted('group'))}/${encodeURIComponent(scripted(name))}`
}

export interface Scripted extends AsyncDisposable {
  readonly fixture: DashboardFixture
  /** The ids of executions: one that ended well, one that failed, and one that runs. */
  readonly ids: Readonly<Record<'works' | 'fails' | 'waits', string>>
}

const acts = defineJob<{ readonly does?: string }>(scripted('type'), async (context) => {
  context.log.warn({ [scripted('log-field')]: scripted('log-value') }, scripted('log-message'))
  context.progress(scripted('progress'))
  const { does } = context.mergedJobDataMap
  if (does === 'fails') throw new Error(scripted('error'))
  if (does === 'waits') {
    await new Promise((resolve) => {
      context.signal.addEventListener('abort', resolve)
    })
  }
  return { [scripted('result-name')]: scripted('result') }
})

/** A server whose scheduler has a script in each text that is stored, and whose admin has one in its name. */
export async function scriptedServer(): Promise<Scripted> {
  const admin = createXxlJobAdmin({
    accessToken: 'a-token-of-your-own',
    logger: false,
    executors: { [scripted('app')]: ['http://127.0.0.1:9/'] },
  })
  const alerts = alertsOfScripts()
  const sent = xxlJob(scripted('sent-type'), {
    admin,
    appName: scripted('app'),
    jobId: 1,
    handler: scripted('handler'),
  })
  const scheduler = await createScheduler({
    schedulerName: scripted('scheduler'),
    instanceId: scripted('node'),
    logger: false,
    jobs: [acts, sent],
    plugins: [alerts],
    jobStore: sqliteJobStore({ filename: ':memory:', history: { record: 'all' } }),
  })
  await store(scheduler)
  await scheduler.start()
  if (auth.kind !== 'token') throw new Error('the tests sign in by tokens')
  const tokens = auth.tokens?.map((token) =>
    token.name === 'admin' ? { ...token, name: scripted('user') } : token,
  )
  const fixture = await dashboardFixture({
    served: scheduler,
    alerts,
    xxlJob: admin,
    auth: { ...auth, ...(tokens !== undefined && { tokens }) },
  })
  const ids = await act(fixture)
  return {
    fixture,
    ids,
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]()
      await admin.close()
    },
  }
}

function alertsOfScripts(): ReturnType<typeof alertsPlugin> {
  return alertsPlugin({
    checkMs: 1000,
    rules: [
      {
        name: scripted('rule'),
        description: scripted('rule-description'),
        check: async () =>
          ['subject', 'quiet-subject'].map((subject) => ({
            subject: scripted(subject),
            message: scripted(`message-of-${subject}`),
          })),
      },
    ],
    channels: [
      { name: scripted('channel'), send: () => Promise.reject(new Error(scripted('channel-error'))) },
    ],
  })
}

async function store(scheduler: Scheduler): Promise<void> {
  const group = scripted('group')
  const calendar = new HolidayCalendar({
    excludedDates: ['2199-12-25'],
    timeZone: 'UTC',
    description: scripted('calendar-description'),
  })
  await scheduler.addCalendar(scripted('calendar'), calendar)
  for (const does of ['works', 'fails', 'waits'] as const) {
    await scheduler.addJob(
      JobBuilder.newJob(acts)
        .withIdentity(scripted(does), group)
        .withDescription(scripted('description'))
        .usingJobData({ does, [scripted('data-name')]: scripted('data') })
        .onNodes([scripted('node')])
        .storeDurably()
        .build(),
    )
  }
  await scheduler.addJob(
    JobBuilder.newJob(scripted('sent-type')).withIdentity(scripted('sent'), group).storeDurably().build(),
  )
  await scheduler.addJob(
    JobBuilder.newJob(acts)
      .withIdentity(scripted('shards'), group)
      .storeDurably()
      .withSharding({ items: 2, parameters: { 0: scripted('parameter') } })
      .build(),
  )
  const job = jobKey(scripted('works'), group)
  const trigger = TriggerBuilder.newTrigger()
    .withIdentity(scripted('trigger'), group)
    .withDescription(scripted('trigger-description'))
    .forJob(job)
    .startAt(new Date(laterMs))
    .withSchedule(SimpleScheduleBuilder.repeatHourlyForever())
    .modifiedByCalendar(scripted('calendar'))
    .usingJobData({ [scripted('trigger-data')]: scripted('trigger-value') })
    .build()
  await scheduler.scheduleJob(trigger)
  const missed = TriggerBuilder.newTrigger()
    .withIdentity(scripted('missed'), group)
    .forJob(job)
    .startAt(new Date(systemClock.now() - 2 * hourMs))
    .withSchedule(
      SimpleScheduleBuilder.repeatHourlyForever().withMisfireInstruction('rescheduleNextWithExistingCount'),
    )
    .build()
  await scheduler.scheduleJob(missed)
  await scheduler.skipNextFire(missed.key)
  const why = { reason: scripted('reason'), by: scripted('by') }
  await scheduler.pauseTrigger(triggerKey(scripted('trigger'), group), why)
  await scheduler.pauseTriggers(GroupMatcher.groupEquals(scripted('paused-group')), why)
}

/** What somebody with a script for a name does: runs jobs, changes one, and silences an alert. */
async function act(fixture: DashboardFixture): Promise<Scripted['ids']> {
  const { scheduler } = fixture
  const done = async (request: string, body: unknown): Promise<void> => {
    const { status, text } = await fixture.ask(request, { body })
    if (status !== 200) throw new Error(`${request}: ${status} ${text}`)
  }
  const run = async (name: 'works' | 'fails' | 'waits'): Promise<string> => {
    const ran = scheduler.events.next('jobToBeExecuted')
    await done(`POST /jobs/${scriptedPath(name)}/run`, { jobDataMap: {} })
    return (await ran).context.fireInstanceId
  }
  const works = await run('works')
  for (let count = 0; count < 2; count++) await run('fails')
  const fails = await run('fails')
  await done(`PUT /jobs/${scriptedPath('made')}`, {
    jobType: scripted('type'),
    description: scripted('audited-description'),
    jobDataMap: { [scripted('audited-name')]: scripted('audited-value') },
    durable: true,
  })
  await done('POST /alerts/silences', {
    rule: scripted('rule'),
    subject: scripted('quiet-subject'),
    untilMs: systemClock.now() + 24 * hourMs,
    reason: scripted('reason'),
  })
  await scheduler.idle()
  return { works, fails, waits: await run('waits') }
}
