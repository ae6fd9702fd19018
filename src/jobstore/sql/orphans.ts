import type { JobKey } from '../../core/key.ts'
import type { JobRef } from './job-table.ts'
import { uniqueKeys } from './settling.ts'
import type { SqlTransaction } from './sql-session.ts'
import type { SqlProgram } from './statement.ts'

/** Deletes those of the jobs that lost their last trigger and are not durable, and tells of them. */
export function* deleteOrphans(tx: SqlTransaction, losers: readonly JobKey[]): SqlProgram<void> {
  if (losers.length === 0) return
  yield* deleteLockedOrphans(tx, yield* tx.session.jobs.lock(uniqueKeys(losers)))
}

/** The same for jobs that are locked. Whoever stores a trigger locks its job, so none can come to be meanwhile. */
export function* deleteLockedOrphans(
  tx: SqlTransaction,
  refs: readonly Pick<JobRef, 'key' | 'durable'>[],
): SqlProgram<void> {
  const fleeting = refs.filter(({ durable }) => !durable).map(({ key }) => key)
  if (fleeting.length === 0) return
  for (const key of yield* tx.session.jobs.deleteOrphans(fleeting)) tx.signals.jobDeleted(key)
}
