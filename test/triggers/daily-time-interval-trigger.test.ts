import { describe, expect, it } from 'vitest'
import { CronCalendar } from '../../src/triggers/calendars/cron-calendar.ts'
import type { DailyTimeIntervalUnit } from '../../src/triggers/families/daily/daily-time-interval-schedule.ts'
import {
  DailyTimeIntervalScheduleBuilder,
  type DailyTimeIntervalTrigger,
} from '../../src/triggers/families/daily/daily-time-interval-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { CalendarMisfireInstruction } from '../../src/triggers/misfire-instruction.ts'
import { TimeOfDay } from '../../src/triggers/time-of-day.ts'
import { fireInstants, fireTexts, wallText } from '../support/trigger-text.ts'

interface Options {
  readonly start?: string
  readonly end?: string
  readonly every?: readonly [interval: number, unit: DailyTimeIntervalUnit]
  readonly from?: string
  readonly to?: string
  readonly days?: readonly number[]
  readonly repeatCount?: number
  readonly countPerDay?: number
  readonly zone?: string
}

function timeOf(text: string): TimeOfDay {
  const [hour = 0, minute = 0, second = 0] = text.split(':').map(Number)
  return new TimeOfDay(hour, minute, second)
}

function daily(options: Options): DailyTimeIntervalTrigger {
  const { start = '2011-01-01T00:00:00Z', end, every = [1, 'HOUR'], zone = 'UTC' } = options
  const schedule = DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule()
    .withInterval(...every)
    .withRepeatCount(options.repeatCount ?? -1)
    .inTimeZone(zone)
  if (options.from !== undefined) schedule.startingDailyAt(timeOf(options.from))
  if (options.to !== undefined) schedule.endingDailyAt(timeOf(options.to))
  if (options.days !== undefined) schedule.onDaysOfTheWeek(...options.days)
  if (options.countPerDay !== undefined) schedule.endingDailyAfterCount(options.countPerDay)
  return TriggerBuilder.newTrigger()
    .withIdentity('t')
    .startAt(new Date(start))
    .endAt(end === undefined ? null : new Date(end))
    .withSchedule(schedule)
    .build()
}

const weekdays = [2, 3, 4, 5, 6]

/** Fires by their number, counted from 0; `n` is how many of the first 48 there are. */
type Row = readonly [string, Options, Readonly<Record<number, string>>, n: number]

