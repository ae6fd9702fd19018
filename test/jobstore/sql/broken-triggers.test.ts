import { describe, expect, it } from 'vitest'
import { JobKey } from '../../../src/core/key.ts'
import { CronScheduleBuilder } from '../../../src/triggers/families/cron/cron-trigger.ts'
import { DailyTimeIntervalScheduleBuilder } from '../../../src/triggers/families/daily/daily-time-interval-trigger.ts'
import { CalendarIntervalScheduleBuilder } from '../../../src/triggers/families/interval/calendar-interval-trigger.ts'
import { SimpleScheduleBuilder } from '../../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../../src/triggers/families/trigger-builder.ts'
import type { ScheduleBuilder } from '../../../src/triggers/fluent-trigger-builder.ts'
import type { Trigger } from '../../../src/triggers/trigger.ts'
import { SqlTables } from '../../support/sql-tables.ts'

const schedules: Record<string, ScheduleBuilder<Trigger>> = {
  simple: SimpleScheduleBuilder.repeatSecondlyForever(),
  cron: CronScheduleBuilder.cronSchedule('0 0 7 * * ?', { timeZone: 'UTC' }),
  interval: CalendarIntervalScheduleBuilder.calendarIntervalSchedule().inTimeZone('UTC'),
  daily: DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule().inTimeZone('UTC'),
}
const all = Object.entries(schedules).map(([name, schedule]) =>
  TriggerBuilder.newTrigger()
    .withIdentity(name)
    .forJob(new JobKey('work', 'jobs'))
    .startAt(new Date(Date.UTC(2026, 0, 1)))
    .withSchedule(schedule)
    .build()
    .computeFirstFireTime(null),
)

