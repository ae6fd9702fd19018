import type { JobKey } from '../../../../core/key.ts'
import { KeySet } from '../../../../core/key-set.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { JobRef } from '../../tables/jobs/job-table.ts'

/**
 * Blocks or unblocks the triggers of jobs: a job that forbids concurrent execution blocks its triggers exactly while an
 * execution of its key is in flight.
 */
export function* settleJobs(tx: SqlTransaction, keys: readonly JobKey[]): SqlProgram<void> {
  if (keys.length === 0) return
  yield* settleLockedJobs(tx, yield* tx.session.jobs.lock(uniqueKeys(keys)))
}

/**
 * The same for locked jobs. A session that begins an execution of a job that forbids others, or ends one whose row says
 * that its job does, locks the job too, and so comes before the look or after the change. A search that has read the
 * job as it was before it forbade others fires without that lock, and the call that changes the job waits for it.
 */
export function* settleLockedJobs(
  tx: SqlTransaction,
  refs: readonly Pick<JobRef, 'key' | 'nonConcurrent'>[],
): SqlProgram<void> {
  if (refs.length === 0) return
  const { session, offers } = tx
  const executing = yield* executingJobs(
    tx,
    refs.filter((ref) => ref.nonConcurrent).map(({ key }) => key),
  )
  const blocked = executing.keys()
  const free = refs.map(({ key }) => key).filter((key) => !executing.has(key))
  yield* session.triggers.block(blocked)
  if (free.length > 0) offers.note(yield* session.triggers.applyToJobs('unblock', free))
}

/** The jobs that have an execution in flight, of some that are locked or new; its end will look at the job. */
export function* executingJobs(tx: SqlTransaction, keys: readonly JobKey[]): SqlProgram<KeySet<JobKey>> {
  const { firedTriggers } = tx.session
  const found = yield* firedTriggers.executing(keys)
  if (found.length === 0) return new KeySet()
  // The end of an execution that began when its job allowed concurrency looks at the job only if its row says so.
  // Writing that into the row waits for an execution that is ending now, so the executions are read again. An end that
  // looks at the job comes behind the lock of the job, but it cannot see one that this transaction stores, in place of
  // the one that the execution has outlived: then it is waited for in the same way.
  yield* firedTriggers.markNonConcurrent(found)
  return new KeySet(yield* firedTriggers.executing(found))
}

export function uniqueKeys(keys: readonly JobKey[]): JobKey[] {
  return new KeySet(keys).keys()
}
