/**
 * Arithmetic on proleptic Gregorian dates without a zone. A "local" number is what the wall shows, counted as if it
 * were UTC: milliseconds (`localMs`) or days (`epochDay`) since 1970-01-01. Months are 1-12, weekdays 1=SUN .. 7=SAT.
 */

export const secondMs: number = 1000
export const minuteMs: number = 60_000
export const hourMs: number = 3_600_000
export const dayMs: number = 86_400_000

const daysPerEra = 146_097
/** Days from 0000-03-01, where eras begin, to 1970-01-01. */
const eraOriginDays = 719_468
const monthLengths: readonly number[] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** A calendar date: month 1-12, day 1-31. */
export interface CivilDate {
  readonly year: number
  readonly month: number
  readonly day: number
}

/** Wall-clock fields, whole numbers; `millisecond` included so that nothing is lost on the way back. */
export interface CivilTime extends CivilDate {
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly millisecond: number
}

/**
 * Days since 1970-01-01. A month outside 1-12 or a day outside the month carries over, so that "month 14" and "day 0"
 * mean what arithmetic says.
 */
export function daysFromCivil(year: number, month: number, day: number): number {
  const carriedYear = year + Math.floor((month - 1) / 12)
  const marchMonth = floorMod(month - 3, 12)
  const marchYear = marchMonth >= 10 ? carriedYear - 1 : carriedYear
  const era = Math.floor(marchYear / 400)
  const yearOfEra = marchYear - era * 400
  const dayOfYear = Math.floor((153 * marchMonth + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * daysPerEra + dayOfEra - eraOriginDays
}

/** The date of a day counted from 1970-01-01. */
export function civilFromDays(epochDay: number): CivilDate {
  const shifted = epochDay + eraOriginDays
  const era = Math.floor(shifted / daysPerEra)
  const dayOfEra = shifted - era * daysPerEra
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day }
}

/** The wall fields of a local number. */
export function civilFromLocalMs(localMs: number): CivilTime {
  const epochDay = epochDayOf(localMs)
  const { year, month, day } = civilFromDays(epochDay)
  const ofDay = localMs - epochDay * dayMs
  return {
    year,
    month,
    day,
    hour: Math.floor(ofDay / hourMs),
    minute: Math.floor(ofDay / minuteMs) % 60,
    second: Math.floor(ofDay / secondMs) % 60,
    millisecond: ofDay % secondMs,
  }
}

/** The local number of wall fields; fields out of their range carry over. */
export function localMsFromCivil(
  year: number,
  month: number,
  day: number,
  hour = 0,
  minute = 0,
  second = 0,
  millisecond = 0,
): number {
  return (
    daysFromCivil(year, month, day) * dayMs +
    hour * hourMs +
    minute * minuteMs +
    second * secondMs +
    millisecond
  )
}

/** The day that a local number lies in, counted from 1970-01-01. */
export function epochDayOf(localMs: number): number {
  return Math.floor(localMs / dayMs)
}

/** Weekday of a day counted from 1970-01-01: 1=SUN .. 7=SAT. */
export function weekdayOf(epochDay: number): number {
  return floorMod(epochDay + 4, 7) + 1
}

export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** 28 to 31; the month is 1-12. */
export function daysInMonth(year: number, month: number): number {
  return month === 2 && isLeapYear(year) ? 29 : (monthLengths[month - 1] ?? 0)
}

/** The remainder that is never negative. */
export function floorMod(value: number, modulus: number): number {
  return ((value % modulus) + modulus) % modulus
}

/** Weekdays as Quartz numbers them. */
export const DayOfWeek = {
  SUNDAY: 1,
  MONDAY: 2,
  TUESDAY: 3,
  WEDNESDAY: 4,
  THURSDAY: 5,
  FRIDAY: 6,
  SATURDAY: 7,
} as const
export type DayOfWeek = (typeof DayOfWeek)[keyof typeof DayOfWeek]