describe('a trigger that cannot be read is broken by itself', () => {
  it.each([
    ['simple', "UPDATE qrtz_triggers SET trigger_type = 'LUNAR'", "'LUNAR'"],
    ['simple', "UPDATE qrtz_triggers SET trigger_type = 'CRON'", 'cron_triggers'],
    ['simple', "UPDATE qrtz_triggers SET trigger_state = 'MISFIRED'", "'MISFIRED'"],
    ['simple', 'UPDATE qrtz_triggers SET misfire_instr = 9', "'misfire_instr' is 9"],
    ['simple', 'UPDATE qrtz_triggers SET end_time = 5', 'before the start time'],
    ['simple', 'DELETE FROM qrtz_simple_triggers', 'simple_triggers'],
    ['simple', 'UPDATE qrtz_simple_triggers SET repeat_interval = 0', 'interval'],
    ['cron', 'DELETE FROM qrtz_cron_triggers', 'cron_triggers'],
    ['cron', "UPDATE qrtz_cron_triggers SET cron_expression = 'x'", 'cron expression'],
    ['cron', "UPDATE qrtz_cron_triggers SET time_zone_id = 'Mars/North'", 'Mars/North'],
    ['cron', "UPDATE qrtz_cron_triggers SET dst_policy = 'swiss'", "'swiss'"],
    ['cron', "UPDATE qrtz_cron_triggers SET cron_dialect = 'swiss'", "'swiss'"],
    ['cron', 'UPDATE qrtz_triggers SET misfire_instr = 3', "'misfire_instr' is 3"],
    ['interval', 'DELETE FROM qrtz_simprop_triggers', 'simprop_triggers'],
    ['interval', "UPDATE qrtz_simprop_triggers SET str_prop_1 = 'MILLISECOND'", "'MILLISECOND'"],
    ['interval', 'UPDATE qrtz_simprop_triggers SET int_prop_1 = 0', 'repeatInterval'],
    ['interval', 'UPDATE qrtz_simprop_triggers SET int_prop_1 = NULL', 'int_prop_1'],
    ['daily', "UPDATE qrtz_simprop_triggers SET str_prop_1 = 'DAY'", "'DAY'"],
    ['daily', "UPDATE qrtz_simprop_triggers SET str_prop_2 = '1,8'", "'1,8'"],
    ['daily', "UPDATE qrtz_simprop_triggers SET str_prop_3 = '25,0,0,26,0,0'", "'str_prop_3'"],
    ['daily', "UPDATE qrtz_simprop_triggers SET str_prop_3 = 'abc'", "'str_prop_3'"],
    ['daily', "UPDATE qrtz_simprop_triggers SET str_prop_3 = '8,5'", "'str_prop_3'"],
    ['daily', "UPDATE qrtz_simprop_triggers SET str_prop_3 = '0x8,0,0,9,0,0'", "'str_prop_3'"],
    ['daily', "UPDATE qrtz_simprop_triggers SET str_prop_3 = '8,0,0,9,0,0,1'", "'str_prop_3'"],
    ['daily', "UPDATE qrtz_simprop_triggers SET str_prop_3 = '9,0,0,8,0,0'", 'before it starts'],
  ])('%s after %s', async (name, change, words) => {
    const tables = await SqlTables.open()
    await tables.addJobs('work')
    await tables.run(tables.triggers.insert(all.map((trigger) => ({ trigger, state: 'WAITING' }))))
    await tables.query(`${change} WHERE trigger_name = '${name}'`)
    const { found, broken } = await tables.run(tables.triggers.load(all.map(({ key }) => key)))
    expect(broken.map(({ key }) => key.name)).toEqual([name])
    expect(broken[0]?.error).toMatchObject({ name: 'JobPersistenceError', code: 'ERR_BROKEN_ROW' })
    expect(broken[0]?.error.message).toContain(`Trigger 'DEFAULT.${name}'`)
    expect(broken[0]?.error.message).toContain(words)
    const others = Object.keys(schedules).filter((other) => other !== name)
    expect(found.keys().map((key) => key.name)).toEqual(expect.arrayContaining(others))
  })

  it('takes what Java leaves out of a daily window: the whole day, every day', async () => {
    const tables = await SqlTables.open()
    await tables.addJobs('work')
    await tables.run(tables.triggers.insert(all.map((trigger) => ({ trigger, state: 'WAITING' }))))
    await tables.query('UPDATE qrtz_simprop_triggers SET str_prop_2 = NULL, str_prop_3 = NULL')
    const { found } = await tables.run(tables.triggers.load(all.map(({ key }) => key)))
    const daily = all.find(({ type }) => type === 'dailyTimeInterval')
    expect(daily === undefined ? null : found.get(daily.key)?.trigger).toEqual(daily)
  })

  it.each([
    [',,,17,30,0', 0, 63_000],
    [',,,17,30,0,', 0, 63_000],
    ['8,0,0,,,,', 28_800, 86_399],
    [',,,,,,', 0, 86_399],
  ])('takes the daily window %j, of which Java left out what is null', async (text, start, end) => {
    const tables = await SqlTables.open()
    await tables.addJobs('work')
    await tables.run(tables.triggers.insert(all.map((trigger) => ({ trigger, state: 'WAITING' }))))
    await tables.query(`UPDATE qrtz_simprop_triggers SET str_prop_3 = '${text}' WHERE trigger_name = 'daily'`)
    const { found } = await tables.run(tables.triggers.load(all.map(({ key }) => key)))
    const daily = found.values().find(({ trigger }) => trigger.type === 'dailyTimeInterval')
    expect(daily?.trigger).toMatchObject({ startSecondOfDay: start, endSecondOfDay: end })
  })

  it('has the ERROR state where its state is unknown, so that it can be reset', async () => {
    const tables = await SqlTables.open()
    await tables.addJobs('work')
    await tables.run(tables.triggers.insert(all.map((trigger) => ({ trigger, state: 'WAITING' }))))
    await tables.query("UPDATE qrtz_triggers SET trigger_state = 'DELETED'")
    const refs = await tables.run(tables.triggers.lock(all.map(({ key }) => key)))
    expect(refs.map(({ state }) => state)).toEqual(['ERROR', 'ERROR', 'ERROR', 'ERROR'])
  })
})
