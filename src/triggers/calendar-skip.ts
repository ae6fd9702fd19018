import type { EpochMs } from '../time/clock.ts'
import type { Calendar } from './calendars/calendar.ts'
import { CalendarSearch } from './calendars/calendar-search.ts'
import { ZonedCalendar } from './calendars/zoned-calendar.ts'

/** How many excluded times of the past are counted one by one when a calendar is replaced. */
const maxCountedSkips = 10_000

interface Schedule {
  fireTimeAfterMs(afterMs: EpochMs, timesTriggered: number): EpochMs | null
}

/** The candidate, or the first fire time after it that the calendar includes; null when the search finds none. */
export function firstIncluded(
  schedule: Schedule,
  calendar: Calendar | null,
  candidateMs: EpochMs | null,
  timesTriggered: number,
): EpochMs | null {
  if (calendar === null || candidateMs === null) return candidateMs
  const search = new CalendarSearch(candidateMs)
  let nextMs: EpochMs | null = candidateMs
  while (nextMs !== null && nextMs <= search.horizonMs) {
    const includedMs = firstIncludedFrom(calendar, nextMs, search)
    if (includedMs === null || includedMs === nextMs) return includedMs
    // The first fire time after the range that the calendar excludes.
    nextMs = schedule.fireTimeAfterMs(Math.max(includedMs - 1, nextMs), timesTriggered)
  }
  return null
}

/**
 * The fire time after a calendar was replaced. As in Quartz, an excluded candidate is replaced by the next time. When
 * that time is in the past by the misfire threshold or more, it is replaced once more before the calendar is asked.
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
    // Quartz asks about some past times only, depending on their number, so they are counted up to a limit.
    if (skips >= maxCountedSkips) break
    const afterMs = schedule.fireTimeAfterMs(nextMs, timesTriggered)
    const isPast = afterMs !== null && afterMs <= latestMisfireMs
    nextMs = isPast ? schedule.fireTimeAfterMs(afterMs, timesTriggered) : afterMs
  }
  return firstIncluded(schedule, calendar, nextMs, timesTriggered)
}

function firstIncludedFrom(calendar: Calendar, fromMs: EpochMs, search: CalendarSearch): EpochMs | null {
  if (calendar instanceof ZonedCalendar) return calendar.firstIncludedFrom(fromMs, search)
  if (!search.mayAsk()) return null
  return calendar.isTimeIncluded(fromMs) ? fromMs : calendar.nextIncludedTime(fromMs)
}
