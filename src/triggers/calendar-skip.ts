import type { EpochMs } from '../time/clock.ts'
import type { Calendar } from './calendars/calendar.ts'

/** How far ahead a time that a calendar includes is looked for. */
export const searchHorizonMs: number = 36_525 * 86_400_000

/**
 * How many excluded fire times are passed over before the answer is "never". A hundred years of days fit three
 * times; what the bound stops is a calendar with a hole at every second that a schedule always misses.
 */
const maxSkips = 100_000

/** How many excluded times of the past are counted one by one when a calendar is replaced. */
const maxCountedSkips = 10_000

interface Schedule {
  fireTimeAfterMs(afterMs: EpochMs, timesTriggered: number): EpochMs | null
}

/** The candidate, or the first fire time after it that the calendar includes; null when there is none in reach. */
export function firstIncluded(
  schedule: Schedule,
  calendar: Calendar | null,
  candidateMs: EpochMs | null,
  timesTriggered: number,
): EpochMs | null {
  if (calendar === null || candidateMs === null) return candidateMs
  const horizonMs = candidateMs + searchHorizonMs
  let nextMs: EpochMs | null = candidateMs
  for (let skips = 0; skips < maxSkips; skips++) {
    if (nextMs === null || nextMs > horizonMs) return null
    if (calendar.isTimeIncluded(nextMs)) return nextMs
    nextMs = leap(schedule, calendar, nextMs, timesTriggered)
  }
  return null
}

/**
 * The fire time after a calendar was replaced. As in Quartz, an excluded candidate gives way to the next time, and a
 * time that this reaches in the past by the misfire threshold or more gives way once more before it is looked at.
 */
export function firstIncludedAfterReplacement(
  schedule: Schedule,
  calendar: Calendar,
  candidateMs: EpochMs | null,
  timesTriggered: number,
  latestMisfireMs: EpochMs,
): EpochMs | null {
  let nextMs = candidateMs
  for (let skips = 0; nextMs !== null && nextMs <= latestMisfireMs; skips++) {
    if (calendar.isTimeIncluded(nextMs)) return nextMs
    // Which of the past times are looked at depends on their number, so they are counted while that is cheap.
    if (skips >= maxCountedSkips) break
    const afterMs = schedule.fireTimeAfterMs(nextMs, timesTriggered)
    const isPast = afterMs !== null && afterMs <= latestMisfireMs
    nextMs = isPast ? schedule.fireTimeAfterMs(afterMs, timesTriggered) : afterMs
  }
  return firstIncluded(schedule, calendar, nextMs, timesTriggered)
}

/** The first fire time that lies behind the stretch which the calendar excludes at `excludedMs`. */
function leap(
  schedule: Schedule,
  calendar: Calendar,
  excludedMs: EpochMs,
  timesTriggered: number,
): EpochMs | null {
  const includedMs = calendar.nextIncludedTime(excludedMs)
  if (includedMs === null) return null
  return schedule.fireTimeAfterMs(Math.max(includedMs - 1, excludedMs), timesTriggered)
}
