import { expect, test } from 'vitest'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import type { DefinitionsJson } from '../../src/server/operations/definitions-export.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { ScheduleBuilder } from '../../src/triggers/fluent-trigger-builder.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'
import { type ServerFixture, serverFixture } from '../support/server-fixture.ts'

const hour = 3_600_000
const startMs = Date.UTC(2026, 2, 2, 12)

const stores: readonly (readonly [string, () => JobStore])[] = [
  ['memory', () => new RAMJobStore()],
  ['SQLite', () => sqliteJobStore({ filename: ':memory:' })],
]

interface Place extends ServerFixture {
  readonly clock: ManualClock
  /** Names of the jobs that ran. */
  readonly ran: string[]
  exported(): Promise<DefinitionsJson>
  imported(definitions: DefinitionsJson, options?: object): Promise<unknown>
}

async function place(jobStore: JobStore, atMs: number = startMs): Promise<Place> {
  const clock = new ManualClock(new Date(atMs))
  const ran: string[] = []
  const work = defineJob('work', ({ jobKey: { name }, attempt, jobDataMap }) => {
    ran.push(name)
    if (name === 'cursor') jobDataMap['last'] = Number(jobDataMap['last'] ?? 0) + 100
    if (name === 'broken' && attempt === 1) throw new Error('it broke')
  })
  const sharded = defineJob('sharded', ({ shard, jobKey: { name } }) => {
    ran.push(`item ${String(shard?.item)}`)
    if (name === 'broken' && shard?.item === 0) throw new Error('it broke')
  })
  const scheduler = await createScheduler({ jobs: [work, sharded], jobStore, clock, logger: false })
  const fixture = await serverFixture({ served: scheduler, clock })
  return {
    ...fixture,
    clock,
    ran,
    exported: async () => (await fixture.ask('GET /definitions?secrets=true')).json as DefinitionsJson,
    imported: async (definitions, options = {}) => {
      const answered = await fixture.ask('POST /definitions', { body: { definitions, ...options } })
      expect([answered.status, answered.status === 200 ? '' : answered.text]).toEqual([200, ''])
      return answered.json
    },
  }
}

async function schedule(
  scheduler: Scheduler,
  name: string,
  when: ScheduleBuilder<Trigger>,
  atMs = startMs,
): Promise<void> {
  await scheduler.scheduleJob(
    JobBuilder.newJob('work').withIdentity(name).build(),
    TriggerBuilder.newTrigger().withIdentity(name).startAt(new Date(atMs)).withSchedule(when).build(),
  )
}

const hourly = (): ScheduleBuilder<Trigger> => SimpleScheduleBuilder.repeatHourlyForever()

test.each(stores)('a removing import leaves what the scheduler has still to run, in %s', async (_, store) => {
  await using here = await place(store())
  const { scheduler, clock, ran } = here
  const retried = JobBuilder.newJob('work')
    .withIdentity('broken')
    .withRetry({ attempts: 2, backoff: { initialMs: hour } })
  await scheduler.addJob(retried.storeDurably().build())
  const items = JobBuilder.newJob('sharded').withIdentity('items').withSharding({ items: 2 })
  await scheduler.addJob(items.storeDurably().build())
  const definitions = await here.exported()
  await scheduler.start()
  await scheduler.triggerJob(jobKey('broken'))
  await scheduler.idle()
  await scheduler.standby()
  await scheduler.triggerJob(jobKey('broken'))
  const waiting = (await scheduler.queryTriggers()).items.map(({ key }) => key.group)
  expect(waiting.toSorted()).toEqual(['DEFAULT', 'RETRYING_JOBS'])
  expect((await here.exported()).triggers).toEqual([])
  expect(await here.imported(definitions, { remove: true })).toMatchObject({ changed: false })
  expect((await scheduler.queryTriggers()).items).toHaveLength(2)
  await scheduler.start()
  await clock.advance(2 * hour)
  await scheduler.idle()
  expect(ran.filter((name) => name === 'broken')).toHaveLength(4)
})

