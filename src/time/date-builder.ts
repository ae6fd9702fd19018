import { checkObject, checkOptions, checkString } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue } from '../core/options.ts'
import {
  civilFromLocalMs,
  dayMs,
  daysInMonth,
  hourMs,
  localMsFromCivil,
  minuteMs,
  secondMs,
} from './civil.ts'
import { type Clock, checkClock, systemClock } from './clock.ts'
import { evenWallTimeBefore, instantOfWallTime, nextWallTime, plusMonths } from './wall-time.ts'
import { TimeZone } from './zone.ts'

/** Where a date is read and what "now" is. */
export interface DateBuilderOptions {
  /** IANA name of the zone. Default: the zone of this process. */
  readonly timeZone?: string
  /** Read for today and now. Default: the system clock. */
  readonly clock?: Clock
}

export const dateUnits = ['MILLISECOND', 'SECOND', 'MINUTE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'] as const
export type DateUnit = (typeof dateUnits)[number]

interface WallFields {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
}

/**
 * Makes dates in a zone. A wall time in a gap is moved forward by the length of the gap; a wall time that occurs twice
 * means the first. Every method throws `InvalidArgumentError` for a value out of bounds.
 */
export class DateBuilder {
  readonly #clock: Clock
  #zone: TimeZone
  #fields: Partial<WallFields> = {}

  private constructor(options: DateBuilderOptions = {}) {
    checkBuilderOptions(options)
    this.#clock = options.clock ?? systemClock
    this.#zone = zoneOf(options)
  }

  /** A builder that starts out with the present wall time, without milliseconds. */
  static newDate(options?: DateBuilderOptions): DateBuilder {
    return new DateBuilder(options)
  }

  /** 0 to 23 */
  atHourOfDay(hour: number): this {
    return this.#with({ hour: DateBuilder.validateHour(hour) })
  }
  /** 0 to 59 */
  atMinute(minute: number): this {
    return this.#with({ minute: DateBuilder.validateMinute(minute) })
  }
  /** 0 to 59 */
  atSecond(second: number): this {
    return this.#with({ second: DateBuilder.validateSecond(second) })
  }
  atHourMinuteAndSecond(hour: number, minute: number, second: number): this {
    return this.atHourOfDay(hour).atMinute(minute).atSecond(second)
  }
  /** 1 to 31; `build` refuses a day that the month does not have. */
  onDay(day: number): this {
    return this.#with({ day: DateBuilder.validateDayOfMonth(day) })
  }
  /** 1 to 12 */
  inMonth(month: number): this {
    return this.#with({ month: DateBuilder.validateMonth(month) })
  }
  inMonthOnDay(month: number, day: number): this {
    return this.inMonth(month).onDay(day)
  }
  /** 1 to 9999 */
  inYear(year: number): this {
    return this.#with({ year: DateBuilder.validateYear(year) })
  }
  /** IANA name of the zone. Throws ERR_UNKNOWN_TIME_ZONE. */
  inTimeZone(timeZone: string): this {
    this.#zone = TimeZone.of(timeZone)
    return this
  }

