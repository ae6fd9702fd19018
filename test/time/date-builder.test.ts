import { describe, expect, it } from 'vitest'
import { DateBuilder, type DateUnit } from '../../src/time/date-builder.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

const utc = { timeZone: 'UTC' }
const vienna = 'Europe/Vienna'
const at = (iso: string): Date => new Date(iso)
const clockAt = (iso: string): ManualClock => new ManualClock(at(iso))

describe('a date in the future', () => {
  const clock = clockAt('2007-12-03T10:15:30Z')

  it.each<[DateUnit, string]>([
    ['MILLISECOND', '2007-12-03T10:15:30.001Z'],
    ['SECOND', '2007-12-03T10:15:31.000Z'],
    ['MINUTE', '2007-12-03T10:16:30.000Z'],
    ['HOUR', '2007-12-03T11:15:30.000Z'],
    ['DAY', '2007-12-04T10:15:30.000Z'],
    ['WEEK', '2007-12-10T10:15:30.000Z'],
    ['MONTH', '2008-01-03T10:15:30.000Z'],
    ['YEAR', '2008-12-03T10:15:30.000Z'],
  ])('lies one %s ahead', (unit, expected) => {
    expect(DateBuilder.futureDate(1, unit, { ...utc, clock }).toISOString()).toBe(expected)
  })

  it('keeps the hour over a change of offset, and the end of a month', () => {
    const spring = { timeZone: 'America/New_York', clock: clockAt('2026-03-07T15:00:00Z') }
    expect(DateBuilder.futureDate(1, 'DAY', spring)).toEqual(at('2026-03-08T14:00:00Z'))
    const january = { ...utc, clock: clockAt('2026-01-31T00:00:00Z') }
    expect(DateBuilder.futureDate(1, 'MONTH', january)).toEqual(at('2026-02-28T00:00:00Z'))
  })
})

describe('a date at the end of time', () => {
  it.each(['Pacific/Apia', 'Pacific/Niue', 'UTC'])('is found, or refused, at once in %s', (timeZone) => {
    const options = { timeZone, clock: clockAt('2026-01-01T00:00:00Z') }
    expect(DateBuilder.futureDate(273_734, 'YEAR', options).getUTCFullYear()).toBeGreaterThan(275_758)
    expect(DateBuilder.futureDate(-273_000, 'YEAR', options).getUTCFullYear()).toBeLessThan(-270_000)
    expect(() => DateBuilder.futureDate(300_000, 'YEAR', options)).toThrow(
      expect.objectContaining({ field: 'interval' }),
    )
  })
})

describe('a time of today or tomorrow', () => {
  it.each([
    ['in a gap is as much later as the gap is long', '2024-03-30T22:59:59Z', '2024-03-31T01:30:20Z'],
    ['in an overlap is the first', '2024-10-26T12:00:00Z', '2024-10-27T00:30:20Z'],
    ['is plain on other days', '2024-12-31T12:00:00Z', '2025-01-01T01:30:20Z'],
  ])('%s', (_name, now, expected) => {
    const options = { timeZone: vienna, clock: clockAt(now) }
    expect(DateBuilder.tomorrowAt(2, 30, 20, options)).toEqual(at(expected))
  })

  it('is read in the zone, whose day may be another than here', () => {
    const options = { timeZone: 'Asia/Tokyo', clock: clockAt('2026-01-01T20:00:00Z') }
    expect(DateBuilder.todayAt(6, 0, 0, options)).toEqual(at('2026-01-01T21:00:00Z'))
  })
})

