import { hasReservedData } from '../core/job-data-map.ts'
import { retryingJobsGroup, type TriggerKey } from '../core/key.ts'
import { SimpleTrigger } from '../triggers/families/simple/simple-trigger.ts'
import type { Trigger } from '../triggers/trigger.ts'
import { attemptOriginOf } from './attempt-origin.ts'
import { isManualTriggerKey } from './manual-trigger.ts'
import { groupsOfParts } from './split-firing.ts'

/** Whether a scheduler may have made the trigger of this key by itself; `isMadeByScheduler` decides. */
export function isOwnKey(key: TriggerKey): boolean {
  return groupsOfParts.includes(key.group) || isManualTriggerKey(key)
}

/**
 * Whether a scheduler made the trigger by itself: to run something again, for an item of a sharded firing, or for a
 * caller of `triggerJob`. Its groups and names are free for triggers of others, which lack its notes, or fire again.
 */
export function isMadeByScheduler(trigger: Trigger): boolean {
  const { key, jobDataMap } = trigger
  if (groupsOfParts.includes(key.group)) return hasReservedData(jobDataMap)
  return isManualTriggerKey(key) && trigger instanceof SimpleTrigger && trigger.repeatCount === 0
}

/** Whether a scheduler made the trigger to run a failed firing of another one again. */
export function isRetryOf(trigger: Trigger, key: TriggerKey): boolean {
  if (trigger.key.group !== retryingJobsGroup || !isMadeByScheduler(trigger)) return false
  return attemptOriginOf({ trigger, scheduledFireTimeMs: trigger.startTimeMs }).triggerKey.equals(key)
}
