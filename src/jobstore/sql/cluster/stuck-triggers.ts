import type { JobKey, TriggerKey } from '../../../core/key.ts'
import { KeySet } from '../../../core/key-set.ts'
import { describeValue } from '../../../core/options.ts'
import type { SqlProgram } from '../kernel/statement.ts'
import { type FaultyTrigger, putInError } from '../programs/steps/faulty-triggers.ts'
import { settleLockedJobs } from '../programs/steps/settling.ts'
import type { SqlTransaction } from '../session/sql-session.ts'
import { brokenRow, brokenValue } from '../tables/encoding/broken-row.ts'
import type { TriggerRef } from '../tables/triggers/trigger-table.ts'

/** Most triggers and jobs of one transaction, so that it stays short. */
const mostAtOnce = 500

/**
 * Frees triggers that are ACQUIRED without a claim or BLOCKED without an execution, and puts those that wait for a
 * value that is no time, or are in a state that is none, into ERROR: no node would ever fire them. This library leaves
 * none, because it changes a claim and its trigger in one transaction, and stores no trigger as BLOCKED while the
 * execution ends: the end comes first, or finds the trigger. A Java node leaves some when it recovers a node that still
 * runs, and somebody with SQL writes what is no time and no state. Answers whether there may be more; each run leaves
 * fewer.
 */
export function* freeStuckTriggers(tx: SqlTransaction): SqlProgram<boolean> {
  const { triggers, keyLists } = tx.session
  const jobs = yield* keyLists.blockedWithoutExecution(mostAtOnce)
  // Jobs before triggers, as everywhere.
  yield* unblock(tx, jobs)
  const acquired = yield* keyLists.acquiredWithoutClaim(mostAtOnce)
  const timeless = yield* keyLists.waitingForNoTime(mostAtOnce)
  const stateless = (yield* keyLists.inNoState(mostAtOnce)).map(({ key }) => key)
  const suspects = [...acquired, ...timeless, ...stateless]
  // At once, because all transactions lock triggers in order of their keys.
  const refs = suspects.length > 0 ? yield* triggers.lock(suspects) : []
  const freed = yield* freeAcquired(tx, acquired, refs)
  const failed = yield* failTimeless(tx, timeless, refs)
  const failedToo = stateless.length > 0 ? yield* failStateless(tx, refs) : 0
  return [jobs.length, freed, failed, failedToo].includes(mostAtOnce)
}

/** Answers how many it has freed. */
function* freeAcquired(
  tx: SqlTransaction,
  suspects: readonly TriggerKey[],
  refs: readonly TriggerRef[],
): SqlProgram<number> {
  if (suspects.length === 0) return 0
  const { triggers, firedTriggers } = tx.session
  // Again with the rows locked, because another node may have claimed them since the first look.
  const claimed = new KeySet<TriggerKey>()
  for (const { triggerKey, state } of yield* firedTriggers.ofTriggers(suspects)) {
    if (state === 'ACQUIRED') claimed.add(triggerKey)
  }
  const suspected = new KeySet(suspects)
  const stuck = refs.filter(({ key, state }) => {
    return state === 'ACQUIRED' && suspected.has(key) && !claimed.has(key)
  })
  yield* triggers.setStates(stuck.map(({ key }) => ({ key, state: 'WAITING' })))
  for (const { nextFireTimeMs } of stuck) tx.offers.note(nextFireTimeMs)
  return stuck.length
}

/** Answers how many it has put into ERROR. */
function* failTimeless(
  tx: SqlTransaction,
  suspects: readonly TriggerKey[],
  refs: readonly TriggerRef[],
): SqlProgram<number> {
  const suspected = new KeySet(suspects)
  const faulty = refs
    .filter(({ key, state, nextFireTimeMs }) => {
      return suspected.has(key) && state === 'WAITING' && nextFireTimeMs === null
    })
    .map(({ key }) => ({ key, error: brokenRow('Trigger', key, noTime()) }))
  return yield* fail(tx, faulty)
}

/** The same for locked ones in a state that is none. */
function* failStateless(tx: SqlTransaction, refs: readonly TriggerRef[]): SqlProgram<number> {
  const locked = new KeySet(refs.map(({ key }) => key))
  // Again with the rows locked, because somebody may have corrected them since the first look.
  const faulty = (yield* tx.session.keyLists.inNoState(mostAtOnce))
    .filter(({ key }) => locked.has(key))
    .map(({ key, word }) => ({ key, error: brokenRow('Trigger', key, noState(word)) }))
  return yield* fail(tx, faulty)
}

/** Answers how many it has put into ERROR; one that Java nodes can run stays as it is. */
function* fail(tx: SqlTransaction, faulty: readonly FaultyTrigger[]): SqlProgram<number> {
  const ofJava = yield* putInError(tx, faulty)
  return faulty.filter(({ key }) => !ofJava.has(key)).length
}

function noState(word: string): Error {
  return brokenValue(
    `column 'trigger_state' held ${describeValue(word)}, which is no state. Reset the trigger`,
  )
}

function noTime(): Error {
  return brokenValue(
    "column 'next_fire_time' holds no time. Reschedule the trigger, or correct the column and reset it",
  )
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
