import type { JobKey } from '../../../../core/key.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { JobRef } from '../../tables/jobs/job-table.ts'
import { executingJobs, uniqueKeys } from './settling.ts'

/** Deletes those of the jobs that lost their last trigger and are not durable, and tells of them. */
export function* deleteOrphans(tx: SqlTransaction, losers: readonly JobKey[]): SqlProgram<void> {
  if (losers.length === 0) return
  yield* deleteFleeting(tx, yield* tx.session.jobs.lock(uniqueKeys(losers)))
}

/**
 * The same for locked jobs whose triggers have fired for the last time. One that requests recovery stays until what is
 * in flight of it has ended, or could not be recovered: the last end looks at the job again. Whoever stores a trigger
 * locks its job, so none can come to be meanwhile.
 */
export function* deleteSpentJobs(tx: SqlTransaction, refs: readonly JobRef[]): SqlProgram<void> {
  const recoverable = refs.filter(({ durable, requestsRecovery }) => !durable && requestsRecovery)
  const executing = yield* executingJobs(
    tx,
    recoverable.map(({ key }) => key),
  )
  yield* deleteFleeting(
    tx,
    refs.filter(({ key }) => !executing.has(key)),
  )
}

function* deleteFleeting(
  tx: SqlTransaction,
  refs: readonly Pick<JobRef, 'key' | 'durable'>[],
): SqlProgram<void> {
  const fleeting = refs.filter(({ durable }) => !durable).map(({ key }) => key)
  if (fleeting.length === 0) return
  const deleted = yield* tx.session.jobs.deleteOrphans(fleeting)
  tx.signals.keep((signaler) => {
    for (const key of deleted()) signaler.jobDeleted(key)
  })
}
