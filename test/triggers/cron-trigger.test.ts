import { describe, expect, it, test } from 'vitest'
import { DayOfWeek } from '../../src/time/civil.ts'
import { DailyCalendar } from '../../src/triggers/calendars/daily-calendar.ts'
import { CronExpression } from '../../src/triggers/cron/cron-expression.ts'
import { CronScheduleBuilder, type CronTrigger } from '../../src/triggers/families/cron/cron-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { fireTexts } from '../support/trigger-text.ts'

function cron(
  schedule: CronScheduleBuilder | string,
  options: { start?: string; end?: string } = {},
): CronTrigger {
  const { start = '2026-01-01T00:00:00Z', end } = options
  return TriggerBuilder.newTrigger()
    .withIdentity('t')
    .startAt(new Date(start))
    .endAt(end === undefined ? null : new Date(end))
    .withSchedule(
      typeof schedule === 'string' ? CronScheduleBuilder.cronSchedule(schedule).inTimeZone('UTC') : schedule,
    )
    .build()
}

describe('a cron trigger', () => {
  it('fires at its start when the start matches', () => {
    expect(fireTexts(cron('0 0 0 * * ?'), 'UTC', 2)).toEqual(['2026-01-01 00:00 +00', '2026-01-02 00:00 +00'])
  })

  it('counts its start in whole seconds', () => {
    const trigger = cron('0 0 0 * * ?', { start: '2026-01-01T00:00:00.999Z' })
    expect(trigger.startTime).toEqual(new Date('2026-01-01T00:00:00Z'))
    expect(trigger.computeFirstFireTime(null).nextFireTime).toEqual(trigger.startTime)
  })

  it('fires at its end when the end matches, and not after it', () => {
    const trigger = cron('0 0 12 * * ?', { end: '2026-01-02T12:00:00Z' })
    expect(fireTexts(trigger, 'UTC', 9)).toEqual(['2026-01-01 12:00 +00', '2026-01-02 12:00 +00'])
    expect(trigger.finalFireTime).toEqual(new Date('2026-01-02T12:00:00Z'))
    expect(trigger.getFireTimeAfter(new Date('2026-01-02T12:00:00Z'))).toBeNull()
  })

  it.each([
    ['before an end between fires', { end: '2026-01-03T11:00:00Z' }, '2026-01-02T12:00:00.000Z'],
    ['nowhere without an end', {}, null],
    ['nowhere when no fire lies between start and end', { end: '2026-01-01T11:00:00Z' }, null],
  ])('has its final fire time %s', (_name, options, expected) => {
    expect(cron('0 0 12 * * ?', options).finalFireTime?.toISOString() ?? null).toBe(expected)
  })

  it('answers for times before its start as for the start', () => {
    expect(cron('0 0 12 * * ?').getFireTimeAfter(new Date(0))).toEqual(new Date('2026-01-01T12:00:00Z'))
  })

  it('skips what its calendar leaves out', () => {
    const nights = new DailyCalendar({ rangeStart: '20:00', rangeEnd: '23:59:59:999', timeZone: 'UTC' })
    expect(fireTexts(cron('0 0 0/6 * * ?', { start: '2026-01-01T13:00:00Z' }), 'UTC', 3, nights)).toEqual([
      '2026-01-01 18:00 +00',
      '2026-01-02 00:00 +00',
      '2026-01-02 06:00 +00',
    ])
  })

  it('shows its expression, zone and DST policy', () => {
    const schedule = CronScheduleBuilder.cronSchedule('0 30 2 * * ?')
    const trigger = cron(schedule.inTimeZone('Europe/Paris').withDstPolicy('quartz'))
    expect(trigger).toMatchObject({ type: 'cron', timeZone: 'Europe/Paris', dst: 'quartz' })
    expect(trigger.cronExpression.expression).toBe('0 30 2 * * ?')
  })

  it('takes the DST policy vixie unless told otherwise', () => {
    const schedule = CronScheduleBuilder.cronSchedule('0 30 2 * * ?').inTimeZone('America/New_York')
    const start = { start: '2026-03-08T05:00:00Z' }
    expect(fireTexts(cron(schedule, start), 'America/New_York', 2)).toEqual([
      '2026-03-08 03:00 -04',
      '2026-03-09 02:30 -04',
    ])
    expect(fireTexts(cron(schedule.withDstPolicy('quartz'), start), 'America/New_York', 2)).toEqual([
      '2026-03-09 02:30 -04',
      '2026-03-10 02:30 -04',
    ])
  })

  it.each<[string, CronScheduleBuilder, string[]]>([
    ['daily', CronScheduleBuilder.dailyAtHourAndMinute(10, 30), ['01 10:30', '02 10:30']],
    [
      'on some weekdays',
      CronScheduleBuilder.atHourAndMinuteOnGivenDaysOfWeek(10, 30, DayOfWeek.MONDAY, DayOfWeek.SATURDAY),
      ['03 10:30', '05 10:30'],
    ],
    [
      'weekly',
      CronScheduleBuilder.weeklyOnDayAndHourAndMinute(DayOfWeek.SUNDAY, 7, 0),
      ['04 07:00', '11 07:00'],
    ],
    ['monthly', CronScheduleBuilder.monthlyOnDayAndHourAndMinute(31, 7, 0), ['31 07:00', '31 07:00']],
    ['by a Unix expression', CronScheduleBuilder.unixCron('*/30 9 * * *'), ['01 09:00', '01 09:30']],
    [
      'by a Unix expression with seconds',
      CronScheduleBuilder.unixCron('*/30 0 9 * * *', { seconds: 'optional' }),
      ['01 09:00', '01 09:00'],
    ],
    ['by a Unix macro', CronScheduleBuilder.unixCron('@weekly'), ['04 00:00', '11 00:00']],
    [
      'by a parsed expression',
      CronScheduleBuilder.cronSchedule(CronExpression.parse('0 0 1 * * ?')),
      ['01 01:00', '02 01:00'],
    ],
  ])('fires %s', (_name, schedule, expected) => {
    const fires = fireTexts(cron(schedule.inTimeZone('UTC')), 'UTC', 2)
    expect(fires.map((text) => text.slice(8, 16))).toEqual(expected)
  })

  it.each([
    [
      'an expression with a wrong hour',
      'ERR_INVALID_CRON_EXPRESSION',
      () => CronScheduleBuilder.dailyAtHourAndMinute(24, 0),
    ],
    ['half a minute', 'ERR_INVALID_CRON_EXPRESSION', () => CronScheduleBuilder.dailyAtHourAndMinute(1, 0.5)],
    ['no weekday', 'ERR_INVALID_TRIGGER', () => CronScheduleBuilder.atHourAndMinuteOnGivenDaysOfWeek(1, 0)],
    [
      'a zone that is none',
      'ERR_UNKNOWN_TIME_ZONE',
      () => CronScheduleBuilder.dailyAtHourAndMinute(1, 0).inTimeZone('Mars'),
    ],
    [
      'an instruction of another family',
      'ERR_INVALID_TRIGGER',
      () =>
        cron(
          CronScheduleBuilder.dailyAtHourAndMinute(1, 0).withMisfireInstruction('fireNow' as 'fireOnceNow'),
        ),
    ],
  ])('refuses %s', (_name, code, build) => {
    expect(build).toThrow(expect.objectContaining({ code }))
  })
})

