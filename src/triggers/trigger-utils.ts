import { orNull } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { requireInteger } from '../core/options.ts'
import { type Calendar, checkCalendar } from './calendars/calendar.ts'
import { requireInstantMs } from './invalid-trigger.ts'
import { plannedTimes, scheduled } from './planned-times.ts'
import { checkTrigger, type Trigger } from './trigger.ts'

/** How many times one call answers: it holds up everything else meanwhile. */
const countMax = 1_000_000

/** Looks ahead along a trigger's schedule. The trigger itself stays as it is. */
export const TriggerUtils: {
  /**
   * The next fire times, `count` of them (1 to 1,000,000) or fewer when the schedule ends before. A trigger that has
   * been scheduled goes on from where it is; one without a next time that never fired counts as not scheduled.
   *
   * @throws InvalidArgumentError ERR_INVALID_ARGUMENT
   */
  computeFireTimes(trigger: Trigger, calendar: Calendar | null, count: number): Date[]
  /**
   * The fire times from `from` to `to`, both included, in the phase of the trigger; at most 1,000,000. A
   * daily-time-interval trigger with a repeat count is followed from its next fire time, and those before `from` count.
   *
   * @throws InvalidArgumentError ERR_INVALID_ARGUMENT
   */
  computeFireTimesBetween(trigger: Trigger, calendar: Calendar | null, from: Date, to: Date): Date[]
  /**
   * An end time that lets the trigger fire `count` more times (1 to 1,000,000) and not once more; null when it fires
   * less often.
   */
  computeEndTimeToAllowParticularNumberOfFirings(
    trigger: Trigger,
    calendar: Calendar | null,
    count: number,
  ): Date | null
} = {
  computeFireTimes(trigger, calendar, count) {
    checkSubject('computeFireTimes', trigger, calendar)
    requireCount(trigger, count)
    const dates: Date[] = []
    let current = scheduled(trigger, calendar)
    while (current.nextFireTimeMs !== null && dates.length < count) {
      dates.push(new Date(current.nextFireTimeMs))
      current = current.triggered(calendar)
    }
    return dates
  },

  computeFireTimesBetween(trigger, calendar, from, to) {
    checkSubject('computeFireTimesBetween', trigger, calendar)
    const fromMs = requireInstantMs('TriggerUtils.computeFireTimesBetween', 'from', from)
    const toMs = requireInstantMs('TriggerUtils.computeFireTimesBetween', 'to', to)
    const dates: Date[] = []
    let steps = 0
    for (const atMs of plannedTimes(scheduled(trigger, calendar), calendar, fromMs, toMs)) {
      if (++steps > countMax) throw tooManyTimes(dates.length > 0 ? 'to' : 'from')
      if (atMs !== null) dates.push(new Date(atMs))
    }
    return dates
  },

  computeEndTimeToAllowParticularNumberOfFirings(trigger, calendar, count) {
    checkSubject('computeEndTimeToAllowParticularNumberOfFirings', trigger, calendar)
    requireCount(trigger, count)
    let current = scheduled(trigger, calendar)
    for (let fired = 1; fired < count && current.nextFireTimeMs !== null; fired++) {
      current = current.triggered(calendar)
    }
    // One millisecond later: for some families the end time is exclusive.
    return current.nextFireTimeMs === null ? null : new Date(current.nextFireTimeMs + 1)
  },
}

function checkSubject(method: string, trigger: Trigger, calendar: Calendar | null): void {
  checkTrigger(`TriggerUtils.${method}`, 'trigger', trigger)
  orNull(checkCalendar)(`TriggerUtils.${method}`, 'calendar', calendar)
}

function tooManyTimes(field: 'from' | 'to'): InvalidArgumentError {
  const problem = `TriggerUtils.computeFireTimesBetween: there are more than ${countMax} fire times up to '${field}'.`
  const remedy =
    field === 'to'
      ? 'Ask for a part of the range at a time.'
      : 'The trigger counts its fires, so they are followed one by one. Ask for an earlier range.'
  return new InvalidArgumentError(field, `${problem} ${remedy}`)
}

function requireCount(trigger: Trigger, count: number): void {
  requireInteger(`Fire times of '${trigger.key.toString()}'`, 'count', count, {
    min: 1,
    max: countMax,
    code: 'ERR_INVALID_ARGUMENT',
  })
}