describe('the builder', () => {
  it('takes what it is not told from the present, without milliseconds', () => {
    const clock = clockAt('2026-05-17T10:15:30.999Z')
    expect(DateBuilder.newDate({ ...utc, clock }).build()).toEqual(at('2026-05-17T10:15:30Z'))
    const date = DateBuilder.newDate({ ...utc, clock })
      .inTimeZone('America/New_York')
      .atHourOfDay(0)
    expect(date.inMonthOnDay(2, 28).inYear(2025).build()).toEqual(at('2025-02-28T05:15:30Z'))
  })

  it('makes a date of a time with or without a day', () => {
    const options = { ...utc, clock: clockAt('2026-05-17T10:15:30Z') }
    const time = { hour: 1, minute: 2, second: 3 }
    expect(DateBuilder.dateOf(time, {}, options)).toEqual(at('2026-05-17T01:02:03Z'))
    expect(DateBuilder.dateOf(time, { day: 4, month: 7 }, options)).toEqual(at('2026-07-04T01:02:03Z'))
    expect(DateBuilder.dateOf(time, { day: 29, month: 2, year: 2028 }, options)).toEqual(
      at('2028-02-29T01:02:03Z'),
    )
  })

  it.each<[string, () => unknown]>([
    ['hour', () => DateBuilder.todayAt(-1, 0, 0)],
    ['hour', () => DateBuilder.todayAt(24, 0, 0)],
    ['minute', () => DateBuilder.todayAt(0, 60, 0)],
    ['second', () => DateBuilder.tomorrowAt(0, 0, 60)],
    ['second', () => DateBuilder.newDate().atSecond(1.5)],
    ['day', () => DateBuilder.newDate().onDay(32)],
    ['month', () => DateBuilder.newDate().inMonth(0)],
    ['year', () => DateBuilder.newDate().inYear(0)],
    ['dayOfWeek', () => DateBuilder.validateDayOfWeek(8)],
    ['day', () => DateBuilder.newDate().inYear(2026).inMonthOnDay(2, 29).build()],
    ['minuteBase', () => DateBuilder.nextGivenMinuteDate(new Date(0), 60)],
    ['secondBase', () => DateBuilder.nextGivenSecondDate(new Date(0), -1)],
    ['date', () => DateBuilder.evenHourDate(new Date(Number.NaN))],
    ['interval', () => DateBuilder.futureDate(1_000_000, 'YEAR')],
    ['unit', () => DateBuilder.futureDate(1, 'FORTNIGHT' as DateUnit)],
  ])('refuses a wrong %s by name', (field, build) => {
    expect(build).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', field }))
  })
})

it('says that a Date is invalid', () => {
  expect(() => DateBuilder.evenHourDate(new Date(Number.NaN))).toThrow(
    "'date' must be a valid Date, got an invalid Date.",
  )
})

describe('a day that was not given', () => {
  it.each([
    ['2026-01-31T12:00:00Z', { month: 2 }, '2026-02-28T01:02:03Z'],
    ['2024-02-29T12:00:00Z', { year: 2025 }, '2025-02-28T01:02:03Z'],
    ['2026-08-31T12:00:00Z', { month: 9 }, '2026-09-30T01:02:03Z'],
    ['2026-08-30T12:00:00Z', { month: 9 }, '2026-09-30T01:02:03Z'],
  ])('is the last of a shorter month, on %s with %j', (today, date, expected) => {
    const time = { hour: 1, minute: 2, second: 3 }
    expect(DateBuilder.dateOf(time, date, { ...utc, clock: clockAt(today) })).toEqual(at(expected))
  })
})

