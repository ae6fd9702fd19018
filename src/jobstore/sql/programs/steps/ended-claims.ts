import type { JobKey } from '../../../../core/key.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import { tellFaultyFirings } from './faulty-triggers.ts'

/**
 * Ends the claims on triggers that were just taken out of ACQUIRED by something else than their claim, and notes what
 * of non-concurrent jobs and of limited groups was kept waiting by them.
 */
export function* endStaleClaims(tx: SqlTransaction): SqlProgram<void> {
  const { scopes, firedTriggers } = tx.session
  tx.offers.note(yield* scopes.earliestBehindStaleClaims())
  const ended = yield* firedTriggers.deleteStaleClaims()
  tellFaultyFirings(tx, ended)
  yield* noteEndedOfGroups(tx, ended)
}

/**
 * Says that claims or executions have ended, once their rows are deleted: what waits of their groups may have its turn,
 * on any node. Whether their groups were full is not asked; only a lock would tell.
 */
export function* noteEndedOfGroups(
  { session: { groupLimits }, offers, nowMs }: SqlTransaction,
  ended: readonly { readonly jobKey: JobKey | null }[],
): SqlProgram<void> {
  if (groupLimits === null) return
  const groups = new Set<string>()
  for (const { jobKey } of ended) {
    if (jobKey !== null && groupLimits.has(jobKey.group)) groups.add(jobKey.group)
  }
  if (groups.size > 0) offers.noteRoom(yield* groupLimits.earliestOf(groups, nowMs))
}
