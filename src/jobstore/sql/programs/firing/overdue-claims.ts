import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import { release } from './releasing.ts'

/**
 * How late a node may be to fire what it has claimed before its peers take the claim for one of a node that is blocked.
 * Milliseconds; a node that is only slow loses nothing but the work.
 */
export const overdueClaimMs = 30

/**
 * Ends claims of other nodes that are overdue; answers how many. A claim that was ended comes to nothing when its node
 * fires it after all. Not where Java nodes share the tables: those fire what they have claimed whatever became of it.
 */
export function* endOverdueClaims(tx: SqlTransaction): SqlProgram<number> {
  const { session, nowMs } = tx
  const claims = yield* session.firedTriggers.tryLockOverdueOfPeers(nowMs - overdueClaimMs)
  const held = yield* release(tx, claims)
  return claims.length - held.length
}