test('a run that was asked for is refused in a file, and a trigger of its name that fires again is not', async () => {
  await using here = await place(new RAMJobStore())
  await schedule(here.scheduler, 'MT_mountains', hourly(), startMs + hour)
  const definitions = await here.exported()
  expect(definitions.triggers).toHaveLength(1)
  expect(await here.imported(definitions)).toMatchObject({ changed: false })
  const asked = definitions.triggers.map((trigger) => ({
    ...trigger,
    fields: { ...trigger.fields, repeatCount: 0 },
  }))
  const refused = await here.ask('POST /definitions', {
    body: { definitions: { ...definitions, triggers: asked } },
  })
  expect([refused.status, refused.json]).toMatchObject([400, { field: 'definitions.triggers.0' }])
})

test('a job that is there for a waiting retry alone is in no file, and no import removes it', async () => {
  await using here = await place(new RAMJobStore())
  const { scheduler, clock, ran } = here
  const definitions = await here.exported()
  await scheduler.start()
  const once = JobBuilder.newJob('work')
    .withIdentity('broken')
    .withRetry({ attempts: 2, backoff: { initialMs: hour } })
  await scheduler.scheduleJob(
    once.build(),
    TriggerBuilder.newTrigger({ clock }).withIdentity('once').startAt(new Date(clock.now())).build(),
  )
  await scheduler.idle()
  expect((await here.exported()).jobs).toEqual([])
  expect(await here.imported(definitions, { remove: true })).toMatchObject({ changed: false })
  await clock.advance(2 * hour)
  await scheduler.idle()
  expect(ran).toEqual(['broken', 'broken'])
})

test.each(stores)(
  'a one-shot that begins now, or was due a moment ago, is stored and runs, in %s',
  async (_, store) => {
    await using here = await place(store())
    const { scheduler, clock, ran } = here
    await schedule(scheduler, 'now', SimpleScheduleBuilder.simpleSchedule(), startMs + hour)
    const definitions = await here.exported()
    const [first] = definitions.triggers
    const [job] = definitions.jobs
    if (first === undefined || job === undefined) expect.fail()
    await scheduler.deleteJob(jobKey('now'))
    await scheduler.start()
    for (const startTimeMs of [null, clock.now() - 1000]) {
      const triggers = [{ ...first, fields: { ...first.fields, startTimeMs } }]
      const done = await here.imported({ ...definitions, triggers })
      expect(done).toMatchObject({ changed: true, result: { counts: { add: 2, leaveOut: 0 } } })
      await clock.advance(1)
      await scheduler.idle()
      expect(ran.splice(0)).toEqual(['now'])
    }
  },
)

test('a run of an item of a sharded firing is refused, because it would be one of all items', async () => {
  await using here = await place(new RAMJobStore())
  const { scheduler } = here
  const items = JobBuilder.newJob('sharded')
    .withIdentity('broken')
    .withSharding({ items: 2 })
    .withRetry({ attempts: 2, backoff: { initialMs: hour } })
  await scheduler.addJob(items.storeDurably().build())
  await scheduler.start()
  await scheduler.triggerJob(jobKey('broken'))
  await scheduler.idle()
  const [retry] = (await scheduler.queryTriggers()).items
  if (retry === undefined) expect.fail()
  for (const query of ['?dryRun=true', '']) {
    const run = await here.ask(`POST /triggers/${retry.key.group}/${retry.key.name}/run${query}`, {
      body: {},
    })
    expect([run.status, run.json]).toMatchObject([
      400,
      { detail: expect.stringContaining('one item') as string },
    ])
  }
})

