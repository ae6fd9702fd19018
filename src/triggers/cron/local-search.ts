import {
  civilFromDays,
  dayMs,
  daysFromCivil,
  daysInMonth,
  epochDayOf,
  hourMs,
  minuteMs,
  secondMs,
} from '../../time/civil.ts'
import { cronYearMax, cronYearMin } from './cron-fields.ts'
import { type CronSchedule, wordBits } from './cron-schedule.ts'
import { maskIndex } from './day-rule.ts'

/*
 * The search in wall time, without zones. Local numbers are milliseconds as UTC would count them, and only whole
 * seconds match. "None" is the infinity in the direction of the search, so that callers can compare it.
 */

const minLocalMs = daysFromCivil(cronYearMin, 1, 1) * dayMs
const fullWord = 2 ** wordBits - 1
const fullDayHours = 2 ** 24 - 1
const endLocalMs = daysFromCivil(cronYearMax + 1, 1, 1) * dayMs

/** The first matching local time at or after `fromLocalMs`, Infinity when there is none. */
export function localAtOrAfter(schedule: CronSchedule, fromLocalMs: number): number {
  const startMs = Math.max(Math.ceil(fromLocalMs / secondMs) * secondMs, minLocalMs)
  if (!(startMs < endLocalMs)) return Number.POSITIVE_INFINITY
  const epochDay = epochDayOf(startMs)
  const { year, month, day } = civilFromDays(epochDay)
  if (hasYear(schedule, year) && hasMonth(schedule, month)) {
    const firstDay = epochDay - day + 1
    const mask = maskOf(schedule, year, month, firstDay)
    if ((mask & (1 << (day - 1))) !== 0) {
      const ofDayMs = timeAtOrAfter(schedule, startMs - epochDay * dayMs)
      if (ofDayMs >= 0) return epochDay * dayMs + ofDayMs
    }
    const rest = mask & (-1 << day)
    if (rest !== 0) return (firstDay + lowestBit(rest)) * dayMs + schedule.firstSecondOfDay * secondMs
  }
  return firstAfterMonth(schedule, year, month)
}

/** The last matching local time at or before `fromLocalMs`, -Infinity when there is none. */
export function localAtOrBefore(schedule: CronSchedule, fromLocalMs: number): number {
  const startMs = Math.min(Math.floor(fromLocalMs / secondMs) * secondMs, endLocalMs - secondMs)
  if (!(startMs >= minLocalMs)) return Number.NEGATIVE_INFINITY
  const epochDay = epochDayOf(startMs)
  const { year, month, day } = civilFromDays(epochDay)
  if (hasYear(schedule, year) && hasMonth(schedule, month)) {
    const firstDay = epochDay - day + 1
    const mask = maskOf(schedule, year, month, firstDay)
    if ((mask & (1 << (day - 1))) !== 0) {
      const ofDayMs = timeAtOrBefore(schedule, startMs - epochDay * dayMs)
      if (ofDayMs >= 0) return epochDay * dayMs + ofDayMs
    }
    const rest = mask & ((1 << (day - 1)) - 1)
    if (rest !== 0) return (firstDay + highestBit(rest)) * dayMs + schedule.lastSecondOfDay * secondMs
  }
  return lastBeforeMonth(schedule, year, month)
}

/**
 * For a matching local time: where the run of seconds that all match ends, or a point on the way there. Runs are
 * followed by whole minutes, hours and days as far as the fields allow all of them, and not past `limitLocalMs`.
 */
export function localRunEnd(schedule: CronSchedule, matchingLocalMs: number, limitLocalMs: number): number {
  if (!isFull(schedule.secondsLow, schedule.secondsHigh)) return matchingLocalMs + secondMs
  if (!isFull(schedule.minutesLow, schedule.minutesHigh)) return endOf(minuteMs, matchingLocalMs)
  if (schedule.hours !== fullDayHours) return endOf(hourMs, matchingLocalMs)
  let endMs = endOf(dayMs, matchingLocalMs)
  while (endMs < limitLocalMs && localAtOrAfter(schedule, endMs) === endMs) endMs += dayMs
  return endMs
}

/** The end of the unit that a local time lies in. */
function endOf(unitMs: number, localMs: number): number {
  return (Math.floor(localMs / unitMs) + 1) * unitMs
}

function firstAfterMonth(schedule: CronSchedule, afterYear: number, afterMonth: number): number {
  let year = afterYear
  let months = schedule.months & (-1 << (afterMonth + 1))
  while (year <= cronYearMax) {
    if (hasYear(schedule, year)) {
      for (; months !== 0; months &= months - 1) {
        const month = lowestBit(months)
        const firstDay = daysFromCivil(year, month, 1)
        const mask = maskOf(schedule, year, month, firstDay)
        if (mask !== 0) return (firstDay + lowestBit(mask)) * dayMs + schedule.firstSecondOfDay * secondMs
      }
    }
    year += 1
    months = schedule.months
  }
  return Number.POSITIVE_INFINITY
}

