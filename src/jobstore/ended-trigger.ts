import type { Trigger } from '../triggers/trigger.ts'
import type { StoredTriggerState } from './trigger-state.ts'

/**
 * A trigger as callers see it. One that its job ended keeps its next fire time in the store, which tells it from one
 * that a calendar has left without; it does not fire then, so callers see none.
 */
export function asSeen(trigger: Trigger, state: StoredTriggerState): Trigger {
  const { nextFireTimeMs, misfiredFireTimeMs, previousFireTimeMs, timesTriggered } = trigger
  if (state !== 'COMPLETE' || (nextFireTimeMs === null && misfiredFireTimeMs === null)) return trigger
  return trigger.withFireState({
    nextFireTimeMs: null,
    previousFireTimeMs,
    timesTriggered,
    misfiredFireTimeMs: null,
  })
}
