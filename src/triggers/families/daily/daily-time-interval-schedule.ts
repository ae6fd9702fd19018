import { dayMs, epochDayOf, weekdayOf } from '../../../time/civil.ts'
import type { EpochMs } from '../../../time/clock.ts'
import type { TimeZone } from '../../../time/zone.ts'
import { searchHorizonMs } from '../../calendars/calendar-search.ts'
import { instantMaxMs } from '../../invalid-trigger.ts'
import { repeatIndefinitely } from '../../trigger-fields.ts'

export const dailyTimeIntervalUnits = ['SECOND', 'MINUTE', 'HOUR'] as const
export type DailyTimeIntervalUnit = (typeof dailyTimeIntervalUnits)[number]

/** 23:59:59, which means the end of the day also when the wall clock shows it twice. */
export const lastSecondOfDay = 86_399

/** Sunday to Saturday, as bits 1 to 7. */
export const everyDayOfWeek = 0b1111_1110

/**
 * Fires in a window of each allowed day: at the start of the window and then every interval of elapsed time, up to
 * and including the window's end.
 */
export interface DailyTimeIntervalSchedule {
  readonly startTimeMs: EpochMs
  /** Inclusive. */
  readonly endTimeMs: EpochMs | null
  readonly zone: TimeZone
  readonly startSecondOfDay: number
  readonly endSecondOfDay: number
  /** Bit n is weekday n, 1=SUN. */
  readonly daysOfWeekMask: number
  readonly repeatInterval: number
  readonly repeatIntervalUnit: DailyTimeIntervalUnit
  /** Fires after the first one, counted across days; -1 for ever. */
  readonly repeatCount: number
}

interface Window {
  readonly firstMs: EpochMs
  readonly lastMs: EpochMs
}

/** Days in a row that may have no window: a week of forbidden ones, a lost day, and the day before the first. */
const maxIdleDays = 16

const unitMs: Readonly<Record<DailyTimeIntervalUnit, number>> = {
  SECOND: 1000,
  MINUTE: 60_000,
  HOUR: 3_600_000,
}

export function dailyIntervalMs(
  schedule: Pick<DailyTimeIntervalSchedule, 'repeatInterval' | 'repeatIntervalUnit'>,
): number {
  return schedule.repeatInterval * unitMs[schedule.repeatIntervalUnit]
}

/** The first fire strictly after `afterMs`, of a schedule that has fired `timesTriggered` times. */
export function dailyTimeIntervalFireTimeAfter(
  schedule: DailyTimeIntervalSchedule,
  afterMs: EpochMs,
  timesTriggered: number,
): EpochMs | null {
  const { startTimeMs, endTimeMs, repeatCount, zone } = schedule
  if (repeatCount !== repeatIndefinitely && timesTriggered > repeatCount) return null
  const floorMs = Math.max(afterMs, startTimeMs - 1)
  if (floorMs >= (endTimeMs ?? instantMaxMs)) return null
  // A window that begins in a gap at the end of a day begins on the next one.
  const firstDay = epochDayOf(zone.toLocalMs(floorMs)) - 1
  for (let day = firstDay; day < firstDay + maxIdleDays; day++) {
    const window = windowOf(schedule, day)
    if (window === null || window.lastMs <= floorMs) continue
    const fireTimeMs = firstInWindow(window, dailyIntervalMs(schedule), floorMs)
    if (fireTimeMs !== null) return fireTimeMs > (endTimeMs ?? instantMaxMs) ? null : fireTimeMs
  }
  return null
}

