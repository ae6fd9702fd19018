import {
  CronScheduleBuilder,
  createScheduler,
  defineJob,
  JobBuilder,
  type SchedulerBehaviour,
  SimpleScheduleBuilder,
  TriggerBuilder,
  triggerKey,
  WeeklyCalendar,
} from 'quartz-ts'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { postgresDialect } from '../../src/jobstore/postgres/postgres-dialect.ts'
import { postgresEngine } from '../../src/jobstore/postgres/postgres-engine.ts'
import { resolvePostgresOptions } from '../../src/jobstore/postgres/postgres-options.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { TimeZone } from '../../src/time/zone.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())

/** What Java's object streams begin with, and something behind it. */
const serialized = "'\\xaced00057372'::bytea"

interface World extends AsyncDisposable {
  readonly ran: string[]
  readonly errors: string[]
  states(): Promise<Record<string, unknown>>
}

/** A started scheduler that finds, due for an hour, a trigger that it can run and four that only Java can. */
async function worldWith(locking: 'skipLocked' | 'quartzLocks'): Promise<World> {
  const { connectionString } = database
  const options = resolvePostgresOptions({ connectionString, schema: locking.toLowerCase(), locking })
  const jobStore = new SqlJobStore(postgresEngine(options))
  const ran: string[] = []
  const work = defineJob('work', ({ triggerKey: { name } }) => ran.push(name))
  const behaviour: SchedulerBehaviour = { jobs: [work], misfireThresholdMs: 86_400_000, idleWaitMs: 1000 }
  const scheduler = await createScheduler({ logger: false, ...behaviour, jobStore })
  const errors: string[] = []
  scheduler.events.on('schedulerError', ({ error }) => errors.push(error.message))

  await scheduler.addCalendar('weekly', new WeeklyCalendar())
  for (const name of ['plain', 'type', 'data', 'jobData', 'calendar']) {
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity(name)
      .startAt(new Date(Date.now() - 3_600_000))
      .withSchedule(SimpleScheduleBuilder.simpleSchedule().withMisfireInstruction('fireNow'))
    await scheduler.scheduleJob(JobBuilder.newJob(work).withIdentity(name).build(), trigger.build())
  }
  const schema = locking.toLowerCase()
  const changes = [
    `UPDATE ${schema}.qrtz_triggers SET trigger_type = 'BLOB' WHERE trigger_name = 'type'`,
    `UPDATE ${schema}.qrtz_triggers SET job_data = ${serialized} WHERE trigger_name = 'data'`,
    `UPDATE ${schema}.qrtz_triggers SET calendar_name = 'weekly' WHERE trigger_name = 'calendar'`,
    `UPDATE ${schema}.qrtz_job_details SET job_data = ${serialized} WHERE job_name = 'jobData'`,
    `UPDATE ${schema}.qrtz_calendars SET calendar = ${serialized}`,
  ]
  for (const change of changes) await database.query(change)
  await scheduler.start()
  return {
    ran,
    errors,
    states: async () => {
      const rows = await database.query(`SELECT trigger_name, trigger_state FROM ${schema}.qrtz_triggers`)
      return Object.fromEntries(
        rows.map((row): [string, unknown] => [String(row['trigger_name']), row['trigger_state']]),
      )
    },
    [Symbol.asyncDispose]: () => scheduler.shutdown(),
  }
}

const timeout = 30_000

test('what only Java can run is left to the Java nodes of a shared cluster and reported', async () => {
  await using world = await worldWith('quartzLocks')
  await vi.waitUntil(() => world.errors.length >= 4 && world.ran.length > 0, { timeout })
  expect(world.ran).toEqual(['plain'])
  expect(world.errors.sort()).toEqual([
    "Trigger 'DEFAULT.calendar' is left to Java nodes: Java serialized its calendar 'weekly'.",
    "Trigger 'DEFAULT.data' is left to Java nodes: Java serialized its data or those of its job.",
    "Trigger 'DEFAULT.jobData' is left to Java nodes: Java serialized its data or those of its job.",
    "Trigger 'DEFAULT.type' is left to Java nodes: its type BLOB is known to Java only.",
  ])
  const untouched = { type: 'WAITING', data: 'WAITING', jobData: 'WAITING', calendar: 'WAITING' }
  await vi.waitUntil(async () => !('plain' in (await world.states())), { timeout })
  expect(await world.states()).toEqual(untouched)
})

test('resuming leaves it as it is, too', async () => {
  const { connectionString } = database
  const options = resolvePostgresOptions({ connectionString, schema: 'resumed', locking: 'quartzLocks' })
  const work = defineJob('work', () => {})
  const jobStore = new SqlJobStore(postgresEngine(options))
  await using scheduler = await createScheduler({ logger: false, jobs: [work], jobStore })
  const key = triggerKey('late')
  const trigger = TriggerBuilder.newTrigger().withIdentity(key).startAt(new Date(0)).build()
  await scheduler.scheduleJob(JobBuilder.newJob(work).build(), trigger)
  await scheduler.pauseTrigger(key)
  await database.query(`UPDATE resumed.qrtz_triggers SET job_data = ${serialized}`)
  await scheduler.resumeTrigger(key)
  expect(await scheduler.getTriggerState(key)).toBe('NORMAL')
})

