import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import { isMadeByScheduler, isRetryOf } from '../../../own-triggers.ts'
import { groupsOfParts } from '../../../split-firing.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { JobRef } from '../../tables/jobs/job-table.ts'
import { deleteRefs } from './deleting.ts'

/**
 * Ends what locked jobs have left to be run again, after jobs of other types were stored over them: their retries,
 * their recoveries and the items of their sharded firings. By the key alone another job would run in their place.
 */
export function* endFormerWork(tx: SqlTransaction, former: readonly JobRef[]): SqlProgram<void> {
  if (former.length === 0) return
  const { firedTriggers, splitFirings } = tx.session
  const keys = former.map(({ key }) => key)
  yield* deleteMade(tx, keys, () => true)
  const { found, broken } = yield* splitFirings.load(keys)
  const open = [...found.values().flat(), ...broken]
  yield* splitFirings.delete(open.map(({ fireInstanceId }) => fireInstanceId))
  yield* firedTriggers.endRecoveryOf(keys)
}

/** Deletes what is to run a failed firing of this trigger again, of a locked job, and does not run yet. */
export function* deleteRetriesOf(tx: SqlTransaction, jobKey: JobKey, key: TriggerKey): SqlProgram<void> {
  yield* deleteMade(tx, [jobKey], (trigger) => isRetryOf(trigger, key))
}

/** Deletes triggers of locked jobs that a scheduler made to run parts of a firing, and that have not fired. */
function* deleteMade(
  tx: SqlTransaction,
  jobKeys: readonly JobKey[],
  isMeant: (trigger: Trigger) => boolean,
): SqlProgram<void> {
  const { triggers } = tx.session
  const waiting = (yield* triggers.lockOfJobs(jobKeys)).filter(
    ({ key, state }) => groupsOfParts.includes(key.group) && state !== 'COMPLETE',
  )
  if (waiting.length === 0) return
  const { found } = yield* triggers.load(waiting.map(({ key }) => key))
  const isToGo = (trigger: Trigger | undefined): boolean =>
    trigger !== undefined && isMadeByScheduler(trigger) && isMeant(trigger)
  yield* deleteRefs(
    tx,
    waiting.filter(({ key }) => isToGo(found.get(key)?.trigger)),
  )
}
