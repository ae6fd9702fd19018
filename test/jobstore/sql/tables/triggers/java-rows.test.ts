import { readFileSync } from 'node:fs'
import { CalendarIntervalScheduleBuilder, DailyTimeIntervalScheduleBuilder } from 'quartz-ts'
import { describe, expect, it } from 'vitest'
import { JobKey, TriggerKey } from '../../../../../src/core/key.ts'
import { CronScheduleBuilder } from '../../../../../src/triggers/families/cron/cron-trigger.ts'
import { SimpleScheduleBuilder } from '../../../../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../../../../src/triggers/families/trigger-builder.ts'
import type { ScheduleBuilder } from '../../../../../src/triggers/fluent-trigger-builder.ts'
import { TimeOfDay } from '../../../../../src/triggers/time-of-day.ts'
import type { Trigger } from '../../../../../src/triggers/trigger.ts'
import { jobNamed, SqlTables } from '../../../../support/sql-tables.ts'

// Rows and bytes that Java Quartz 2.3.2 wrote, with useProperties=true unless Java serialization is what they show.

const blob = (name: string): Buffer =>
  readFileSync(new URL(`../../../../fixtures/interop/${name}.bin`, import.meta.url))

type Row = Readonly<Record<string, unknown>>

interface JavaTrigger {
  readonly row: Row
  readonly subTable: string
  readonly subRow: Row
  /** The columns that we add to the sub-table, as we write them. */
  readonly added: Row
  readonly trigger: Trigger
}

const startTimeMs = 1893553445000
const endTimeMs = 2064816550000
const job = new JobKey('job1', 'jobs')

function trigger(
  name: string,
  schedule: ScheduleBuilder<Trigger>,
  parts: { readonly endMs?: number; readonly nextMs?: number } = {},
): Trigger {
  const built = TriggerBuilder.newTrigger()
    .withIdentity(name, 'tg')
    .forJob(job)
    .startAt(new Date(startTimeMs))
    .endAt(parts.endMs === undefined ? null : new Date(parts.endMs))
    .withSchedule(schedule)
    .build()
  const nextFireTimeMs = parts.nextMs ?? startTimeMs
  const unfired = { previousFireTimeMs: null, timesTriggered: 0, misfiredFireTimeMs: null }
  return built.withFireState({ nextFireTimeMs, ...unfired })
}

const rowOf = (name: string, type: string, changes: Row = {}): Row => ({
  trigger_name: name,
  trigger_group: 'tg',
  job_name: 'job1',
  job_group: 'jobs',
  description: null,
  next_fire_time: startTimeMs,
  prev_fire_time: -1,
  priority: 5,
  trigger_state: 'WAITING',
  trigger_type: type,
  start_time: startTimeMs,
  end_time: 0,
  calendar_name: null,
  misfire_instr: 0,
  ...changes,
})

const subRowOf = (name: string, columns: Row): Row => ({
  trigger_name: name,
  trigger_group: 'tg',
  ...columns,
})

const properties: Row = {
  str_prop_3: null,
  int_prop_2: 0,
  long_prop_1: 0,
  long_prop_2: 0,
  dec_prop_1: null,
  dec_prop_2: null,
  bool_prop_1: false,
  bool_prop_2: false,
}

