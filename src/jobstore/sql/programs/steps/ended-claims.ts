import type { JobKey } from '../../../../core/key.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import { tellFaultyFirings } from './faulty-triggers.ts'

/**
 * Ends the claims on triggers that an operation has taken out of ACQUIRED, and notes the triggers of non-concurrent
 * jobs and limited groups that waited because of these claims.
 */
export function* endStaleClaims(tx: SqlTransaction): SqlProgram<void> {
  const { scopes, firedTriggers } = tx.session
  tx.offers.note(yield* scopes.earliestBehindStaleClaims())
  const ended = yield* firedTriggers.deleteStaleClaims()
  tellFaultyFirings(tx, ended)
  noteEndedOfGroups(tx, ended)
}

/**
 * Notes that claims or executions have ended: waiting triggers of their groups may fire, on any node. Whether the
 * groups were full is not checked, because that would need a lock.
 */
export function noteEndedOfGroups(
  { session: { groupLimits }, offers }: SqlTransaction,
  ended: readonly { readonly jobKey: JobKey | null }[],
): void {
  if (groupLimits === null) return
  for (const { jobKey } of ended) {
    if (jobKey !== null && groupLimits.has(jobKey.group)) offers.noteRoomIn(jobKey.group)
  }
}
