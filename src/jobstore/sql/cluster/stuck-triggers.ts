import type { JobKey, TriggerKey } from '../../../core/key.ts'
import { KeySet } from '../../../core/key-set.ts'
import type { SqlProgram } from '../kernel/statement.ts'
import { settleLockedJobs } from '../programs/steps/settling.ts'
import type { SqlTransaction } from '../session/sql-session.ts'

/** Most triggers and jobs of one transaction, so that it stays short. */
const mostAtOnce = 500

/**
 * Frees triggers that are ACQUIRED without a claim or BLOCKED without an execution: no node would ever fire them. This
 * library leaves none, because it changes a claim and its trigger in one transaction, and stores no trigger as BLOCKED
 * while the execution ends: the end comes first, or finds the trigger. A Java node leaves some when it recovers a node
 * that still runs. Answers whether there may be more; each run leaves fewer.
 */
export function* freeStuckTriggers(tx: SqlTransaction): SqlProgram<boolean> {
  const { triggers, firedTriggers, keyLists } = tx.session
  const jobs = yield* keyLists.blockedWithoutExecution(mostAtOnce)
  // Jobs before triggers, as everywhere.
  yield* unblock(tx, jobs)
  const suspects = yield* keyLists.acquiredWithoutClaim(mostAtOnce)
  if (suspects.length === 0) return jobs.length === mostAtOnce
  const refs = yield* triggers.lock(suspects)
  // Again with the rows locked, because another node may have claimed them since the first look.
  const claimed = new KeySet<TriggerKey>()
  for (const { triggerKey, state } of yield* firedTriggers.ofTriggers(suspects)) {
    if (state === 'ACQUIRED') claimed.add(triggerKey)
  }
  const stuck = refs.filter(({ key, state }) => state === 'ACQUIRED' && !claimed.has(key))
  yield* triggers.setStates(stuck.map(({ key }) => ({ key, state: 'WAITING' })))
  for (const { nextFireTimeMs } of stuck) tx.offers.note(nextFireTimeMs)
  return stuck.length === mostAtOnce || jobs.length === mostAtOnce
}

/** Triggers whose job is gone wait again: the node that would fire one puts it in error and says why. */
function* unblock(tx: SqlTransaction, keys: readonly JobKey[]): SqlProgram<void> {
  const { jobs, triggers } = tx.session
  const refs = yield* jobs.lock(keys)
  yield* settleLockedJobs(tx, refs)
  const stored = new KeySet(refs.map(({ key }) => key))
  const gone = keys.filter((key) => !stored.has(key))
  if (gone.length > 0) tx.offers.note(yield* triggers.applyToJobs('unblock', gone))
}
