import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import type { PauseTarget } from '../../../pauses.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { PausedGroups } from '../../tables/groups/paused-group-table.ts'
import type { TriggerRef } from '../../tables/triggers/trigger-table.ts'
import { uniqueKeys } from './settling.ts'

/** Whether the group of a trigger or that of its job is remembered as paused. */
export function isPausedByGroup(
  { triggerGroups, jobGroups }: PausedGroups,
  { key, jobKey }: Pick<TriggerRef, 'key' | 'jobKey'>,
): boolean {
  return triggerGroups.has(key.group) || jobGroups.has(jobKey.group)
}

/**
 * Before triggers are paused by their groups: forgets what is known of pauses of theirs and of their jobs that are
 * over, which would be in force again.
 */
export function* forgetOverPauses(
  { session }: SqlTransaction,
  refs: readonly { readonly key: TriggerKey; readonly jobKey: JobKey | null }[],
): SqlProgram<void> {
  const ofTriggers = refs.map(({ key }): PauseTarget => ({ scope: 'trigger', key }))
  const jobKeys = uniqueKeys(refs.flatMap(({ jobKey }) => jobKey ?? []))
  yield* session.pauses.forgetStale([
    ...ofTriggers,
    ...jobKeys.map((key): PauseTarget => ({ scope: 'job', key })),
  ])
}