describe('an even date', () => {
  const date = at('2007-12-03T08:13:54.341Z')

  it('is the next or the last full hour, minute or second', () => {
    expect(DateBuilder.evenHourDate(date, utc)).toEqual(at('2007-12-03T09:00:00Z'))
    expect(DateBuilder.evenHourDateBefore(date, utc)).toEqual(at('2007-12-03T08:00:00Z'))
    expect(DateBuilder.evenMinuteDate(date, utc)).toEqual(at('2007-12-03T08:14:00Z'))
    expect(DateBuilder.evenMinuteDateBefore(date, utc)).toEqual(at('2007-12-03T08:13:00Z'))
    expect(DateBuilder.evenSecondDate(date, utc)).toEqual(at('2007-12-03T08:13:55Z'))
    expect(DateBuilder.evenSecondDateBefore(date, utc)).toEqual(at('2007-12-03T08:13:54Z'))
  })

  it.each([
    ['2024-03-31T00:59:59.999Z', '2024-03-31T01:00:00Z'],
    ['2024-10-27T00:59:59.999Z', '2024-10-27T01:00:00Z'],
  ])('goes on by elapsed time over a change of offset: after %s comes %s', (now, expected) => {
    const options = { timeZone: vienna, clock: clockAt(now) }
    expect(DateBuilder.evenSecondDateAfterNow(options)).toEqual(at(expected))
    expect(DateBuilder.evenMinuteDateAfterNow(options)).toEqual(at(expected))
    expect(DateBuilder.evenHourDateAfterNow(options)).toEqual(at(expected))
  })

  it('is even on the wall of a zone with half an hour, not in UTC', () => {
    const india = { timeZone: 'Asia/Kolkata' }
    expect(DateBuilder.evenHourDate(at('2026-01-01T05:10:00Z'), india)).toEqual(at('2026-01-01T05:30:00Z'))
    expect(DateBuilder.evenHourDateBefore(at('2026-01-01T05:10:00Z'), india)).toEqual(
      at('2026-01-01T04:30:00Z'),
    )
  })

  it('is even also where the wall jumps by half an hour', () => {
    const island = { timeZone: 'Australia/Lord_Howe' }
    // 02:00 becomes 02:30 on 4 October 2026, at 15:30 UTC.
    expect(DateBuilder.evenHourDate(at('2026-10-03T15:15:00Z'), island)).toEqual(at('2026-10-03T16:00:00Z'))
    expect(DateBuilder.evenHourDateBefore(at('2026-10-03T15:40:00Z'), island)).toEqual(
      at('2026-10-03T14:30:00Z'),
    )
  })
})

describe('the next given minute or second', () => {
  it.each([
    ['11:16:41', 20, '11:20:00'],
    ['11:36:41', 20, '11:40:00'],
    ['11:46:41', 20, '12:00:00'],
    ['11:26:41', 30, '11:30:00'],
    ['11:36:41', 30, '12:00:00'],
    ['11:16:41', 17, '11:17:00'],
    ['11:17:41', 17, '11:34:00'],
    ['11:52:41', 17, '12:00:00'],
    ['11:52:41', 5, '11:55:00'],
    ['11:57:41', 5, '12:00:00'],
    ['11:17:41', 0, '12:00:00'],
    ['11:17:41', 1, '11:18:00'],
  ])('after %s with minute base %d is %s', (time, base, expected) => {
    const date = DateBuilder.nextGivenMinuteDate(at(`2007-12-03T${time}Z`), base, utc)
    expect(date).toEqual(at(`2007-12-03T${expected}Z`))
  })

  it.each([
    ['10:15:30.123', 0, '10:16:00'],
    ['10:15:30.123', 1, '10:15:31'],
    ['10:15:54.256', 13, '10:16:00'],
    ['10:15:30.256', 13, '10:15:39'],
    ['10:15:30.000', 59, '10:15:59'],
  ])('after %s with second base %d is %s', (time, base, expected) => {
    const date = DateBuilder.nextGivenSecondDate(at(`2007-12-03T${time}Z`), base, utc)
    expect(date).toEqual(at(`2007-12-03T${expected}Z`))
  })
})

it('a translated time shows there what it shows here', () => {
  const noonInNewYork = at('2026-01-01T17:00:00Z')
  const zones = { from: 'America/New_York', to: 'Asia/Tokyo' }
  expect(DateBuilder.translateTime(noonInNewYork, zones)).toEqual(at('2026-01-01T03:00:00Z'))
})

it.each<[string, () => Date]>([
  ['date', () => DateBuilder.evenHourDate(new Date(8.64e15), utc)],
  ['date', () => DateBuilder.evenHourDateBefore(new Date(-8.64e15), { timeZone: 'America/New_York' })],
  ['date', () => DateBuilder.translateTime(new Date(8.64e15), { from: 'Asia/Tokyo', to: 'America/Lima' })],
  ['interval', () => DateBuilder.futureDate(1_000_000_000, 'YEAR', utc)],
])('a time that no Date holds is refused, naming %s', (field, build) => {
  expect(build).toThrow(
    expect.objectContaining({
      code: 'ERR_INVALID_ARGUMENT',
      field,
      message: expect.stringContaining(field) as unknown,
    }),
  )
})
