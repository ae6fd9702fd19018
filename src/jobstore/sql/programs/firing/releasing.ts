import type { JobKey } from '../../../../core/key.ts'
import type { AcquiredTrigger } from '../../../job-store.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { FiredRow } from '../../tables/firings/fired-rows.ts'
import { noteEndedOfGroups } from '../steps/ended-claims.ts'
import { tellFaultyFirings } from '../steps/faulty-triggers.ts'
import { tryLockJobs, tryLockTriggers } from '../steps/passing-over.ts'
import { settleLockedJobs, uniqueKeys } from '../steps/settling.ts'

/**
 * Releases claims; those that do not exist any more are passed over. Answers those that need a row which another
 * session has locked: they are passed over too, and stay claims.
 */
export function* releaseTriggers(
  tx: SqlTransaction,
  acquired: readonly AcquiredTrigger[],
): SqlProgram<readonly AcquiredTrigger[]> {
  const ids = acquired.map(({ fireInstanceId }) => fireInstanceId)
  const { found, locked } = yield* tx.session.firedTriggers.tryLock(ids, 'ACQUIRED')
  const held = new Set([...locked, ...(yield* release(tx, found))])
  return acquired.filter(({ fireInstanceId }) => held.has(fireInstanceId))
}

/** Releases the claims of this scheduler instance whose rows no other session has locked; answers their ids. */
export function* releaseAllTriggers(tx: SqlTransaction): SqlProgram<readonly string[]> {
  const claims = yield* tx.session.firedTriggers.tryLockAllClaims()
  const held = yield* release(tx, claims)
  return claims.map(({ fireInstanceId }) => fireInstanceId).filter((id) => !held.includes(id))
}

/**
 * Puts the triggers of locked claims back to WAITING; answers the ids of claims whose triggers another session has
 * locked.
 */
export function* release(tx: SqlTransaction, claims: readonly FiredRow[]): SqlProgram<readonly string[]> {
  if (claims.length === 0) return []
  const { firedTriggers, triggers } = tx.session
  const jobs = yield* tryLockJobs(tx, nonConcurrentJobsOf(claims))
  const refs = yield* tryLockTriggers(
    tx,
    claims.map(({ triggerKey }) => triggerKey),
  )
  const isFree = ({ jobKey, triggerKey }: FiredRow): boolean =>
    !refs.locked.has(triggerKey) && (jobKey === null || !jobs.locked.has(jobKey))
  const free = claims.filter(isFree)
  tellFaultyFirings(tx, free)
  for (const instanceId of new Set(free.map((claim) => claim.instanceId))) {
    const ofInstance = free.filter((claim) => claim.instanceId === instanceId)
    yield* firedTriggers.deleteOfInstance(instanceId, ofInstance)
  }
  const waiting = free
    .flatMap(({ triggerKey }) => refs.found.get(triggerKey) ?? [])
    .filter(({ state }) => state === 'ACQUIRED')
  yield* triggers.setStates(waiting.map(({ key }) => ({ key, state: 'WAITING' })))
  for (const { nextFireTimeMs } of waiting) tx.offers.note(nextFireTimeMs)
  yield* settleLockedJobs(tx, jobs.found.values())
  noteEndedOfGroups(tx, free)
  // Other triggers of a job that forbids concurrent execution may fire now that its claim has ended.
  tx.offers.note(yield* tx.session.scopes.earliestOfJobs(nonConcurrentJobsOf(free)))
  return claims.filter((claim) => !isFree(claim)).map(({ fireInstanceId }) => fireInstanceId)
}

function nonConcurrentJobsOf(claims: readonly FiredRow[]): readonly JobKey[] {
  return uniqueKeys(claims.flatMap(({ nonConcurrent, jobKey }) => (nonConcurrent ? (jobKey ?? []) : [])))
}