function lastBeforeMonth(schedule: CronSchedule, beforeYear: number, beforeMonth: number): number {
  let year = beforeYear
  let months = schedule.months & ((1 << beforeMonth) - 1)
  while (year >= cronYearMin) {
    if (hasYear(schedule, year)) {
      while (months !== 0) {
        const month = highestBit(months)
        months &= ~(1 << month)
        const firstDay = daysFromCivil(year, month, 1)
        const mask = maskOf(schedule, year, month, firstDay)
        if (mask !== 0) return (firstDay + highestBit(mask)) * dayMs + schedule.lastSecondOfDay * secondMs
      }
    }
    year -= 1
    months = schedule.months
  }
  return Number.NEGATIVE_INFINITY
}

function hasYear(schedule: CronSchedule, year: number): boolean {
  return schedule.years === null || schedule.years[year - cronYearMin] === 1
}

function hasMonth(schedule: CronSchedule, month: number): boolean {
  return (schedule.months & (1 << month)) !== 0
}

/** The days of a month that match; 1970-01-01 was a Thursday, and no month here begins before it. */
function maskOf(schedule: CronSchedule, year: number, month: number, firstDay: number): number {
  return schedule.dayMasks[maskIndex(daysInMonth(year, month), (firstDay + 4) % 7)] ?? 0
}

/** The first matching time of day at or after one, in milliseconds, or -1. */
function timeAtOrAfter(schedule: CronSchedule, ofDayMs: number): number {
  const hour = Math.floor(ofDayMs / hourMs)
  if ((schedule.hours & (1 << hour)) !== 0) {
    const minute = Math.floor(ofDayMs / minuteMs) % 60
    if (hasBit(schedule.minutesLow, schedule.minutesHigh, minute)) {
      const second = Math.floor(ofDayMs / secondMs) % 60
      const found = bitAtOrAfter(schedule.secondsLow, schedule.secondsHigh, second)
      if (found >= 0) return hour * hourMs + minute * minuteMs + found * secondMs
    }
    const found = bitAtOrAfter(schedule.minutesLow, schedule.minutesHigh, minute + 1)
    if (found >= 0) return hour * hourMs + found * minuteMs + (schedule.firstSecondOfDay % 60) * secondMs
  }
  const later = schedule.hours & (-1 << (hour + 1))
  if (later === 0) return -1
  return lowestBit(later) * hourMs + (schedule.firstSecondOfDay % 3600) * secondMs
}

/** The last matching time of day at or before one, in milliseconds, or -1. */
function timeAtOrBefore(schedule: CronSchedule, ofDayMs: number): number {
  const hour = Math.floor(ofDayMs / hourMs)
  if ((schedule.hours & (1 << hour)) !== 0) {
    const minute = Math.floor(ofDayMs / minuteMs) % 60
    if (hasBit(schedule.minutesLow, schedule.minutesHigh, minute)) {
      const second = Math.floor(ofDayMs / secondMs) % 60
      const found = bitAtOrBefore(schedule.secondsLow, schedule.secondsHigh, second)
      if (found >= 0) return hour * hourMs + minute * minuteMs + found * secondMs
    }
    const found = bitAtOrBefore(schedule.minutesLow, schedule.minutesHigh, minute - 1)
    if (found >= 0) return hour * hourMs + found * minuteMs + (schedule.lastSecondOfDay % 60) * secondMs
  }
  const earlier = schedule.hours & ((1 << hour) - 1)
  if (earlier === 0) return -1
  return highestBit(earlier) * hourMs + (schedule.lastSecondOfDay % 3600) * secondMs
}

function hasBit(low: number, high: number, value: number): boolean {
  return value < wordBits ? (low & (1 << value)) !== 0 : (high & (1 << (value - wordBits))) !== 0
}

/** The lowest value at or above `value` (0-60) in a pair of words, or -1. */
function bitAtOrAfter(low: number, high: number, value: number): number {
  if (value < wordBits) {
    const rest = low & (-1 << value)
    if (rest !== 0) return lowestBit(rest)
    return high === 0 ? -1 : lowestBit(high) + wordBits
  }
  const rest = high & (-1 << (value - wordBits))
  return rest === 0 ? -1 : lowestBit(rest) + wordBits
}

/** The highest value at or below `value` (-1 to 59) in a pair of words, or -1. */
function bitAtOrBefore(low: number, high: number, value: number): number {
  if (value >= wordBits) {
    const rest = high & ((1 << (value - wordBits + 1)) - 1)
    if (rest !== 0) return highestBit(rest) + wordBits
    return low === 0 ? -1 : highestBit(low)
  }
  const rest = low & ((1 << (value + 1)) - 1)
  return rest === 0 ? -1 : highestBit(rest)
}

function isFull(low: number, high: number): boolean {
  return low === fullWord && high === fullWord
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits)
}

function highestBit(bits: number): number {
  return 31 - Math.clz32(bits)
}
