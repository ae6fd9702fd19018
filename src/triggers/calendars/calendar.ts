import { type ArgumentCheck, checkMethods } from '../../core/arguments.ts'
import type { EpochMs } from '../../time/clock.ts'

/**
 * The plain form of a calendar: what is stored and what crosses process borders. `type` names the family; the rest
 * is the family's own, all of it JSON.
 */
export interface CalendarDefinition {
  readonly type: string
  readonly description?: string
  readonly base?: CalendarDefinition
  readonly [field: string]: unknown
}

/**
 * WHEN NOT: a set of excluded instants. A trigger names one calendar; fire times that the calendar excludes are
 * skipped. Calendars are immutable, and a calendar may stand on a base calendar: an instant is included when both
 * include it.
 */
export interface Calendar {
  readonly type: string
  readonly description: string | null
  readonly baseCalendar: Calendar | null
  /** Whether a trigger may fire at this instant (epoch milliseconds). */
  isTimeIncluded(timeMs: EpochMs): boolean
  /**
   * The first included instant strictly after the given one, or null when there is none within a hundred years, or
   * none within 50,000 questions to the calendar and its bases, as when they contradict each other.
   */
  nextIncludedTime(timeMs: EpochMs): EpochMs | null
  toJSON(): CalendarDefinition
}

export const checkCalendar: ArgumentCheck = checkMethods(
  'a calendar',
  ['isTimeIncluded', 'nextIncludedTime', 'toJSON'],
  'Make one, as in new HolidayCalendar({ excludedDates }), or with calendarFromJSON.',
)
