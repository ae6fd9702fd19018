import type { PausedGroups } from '../../tables/groups/paused-group-table.ts'
import type { TriggerRef } from '../../tables/triggers/trigger-table.ts'

/** Whether the group of a trigger or that of its job is remembered as paused. */
export function isPausedByGroup(
  { triggerGroups, jobGroups }: PausedGroups,
  { key, jobKey }: Pick<TriggerRef, 'key' | 'jobKey'>,
): boolean {
  return triggerGroups.has(key.group) || jobGroups.has(jobKey.group)
}
