import type { EpochMs } from '../time/clock.ts'
import { firstIncluded } from './calendar-skip.ts'
import type { Calendar } from './calendars/calendar.ts'
import type { Trigger } from './trigger.ts'

/**
 * The fire times of a scheduled trigger from `fromMs` to `toMs`, both included, in its phase. Null stands for a
 * step that gave none, so that a caller may bound the work: a trigger that counts its fires is followed from where it
 * is.
 */
export function* plannedTimes(
  trigger: Trigger,
  calendar: Calendar | null,
  fromMs: EpochMs,
  toMs: EpochMs,
): Generator<EpochMs | null, void> {
  let current = forwardedTo(trigger, calendar, fromMs)
  for (;;) {
    const atMs = current.nextFireTimeMs
    if (atMs === null || atMs > toMs) return
    yield atMs >= fromMs ? atMs : null
    current = current.triggered(calendar)
  }
}

/** The trigger with its first fire time, if it has not been scheduled yet. */
export function scheduled(trigger: Trigger, calendar: Calendar | null): Trigger {
  return trigger.nextFireTimeMs === null && trigger.timesTriggered === 0
    ? trigger.computeFirstFireTime(calendar)
    : trigger
}

/** The trigger as it is when its next time is the first one from `fromMs` on. */
function forwardedTo(trigger: Trigger, calendar: Calendar | null, fromMs: EpochMs): Trigger {
  const { nextFireTimeMs, previousFireTimeMs, timesTriggered } = trigger
  if (nextFireTimeMs === null || nextFireTimeMs >= fromMs || trigger.countsFires()) return trigger
  const candidateMs = trigger.fireTimeAfterMs(fromMs - 1)
  return trigger.withFireState({
    nextFireTimeMs: firstIncluded(trigger, calendar, candidateMs, timesTriggered),
    previousFireTimeMs,
    timesTriggered,
    misfiredFireTimeMs: null,
  })
}