describe('a daily-time-interval trigger fires in its window', () => {
  it.each<Row>([
    ['all day', {}, { 0: '2011-01-01 00:00', 47: '2011-01-02 23:00' }, 48],
    ['until its end, which is inclusive', { end: '2011-01-02T22:00:00Z' }, { 46: '2011-01-02 22:00' }, 47],
    ['from eight', { from: '8' }, { 0: '2011-01-01 08:00', 47: '2011-01-03 23:00' }, 48],
    ['on working days', { from: '8', days: weekdays }, { 0: '2011-01-03 08:00', 47: '2011-01-05 23:00' }, 48],
    [
      'on the grid of the day, not of the start',
      { start: '2011-01-01T09:23:00Z', from: '8' },
      { 0: '2011-01-01 10:00', 47: '2011-01-04 09:00' },
      48,
    ],
    [
      'to five, end at four',
      { to: '17', end: '2011-01-02T16:00:00Z' },
      { 17: '2011-01-01 17:00', 34: '2011-01-02 16:00' },
      35,
    ],
    ['to five, end at six', { to: '17', end: '2011-01-02T18:00:00Z' }, { 35: '2011-01-02 17:00' }, 36],
    [
      'eight to five',
      { from: '8', to: '17' },
      { 0: '2011-01-01 08:00', 9: '2011-01-01 17:00', 10: '2011-01-02 08:00', 47: '2011-01-05 15:00' },
      48,
    ],
    [
      'eight to five with an end',
      { from: '8', to: '17', end: '2011-01-04T00:00:00Z' },
      { 29: '2011-01-03 17:00' },
      30,
    ],
    ['from 08:23', { from: '8:23' }, { 0: '2011-01-01 08:23', 47: '2011-01-03 23:23' }, 48],
    [
      'eight to five on working days',
      { from: '8', to: '17', days: weekdays },
      { 0: '2011-01-03 08:00', 10: '2011-01-04 08:00', 47: '2011-01-07 15:00' },
      48,
    ],
    [
      'on weekends',
      { from: '8', to: '17', days: [1, 7] },
      { 0: '2011-01-01 08:00', 10: '2011-01-02 08:00', 47: '2011-01-15 15:00' },
      48,
    ],
    [
      'on Mondays',
      { from: '8', to: '17', days: [2] },
      { 0: '2011-01-03 08:00', 10: '2011-01-10 08:00', 47: '2011-01-31 15:00' },
      48,
    ],
    [
      'every 23 minutes',
      { every: [23, 'MINUTE'], from: '8', to: '10', end: '2011-01-04T00:00:00Z' },
      { 5: '2011-01-01 09:55', 17: '2011-01-03 09:55' },
      18,
    ],
    [
      'to the second',
      { every: [2, 'HOUR'], from: '8:1:15', to: '16:1:15' },
      { 0: '2011-01-01 08:01:15', 4: '2011-01-01 16:01:15', 47: '2011-01-10 12:01:15' },
      48,
    ],
    [
      'every 72 seconds',
      { every: [72, 'SECOND'], from: '8:0:2' },
      { 0: '2011-01-01 08:00:02', 1: '2011-01-01 08:01:14', 47: '2011-01-01 08:56:26' },
      48,
    ],
    [
      'every 72 minutes',
      { every: [72, 'MINUTE'], from: '8', to: '11' },
      { 1: '2011-01-01 09:12', 2: '2011-01-01 10:24', 47: '2011-01-16 10:24' },
      48,
    ],
    [
      'eight times in all',
      { every: [72, 'MINUTE'], from: '8', to: '11', repeatCount: 7 },
      { 7: '2011-01-03 09:12' },
      8,
    ],
    ['once', { repeatCount: 0 }, { 0: '2011-01-01 00:00' }, 1],
    [
      'never after its end',
      { from: '8', to: '11', end: '2011-01-02T09:30:00Z' },
      { 5: '2011-01-02 09:00' },
      6,
    ],
    [
      'three hours apart',
      { every: [3, 'HOUR'], from: '8', to: '17', days: weekdays },
      { 3: '2011-01-03 17:00', 5: '2011-01-04 11:00' },
      48,
    ],
    [
      'three times a day',
      { from: '8', countPerDay: 3 },
      { 2: '2011-01-01 10:00', 3: '2011-01-02 08:00' },
      48,
    ],
    [
      'once a day late',
      { from: '23:59', countPerDay: 1 },
      { 0: '2011-01-01 23:59', 1: '2011-01-02 23:59' },
      48,
    ],
  ])('%s', (_name, options, expected, n) => {
    const trigger = daily(options)
    const fires = fireTexts(trigger, 'UTC', 48).map((text) => text.replace(' +00', ''))
    expect(fires.length).toBe(n)
    for (const [number, text] of Object.entries(expected)) expect(fires[Number(number)]).toBe(text)
    if (n < 48) expect(trigger.finalFireTimeMs()).toBe(fireInstants(trigger, 48).at(-1))
    else expect(trigger.finalFireTimeMs()).toBeNull()
  })

  it.each([
    ['00:00:00', '01 08:00'],
    ['07:59:59', '01 08:00'],
    ['08:00:00', '01 09:00'],
    ['12:59:59', '01 13:00'],
    ['13:00:00', '02 08:00'],
  ])('so that after %s comes day %s', (after, expected) => {
    const fire = daily({ from: '8', to: '13' }).getFireTimeAfter(new Date(`2011-01-01T${after}Z`))
    expect(fire && wallText(fire.getTime(), 'UTC')).toBe(`2011-01-${expected} +00`)
  })

  it('never before its start, not by a millisecond', () => {
    const trigger = daily({ start: '2011-01-01T08:00:00.500Z', every: [25, 'SECOND'], from: '8', to: '8:1' })
    expect(fireTexts(trigger, 'UTC', 3)).toEqual([
      '2011-01-01 08:00:25 +00',
      '2011-01-01 08:00:50 +00',
      '2011-01-02 08:00 +00',
    ])
  })

  it('except where a calendar says not', () => {
    const calendar = new CronCalendar({ expression: '* * 9-12 * * ?', timeZone: 'UTC' })
    const fires = fireTexts(daily({ from: '8' }), 'UTC', 48, calendar)
    expect(fires.slice(0, 3)).toEqual([
      '2011-01-01 08:00 +00',
      '2011-01-01 13:00 +00',
      '2011-01-01 14:00 +00',
    ])
    expect(fires[47]).toBe('2011-01-04 23:00 +00')
  })
})

