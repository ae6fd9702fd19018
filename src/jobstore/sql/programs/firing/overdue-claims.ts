import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import { release } from './releasing.ts'

/**
 * How late a node may fire a claim before its peers take the node for blocked and end the claim. Milliseconds; when the
 * node is only slow, another node fires the trigger.
 */
export const overdueClaimMs = 30

/**
 * Ends claims of other nodes that are overdue; answers how many. When the node fires such a claim later, nothing
 * happens. Not used where Java nodes share the tables, because those fire their claims without checking them.
 */
export function* endOverdueClaims(tx: SqlTransaction): SqlProgram<number> {
  const { session, nowMs } = tx
  const claims = yield* session.firedTriggers.tryLockOverdueOfPeers(nowMs - overdueClaimMs)
  const held = yield* release(tx, claims)
  return claims.length - held.length
}
