import type { AcquiredTrigger } from '../job-store.ts'
import { noteEndedOfGroups } from './ended-claims.ts'
import type { FiredRow } from './fired-trigger-table.ts'
import { settleLockedJobs, uniqueKeys } from './settling.ts'
import type { SqlTransaction } from './sql-session.ts'
import type { SqlProgram } from './statement.ts'

/** Gives claims back; those that are not held any more are passed over. */
export function* releaseTriggers(tx: SqlTransaction, acquired: readonly AcquiredTrigger[]): SqlProgram<void> {
  const ids = acquired.map(({ fireInstanceId }) => fireInstanceId)
  yield* release(tx, yield* tx.session.firedTriggers.delete(ids, 'ACQUIRED'))
}

export function* releaseAllTriggers(tx: SqlTransaction): SqlProgram<void> {
  yield* release(tx, yield* tx.session.firedTriggers.deleteAllClaims())
}

/** Lets triggers wait again whose claims were deleted. */
export function* release(tx: SqlTransaction, claims: readonly FiredRow[]): SqlProgram<void> {
  if (claims.length === 0) return
  const { jobs, triggers } = tx.session
  const nonConcurrent = claims.flatMap(({ nonConcurrent: isOne, jobKey }) =>
    isOne && jobKey !== null ? [jobKey] : [],
  )
  const lockedJobs = nonConcurrent.length === 0 ? [] : yield* jobs.lock(uniqueKeys(nonConcurrent))
  const refs = yield* triggers.lock(claims.map(({ triggerKey }) => triggerKey))
  const held = refs.filter(({ state }) => state === 'ACQUIRED')
  yield* triggers.setStates(held.map(({ key }) => ({ key, state: 'WAITING' })))
  for (const { nextFireTimeMs } of held) tx.offers.note(nextFireTimeMs)
  yield* settleLockedJobs(tx, lockedJobs)
  yield* noteEndedOfGroups(tx, claims)
}
