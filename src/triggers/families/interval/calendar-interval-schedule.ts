import { civilFromDays, dayMs, epochDayOf } from '../../../time/civil.ts'
import type { EpochMs } from '../../../time/clock.ts'
import { plusMonths } from '../../../time/wall-time.ts'
import type { TimeZone } from '../../../time/zone.ts'
import { instantMaxMs } from '../../invalid-trigger.ts'

export const calendarIntervalUnits = ['SECOND', 'MINUTE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'] as const
export type CalendarIntervalUnit = (typeof calendarIntervalUnits)[number]

/**
 * Fires at the start and then every interval. The k-th fire is start + k x interval: by elapsed time for seconds,
 * minutes and hours, by the wall calendar of the zone for days and longer units.
 */
export interface CalendarIntervalSchedule {
  readonly startTimeMs: EpochMs
  /** Exclusive, but the start itself always counts. */
  readonly endTimeMs: EpochMs | null
  readonly zone: TimeZone
  readonly repeatInterval: number
  readonly repeatIntervalUnit: CalendarIntervalUnit
  readonly skipDayIfHourDoesNotExist: boolean
}

/** Fires in a row that may be left out because their local time does not exist; no zone has two such days in a row. */
const maxGaps = 100

const elapsedUnitMs: Readonly<Partial<Record<CalendarIntervalUnit, number>>> = {
  SECOND: 1000,
  MINUTE: 60_000,
  HOUR: 3_600_000,
}

/** The first fire strictly after `afterMs`. */
export function calendarIntervalFireTimeAfter(
  schedule: CalendarIntervalSchedule,
  afterMs: EpochMs,
): EpochMs | null {
  const { startTimeMs, endTimeMs } = schedule
  if (endTimeMs !== null && endTimeMs <= afterMs) return null
  if (afterMs < startTimeMs) return startTimeMs
  const unitMs = elapsedUnitMs[schedule.repeatIntervalUnit]
  const fireTimeMs =
    unitMs === undefined
      ? localFireTimeAfter(schedule, afterMs)
      : elapsedFireTimeAfter(startTimeMs, unitMs * schedule.repeatInterval, afterMs)
  if (fireTimeMs === null || fireTimeMs > instantMaxMs) return null
  return endTimeMs !== null && fireTimeMs >= endTimeMs ? null : fireTimeMs
}

/** The last fire, or null when the schedule has no end. */
export function calendarIntervalFinalFireTime(schedule: CalendarIntervalSchedule): EpochMs | null {
  const { startTimeMs, endTimeMs } = schedule
  if (endTimeMs === null) return null
  const unitMs = elapsedUnitMs[schedule.repeatIntervalUnit]
  if (unitMs !== undefined) {
    const stepMs = unitMs * schedule.repeatInterval
    return startTimeMs + Math.max(0, Math.floor((endTimeMs - 1 - startTimeMs) / stepMs)) * stepMs
  }
  const local = localSeries(schedule)
  // In the second pass of an overlap the next fire by the wall clock may have passed already.
  let fireNumber = local.lastAtOrBefore(schedule.zone.toLocalMs(endTimeMs)) + 2
  for (; fireNumber > 0; fireNumber--) {
    const instantMs = resolve(schedule, local.at(fireNumber))
    if (instantMs !== null && instantMs < endTimeMs) return instantMs
  }
  return startTimeMs
}

function elapsedFireTimeAfter(startTimeMs: EpochMs, stepMs: number, afterMs: EpochMs): EpochMs {
  return startTimeMs + (Math.floor((afterMs - startTimeMs) / stepMs) + 1) * stepMs
}

function localFireTimeAfter(schedule: CalendarIntervalSchedule, afterMs: EpochMs): EpochMs | null {
  const local = localSeries(schedule)
  const firstNumber = Math.max(0, local.lastAtOrBefore(schedule.zone.toLocalMs(afterMs))) + 1
  for (let fireNumber = firstNumber; fireNumber < firstNumber + maxGaps; fireNumber++) {
    const localMs = local.at(fireNumber)
    if (localMs > instantMaxMs) return null
    const instantMs = resolve(schedule, localMs)
    if (instantMs !== null && instantMs > afterMs) return instantMs
  }
  return null
}

/** The first pass of an overlap, the first instant after a gap; null when a time in a gap is to be left out. */
function resolve(schedule: CalendarIntervalSchedule, localMs: number): EpochMs | null {
  const { zone, skipDayIfHourDoesNotExist } = schedule
  const instantMs = zone.firstInstantAtOrAfter(localMs)
  return skipDayIfHourDoesNotExist && zone.toLocalMs(instantMs) !== localMs ? null : instantMs
}

/** The local times of a schedule by their number; number 0 is the start. */
interface LocalSeries {
  at(fireNumber: number): number
  lastAtOrBefore(localMs: number): number
}

function localSeries(schedule: CalendarIntervalSchedule): LocalSeries {
  const startLocalMs = schedule.zone.toLocalMs(schedule.startTimeMs)
  const { repeatInterval, repeatIntervalUnit } = schedule
  switch (repeatIntervalUnit) {
    case 'YEAR':
      return monthSeries(startLocalMs, 12 * repeatInterval)
    case 'MONTH':
      return monthSeries(startLocalMs, repeatInterval)
    case 'WEEK':
      return daySeries(startLocalMs, 7 * repeatInterval)
    default:
      return daySeries(startLocalMs, repeatInterval)
  }
}

function daySeries(startLocalMs: number, days: number): LocalSeries {
  const stepMs = days * dayMs
  return {
    at: (fireNumber) => startLocalMs + fireNumber * stepMs,
    lastAtOrBefore: (localMs) => Math.floor((localMs - startLocalMs) / stepMs),
  }
}

/** Each time is counted from the start, so a day that a short month clamps comes back in a longer one. */
function monthSeries(startLocalMs: number, months: number): LocalSeries {
  const startMonth = monthIndexOf(startLocalMs)
  return {
    at: (fireNumber) => plusMonths(startLocalMs, fireNumber * months),
    lastAtOrBefore(localMs) {
      const fireNumber = Math.floor((monthIndexOf(localMs) - startMonth) / months)
      return plusMonths(startLocalMs, fireNumber * months) > localMs ? fireNumber - 1 : fireNumber
    },
  }
}

function monthIndexOf(localMs: number): number {
  const { year, month } = civilFromDays(epochDayOf(localMs))
  return year * 12 + month - 1
}
