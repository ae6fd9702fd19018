import { describe, expect, it } from 'vitest'
import { DailyTimeIntervalScheduleBuilder } from '../../src/triggers/families/daily/daily-time-interval-trigger.ts'
import type { CalendarIntervalUnit } from '../../src/triggers/families/interval/calendar-interval-schedule.ts'
import {
  CalendarIntervalScheduleBuilder,
  type CalendarIntervalTrigger,
} from '../../src/triggers/families/interval/calendar-interval-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'
import { fireTexts } from '../support/trigger-text.ts'

interface Options {
  readonly start: string
  readonly end?: string
  readonly interval: number
  readonly unit: CalendarIntervalUnit
  readonly zone?: string
  readonly skip?: boolean
}

function every({ start, end, interval, unit, zone = 'UTC', skip = false }: Options): CalendarIntervalTrigger {
  return TriggerBuilder.newTrigger()
    .withIdentity('t')
    .startAt(new Date(start))
    .endAt(end === undefined ? null : new Date(end))
    .withSchedule(
      CalendarIntervalScheduleBuilder.calendarIntervalSchedule()
        .withInterval(interval, unit)
        .inTimeZone(zone)
        .skipDayIfHourDoesNotExist({ enabled: skip }),
    )
    .build()
}

const newYork = 'America/New_York'

describe('a calendar-interval trigger that misfired', () => {
  it('makes up for what it missed also after its end, as in Quartz, and is finished then', () => {
    const now = Date.UTC(2026, 0, 5)
    const after = TriggerBuilder.newTrigger()
      .startAt(new Date(Date.UTC(2026, 0, 1)))
      .endAt(new Date(now - 1))
      .withSchedule(CalendarIntervalScheduleBuilder.calendarIntervalSchedule().inTimeZone('UTC'))
      .build()
      .computeFirstFireTime(null)
      .updateAfterMisfire(null, now)
    expect(after.nextFireTimeMs).toBe(now)
    expect(after.triggered(null).nextFireTimeMs).toBeNull()
  })
})

describe('a calendar-interval trigger is anchored to its start', () => {
  it.each<[string, Options, string[]]>([
    [
      'the 31st clamps and comes back',
      { start: '2026-01-31T10:00:00Z', interval: 1, unit: 'MONTH' },
      ['2026-01-31 10:00 +00', '2026-02-28 10:00 +00', '2026-03-31 10:00 +00', '2026-04-30 10:00 +00'],
    ],
    [
      'a quarter from the end of November',
      { start: '2025-11-30T10:00:00Z', interval: 3, unit: 'MONTH' },
      ['2025-11-30 10:00 +00', '2026-02-28 10:00 +00', '2026-05-30 10:00 +00', '2026-08-30 10:00 +00'],
    ],
    [
      '29 February comes back in the next leap year',
      { start: '2024-02-29T10:00:00Z', interval: 1, unit: 'YEAR' },
      [
        '2024-02-29 10:00 +00',
        '2025-02-28 10:00 +00',
        '2026-02-28 10:00 +00',
        '2027-02-28 10:00 +00',
        '2028-02-29 10:00 +00',
      ],
    ],
    [
      'a gap moves one fire to the first instant after it',
      { start: '2026-03-06T07:30:00Z', interval: 1, unit: 'DAY', zone: newYork },
      ['2026-03-06 02:30 -05', '2026-03-07 02:30 -05', '2026-03-08 03:00 -04', '2026-03-09 02:30 -04'],
    ],
    [
      'or leaves it out',
      { start: '2026-03-06T07:30:00Z', interval: 1, unit: 'DAY', zone: newYork, skip: true },
      ['2026-03-06 02:30 -05', '2026-03-07 02:30 -05', '2026-03-09 02:30 -04', '2026-03-10 02:30 -04'],
    ],
    [
      'also by the week',
      { start: '2026-03-01T07:30:00Z', interval: 1, unit: 'WEEK', zone: newYork, skip: true },
      ['2026-03-01 02:30 -05', '2026-03-15 02:30 -04', '2026-03-22 02:30 -04'],
    ],
    [
      'an overlap fires once, at the first pass',
      { start: '2026-10-30T05:30:00Z', interval: 1, unit: 'DAY', zone: newYork },
      ['2026-10-30 01:30 -04', '2026-10-31 01:30 -04', '2026-11-01 01:30 -04', '2026-11-02 01:30 -05'],
    ],
    [
      'a start in the second pass is that instant, and later fires are first passes',
      { start: '2026-11-01T06:30:00Z', interval: 1, unit: 'DAY', zone: newYork },
      ['2026-11-01 01:30 -05', '2026-11-02 01:30 -05'],
    ],
    [
      'hours follow elapsed time',
      { start: '2026-03-07T07:30:00Z', interval: 12, unit: 'HOUR', zone: newYork },
      ['2026-03-07 02:30 -05', '2026-03-07 14:30 -05', '2026-03-08 03:30 -04', '2026-03-08 15:30 -04'],
    ],
    [
      'and so do minutes',
      { start: '2026-03-08T06:00:00Z', interval: 30, unit: 'MINUTE', zone: newYork },
      ['2026-03-08 01:00 -05', '2026-03-08 01:30 -05', '2026-03-08 03:00 -04', '2026-03-08 03:30 -04'],
    ],
    [
      'and seconds',
      { start: '2026-01-01T05:00:00Z', interval: 90, unit: 'SECOND', zone: newYork },
      ['2026-01-01 00:00 -05', '2026-01-01 00:01:30 -05', '2026-01-01 00:03 -05'],
    ],
    [
      'a day that a zone lost is over at its end',
      { start: '2011-12-29T20:00:00Z', interval: 1, unit: 'DAY', zone: 'Pacific/Apia' },
      ['2011-12-29 10:00 -10', '2011-12-31 00:00 +14', '2011-12-31 10:00 +14'],
    ],
    [
      'a gap at midnight',
      { start: '2026-04-22T22:00:00Z', interval: 1, unit: 'DAY', zone: 'Africa/Cairo' },
      ['2026-04-23 00:00 +02', '2026-04-24 01:00 +03', '2026-04-25 00:00 +03'],
    ],
  ])('%s', (_name, options, expected) => {
    expect(fireTexts(every(options), options.zone ?? 'UTC', expected.length)).toEqual(expected)
  })
})

