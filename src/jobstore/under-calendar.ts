import type { EpochMs } from '../time/clock.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { JobAndTriggers } from './job-and-triggers.ts'
import { neverFires } from './refusals.ts'

// A caller computes the first fire time of a trigger before the store has its locks. Until then another caller may have
// replaced the calendar, or deleted it.

/** The calendars as they are stored now, and the instant by the store's clock. */
export interface StoredCalendars {
  /**
   * Null for a trigger that names none.
   *
   * @throws JobPersistenceError ERR_CALENDAR_NOT_FOUND
   */
  readonly calendarOf: (trigger: Trigger) => Calendar | null
  readonly nowMs: EpochMs
}

/**
 * A trigger that is to be stored, with a fire time that its calendar includes. What was left out before that stays
 * left out.
 *
 * @throws SchedulerError ERR_TRIGGER_NEVER_FIRES when no fire time is left
 */
export function underCalendar(trigger: Trigger, calendar: Calendar | null, nowMs: EpochMs): Trigger {
  const { nextFireTimeMs: plannedMs, previousFireTimeMs, timesTriggered, misfiredFireTimeMs } = trigger
  if (calendar === null || plannedMs === null || calendar.isTimeIncluded(plannedMs)) return trigger
  const first = trigger.computeFirstFireTime(calendar)
  const { nextFireTimeMs } = first.withoutMissed(calendar, Math.min(plannedMs, nowMs) - 1)
  if (nextFireTimeMs === null) throw neverFires(trigger)
  return trigger.withFireState({ nextFireTimeMs, previousFireTimeMs, timesTriggered, misfiredFireTimeMs })
}

/** The same for entries. Most name no calendar, and there may be a hundred thousand. */
export function entriesUnderCalendars(
  entries: readonly JobAndTriggers[],
  { calendarOf, nowMs }: StoredCalendars,
): readonly JobAndTriggers[] {
  if (!entries.some(({ triggers }) => triggers.some(({ calendarName }) => calendarName !== null)))
    return entries
  return entries.map(({ job, triggers }) => ({
    job,
    triggers: triggers.map((trigger) => underCalendar(trigger, calendarOf(trigger), nowMs)),
  }))
}

/** How many times that were left out are looked at one by one. After them the planned time is the next. */
const maxLeftOut = 100

/** The replacement of a calendar. */
export interface Replacement {
  /** Absent when there was none or it cannot be read. */
  readonly old: Calendar | undefined
  readonly calendar: Calendar
  readonly nowMs: EpochMs
}

/**
 * The trigger under a calendar that was replaced, from what `updateWithNewCalendar` makes of it. That goes on after the
 * previous fire time. So it forgets a fire that is due where there is no such time, and brings back what was left out
 * since, for example by `skipNextFire`.
 */
export function afterReplacement<T extends Trigger>(
  before: T,
  updated: T,
  { old, calendar, nowMs }: Replacement,
): T {
  const { nextFireTimeMs: plannedMs, previousFireTimeMs, misfiredFireTimeMs } = before
  if (plannedMs === null) return updated
  const isByHistory = previousFireTimeMs !== null && misfiredFireTimeMs === null
  if (plannedMs <= nowMs && !isByHistory && calendar.isTimeIncluded(plannedMs)) return before
  if (old === undefined || misfiredFireTimeMs !== null) return updated
  const isLeftOut = ({ nextFireTimeMs }: Trigger): boolean =>
    nextFireTimeMs !== null && nextFireTimeMs < plannedMs && old.isTimeIncluded(nextFireTimeMs)
  const { timesTriggered } = updated
  const fireState = { previousFireTimeMs, timesTriggered, misfiredFireTimeMs }
  let after = updated
  for (let looked = 0; isLeftOut(after); looked++) {
    const untilMs = looked < maxLeftOut ? after.nextFireTimeMs : plannedMs - 1
    const { nextFireTimeMs } = after.withoutMissed(calendar, untilMs ?? plannedMs - 1)
    // What was left out was counted then.
    after = updated.withFireState({ ...fireState, nextFireTimeMs })
  }
  return after
}
