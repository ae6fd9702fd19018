import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TimeZone } from '../../src/time/zone.ts'
import { AnnualCalendar } from '../../src/triggers/calendars/annual-calendar.ts'
import type { Calendar } from '../../src/triggers/calendars/calendar.ts'
import { calendarFromJSON } from '../../src/triggers/calendars/calendar-json.ts'
import { DailyCalendar } from '../../src/triggers/calendars/daily-calendar.ts'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'
import { MonthlyCalendar } from '../../src/triggers/calendars/monthly-calendar.ts'
import { WeeklyCalendar } from '../../src/triggers/calendars/weekly-calendar.ts'
import { calendarDefinitions, propertySeed } from '../support/trigger-arbitraries.ts'

const at = (iso: string): number => Date.parse(iso)
const timeZone = 'UTC'
const everyDay = Array.from({ length: 366 }, (_, index) => {
  const date = new Date(Date.UTC(2024, 0, 1 + index))
  return { month: date.getUTCMonth() + 1, day: date.getUTCDate() }
})

type Row = readonly [calendar: Calendar, instant: string, included: boolean, next: string | null]

describe('a calendar says what is included and what comes next', () => {
  const weekly = new WeeklyCalendar({ timeZone })
  const monthly = new MonthlyCalendar({ timeZone, excludedDays: [1, 2] })
  const annual = new AnnualCalendar({ timeZone, excludedDays: [{ month: 12, day: 25 }] })
  const holiday = new HolidayCalendar({ timeZone, excludedDates: ['2026-01-05'] })
  const daily = new DailyCalendar({ timeZone, rangeStart: '08:00', rangeEnd: '17:00' })
  const inverted = new DailyCalendar({
    timeZone,
    rangeStart: '08:00',
    rangeEnd: '17:00',
    invertTimeRange: true,
  })
  const chained = new WeeklyCalendar({ timeZone, baseCalendar: holiday })
  const onlyLeapDays = new AnnualCalendar({
    timeZone,
    excludedDays: everyDay.filter(({ month, day }) => month !== 2 || day !== 29),
  })
  const rows: readonly Row[] = [
    [weekly, '2026-01-02T10:00:00.000Z', true, '2026-01-02T10:00:00.001Z'],
    [weekly, '2026-01-02T23:59:59.999Z', true, '2026-01-05T00:00:00.000Z'],
    [weekly, '2026-01-03T10:00:00.000Z', false, '2026-01-05T00:00:00.000Z'],
    [monthly, '2026-01-01T10:00:00.000Z', false, '2026-01-03T00:00:00.000Z'],
    [annual, '2026-12-25T10:00:00.000Z', false, '2026-12-26T00:00:00.000Z'],
    [holiday, '2026-01-04T23:59:59.999Z', true, '2026-01-06T00:00:00.000Z'],
    [holiday, '2026-01-06T10:00:00.000Z', true, '2026-01-06T10:00:00.001Z'],
    [daily, '2026-01-01T00:00:00.000Z', true, '2026-01-01T00:00:00.001Z'],
    [daily, '2026-01-01T07:59:59.999Z', true, '2026-01-01T17:00:00.001Z'],
    [daily, '2026-01-01T08:00:00.000Z', false, '2026-01-01T17:00:00.001Z'],
    [daily, '2026-01-01T17:00:00.000Z', false, '2026-01-01T17:00:00.001Z'],
    [daily, '2026-01-01T23:59:59.999Z', true, '2026-01-02T00:00:00.000Z'],
    [inverted, '2026-01-01T07:59:59.999Z', false, '2026-01-01T08:00:00.000Z'],
    [inverted, '2026-01-01T17:00:00.000Z', true, '2026-01-02T08:00:00.000Z'],
    [chained, '2026-01-03T10:00:00.000Z', false, '2026-01-06T00:00:00.000Z'],
    [onlyLeapDays, '2026-01-03T10:00:00.000Z', false, '2028-02-29T00:00:00.000Z'],
    [onlyLeapDays, '2096-03-01T00:00:00.000Z', false, '2104-02-29T00:00:00.000Z'],
  ]

  it.each(rows)('$type at %s: %s, then %s', (calendar, instant, included, next) => {
    expect(calendar.isTimeIncluded(at(instant))).toBe(included)
    const nextMs = calendar.nextIncludedTime(at(instant))
    expect(nextMs === null ? null : new Date(nextMs).toISOString()).toBe(next)
  })
})

