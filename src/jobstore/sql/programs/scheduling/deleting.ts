import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { KeySet } from '../../../../core/key-set.ts'
import type { ExpectedJobOptions, ExpectedTriggerOptions } from '../../../../jobs/schedule-options.ts'
import { requireExpectedJob } from '../../../expected-job.ts'
import { requireExpected } from '../../../expected-trigger.ts'
import { isPausedState } from '../../../trigger-state.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { TriggerRef } from '../../tables/triggers/trigger-table.ts'
import { endStaleClaims } from '../steps/ended-claims.ts'
import { lockJobs, lockTriggers } from '../steps/new-triggers.ts'
import { deleteOrphans } from '../steps/orphans.ts'
import { uniqueKeys } from '../steps/settling.ts'
import { endLostItemsOf } from '../steps/split-firings.ts'

// Executions in flight are rows of their own: they go on, and block the jobs of their keys, whatever is deleted here.

/** Deletes jobs with their triggers; answers those that existed. */
export function* deleteJobs(
  tx: SqlTransaction,
  keys: readonly JobKey[],
  { expected }: ExpectedJobOptions = {},
): SqlProgram<readonly JobKey[]> {
  const { jobs, triggers } = tx.session
  const unique = uniqueKeys(keys)
  const found = yield* lockJobs(tx, unique)
  if (expected !== undefined && found.has(expected.key)) {
    const stored = yield* jobs.load([expected.key])
    requireExpectedJob(stored.found.get(expected.key) ?? null, expected)
  }
  if (found.size > 0) {
    yield* deleteRefs(tx, yield* triggers.lockOfJobs(found.keys()))
    yield* jobs.delete(found.keys())
    yield* tx.session.splitFirings.forgetDeleted(found.keys())
    yield* tx.session.pauses.forget(found.keys().map((key) => ({ scope: 'job', key })))
  }
  return unique.filter((key) => found.has(key))
}

/** Deletes triggers, and jobs that lose their last one by it; answers the triggers that existed. */
export function* deleteTriggers(
  tx: SqlTransaction,
  keys: readonly TriggerKey[],
  { expected }: ExpectedTriggerOptions = {},
): SqlProgram<readonly TriggerKey[]> {
  const unique = new KeySet(keys)
  const jobKeys = (yield* tx.session.keyLists.jobsOfTriggers(unique.keys())).values()
  // Jobs before triggers, as everywhere.
  const jobs = yield* lockJobs(tx, uniqueKeys(jobKeys))
  const found = yield* lockTriggers(tx, unique.keys())
  if (expected !== undefined && found.has(expected.key)) {
    const stored = (yield* tx.session.triggers.load([expected.key])).found.get(expected.key)
    requireExpected(stored?.trigger ?? null, expected, tx.session.context.triggerFamilies)
  }
  const refs = found.values()
  yield* deleteRefs(tx, refs)
  yield* endLostItemsOf(tx, refs, jobs)
  yield* deleteOrphans(
    tx,
    refs.map(({ jobKey }) => jobKey),
  )
  return unique.keys().filter((key) => found.has(key))
}

export function* deleteRefs(tx: SqlTransaction, refs: readonly TriggerRef[]): SqlProgram<void> {
  yield* tx.session.triggers.delete(refs)
  const paused = refs.filter(({ state }) => isPausedState(state))
  yield* tx.session.pauses.forget(paused.map(({ key }) => ({ scope: 'trigger', key })))
  if (refs.some(({ state }) => state === 'ACQUIRED')) yield* endStaleClaims(tx)
}

/** Deletes all jobs, triggers, calendars and remembered pauses. */
export function* clear(tx: SqlTransaction): SqlProgram<void> {
  const { triggers, jobs, calendars, pausedGroups, pauses, firedTriggers, splitFirings } = tx.session
  yield* triggers.clear()
  yield* splitFirings.clear()
  yield* jobs.clear()
  yield* calendars.clear()
  yield* pausedGroups.clear()
  yield* pauses.clear()
  yield* firedTriggers.deleteStaleClaims()
}