/** The last fire, or null when there is none or no end within a hundred years. */
export function dailyTimeIntervalFinalFireTime(schedule: DailyTimeIntervalSchedule): EpochMs | null {
  const { endTimeMs, repeatCount } = schedule
  const byCount = repeatCount === repeatIndefinitely ? null : fireByNumber(schedule, repeatCount)
  if (byCount !== null || endTimeMs === null) return byCount
  const lastDay = epochDayOf(schedule.zone.toLocalMs(endTimeMs)) + 1
  for (let day = lastDay; day > lastDay - maxIdleDays; day--) {
    const window = windowOf(schedule, day)
    if (window === null || window.firstMs > endTimeMs) continue
    const lastMs = lastInWindow(window, dailyIntervalMs(schedule), endTimeMs)
    return lastMs < schedule.startTimeMs ? null : lastMs
  }
  return null
}

/** The fire that comes `repeats` fires after the first one; null when the end or the horizon comes before it. */
function fireByNumber(schedule: DailyTimeIntervalSchedule, repeats: number): EpochMs | null {
  const { startTimeMs, endTimeMs, zone } = schedule
  const intervalMs = dailyIntervalMs(schedule)
  const limitMs = Math.min(endTimeMs ?? instantMaxMs, startTimeMs + searchHorizonMs)
  // No local day takes two days, so more fires than these do not fit before the horizon.
  const dailyMax = Math.floor((2 * dayMs) / intervalMs) + 1
  if (repeats > dailyMax * (searchHorizonMs / dayMs + 2)) return null
  let remaining = repeats
  for (let day = epochDayOf(zone.toLocalMs(startTimeMs)) - 1; ; day++) {
    const window = windowOf(schedule, day)
    const firstMs = window === null ? null : firstInWindow(window, intervalMs, startTimeMs - 1)
    if (window === null || firstMs === null) {
      if (day * dayMs > limitMs + 2 * dayMs) return null
      continue
    }
    const fires = Math.floor((window.lastMs - firstMs) / intervalMs) + 1
    const fireTimeMs = firstMs + remaining * intervalMs
    if (remaining < fires) return fireTimeMs > limitMs ? null : fireTimeMs
    if (firstMs > limitMs) return null
    remaining -= fires
  }
}

function firstInWindow(window: Window, intervalMs: number, afterMs: EpochMs): EpochMs | null {
  if (window.firstMs > afterMs) return window.firstMs
  const fireTimeMs = window.firstMs + (Math.floor((afterMs - window.firstMs) / intervalMs) + 1) * intervalMs
  return fireTimeMs > window.lastMs ? null : fireTimeMs
}

function lastInWindow(window: Window, intervalMs: number, limitMs: EpochMs): EpochMs {
  const untilMs = Math.min(window.lastMs, limitMs)
  return window.firstMs + Math.floor((untilMs - window.firstMs) / intervalMs) * intervalMs
}

/**
 * The window of a local day as instants; null for a forbidden day and for one that the zone leaves out. An end of the
 * window in a gap is the first instant after the gap, and one in an overlap is the first pass.
 */
function windowOf(schedule: DailyTimeIntervalSchedule, epochDay: number): Window | null {
  if ((schedule.daysOfWeekMask & (1 << weekdayOf(epochDay))) === 0) return null
  const { zone, startSecondOfDay, endSecondOfDay } = schedule
  const dayLocalMs = epochDay * dayMs
  const firstMs = zone.firstInstantAtOrAfter(dayLocalMs + startSecondOfDay * 1000)
  if (zone.toLocalMs(firstMs) !== dayLocalMs + startSecondOfDay * 1000) {
    const dayStartMs = zone.firstInstantAtOrAfter(dayLocalMs)
    if (epochDayOf(zone.toLocalMs(dayStartMs)) !== epochDay) return null
  }
  const lastMs =
    endSecondOfDay === lastSecondOfDay
      ? zone.firstInstantAtOrAfter(dayLocalMs + dayMs) - 1
      : zone.firstInstantAtOrAfter(dayLocalMs + endSecondOfDay * 1000)
  // At the end of a day a gap can cover a whole window, which then begins, and ends, on the next day.
  return { firstMs, lastMs: Math.max(firstMs, lastMs) }
}