const java: readonly JavaTrigger[] = [
  {
    row: rowOf('simple', 'SIMPLE', {
      description: 'td',
      priority: 7,
      end_time: endTimeMs,
      calendar_name: 'weekly',
      misfire_instr: 4,
    }),
    subTable: 'simple_triggers',
    subRow: subRowOf('simple', { repeat_count: 5, repeat_interval: 1234, times_triggered: 0 }),
    added: {},
    trigger: trigger(
      'simple',
      SimpleScheduleBuilder.simpleSchedule()
        .withRepeatCount(5)
        .withIntervalInMilliseconds(1234)
        .withMisfireInstruction('rescheduleNextWithRemainingCount'),
      { endMs: endTimeMs },
    )
      .getTriggerBuilder()
      .withDescription('td')
      .withPriority(7)
      .modifiedByCalendar('weekly')
      .build()
      .computeFirstFireTime(null),
  },
  {
    row: rowOf('simple-forever', 'SIMPLE'),
    subTable: 'simple_triggers',
    subRow: subRowOf('simple-forever', { repeat_count: -1, repeat_interval: 10_000, times_triggered: 0 }),
    added: {},
    trigger: trigger('simple-forever', SimpleScheduleBuilder.repeatSecondlyForever(10)),
  },
  {
    row: rowOf('cron', 'CRON', { next_fire_time: 1893597300000, end_time: endTimeMs, misfire_instr: 2 }),
    subTable: 'cron_triggers',
    subRow: subRowOf('cron', { cron_expression: '0 15 10 ? * MON-FRI', time_zone_id: 'America/New_York' }),
    added: { times_triggered: 0, dst_policy: 'quartz', cron_dialect: null },
    trigger: trigger(
      'cron',
      CronScheduleBuilder.cronSchedule('0 15 10 ? * MON-FRI', {
        timeZone: 'America/New_York',
        dst: 'quartz',
      }).withMisfireInstruction('doNothing'),
      { endMs: endTimeMs, nextMs: 1893597300000 },
    ),
  },
  {
    row: rowOf('calint', 'CAL_INT', { end_time: endTimeMs, misfire_instr: 1 }),
    subTable: 'simprop_triggers',
    subRow: subRowOf('calint', {
      ...properties,
      str_prop_1: 'MONTH',
      str_prop_2: 'America/New_York',
      int_prop_1: 2,
      bool_prop_1: true,
      bool_prop_2: true,
    }),
    added: { time_zone_id: null },
    trigger: trigger(
      'calint',
      CalendarIntervalScheduleBuilder.calendarIntervalSchedule()
        .withInterval(2, 'MONTH')
        .inTimeZone('America/New_York')
        .preserveHourOfDayAcrossDaylightSavings({ enabled: true })
        .skipDayIfHourDoesNotExist({ enabled: true })
        .withMisfireInstruction('fireOnceNow'),
      { endMs: endTimeMs },
    ),
  },
  {
    row: rowOf('calint-default', 'CAL_INT'),
    subTable: 'simprop_triggers',
    subRow: subRowOf('calint-default', {
      ...properties,
      str_prop_1: 'DAY',
      str_prop_2: 'UTC',
      int_prop_1: 1,
    }),
    added: { time_zone_id: null },
    trigger: trigger(
      'calint-default',
      CalendarIntervalScheduleBuilder.calendarIntervalSchedule().inTimeZone('UTC'),
    ),
  },
]

/** Daily triggers have no zone in Java: it means that of its process. */
const javaDaily: readonly JavaTrigger[] = [
  {
    row: rowOf('daily', 'DAILY_I', { next_fire_time: 1893571503000, end_time: endTimeMs }),
    subTable: 'simprop_triggers',
    subRow: subRowOf('daily', {
      ...properties,
      str_prop_1: 'MINUTE',
      str_prop_2: '2,4,6',
      str_prop_3: '8,5,3,17,30,0',
      int_prop_1: 72,
      long_prop_1: 9,
    }),
    added: {},
    trigger: trigger(
      'daily',
      DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule()
        .withIntervalInMinutes(72)
        .onDaysOfTheWeek(2, 4, 6)
        .startingDailyAt(new TimeOfDay(8, 5, 3))
        .endingDailyAt(new TimeOfDay(17, 30))
        .withRepeatCount(9),
      { endMs: endTimeMs, nextMs: 1893571503000 },
    ),
  },
  {
    row: rowOf('daily-default', 'DAILY_I', { next_fire_time: 1893553500000 }),
    subTable: 'simprop_triggers',
    subRow: subRowOf('daily-default', {
      ...properties,
      str_prop_1: 'MINUTE',
      str_prop_2: '1,2,3,4,5,6,7',
      str_prop_3: '0,0,0,23,59,59',
      int_prop_1: 1,
      long_prop_1: -1,
    }),
    added: {},
    trigger: trigger('daily-default', DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule(), {
      nextMs: 1893553500000,
    }),
  },
]
const triggers = [...java, ...javaDaily]
const cases = triggers.map((entry): [string, JavaTrigger] => [entry.trigger.key.name, entry])