describe('a cron trigger that misfired', () => {
  const now = Date.UTC(2026, 0, 5, 3)
  const late = (instruction: CronTrigger['misfireInstruction']): CronTrigger =>
    cron(
      CronScheduleBuilder.dailyAtHourAndMinute(12, 0).inTimeZone('UTC').withMisfireInstruction(instruction),
    )
      .computeFirstFireTime(null)
      .updateAfterMisfire(null, now)

  it.each([
    ['smart', now, Date.UTC(2026, 0, 1, 12)],
    ['fireOnceNow', now, Date.UTC(2026, 0, 1, 12)],
    ['doNothing', Date.UTC(2026, 0, 5, 12), null],
    ['ignore', Date.UTC(2026, 0, 1, 12), null],
  ] as const)('by %s', (instruction, nextFireTimeMs, misfiredFireTimeMs) => {
    expect(late(instruction)).toMatchObject({ nextFireTimeMs, misfiredFireTimeMs })
  })

  it('makes up for what it missed also after its end, as in Quartz, and is finished then', () => {
    const schedule = CronScheduleBuilder.dailyAtHourAndMinute(12, 0).inTimeZone('UTC')
    const ended = cron(schedule)
      .getTriggerBuilder()
      .endAt(new Date(now - 1))
      .build()
    const after = ended.computeFirstFireTime(null).updateAfterMisfire(null, now)
    expect(after.nextFireTimeMs).toBe(now)
    expect(after.triggered(null).nextFireTimeMs).toBeNull()
  })

  it('goes on with its schedule after it fired late', () => {
    expect(late('smart').triggered(null)).toMatchObject({
      previousFireTimeMs: now,
      nextFireTimeMs: Date.UTC(2026, 0, 5, 12),
      misfiredFireTimeMs: null,
      timesTriggered: 1,
    })
  })
})

test.each(['timeZone', 'dst', 'dialect'])(
  'refuses %s beside a parsed expression, which has its own',
  (name) => {
    const parsed = CronExpression.parse('0 0 1 * * ?', { timeZone: 'UTC' })
    const options = { [name]: 'Europe/Paris' }
    // @ts-expect-error -- a parsed expression takes no options
    expect(() => CronScheduleBuilder.cronSchedule(parsed, options)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', field: name }),
    )
  },
)
