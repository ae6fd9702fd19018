import type { SqlTransaction } from './sql-session.ts'
import type { SqlProgram } from './statement.ts'

/**
 * Ends the claims on triggers that were just taken out of ACQUIRED by something else than their claim, and notes what
 * of non-concurrent jobs was kept waiting by them.
 */
export function* endStaleClaims(tx: SqlTransaction): SqlProgram<void> {
  const { scopes, firedTriggers } = tx.session
  tx.offers.note(yield* scopes.earliestBehindStaleClaims())
  yield* firedTriggers.deleteStaleClaims()
}