async function stored(tables: SqlTables, table: string, like: Row): Promise<Row> {
  const [row = {}] = await tables.query(`SELECT * FROM qrtz_${table}`)
  const typed = Object.entries(like).map(([column, value]): [string, unknown] => {
    if (typeof value === 'number') return [column, Number(row[column])]
    return [column, typeof value === 'boolean' ? Boolean(row[column]) : row[column]]
  })
  return Object.fromEntries(typed)
}

async function withJava(entry: JavaTrigger, changes: Row = {}): Promise<SqlTables> {
  const tables = await SqlTables.open()
  await tables.addJobs('job1')
  await tables.insertRow('triggers', { ...entry.row, job_data: Buffer.alloc(0), ...changes })
  await tables.insertRow(entry.subTable, entry.subRow)
  return tables
}

describe('a trigger that Java stored', () => {
  it.each(cases)('is read: %s', async (_, entry) => {
    const tables = await withJava(entry)
    const { found, broken } = await tables.run(tables.triggers.load([entry.trigger.key]))
    expect(broken).toEqual([])
    expect(found.get(entry.trigger.key)).toEqual({ trigger: entry.trigger, state: 'WAITING' })
  })

  it.each(cases)('is written by us in the very same columns: %s', async (_, entry) => {
    const tables = await SqlTables.open('properties')
    await tables.addJobs('job1')
    await tables.run(tables.triggers.insert([{ trigger: entry.trigger, state: 'WAITING' }]))
    expect(await stored(tables, 'triggers', entry.row)).toEqual(entry.row)
    const subRow = { ...entry.subRow, ...entry.added }
    expect(await stored(tables, entry.subTable, subRow)).toEqual(subRow)
  })

  it('has no fire time where Java writes -1 or 0, and no priority or instruction where it writes NULL', async () => {
    const [, entry] = java
    if (entry === undefined) throw new Error('no row')
    const changes = {
      next_fire_time: -1,
      prev_fire_time: 0,
      end_time: null,
      priority: null,
      misfire_instr: null,
    }
    const tables = await withJava(entry, { ...changes, trigger_state: 'COMPLETE' })
    const found = (await tables.run(tables.triggers.load([entry.trigger.key]))).found.get(entry.trigger.key)
    expect(found?.state).toBe('COMPLETE')
    const {
      nextFireTimeMs,
      previousFireTimeMs,
      endTimeMs: end,
      priority,
      misfireInstruction,
    } = found?.trigger ?? {}
    expect([nextFireTimeMs, previousFireTimeMs, end, priority, misfireInstruction]).toEqual([
      null,
      null,
      null,
      0,
      'smart',
    ])
  })

  it.each([
    ['is planned for the time that we moved, until it fires', 1000, 2000],
    ['is planned for its next time once Java has fired the one that we moved', 3000, null],
  ])('%s', async (_, previousMs, misfiredFireTimeMs) => {
    const [entry] = java
    if (entry === undefined) throw new Error('no row')
    // Java does not know the column, so what we wrote stays there.
    const moved = { misfire_orig_fire_time: 2000, next_fire_time: 4000 }
    const tables = await withJava(entry, { ...moved, prev_fire_time: previousMs })
    const { found } = await tables.run(tables.triggers.load([entry.trigger.key]))
    expect(found.get(entry.trigger.key)?.trigger.misfiredFireTimeMs).toBe(misfiredFireTimeMs)
  })

  it.each([
    ['0 15 10 ? * MON-FRI/2', '0 15 10 ? * MON-FRI'],
    ['0 15 10 1 JAN/2,MAR-MAY/2 ?', '0 15 10 1 JAN,MAR-MAY ?'],
    ['0/5 15 10 ? 1/2 2-6/2,SUN', '0/5 15 10 ? 1/2 2-6/2,SUN'],
  ])('has no steps behind names, which Java ignores: %s', async (stored, read) => {
    const entry = java.find(({ subTable }) => subTable === 'cron_triggers') ?? expect.fail('no row')
    const subRow = { ...entry.subRow, cron_expression: stored }
    const tables = await withJava({ ...entry, subRow })
    const load = async (): Promise<unknown> =>
      (await tables.run(tables.triggers.load([entry.trigger.key]))).found.get(entry.trigger.key)?.trigger
    expect(await load()).toMatchObject({ cronExpression: { expression: read } })
    await tables.query("UPDATE qrtz_cron_triggers SET dst_policy = 'quartz'")
    expect(await load()).toMatchObject({ cronExpression: { expression: stored } })
  })

  it('has the data of its properties text', async () => {
    const [entry] = java
    if (entry === undefined) throw new Error('no row')
    const text =
      '230a23467269204e6f762032302031373a30303a32342055544320323032360a746b3d74205c75303045395c5c5c3a760a'
    const tables = await withJava(entry, { job_data: Buffer.from(text, 'hex') })
    const { found } = await tables.run(tables.triggers.load([entry.trigger.key]))
    expect(found.get(entry.trigger.key)?.trigger.jobDataMap).toEqual({ tk: 't é\\:v' })
  })

  it('of its own class is broken, and the others are read', async () => {
    const tables = await SqlTables.open()
    await tables.addJobs('job1')
    await tables.insertRow('triggers', { ...rowOf('blob', 'BLOB'), job_data: Buffer.alloc(0) })
    const row = { trigger_name: 'blob', trigger_group: 'tg', blob_data: blob('SER-blobtrigger-blob') }
    await tables.insertRow('blob_triggers', row)
    const other = trigger('other', SimpleScheduleBuilder.simpleSchedule())
    await tables.run(tables.triggers.insert([{ trigger: other, state: 'WAITING' }]))
    const keys = [new TriggerKey('blob', 'tg'), other.key]
    const { found, broken } = await tables.run(tables.triggers.load(keys))
    expect(found.keys()).toEqual([other.key])
    expect(broken).toMatchObject([{ key: keys[0], error: { code: 'ERR_BROKEN_ROW' } }])
    expect(broken[0]?.error.message).toContain('BLOB')
    const refs = await tables.run(tables.triggers.lock(keys))
    expect(refs.map(({ storedType }) => storedType)).toEqual(['BLOB', 'SIMPLE'])
    await tables.run(tables.triggers.delete(refs))
    expect(await tables.query('SELECT * FROM qrtz_blob_triggers')).toEqual([])
  })
})