describe('a calendar that leaves out everything', () => {
  const allWeek = [1, 2, 3, 4, 5, 6, 7]
  const nothing: readonly [string, Calendar][] = [
    ['every weekday', new WeeklyCalendar({ excludedDays: allWeek })],
    [
      'every day of the month',
      new MonthlyCalendar({ excludedDays: Array.from({ length: 31 }, (_, day) => day + 1) }),
    ],
    ['every day of the year', new AnnualCalendar({ excludedDays: everyDay })],
    ['the whole day', new DailyCalendar({ rangeStart: '00:00', rangeEnd: '23:59:59:999' })],
    [
      'the morning on the afternoon',
      new DailyCalendar({
        timeZone,
        rangeStart: '00:00',
        rangeEnd: '11:59:59:999',
        baseCalendar: new DailyCalendar({ timeZone, rangeStart: '12:00', rangeEnd: '23:59:59:999' }),
      }),
    ],
    [
      'the weekend on the working days',
      new WeeklyCalendar({
        timeZone: 'Europe/Paris',
        baseCalendar: new WeeklyCalendar({ timeZone: 'Europe/Paris', excludedDays: [2, 3, 4, 5, 6] }),
      }),
    ],
  ]

  it.each(nothing)('(%s) says so within a moment', (_name, calendar) => {
    const before = performance.now()
    expect(calendar.nextIncludedTime(at('2026-01-01T00:00:00Z'))).toBeNull()
    expect(performance.now() - before).toBeLessThan(2000)
  })
})

describe('a calendar reads days in its own zone', () => {
  it('so that one instant is Saturday here and Friday there', () => {
    const instant = at('2026-01-02T20:00:00Z')
    expect(new WeeklyCalendar({ timeZone: 'Asia/Tokyo' }).isTimeIncluded(instant)).toBe(false)
    expect(new WeeklyCalendar({ timeZone: 'America/New_York' }).isTimeIncluded(instant)).toBe(true)
  })

  it('where a day has 23 hours', () => {
    const sunday = new HolidayCalendar({ timeZone: 'America/New_York', excludedDates: ['2026-03-08'] })
    expect(sunday.nextIncludedTime(at('2026-03-08T05:00:00Z'))).toBe(at('2026-03-09T04:00:00Z'))
  })

  it('where the clock goes back over midnight, and the excluded day before comes again', () => {
    const calendar = new HolidayCalendar({ timeZone: 'America/St_Johns', excludedDates: ['2010-11-07'] })
    // 00:01 on the 7th becomes 23:01 on the 6th.
    const change = at('2010-11-07T02:31:00Z')
    expect(calendar.isTimeIncluded(change - 1)).toBe(false)
    expect(calendar.nextIncludedTime(change - 30_000)).toBe(change)
  })
})

describe('a daily range where clocks change is what the wall clock shows', () => {
  it.each([
    ['01:30', '02:30:59:999', '2026-03-29', ['00:30 out', '01:00 in']],
    ['02:15', '02:45:59:999', '2026-03-29', []],
    ['01:30', '02:30:59:999', '2026-10-25', ['23:30 out', '00:31 in', '01:00 out', '01:31 in']],
    ['02:15', '02:45:59:999', '2026-10-25', ['00:15 out', '00:46 in', '01:15 out', '01:46 in']],
    ['01:30', '02:30:59:999', '2026-06-01', ['23:30 out', '00:31 in']],
  ])('%s to %s on %s', (rangeStart, rangeEnd, day, changes) => {
    const calendar = new DailyCalendar({ timeZone: 'Europe/Berlin', rangeStart, rangeEnd })
    const noonBefore = at(`${day}T12:00:00Z`) - 86_400_000
    const minutes = Array.from({ length: 1440 }, (_, minute) => noonBefore + minute * 60_000)
    const found = minutes
      .filter((time) => calendar.isTimeIncluded(time) !== calendar.isTimeIncluded(time - 1))
      .map((time) => {
        const utc = new Date(time).toISOString().slice(11, 16)
        return `${utc} ${calendar.isTimeIncluded(time) ? 'in' : 'out'}`
      })
    expect(found).toEqual(changes)
  })
})

