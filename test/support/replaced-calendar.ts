import type { Calendar } from '../../src/triggers/calendars/calendar.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'

/** After so many times in a row that were left out, the one that was planned is the next. */
const maxLeftOut = 100

/** What becomes of a trigger whose calendar is replaced, as the docs say it: one time after the other. */
export function underReplacedCalendar(
  before: Trigger,
  calendar: Calendar,
  {
    old,
    nowMs,
    misfireThresholdMs,
  }: { old: Calendar | undefined; nowMs: number; misfireThresholdMs: number },
): Trigger {
  const dueMs = before.nextFireTimeMs
  const isLate = before.misfiredFireTimeMs !== null
  const hasFired = before.previousFireTimeMs !== null && !isLate
  const isDue = dueMs !== null && dueMs <= nowMs
  if (isDue && !hasFired && calendar.isTimeIncluded(dueMs)) return before
  let after = before.updateWithNewCalendar(calendar, nowMs, misfireThresholdMs)
  const leftOut = (): boolean =>
    dueMs !== null &&
    after.nextFireTimeMs !== null &&
    after.nextFireTimeMs < dueMs &&
    old?.isTimeIncluded(after.nextFireTimeMs) === true
  const counted = before.timesTriggered
  for (let looked = 0; !isLate && leftOut(); looked++) {
    const untilMs = looked === maxLeftOut ? (dueMs ?? 0) - 1 : (after.nextFireTimeMs ?? 0)
    const { nextFireTimeMs, previousFireTimeMs, misfiredFireTimeMs } = after.withoutMissed(calendar, untilMs)
    const left = { nextFireTimeMs, previousFireTimeMs, misfiredFireTimeMs }
    after = after.withFireState({ ...left, timesTriggered: counted })
  }
  return after
}