test.each([
  ['in time', 86_400_000],
  ['late', 60_000],
])(
  'a schedule of Java that cannot be read, %s, is left to the Java nodes',
  async (when, misfireThresholdMs) => {
    const { connectionString } = database
    const schema = `unread_${when.replace(' ', '_')}`
    const options = resolvePostgresOptions({ connectionString, schema, locking: 'quartzLocks' })
    const jobStore = new SqlJobStore(postgresEngine(options))
    const ran: string[] = []
    const work = defineJob('work', ({ triggerKey: { name } }) => ran.push(name))
    const behaviour: SchedulerBehaviour = { jobs: [work], misfireThresholdMs, idleWaitMs: 1000 }
    await using scheduler = await createScheduler({ logger: false, ...behaviour, jobStore })
    const errors: string[] = []
    scheduler.events.on('schedulerError', ({ error }) => errors.push(error.message))
    const columns = {
      zone: `time_zone_id = 'GMT+02:00', dst_policy = NULL`,
      list: `cron_expression = '0 0 12 ? * MON,TUE,', dst_policy = NULL`,
      years: `cron_expression = '0 0 12 ? * * 2020-2299', dst_policy = NULL`,
      weekdays: `cron_expression = '0 0 12 10W,20W * ?', dst_policy = NULL`,
      names: `cron_expression = '0 0 12 ? * MONDAY-FRIDAY', dst_policy = NULL`,
      ours: `cron_expression = '0 0 12 ? * MON,TUE,'`,
      plain: 'dst_policy = NULL',
    }
    await scheduler.addJob(JobBuilder.newJob(work).withIdentity('work').storeDurably().build())
    for (const [name, changes] of Object.entries(columns)) {
      const trigger = TriggerBuilder.newTrigger()
        .withIdentity(name)
        .forJob('work')
        .withSchedule(CronScheduleBuilder.cronSchedule('0 0 12 ? * *', { dst: 'quartz' }))
      await scheduler.scheduleJob(trigger.build())
      await database.query(
        `UPDATE ${schema}.qrtz_cron_triggers SET ${changes} WHERE trigger_name = '${name}'`,
      )
    }
    // Those that cannot be read come first.
    const dueMs = Date.now() - 3_600_000
    await database.query(`UPDATE ${schema}.qrtz_triggers SET next_fire_time = ${dueMs}
    + CASE trigger_name WHEN 'plain' THEN 1000 ELSE 0 END`)
    await scheduler.start()
    await vi.waitUntil(() => errors.length >= 6 && ran.length > 0, { timeout })
    expect(ran).toEqual(['plain'])
    expect(errors.map((message) => message.replace(/:.*/s, '')).sort()).toEqual([
      "Trigger 'DEFAULT.list' is left to Java nodes",
      "Trigger 'DEFAULT.names' is left to Java nodes",
      "Trigger 'DEFAULT.ours' cannot be read from the database",
      "Trigger 'DEFAULT.weekdays' is left to Java nodes",
      "Trigger 'DEFAULT.years' is left to Java nodes",
      "Trigger 'DEFAULT.zone' is left to Java nodes",
    ])
    const states = async (): Promise<unknown[]> =>
      database.query(`SELECT trigger_name, trigger_state FROM ${schema}.qrtz_triggers
      WHERE trigger_name <> 'plain' ORDER BY trigger_name`)
    const untouched = ['list', 'names', 'ours', 'weekdays', 'years', 'zone'].map((name) => ({
      trigger_name: name,
      trigger_state: name === 'ours' ? 'ERROR' : 'WAITING',
    }))
    expect(await states()).toEqual(untouched)
    // A further search finds what comes behind them, and reports nothing again.
    await database.query(`UPDATE ${schema}.qrtz_triggers SET next_fire_time = ${dueMs + 1000}
    WHERE trigger_name = 'plain'`)
    await vi.waitUntil(() => ran.length > 1, { timeout })
    expect([await states(), errors.length]).toEqual([untouched, 6])
  },
)