  /**
   * The date; fields that were not given are those of the present moment in the zone, and a day that was not given is
   * the last one of a month that is too short for today's.
   */
  build(): Date {
    const fields = { ...presentFields(this.#zone, this.#clock), ...this.#fields }
    const { year, month, day, hour, minute, second } = fields
    const lastDay = daysInMonth(year, month)
    if (day > lastDay && this.#fields.day !== undefined) {
      const of = `${year}-${String(month).padStart(2, '0')}`
      throw new InvalidArgumentError('day', `'day' must be from 1 to ${lastDay} in ${of}, got ${day}.`)
    }
    const real = Math.min(day, lastDay)
    return new Date(instantOfWallTime(this.#zone, localMsFromCivil(year, month, real, hour, minute, second)))
  }

  /** That many units from now: elapsed time up to hours, the calendar of the zone from days on. May be negative. */
  static futureDate(interval: number, unit: DateUnit, options: DateBuilderOptions = {}): Date {
    requireBetween('interval', interval, -1_000_000_000, 1_000_000_000)
    const zone = zoneOf(options)
    requireUnit(unit)
    const nowMs = (options.clock ?? systemClock).now()
    const elapsedMs = elapsedUnits[unit]
    const futureMs =
      elapsedMs === undefined
        ? instantOfWallTime(zone, plusCalendarUnits(zone.toLocalMs(nowMs), interval, unit))
        : nowMs + interval * elapsedMs
    return dateAt(futureMs, 'interval')
  }

  /** Today at that time. */
  static todayAt(hour: number, minute: number, second: number, options: DateBuilderOptions = {}): Date {
    return DateBuilder.newDate(options).atHourMinuteAndSecond(hour, minute, second).build()
  }

  /** Tomorrow at that time. */
  static tomorrowAt(hour: number, minute: number, second: number, options: DateBuilderOptions = {}): Date {
    const zone = zoneOf(options)
    const today = presentFields(zone, options.clock ?? systemClock)
    const { year, month, day } = civilFromLocalMs(localMsFromCivil(today.year, today.month, today.day + 1))
    const builder = DateBuilder.newDate(options).atHourMinuteAndSecond(hour, minute, second)
    return builder.inYear(year).inMonthOnDay(month, day).build()
  }

  /** That time on that date; fields of the date that are left out are today's, see `build`. */
  static dateOf(
    time: { readonly hour: number; readonly minute: number; readonly second: number },
    date: { readonly day?: number; readonly month?: number; readonly year?: number } = {},
    options: DateBuilderOptions = {},
  ): Date {
    checkObject('DateBuilder.dateOf', 'time', time)
    checkObject('DateBuilder.dateOf', 'date', date)
    const builder = DateBuilder.newDate(options).atHourMinuteAndSecond(time.hour, time.minute, time.second)
    if (date.day !== undefined) builder.onDay(date.day)
    if (date.month !== undefined) builder.inMonth(date.month)
    if (date.year !== undefined) builder.inYear(date.year)
    return builder.build()
  }

  /** The next full hour after the date: 08:13:54 becomes 09:00:00, and so does 08:00:00. */
  static evenHourDate(date: Date, options: DateBuilderOptions = {}): Date {
    return evenAfter(date, hourMs, options)
  }
  static evenHourDateAfterNow(options: DateBuilderOptions = {}): Date {
    return DateBuilder.evenHourDate(now(options), options)
  }
  /** The last full hour at or before the date. */
  static evenHourDateBefore(date: Date, options: DateBuilderOptions = {}): Date {
    return evenBefore(date, hourMs, options)
  }
  /** The next full minute after the date. */
  static evenMinuteDate(date: Date, options: DateBuilderOptions = {}): Date {
    return evenAfter(date, minuteMs, options)
  }
  static evenMinuteDateAfterNow(options: DateBuilderOptions = {}): Date {
    return DateBuilder.evenMinuteDate(now(options), options)
  }
  /** The last full minute at or before the date. */
  static evenMinuteDateBefore(date: Date, options: DateBuilderOptions = {}): Date {
    return evenBefore(date, minuteMs, options)
  }
  /** The next full second after the date. */
  static evenSecondDate(date: Date, options: DateBuilderOptions = {}): Date {
    return evenAfter(date, secondMs, options)
  }
  static evenSecondDateAfterNow(options: DateBuilderOptions = {}): Date {
    return DateBuilder.evenSecondDate(now(options), options)
  }
  /** The last full second at or before the date. */
  static evenSecondDateBefore(date: Date, options: DateBuilderOptions = {}): Date {
    return evenBefore(date, secondMs, options)
  }

  /**
   * The next minute after the date's that is a multiple of `minuteBase` (0 to 59), or the full hour when the hour has
   * none: base 20 makes 11:20 of 11:16:41 and 12:00 of 11:46. Base 0 means the full hour.
   */
  static nextGivenMinuteDate(date: Date, minuteBase: number, options: DateBuilderOptions = {}): Date {
    return nextMultiple(date, requireBetween('minuteBase', minuteBase, 0, 59), minuteMs, options)
  }

  /** The same for seconds: the next multiple of `secondBase` (0 to 59) in the minute, or the full minute. */
  static nextGivenSecondDate(date: Date, secondBase: number, options: DateBuilderOptions = {}): Date {
    return nextMultiple(date, requireBetween('secondBase', secondBase, 0, 59), secondMs, options)
  }

  /** The instant at which the wall of `to` shows what the wall of `from` shows at the date. */
  static translateTime(date: Date, zones: { readonly from: string; readonly to: string }): Date {
    checkObject('DateBuilder.translateTime', 'zones', zones)
    const localMs = TimeZone.of(zones.from).toLocalMs(requireDateMs(date))
    return dateAt(instantOfWallTime(TimeZone.of(zones.to), localMs), 'date')
  }

  static validateHour(hour: number): number {
    return requireBetween('hour', hour, 0, 23)
  }
  static validateMinute(minute: number): number {
    return requireBetween('minute', minute, 0, 59)
  }
  static validateSecond(second: number): number {
    return requireBetween('second', second, 0, 59)
  }
  static validateDayOfMonth(day: number): number {
    return requireBetween('day', day, 1, 31)
  }
  static validateDayOfWeek(dayOfWeek: number): number {
    return requireBetween('dayOfWeek', dayOfWeek, 1, 7)
  }
  static validateMonth(month: number): number {
    return requireBetween('month', month, 1, 12)
  }
  static validateYear(year: number): number {
    return requireBetween('year', year, 1, 9999)
  }

  #with(fields: Partial<WallFields>): this {
    this.#fields = { ...this.#fields, ...fields }
    return this
  }
}

const elapsedUnits: Readonly<Partial<Record<DateUnit, number>>> = {
  MILLISECOND: 1,
  SECOND: secondMs,
  MINUTE: minuteMs,
  HOUR: hourMs,
}

function plusCalendarUnits(localMs: number, interval: number, unit: DateUnit): number {
  switch (unit) {
    case 'DAY':
      return localMs + interval * dayMs
    case 'WEEK':
      return localMs + interval * 7 * dayMs
    case 'MONTH':
      return plusMonths(localMs, interval)
    default:
      return plusMonths(localMs, interval * 12)
  }
}

function presentFields(zone: TimeZone, clock: Clock): WallFields {
  const { year, month, day, hour, minute, second } = civilFromLocalMs(zone.toLocalMs(clock.now()))
  return { year, month, day, hour, minute, second }
}

function evenAfter(date: Date, unitMs: number, options: DateBuilderOptions): Date {
  const next = (localMs: number): number => (Math.floor(localMs / unitMs) + 1) * unitMs
  return dateAt(nextWallTime(zoneOf(options), requireDateMs(date), next), 'date')
}

function evenBefore(date: Date, unitMs: number, options: DateBuilderOptions): Date {
  return dateAt(evenWallTimeBefore(zoneOf(options), requireDateMs(date), unitMs), 'date')
}

function nextMultiple(date: Date, base: number, unitMs: number, options: DateBuilderOptions): Date {
  const wholeMs = 60 * unitMs
  const stepMs = base === 0 ? wholeMs : base * unitMs
  const next = (localMs: number): number => {
    const startMs = Math.floor(localMs / wholeMs) * wholeMs
    return startMs + Math.min((Math.floor((localMs - startMs) / stepMs) + 1) * stepMs, wholeMs)
  }
  return dateAt(nextWallTime(zoneOf(options), requireDateMs(date), next), 'date')
}

function checkBuilderOptions(options: DateBuilderOptions): void {
  checkOptions('DateBuilder', options, { timeZone: checkString, clock: checkClock })
}

function requireUnit(unit: unknown): void {
  if (dateUnits.some((known) => known === unit)) return
  throw new InvalidArgumentError(
    'unit',
    `'unit' must be one of ${dateUnits.join(', ')}, got ${describeValue(unit)}.`,
  )
}

function zoneOf(options: DateBuilderOptions): TimeZone {
  checkBuilderOptions(options)
  return options.timeZone === undefined ? TimeZone.system() : TimeZone.of(options.timeZone)
}

function now(options: DateBuilderOptions): Date {
  checkBuilderOptions(options)
  return new Date((options.clock ?? systemClock).now())
}

function requireDateMs(date: Date): number {
  const ms = date instanceof Date ? date.getTime() : Number.NaN
  if (!Number.isNaN(ms)) return ms
  throw new InvalidArgumentError('date', `'date' must be a valid Date, got ${describeValue(date)}.`)
}

/** Throws when the argument leads to a time that no Date can hold. */
function dateAt(ms: number, argument: 'date' | 'interval'): Date {
  const date = new Date(ms)
  if (!Number.isNaN(date.getTime())) return date
  throw new InvalidArgumentError(
    argument,
    `'${argument}' leads to a time that a Date cannot hold, before the year -271821 or after 275760.`,
  )
}

function requireBetween(field: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new InvalidArgumentError(
    field,
    `'${field}' must be a whole number from ${min} to ${max}, got ${describeValue(value)}.`,
  )
}