describe('the grid of a calendar-interval trigger', () => {
  const startMs = Date.UTC(2026, 0, 1)
  const tens = every({ start: '2026-01-01T00:00:00Z', interval: 10, unit: 'SECOND' })

  it.each([
    [-1000, 0],
    [0, 10_000],
    [9_500, 10_000],
    [10_000, 20_000],
    [10_001, 20_000],
    [19_999, 20_000],
  ])('has, %d ms after the start, its next point at %d', (after, expected) => {
    expect(tens.fireTimeAfterMs(startMs + after)).toBe(startMs + expected)
  })

  it('keeps the milliseconds of the start', () => {
    const trigger = every({ start: '2026-01-31T00:00:00.700Z', interval: 1, unit: 'MONTH' })
    expect(trigger.getFireTimeAfter(trigger.startTime)).toEqual(new Date('2026-02-28T00:00:00.700Z'))
  })

  it.each<[string, Options, number | null]>([
    [
      'the end is exclusive',
      { start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:01:00Z', interval: 10, unit: 'SECOND' },
      50_000,
    ],
    [
      'just before the end',
      { start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:01:01Z', interval: 10, unit: 'SECOND' },
      60_000,
    ],
    [
      'the end is the start',
      { start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:00:00Z', interval: 1, unit: 'DAY' },
      0,
    ],
    [
      'by days',
      { start: '2026-01-01T00:00:00Z', end: '2026-01-04T00:00:00Z', interval: 1, unit: 'DAY' },
      2 * 86_400_000,
    ],
    [
      'by months',
      { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:01Z', interval: 1, unit: 'MONTH' },
      31 * 86_400_000,
    ],
    ['there is no end', { start: '2026-01-01T00:00:00Z', interval: 1, unit: 'DAY' }, null],
  ])('has its last point where %s', (_name, options, expected) => {
    const trigger = every(options)
    expect(trigger.finalFireTimeMs()).toBe(expected === null ? null : startMs + expected)
    if (expected !== null) expect(trigger.fireTimeAfterMs(startMs + expected)).toBeNull()
  })

  it.each<[CalendarIntervalUnit, number, number, string]>([
    ['YEAR', 2, 2, '2009-06-01T09:30:17.000Z'],
    ['MONTH', 5, 5, '2007-07-01T09:30:17.000Z'],
    ['WEEK', 6, 4, '2005-11-16T09:30:17.000Z'],
    ['DAY', 90, 4, '2006-05-27T09:30:17.000Z'],
    ['HOUR', 100, 4, '2005-06-18T01:30:17.000Z'],
    ['MINUTE', 100, 4, '2005-06-01T16:10:17.000Z'],
    ['SECOND', 100, 4, '2005-06-01T09:36:57.000Z'],
  ])('by %s times %d has its fire number %d at %s', (unit, interval, number, expected) => {
    let trigger = every({ start: '2005-06-01T09:30:17Z', interval, unit }).computeFirstFireTime(null)
    for (let fired = 0; fired < number; fired++) trigger = trigger.triggered(null)
    expect(trigger.nextFireTime?.toISOString()).toBe(expected)
  })

  it('is found at once centuries after the start', () => {
    const before = performance.now()
    for (const unit of ['SECOND', 'DAY', 'MONTH'] as const) {
      const old = every({ start: '1901-01-01T00:00:00Z', interval: 1, unit, zone: newYork })
      for (let step = 0; step < 300; step++) old.fireTimeAfterMs(Date.UTC(2100, 0, 1 + step))
    }
    expect(performance.now() - before).toBeLessThan(2000)
  })

  it('ends where instants end', () => {
    const trigger = every({ start: '2026-01-01T00:00:00Z', interval: 2_147_483_647, unit: 'YEAR' })
    expect(trigger.fireTimeAfterMs(trigger.startTimeMs)).toBeNull()
  })
})

describe('a calendar-interval schedule', () => {
  const build = (interval: number, unit: string): unknown =>
    every({ start: '2026-01-01T00:00:00Z', interval, unit: unit as CalendarIntervalUnit })

  it.each([
    ['repeatInterval', 0, 'DAY'],
    ['repeatInterval', -1, 'DAY'],
    ['repeatInterval', 1.5, 'DAY'],
    ['repeatIntervalUnit', 1, 'FORTNIGHT'],
  ])('with a wrong %s is refused by name', (field, interval, unit) => {
    expect(() => build(interval, unit)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_TRIGGER', field }),
    )
  })

  it('in an unknown zone is refused', () => {
    const schedule = CalendarIntervalScheduleBuilder.calendarIntervalSchedule()
    expect(() => schedule.inTimeZone('Mars/Base')).toThrow(
      expect.objectContaining({ code: 'ERR_UNKNOWN_TIME_ZONE' }),
    )
  })

  it('keeps what Quartz stores of it', () => {
    const schedule = CalendarIntervalScheduleBuilder.calendarIntervalSchedule()
      .withIntervalInWeeks(2)
      .preserveHourOfDayAcrossDaylightSavings()
      .skipDayIfHourDoesNotExist()
      .withMisfireInstruction('ignore')
      .inTimeZone(newYork)
    const trigger = TriggerBuilder.newTrigger().withSchedule(schedule).build()
    expect(trigger).toMatchObject({
      repeatInterval: 2,
      repeatIntervalUnit: 'WEEK',
      preserveHourOfDayAcrossDaylightSavings: true,
      skipDayIfHourDoesNotExist: true,
      misfireInstruction: 'ignore',
      timeZone: newYork,
    })
  })
})

it('the name of a zone in place of the zone is refused when the trigger is built', () => {
  const daily = DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule().inTimeZone('UTC')
  const weekly = CalendarIntervalScheduleBuilder.calendarIntervalSchedule().inTimeZone('UTC')
  const refused: unknown = expect.objectContaining({ code: 'ERR_INVALID_TRIGGER', field: 'zone' })
  const named = { zone: 'UTC' as never }
  const ofDaily = Object.assign({}, TriggerBuilder.newTrigger().withSchedule(daily).build(), named)
  const ofWeekly = Object.assign({}, TriggerBuilder.newTrigger().withSchedule(weekly).build(), named)
  for (const builder of [
    DailyTimeIntervalScheduleBuilder.of(ofDaily),
    CalendarIntervalScheduleBuilder.of(ofWeekly),
  ]) {
    expect(() => TriggerBuilder.newTrigger().withSchedule<Trigger>(builder).build()).toThrow(refused)
  }
})
