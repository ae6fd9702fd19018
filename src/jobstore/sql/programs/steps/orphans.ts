import type { JobKey } from '../../../../core/key.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { JobRef } from '../../tables/jobs/job-table.ts'
import { executingJobs, uniqueKeys } from './settling.ts'

/** Deletes jobs that lost their last trigger and are not durable, and signals it. */
export function* deleteOrphans(tx: SqlTransaction, jobsLosingTriggers: readonly JobKey[]): SqlProgram<void> {
  if (jobsLosingTriggers.length === 0) return
  const nonDurable = (yield* tx.session.jobs.lock(uniqueKeys(jobsLosingTriggers))).filter(
    ({ durable }) => !durable,
  )
  if (nonDurable.length === 0) return
  yield* deleteNonDurable(tx, nonDurable)
  yield* tx.session.splitFirings.forgetDeleted(nonDurable.map(({ key }) => key))
}

/**
 * The same for locked jobs whose triggers have fired for the last time. A job that requests recovery stays until its
 * executions have ended, or could not be recovered: the last end looks at the job again. Storing a trigger locks its
 * job, so no trigger is added meanwhile.
 */
export function* deleteFinishedJobs(tx: SqlTransaction, refs: readonly JobRef[]): SqlProgram<void> {
  const recoverable = refs.filter(({ durable, requestsRecovery }) => !durable && requestsRecovery)
  const executing = yield* executingJobs(
    tx,
    recoverable.map(({ key }) => key),
  )
  yield* deleteNonDurable(
    tx,
    refs.filter(({ key }) => !executing.has(key)),
  )
}

function* deleteNonDurable(
  tx: SqlTransaction,
  refs: readonly Pick<JobRef, 'key' | 'durable'>[],
): SqlProgram<void> {
  const nonDurable = refs.filter(({ durable }) => !durable).map(({ key }) => key)
  if (nonDurable.length === 0) return
  const deletion = yield* tx.session.jobs.deleteOrphans(nonDurable)
  tx.deletions.push(deletion)
  tx.signals.keep((signaler) => {
    for (const key of deletion.deleted) signaler.jobDeleted(key)
  })
}