test.each(stores)('an import leaves alone what a job keeps in its data, in %s', async (_, store) => {
  await using here = await place(store())
  const { scheduler } = here
  const job = JobBuilder.newJob('work').withIdentity('cursor').persistJobDataAfterExecution()
  await scheduler.addJob(job.usingJobData({ last: 0 }).storeDurably().build())
  const definitions = await here.exported()
  await scheduler.start()
  for (let run = 0; run < 3; run++) {
    await scheduler.triggerJob(jobKey('cursor'))
    await scheduler.idle()
  }
  expect(await here.imported(definitions)).toMatchObject({ changed: false })
  const described = definitions.jobs.map((each) => ({
    ...each,
    fields: { ...each.fields, description: 'other' },
  }))
  expect(await here.imported({ ...definitions, jobs: described })).toMatchObject({ changed: true })
  expect((await scheduler.getJobDetail(jobKey('cursor')))?.jobDataMap).toEqual({ last: 300 })
  // A run that ends while the file is compared.
  const read = scheduler.getJobDetails.bind(scheduler)
  scheduler.getJobDetails = async (keys) => {
    const jobs = await read(keys)
    await scheduler.triggerJob(jobKey('cursor'))
    await scheduler.idle()
    return jobs
  }
  expect(await here.imported(definitions)).toMatchObject({ changed: true })
  expect((await scheduler.getJobDetail(jobKey('cursor')))?.jobDataMap).toEqual({ last: 400 })
})

test.each(stores)(
  'what an import brings from elsewhere goes on with its next time, in %s',
  async (_, store) => {
    const definitions = await (async () => {
      await using there = await place(new RAMJobStore())
      await schedule(there.scheduler, 'hourly', hourly())
      await schedule(
        there.scheduler,
        'daily',
        CronScheduleBuilder.cronSchedule('0 0 18 * * ?').inTimeZone('UTC'),
      )
      await schedule(there.scheduler, 'once', SimpleScheduleBuilder.simpleSchedule(), startMs + hour)
      await schedule(there.scheduler, 'later', SimpleScheduleBuilder.simpleSchedule(), startMs + 100 * hour)
      return await there.exported()
    })()
    await using here = await place(store(), startMs + 72 * hour + 1)
    const { scheduler, clock, ran } = here
    await scheduler.start()
    const dry = await here.ask('POST /definitions?dryRun=true', { body: { definitions } })
    expect(dry.json).toMatchObject({ result: { counts: { add: 6, leaveOut: 2, same: 0 } } })
    await here.imported(definitions)
    await scheduler.idle()
    expect(ran).toEqual([])
    expect(await scheduler.checkExists(jobKey('once'))).toBe(false)
    expect((await scheduler.getTrigger(triggerKey('hourly')))?.nextFireTimeMs).toBe(startMs + 73 * hour)
    expect((await scheduler.getTrigger(triggerKey('daily')))?.nextFireTimeMs).toBe(startMs + 78 * hour)
    await clock.advance(hour)
    await scheduler.idle()
    expect(ran).toEqual(['hourly'])
    expect(await here.imported(definitions)).toMatchObject({ changed: false })
  },
)

test('a run of a waiting retry has its data, without the notes of the scheduler', async () => {
  await using here = await place(new RAMJobStore())
  const { scheduler, clock, ran } = here
  const retried = JobBuilder.newJob('work')
    .withIdentity('broken')
    .withRetry({ attempts: 2, backoff: { initialMs: hour } })
  await scheduler.addJob(retried.storeDurably().build())
  await scheduler.start()
  await scheduler.triggerJob(jobKey('broken'))
  await scheduler.idle()
  const [retry] = (await scheduler.queryTriggers()).items
  if (retry === undefined) expect.fail()
  const { group, name } = retry.key
  const run = await here.ask(`POST /triggers/${group}/${name}/run`, { body: {} })
  expect([run.status, run.json]).toMatchObject([200, { changed: true }])
  await clock.advance(1)
  await scheduler.idle()
  expect(ran).toHaveLength(2)
})

const otherHour = (expression: string, timeZone: string): object => ({
  cronExpression: { expression, timeZone, dst: 'vixie', dialect: 'quartz', seconds: 'never' },
})

