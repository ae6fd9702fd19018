import type { TriggerFamilies } from '../triggers/families/trigger-families.ts'
import type { Trigger } from '../triggers/trigger.ts'
import { otherTriggerIsStored } from './refusals.ts'

const unfired = {
  nextFireTimeMs: null,
  previousFireTimeMs: null,
  timesTriggered: 0,
  misfiredFireTimeMs: null,
}

/**
 * Refuses to change a trigger that has another definition than the one that the caller has read.
 *
 * @param stored null when it cannot be read
 * @throws SchedulerError ERR_CHANGED_MEANWHILE
 */
export function requireExpected(
  stored: Trigger | null,
  expected: Trigger | undefined,
  families: TriggerFamilies,
): void {
  if (expected === undefined) return
  const textOf = (trigger: Trigger): string => JSON.stringify(families.toJSON(trigger.withFireState(unfired)))
  if (stored === null || textOf(stored) !== textOf(expected)) throw otherTriggerIsStored(expected.key)
}