describe('a job that Java stored', () => {
  const row = {
    job_group: 'jobs',
    description: 'd é',
    job_class_name: 'interop.Interop$J',
    is_durable: true,
    is_nonconcurrent: false,
    is_update_data: false,
    requests_recovery: true,
  }

  it('is read with its properties text', async () => {
    const tables = await SqlTables.open()
    await tables.insertRow('job_details', { ...row, job_name: 'job1', job_data: blob('UP-job-job1') })
    const { found } = await tables.run(tables.jobs.load([job]))
    expect(found.get(job)).toEqual({
      ...jobNamed('job1', 'interop.Interop$J'),
      description: 'd é',
      requestsRecovery: true,
      jobDataMap: { a: '1', b: 'é=x' },
    })
  })

  it('with data that it serialized is broken, and the others are read', async () => {
    const tables = await SqlTables.open()
    const other = new JobKey('other', 'jobs')
    await tables.insertRow('job_details', { ...row, job_name: 'job1', job_data: blob('SER-job-job1') })
    await tables.insertRow('job_details', { ...row, job_name: 'other', job_data: null })
    const { found, broken } = await tables.run(tables.jobs.load([job, other]))
    expect(found.keys()).toEqual([other])
    expect(broken.get(job)).toMatchObject({ code: 'ERR_BROKEN_ROW' })
    expect(broken.get(job)?.message).toMatch(/jobs\.job1.*useProperties=true/)
  })
})

describe('a calendar that Java stored', () => {
  it('is an error by itself', async () => {
    const tables = await SqlTables.open()
    await tables.insertRow('calendars', { calendar_name: 'holiday', calendar: blob('SER-calendar-holiday') })
    const calendars = await tables.run(tables.calendars.load(['holiday', 'missing']))
    expect([...calendars.keys()]).toEqual(['holiday'])
    expect(calendars.get('holiday')).toMatchObject({ code: 'ERR_BROKEN_ROW' })
    expect(await tables.run(tables.calendars.exists('holiday'))).toBe(true)
  })
})