interface Refusal {
  readonly list: 'calendars' | 'jobs' | 'triggers'
  readonly entry: string
  /** What the entry has instead. */
  readonly wrong: { readonly fields?: object; readonly definition?: object }
  readonly said: object
}
const text = (part: string): string => expect.stringContaining(part) as string

test.each<[string, Refusal]>([
  [
    'zone of a trigger',
    {
      list: 'triggers',
      entry: 'daily',
      wrong: { fields: otherHour('0 0 7 ? * MON-FRI', 'Mars/Base') },
      said: {
        code: 'ERR_UNKNOWN_TIME_ZONE',
        field: 'definitions.triggers.3.timeZone',
        detail: text("definitions.triggers.3 ('reports/daily'): Unknown time zone 'Mars/Base'. Use"),
      },
    },
  ],
  [
    'cron expression of a trigger',
    {
      list: 'triggers',
      entry: 'daily',
      wrong: { fields: otherHour('0 0 7 * * *', 'UTC') },
      said: {
        code: 'ERR_INVALID_CRON_EXPRESSION',
        field: 'definitions.triggers.3.dayOfWeek',
        position: 10,
        suggestion: text("'0 0 7 * * ?'"),
        detail: text("definitions.triggers.3 ('reports/daily'): Invalid cron expression '0 0 7 * * *'"),
      },
    },
  ],
  [
    'calendar',
    {
      list: 'calendars',
      entry: 'holidays',
      wrong: { definition: { type: 'holiday', timeZone: 'UTC', excludedDates: ['Easter'] } },
      said: {
        code: 'ERR_INVALID_CALENDAR',
        field: 'definitions.calendars.0.excludedDates',
        detail: text("definitions.calendars.0 ('holidays'): Calendar 'holiday': 'excludedDates' must"),
      },
    },
  ],
  [
    'calendar with a cron expression',
    {
      list: 'calendars',
      entry: 'holidays',
      wrong: { definition: { type: 'cron', timeZone: 'UTC', expression: '0 0 25 * * ?' } },
      said: {
        field: 'definitions.calendars.0.hour',
        detail: text("definitions.calendars.0 ('holidays'): Invalid cron expression"),
      },
    },
  ],
  [
    'node of a job',
    {
      list: 'jobs',
      entry: 'hourly',
      wrong: { fields: { nodeAffinity: { names: [' '], required: true } } },
      said: {
        code: 'ERR_INVALID_ARGUMENT',
        field: text('definitions.jobs.1.'),
        detail: text("definitions.jobs.1 ('mail/hourly'): "),
      },
    },
  ],
  [
    'type of a job',
    {
      list: 'jobs',
      entry: 'hourly',
      wrong: { fields: { jobType: 'ecko' } },
      said: {
        code: 'ERR_UNKNOWN_JOB_TYPE',
        detail: text("Unknown job type 'ecko' of job mail.hourly. Did you mean 'echo'?"),
      },
    },
  ],
  [
    'masked value of a job',
    {
      list: 'jobs',
      entry: 'hourly',
      wrong: { fields: { jobDataMap: { token: '***' } } },
      said: {
        field: 'definitions.jobs.1.fields.jobDataMap.token',
        detail: expect.not.stringContaining("('mail/hourly')") as string,
      },
    },
  ],
])('a wrong %s is refused with the entry of the file', async (_, { list, entry, wrong, said }) => {
  await using fixture = await serverFixture()
  const definitions = (await fixture.ask('GET /definitions?secrets=true')).json as DefinitionsJson
  const changed = definitions[list].map((each) => {
    if (('name' in each ? each.name : each.key.name) !== entry) return each
    return 'fields' in each ? { ...each, fields: { ...each.fields, ...wrong.fields } } : { ...each, ...wrong }
  })
  for (const path of ['/definitions?dryRun=true', '/definitions']) {
    const refused = await fixture.ask(`POST ${path}`, {
      body: { definitions: { ...definitions, [list]: changed } },
    })
    expect([path, refused.status, refused.json]).toMatchObject([path, 400, said])
  }
})
