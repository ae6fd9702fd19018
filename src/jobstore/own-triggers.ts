import { recoveringJobsGroup, retryingJobsGroup, shardedJobsGroup, type TriggerKey } from '../core/key.ts'
import { isManualTriggerKey } from './manual-trigger.ts'

const ownGroups: readonly string[] = [recoveringJobsGroup, retryingJobsGroup, shardedJobsGroup]

/**
 * Whether a scheduler made the trigger by itself: to run something again, for an item of a sharded firing, or for a
 * caller of `triggerJob`.
 */
export function isMadeByScheduler(key: TriggerKey): boolean {
  return ownGroups.includes(key.group) || isManualTriggerKey(key)
}