describe('a daily-time-interval trigger where the clock changes', () => {
  const zone = 'America/New_York'
  const spring = '2026-03-08T05:00:00Z'
  const autumn = '2026-11-01T04:00:00Z'

  it.each<[string, Options, string[]]>([
    [
      'the day has one fire less',
      { start: spring, from: '1', to: '4' },
      ['08 01:00 -05', '08 03:00 -04', '08 04:00 -04', '09 01:00 -04'],
    ],
    [
      'a window that begins in the gap begins after it',
      { start: spring, from: '2:30', to: '5' },
      ['08 03:00 -04', '08 04:00 -04', '08 05:00 -04', '09 02:30 -04'],
    ],
    [
      'a window that ends in the gap ends after it',
      { start: spring, from: '1', to: '2:30', every: [30, 'MINUTE'] },
      ['08 01:00 -05', '08 01:30 -05', '08 03:00 -04', '09 01:00 -04'],
    ],
    [
      'the day has one fire more',
      { start: autumn, from: '0:30', to: '3:30' },
      ['01 00:30 -04', '01 01:30 -04', '01 01:30 -05', '01 02:30 -05', '01 03:30 -05', '02 00:30 -05'],
    ],
    [
      'a window of one moment fires once',
      { start: autumn, from: '1:30', to: '1:30' },
      ['01 01:30 -04', '02 01:30 -05'],
    ],
    [
      'the grid is elapsed time in autumn',
      { start: autumn, every: [6, 'HOUR'] },
      ['01 00:00 -04', '01 05:00 -05', '01 11:00 -05', '01 17:00 -05', '01 23:00 -05', '02 00:00 -05'],
    ],
    [
      'and in spring',
      { start: spring, every: [6, 'HOUR'] },
      ['08 00:00 -05', '08 07:00 -04', '08 13:00 -04', '08 19:00 -04', '09 00:00 -04'],
    ],
  ])('%s', (_name, options, expected) => {
    const fires = fireTexts(daily({ ...options, zone }), zone, expected.length)
    expect(fires.map((text) => text.slice(8))).toEqual(expected)
  })

  it('has both passes of an hour that comes twice before midnight', () => {
    const cairo = daily({ start: '2026-10-29T19:00:00Z', zone: 'Africa/Cairo' })
    expect(fireTexts(cairo, 'Africa/Cairo', 4).map((text) => text.slice(8))).toEqual([
      '29 22:00 +03',
      '29 23:00 +03',
      '29 23:00 +02',
      '30 00:00 +02',
    ])
  })

  it('leaves out a day that its zone lost', () => {
    const apia = daily({ start: '2011-12-29T12:00:00Z', zone: 'Pacific/Apia', from: '8', to: '8' })
    expect(fireTexts(apia, 'Pacific/Apia', 3).map((text) => text.slice(8))).toEqual([
      '29 08:00 -10',
      '31 08:00 +14',
      '01 08:00 +14',
    ])
  })
})

describe('a daily-time-interval trigger that misfired', () => {
  const end = '2011-01-03T12:00:00Z'
  const endMs = Date.parse(end)
  const missed = (instruction: CalendarMisfireInstruction): DailyTimeIntervalTrigger => {
    const trigger = daily({ end })
    const schedule = trigger.getScheduleBuilder().withMisfireInstruction(instruction)
    return trigger.getTriggerBuilder().withSchedule(schedule).build().computeFirstFireTime(null)
  }

  it.each(['smart', 'fireOnceNow'] as const)('fires now by %s up to its end', (instruction) => {
    expect(missed(instruction).updateAfterMisfire(null, endMs).nextFireTimeMs).toBe(endMs)
  })

  it.each(['smart', 'fireOnceNow', 'doNothing'] as const)(
    'is finished by %s after its end',
    (instruction) => {
      expect(missed(instruction).updateAfterMisfire(null, endMs + 1)).toMatchObject({
        nextFireTimeMs: null,
        previousFireTimeMs: null,
        misfiredFireTimeMs: null,
      })
    },
  )

  it('still fires what it missed before its end when it ignores misfires', () => {
    const trigger = missed('ignore')
    expect(trigger.updateAfterMisfire(null, endMs + 1)).toBe(trigger)
  })
})

describe('a daily-time-interval schedule', () => {
  it.each<[string, Options]>([
    ['repeatInterval', { every: [0, 'HOUR'] }],
    ['repeatInterval', { every: [25, 'HOUR'] }],
    ['repeatInterval', { every: [86_401, 'SECOND'] }],
    ['repeatIntervalUnit', { every: [1, 'DAY' as DailyTimeIntervalUnit] }],
    ['repeatCount', { repeatCount: -2 }],
    ['endTimeOfDay', { from: '8', to: '7' }],
    ['daysOfWeek', { days: [] }],
    ['daysOfWeek', { days: [8] }],
    ['endingDailyAfterCount', { from: '8', countPerDay: 17 }],
    ['endingDailyAfterCount', { from: '8', countPerDay: 0 }],
  ])('with a wrong %s is refused by name', (field, options) => {
    expect(() => daily(options)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_TRIGGER', field }))
  })

  it('runs every minute of every day when nothing is said', () => {
    const schedule = DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule()
    const trigger = TriggerBuilder.newTrigger().withSchedule(schedule).build()
    expect(trigger).toMatchObject({ repeatInterval: 1, repeatIntervalUnit: 'MINUTE', repeatCount: -1 })
    expect(trigger.startTimeOfDay.toString()).toBe('00:00:00')
    expect(trigger.endTimeOfDay.toString()).toBe('23:59:59')
    expect(trigger.daysOfWeek).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  it('has names for working days, weekends and all days', () => {
    const schedule = DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule()
    const daysOf = (): readonly number[] =>
      TriggerBuilder.newTrigger().withSchedule(schedule).build().daysOfWeek
    schedule.onMondayThroughFriday()
    expect(daysOf()).toEqual(weekdays)
    schedule.onSaturdayAndSunday()
    expect(daysOf()).toEqual([1, 7])
    schedule.onEveryDay()
    expect(daysOf()).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  it.each([
    ['hour', [24, 0, 0]],
    ['minute', [0, 60, 0]],
    ['second', [0, 0, -1]],
  ])('takes no time of day with a wrong %s', (field, [hour = 0, minute = 0, second = 0]) => {
    expect(() => new TimeOfDay(hour, minute, second)).toThrow(expect.objectContaining({ field }))
  })
})
