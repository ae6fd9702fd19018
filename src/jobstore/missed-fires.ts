import type { EpochMs } from '../time/clock.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import { SimpleTrigger } from '../triggers/families/simple/simple-trigger.ts'
import { plannedFireTimeMs, type Trigger } from '../triggers/trigger.ts'
import type { MisfirePolicy } from './misfires.ts'

/** Planned instants that a store has found to be missed, or taken out of a trigger's plan. They are not counted yet. */
export interface MissedFires {
  /** As it was before, so that its next fire time is or stands for the first of them. */
  readonly trigger: Trigger
  readonly calendar: Calendar | null
  readonly cause: 'late' | 'paused' | 'calendar' | 'skippedByHand'
  readonly policy: MisfirePolicy | null
  /** Whether the trigger will still fire for the first one, which is then not among them. */
  readonly keepsFirst: boolean
  /** None of them is later. */
  readonly untilMs: EpochMs
}

/** What a store knows when it moves a trigger past planned instants. */
export interface Passing {
  readonly before: Trigger
  readonly after: Trigger
  /** The one under which `before` was planned. */
  readonly calendar: Calendar | null
  readonly cause: MissedFires['cause']
  /** Whether the misfire instruction of the trigger was applied. */
  readonly byPolicy: boolean
  readonly nowMs: EpochMs
}

/** The planned instants that a trigger was moved past; null when there is none. It may turn out that there is none. */
export function missedFires({
  before,
  after,
  calendar,
  cause,
  byPolicy,
  nowMs,
}: Passing): MissedFires | null {
  const { nextFireTimeMs: firstMs } = before
  if (firstMs === null) return null
  const nextMs = after.nextFireTimeMs
  const keepsFirst = nextMs !== null && plannedFireTimeMs(after) === plannedFireTimeMs(before)
  // A firing that stands for an earlier instant goes on after its own time; any other time is itself planned.
  const untilMs = nextMs === null ? Math.max(nowMs, firstMs) : keepsFirst ? nextMs : nextMs - 1
  if (untilMs < firstMs || (keepsFirst && untilMs === firstMs)) return null
  const policy = byPolicy ? policyOf(before, after, keepsFirst) : null
  return { trigger: before, calendar, cause, policy, keepsFirst, untilMs }
}

function policyOf(before: Trigger, after: Trigger, keepsFirst: boolean): MisfirePolicy {
  if (makesUpFor(before, after)) return 'postponed'
  return keepsFirst ? 'coalesced' : 'skipped'
}

/** Whether the trigger will fire as often as it would have. */
function makesUpFor(before: Trigger, after: Trigger): boolean {
  if (after.nextFireTimeMs === null) return false
  if (before instanceof SimpleTrigger && after instanceof SimpleTrigger) {
    const unfired = before.repeatCount - before.timesTriggered
    return after.startTimeMs !== before.startTimeMs && before.repeatCount > 0 && after.repeatCount === unfired
  }
  return before.countsFires() && after.timesTriggered === before.timesTriggered
}