test('many triggers with a zone that cannot be read cost one look at it, and run once they are corrected', async () => {
  const { connectionString } = database
  const count = 300
  const options = resolvePostgresOptions({ connectionString, schema: 'many', locking: 'quartzLocks' })
  const ran = new Set<string>()
  const work = defineJob('work', ({ triggerKey: { name } }) => ran.add(name))
  const jobStore = new SqlJobStore(postgresEngine(options))
  const behaviour: SchedulerBehaviour = { misfireThresholdMs: 86_400_000, idleWaitMs: 1000 }
  await using scheduler = await createScheduler({ logger: false, jobs: [work], ...behaviour, jobStore })
  const reported = new Set<string>()
  scheduler.events.on('schedulerError', ({ error }) => reported.add(error.message))
  await scheduler.addJob(JobBuilder.newJob(work).withIdentity('work').storeDurably().build())
  const dueMs = Date.now() - 3_600_000
  await database.query(
    `INSERT INTO many.qrtz_triggers (sched_name, trigger_name, trigger_group, job_name, job_group,
       next_fire_time, prev_fire_time, priority, trigger_state, trigger_type, start_time, end_time, misfire_instr)
     SELECT sched_name, 't' || i, 'java', job_name, job_group, ${dueMs}, -1, 5, 'WAITING', 'CRON', ${dueMs}, 0, 0
     FROM many.qrtz_job_details, generate_series(1, ${count}) AS i`,
  )
  await database.query(
    `INSERT INTO many.qrtz_cron_triggers (sched_name, trigger_name, trigger_group, cron_expression, time_zone_id)
     SELECT sched_name, trigger_name, trigger_group, '0 0 12 * * ?', 'GMT+02:00' FROM many.qrtz_triggers`,
  )
  await scheduler.scheduleJob(TriggerBuilder.newTrigger().withIdentity('plain').forJob('work').build())
  const zones = vi.spyOn(TimeZone, 'of')
  onTestFinished(() => {
    zones.mockRestore()
  })
  await scheduler.start()
  await vi.waitUntil(() => reported.size >= count && ran.size > 0, { timeout })
  expect([...ran]).toEqual(['plain'])
  // Those of the first batch alone.
  expect(zones.mock.calls.filter(([name]) => name === 'GMT+02:00').length).toBeLessThanOrEqual(20)
  await database.query(`UPDATE many.qrtz_cron_triggers SET time_zone_id = 'Etc/GMT-2'`)
  await vi.waitUntil(() => ran.size > count, { timeout })
  expect(reported.size).toBe(count)
})

/** Names that are blank here, and most of which are none to Java. */
const blankNames = ['', ' ', '\t\n', '\u00a0', '\u1680', '\u2003', '\u2028', '\u3000 \u202f', '\ufeff']

test('a trigger whose name or group is all white space is left to the Java nodes', async () => {
  const { connectionString } = database
  const options = resolvePostgresOptions({ connectionString, schema: 'blank', locking: 'quartzLocks' })
  const ran: string[] = []
  const work = defineJob('work', ({ triggerKey: { name } }) => ran.push(name))
  const jobStore = new SqlJobStore(postgresEngine(options))
  await using scheduler = await createScheduler({ logger: false, jobs: [work], idleWaitMs: 1000, jobStore })
  const errors: string[] = []
  scheduler.events.on('schedulerError', ({ error }) => errors.push(error.message))
  await scheduler.scheduleJob(
    JobBuilder.newJob(work).withIdentity('work').build(),
    TriggerBuilder.newTrigger().withIdentity('plain').build(),
  )
  for (const blank of blankNames) {
    for (const key of [`$1, 'group'`, `'name', $1`]) {
      await database.query(
        `INSERT INTO blank.qrtz_triggers (sched_name, trigger_name, trigger_group, job_name, job_group,
           next_fire_time, prev_fire_time, priority, trigger_state, trigger_type, start_time, end_time, misfire_instr)
         SELECT sched_name, ${key}, job_name, job_group, 1000, -1, 5, 'WAITING', 'SIMPLE', 1000, 0, -1
         FROM blank.qrtz_job_details`,
        [blank],
      )
    }
  }
  await scheduler.start()
  await vi.waitUntil(() => errors.length >= 2 * blankNames.length && ran.length > 0, { timeout })
  expect(ran).toEqual(['plain'])
  expect(errors.filter((message) => !message.includes('is left to Java nodes'))).toEqual([])
  const states = await database.query(
    `SELECT DISTINCT trigger_state FROM blank.qrtz_triggers WHERE next_fire_time = 1000`,
  )
  expect(states).toEqual([{ trigger_state: 'WAITING' }])
})

test('white space of SQL is that of JavaScript', async () => {
  const isBlank = postgresDialect.isBlank?.('c') ?? ''
  const all = await database.query(
    `SELECT n FROM generate_series(1, 65535) AS n, LATERAL (SELECT chr(n) AS c) AS one
     WHERE n NOT BETWEEN 55296 AND 57343 AND ${isBlank} ORDER BY n`,
  )
  const ofJavaScript = Array.from({ length: 65_535 }, (_, index) => index + 1).filter(
    (code) => String.fromCharCode(code).trim() === '',
  )
  expect(all.map(({ n }) => Number(n))).toEqual(ofJavaScript)
})

test('where no Java node can be, it is an error that somebody must see', async () => {
  await using world = await worldWith('skipLocked')
  await vi.waitUntil(() => world.errors.length >= 4 && world.ran.length > 0, { timeout })
  expect(world.ran).toEqual(['plain'])
  await vi.waitUntil(async () => !('plain' in (await world.states())), { timeout })
  expect(await world.states()).toEqual({ type: 'ERROR', data: 'ERROR', jobData: 'ERROR', calendar: 'ERROR' })
})
