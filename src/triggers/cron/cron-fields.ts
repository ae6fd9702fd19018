import type { DayRule } from './day-rule.ts'

/** The seven fields in the order in which an expression has them. */
export type CronFieldName = 'second' | 'minute' | 'hour' | 'dayOfMonth' | 'month' | 'dayOfWeek' | 'year'

/** What a field may hold. */
export interface CronFieldSpec {
  readonly name: CronFieldName
  /** For error messages. */
  readonly label: string
  readonly min: number
  readonly max: number
  /** The largest step; a larger one would only ever give the first value. */
  readonly stepMax: number
  /** A range may wrap from the end of the field to its beginning. Years do not wrap. */
  readonly wraps: boolean
  /** What `*` begins with, where that is not {@link CronFieldSpec.min}: Sunday may be 0 and 7, but counts once. */
  readonly wildcardMin?: number
  /** Whole names in upper case, the first for {@link CronFieldSpec.min}; their first three letters do as well. */
  readonly names: readonly string[]
}

/** The first and last year in which a cron expression can fire. */
export const cronYearMin = 1970
export const cronYearMax = 2199

const monthNames: readonly string[] = [
  'JANUARY',
  'FEBRUARY',
  'MARCH',
  'APRIL',
  'MAY',
  'JUNE',
  'JULY',
  'AUGUST',
  'SEPTEMBER',
  'OCTOBER',
  'NOVEMBER',
  'DECEMBER',
]

/** 1=SUN .. 7=SAT. */
export const weekdayNames: readonly string[] = [
  'SUNDAY',
  'MONDAY',
  'TUESDAY',
  'WEDNESDAY',
  'THURSDAY',
  'FRIDAY',
  'SATURDAY',
]

function spec(
  name: CronFieldName,
  label: string,
  min: number,
  max: number,
  names: readonly string[] = [],
): CronFieldSpec {
  const wraps = name !== 'year'
  return { name, label, min, max, stepMax: wraps ? max : max - min, wraps, names }
}

export const secondSpec: CronFieldSpec = spec('second', 'second', 0, 59)
export const minuteSpec: CronFieldSpec = spec('minute', 'minute', 0, 59)
export const hourSpec: CronFieldSpec = spec('hour', 'hour', 0, 23)
export const dayOfMonthSpec: CronFieldSpec = spec('dayOfMonth', 'day-of-month', 1, 31)
export const monthSpec: CronFieldSpec = spec('month', 'month', 1, 12, monthNames)
export const dayOfWeekSpec: CronFieldSpec = spec('dayOfWeek', 'day-of-week', 1, 7, weekdayNames)
export const yearSpec: CronFieldSpec = spec('year', 'year', cronYearMin, cronYearMax)

/** The value of a name in upper case, whole or its first three letters; null when the field has no such name. */
export function findName(spec: CronFieldSpec, letters: string): number | null {
  const index = spec.names.findIndex((name) => name === letters || name.slice(0, 3) === letters)
  return index < 0 ? null : index + spec.min
}

/** From days that count from 0=SUN, with 7=SUN too, to 1=SUN. */
export function fromSunday(day: number): number {
  return (day % 7) + 1
}

/** The values of one field in ascending order; `null` stands for all of them. */
export type CronValues = readonly number[] | null

/** The fields of an expression, the same for every dialect. */
export interface CronFields {
  readonly seconds: CronValues
  readonly minutes: CronValues
  readonly hours: CronValues
  readonly days: DayRule
  readonly months: CronValues
  readonly years: CronValues
  /** Second, minute and hour are all plain values or lists: the expression names times of day, not a rhythm. */
  readonly fixedTimes: boolean
}

/** True for a field that holds values and lists only, no wildcard, range or step. */
export function isFixedField(text: string): boolean {
  return /^[0-9,]+$/.test(text)
}
