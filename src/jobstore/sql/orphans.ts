import type { JobKey } from '../../core/key.ts'
import { uniqueKeys } from './settling.ts'
import type { SqlTransaction } from './sql-session.ts'
import type { SqlProgram } from './statement.ts'

/** Deletes those of the jobs that lost their last trigger and are not durable, and tells of them. */
export function* deleteOrphans(tx: SqlTransaction, losers: readonly JobKey[]): SqlProgram<void> {
  if (losers.length === 0) return
  const { jobs } = tx.session
  // Whoever stores a trigger locks its job: with the lock held, what is looked for below cannot come to be meanwhile.
  const refs = yield* jobs.lock(uniqueKeys(losers))
  const fleeting = refs.filter(({ durable }) => !durable).map(({ key }) => key)
  if (fleeting.length === 0) return
  for (const key of yield* jobs.deleteOrphans(fleeting)) tx.signals.jobDeleted(key)
}
