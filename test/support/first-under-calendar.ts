import type { Calendar } from '../../src/triggers/calendars/calendar.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'

/**
 * A trigger as a store takes it when its calendar, which is given as it is by then, excludes its first fire time: with
 * the next one that the calendar includes, found one by one; null when there is none.
 */
export function firstUnderCalendar(
  trigger: Trigger,
  calendar: Calendar | null,
  nowMs: number,
): Trigger | null {
  const plannedMs = trigger.nextFireTimeMs
  if (calendar === null || plannedMs === null || calendar.isTimeIncluded(plannedMs)) return trigger
  let nextFireTimeMs = trigger.fireTimeAfterMs(Math.min(plannedMs, nowMs) - 1)
  while (nextFireTimeMs !== null && !calendar.isTimeIncluded(nextFireTimeMs)) {
    nextFireTimeMs = trigger.fireTimeAfterMs(nextFireTimeMs)
  }
  const { previousFireTimeMs, timesTriggered, misfiredFireTimeMs } = trigger
  if (nextFireTimeMs === null) return null
  return trigger.withFireState({ nextFireTimeMs, previousFireTimeMs, timesTriggered, misfiredFireTimeMs })
}