describe('a calendar travels as JSON', () => {
  it(`and comes back equal (seed ${propertySeed})`, () => {
    fc.assert(
      fc.property(
        calendarDefinitions,
        fc.array(fc.integer({ min: 0, max: 4e12 })),
        (definition, instants) => {
          const calendar = calendarFromJSON(definition)
          const copy = calendarFromJSON(JSON.parse(JSON.stringify(calendar)))
          expect(copy.toJSON()).toEqual(calendar.toJSON())
          for (const instant of instants) {
            expect(copy.isTimeIncluded(instant)).toBe(calendar.isTimeIncluded(instant))
          }
        },
      ),
      { seed: propertySeed },
    )
  })

  it(`and its next included time is the first one (seed ${propertySeed})`, () => {
    fc.assert(
      fc.property(
        calendarDefinitions,
        fc.integer({ min: 0, max: 4e12 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 30, maxLength: 30 }),
        (definition, instant, fractions) => {
          const calendar = calendarFromJSON(definition)
          const next = calendar.nextIncludedTime(instant)
          const end = next ?? instant + 36_525 * 86_400_000
          if (next !== null) {
            expect(next).toBeGreaterThan(instant)
            expect(calendar.isTimeIncluded(next)).toBe(true)
          }
          const zone = TimeZone.of(String(definition['timeZone']))
          const transition = zone.nextTransition(instant)?.atMs ?? end
          const probes = [
            instant + 1,
            end - 1,
            transition - 1,
            transition,
            ...fractions.map((fraction) => Math.round(instant + fraction * (end - instant))),
          ]
          for (const probe of probes) {
            if (probe > instant && probe < end) expect(calendar.isTimeIncluded(probe)).toBe(false)
          }
        },
      ),
      { seed: propertySeed, numRuns: 300 },
    )
  })

  it.each([
    ['type', { type: 'lunar', timeZone }],
    ['type', null],
    ['type', [1]],
    ['timeZone', { type: 'weekly' }],
    ['excludedDays', { type: 'weekly', timeZone, excludedDays: [0] }],
    ['excludedDays', { type: 'weekly', timeZone, excludedDays: 'SAT' }],
    ['excludedDays', { type: 'monthly', timeZone }],
    ['excludedDays', { type: 'monthly', timeZone, excludedDays: [1.5] }],
    ['excludedDays', { type: 'annual', timeZone, excludedDays: [{ month: 2, day: 30 }] }],
    ['excludedDates', { type: 'holiday', timeZone, excludedDates: ['2026-02-29'] }],
    ['excludedDates', { type: 'holiday', timeZone, excludedDates: ['25.12.2026'] }],
    ['rangeStart', { type: 'daily', timeZone, rangeStart: '24:00', rangeEnd: '23:00' }],
    ['rangeEnd', { type: 'daily', timeZone, rangeStart: '22:00', rangeEnd: '04:00' }],
    ['exclude', { type: 'weekly', timeZone, exclude: [1] }],
    ['type', { type: 'weekly', timeZone, base: { type: '' } }],
    ['baseCalendar', { type: 'weekly', timeZone, baseCalendar: { type: 'weekly', timeZone } }],
    ['baseCalendar', { type: 'weekly', timeZone, base: { type: 'weekly', timeZone, baseCalendar: null } }],
  ])('and a wrong %s is refused by name', (field, json) => {
    expect(() => calendarFromJSON(json)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_CALENDAR', field }),
    )
  })

  it.each([
    [
      { baseCalendar: { type: 'weekly', timeZone } },
      "Calendar 'holiday': unknown field 'baseCalendar'. In JSON the calendar that it stands on is named 'base'.",
    ],
    [{ timezone: timeZone }, "Calendar 'holiday': unknown field 'timezone'. Did you mean 'timeZone'?"],
    [
      { reason: 'Easter' },
      "Calendar 'holiday': unknown field 'reason'. Known: type, timeZone, excludedDates, description, base.",
    ],
  ])('and the refusal of %j names the fields of the JSON', (field, message) => {
    const json = { type: 'holiday', excludedDates: [], timeZone, ...field }
    expect(() => calendarFromJSON(json)).toThrow(expect.objectContaining({ message }))
  })

  it('and an unknown zone is refused', () => {
    expect(() => calendarFromJSON({ type: 'weekly', timeZone: 'Mars/Base' })).toThrow(
      expect.objectContaining({ code: 'ERR_UNKNOWN_TIME_ZONE' }),
    )
  })

  it('and a chain that could not be read again is not made', () => {
    let calendar = new WeeklyCalendar()
    for (let length = 1; length < 100; length++) calendar = new WeeklyCalendar({ baseCalendar: calendar })
    expect(calendarFromJSON(calendar.toJSON()).toJSON()).toEqual(calendar.toJSON())
    expect(() => new WeeklyCalendar({ baseCalendar: calendar })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_CALENDAR', field: 'baseCalendar' }),
    )
  })

  it('and an endless chain is refused', () => {
    let json: object = { type: 'weekly', timeZone }
    for (let depth = 0; depth < 100_000; depth++) json = { type: 'weekly', timeZone, base: json }
    expect(() => calendarFromJSON(json)).toThrow(expect.objectContaining({ field: 'base' }))
  })
})
