import type { JobKey } from '../../../../core/key.ts'
import { KeySet } from '../../../../core/key-set.ts'
import { firingPartOf } from '../../../firing-part.ts'
import type { JobCompletion } from '../../../job-store.ts'
import { type SqlProgram, together } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { LockedEnds } from '../../tables/triggers/locked-ends.ts'
import { PlainEnds, type PlainExecution } from '../../tables/triggers/plain-ends.ts'
import { lockJobs } from './new-triggers.ts'
import { deleteFinishedJobs } from './orphans.ts'
import { uniqueKeys } from './settling.ts'

/** What was ended without a look at it before. */
export interface PlainlyEnded {
  /** Nothing is left to do but to record them. */
  readonly whole: ReadonlySet<JobCompletion>
  /** Their executions have ended; their triggers are not as they were, and their instructions are left to do. */
  readonly begun: ReadonlySet<JobCompletion>
}

interface PlainEnd extends PlainExecution {
  readonly completion: JobCompletion
}

const none: PlainlyEnded = { whole: new Set(), begun: new Set() }

/**
 * Ends executions that leave nothing but their own rows to delete: most executions. The others are not touched, and are
 * left for afterwards.
 */
export function* endPlain(
  tx: SqlTransaction,
  completions: readonly JobCompletion[],
): SqlProgram<PlainlyEnded> {
  const { plainEnds } = tx.session
  const plain = plainEnds === null ? [] : plainEndsAmong(completions)
  if (plainEnds === null || plain.length === 0) return none
  return plainEnds instanceof PlainEnds
    ? yield* deleteExpected(tx, plainEnds, plain)
    : yield* deleteLocked(tx, plainEnds, plain)
}

/** Where a transaction excludes all other writers. */
function* deleteExpected(
  tx: SqlTransaction,
  plainEnds: PlainEnds,
  plain: readonly PlainEnd[],
): SqlProgram<PlainlyEnded> {
  const ended = yield* plainEnds.endExecutions(plain)
  const deleted = new Set(yield* plainEnds.deleteTriggers(ended.filter(isLast)))
  yield* deleteJobsOf(tx, plainEnds, [...deleted])
  const isBegun = (end: PlainEnd): boolean => isLast(end) && !deleted.has(end)
  return {
    whole: new Set(ended.filter((end) => !isBegun(end)).map(({ completion }) => completion)),
    begun: new Set(ended.filter(isBegun).map(({ completion }) => completion)),
  }
}

/** Where others write as well; the rows of an execution are all deleted, or none is. */
function* deleteLocked(
  tx: SqlTransaction,
  lockedEnds: LockedEnds,
  plain: readonly PlainEnd[],
): SqlProgram<PlainlyEnded> {
  const [last, others] = yield* together(
    lockedEnds.endLast(plain.filter(isLast)),
    lockedEnds.endExecutions(plain.filter((end) => !isLast(end))),
  )
  for (const key of last.deletedJobs) tx.signals.add('jobDeleted', key)
  return {
    whole: new Set([...last.ended, ...others].map(({ completion }) => completion)),
    begun: none.begun,
  }
}

/** Whether the trigger goes with the execution. */
function isLast({ completion }: PlainEnd): boolean {
  return completion.instruction === 'deleteTrigger'
}

/**
 * The plain ends that come before all other ends of their jobs. What an end finds depends on earlier ends of its job:
 * one of the same execution counts alone, and a retry keeps a job that loses its last trigger later.
 */
function plainEndsAmong(completions: readonly JobCompletion[]): readonly PlainEnd[] {
  const plain: PlainEnd[] = []
  const jobsWithOthers = new KeySet<JobKey>()
  for (const completion of completions) {
    const end = plainEndOf(completion)
    if (end === null) jobsWithOthers.add(completion.jobDetail.key)
    else if (jobsWithOthers.size === 0 || !jobsWithOthers.has(end.jobKey)) plain.push(end)
  }
  return plain
}

/** An end that changes no other row than those of the execution, its trigger and its job; null for any other. */
function plainEndOf(completion: JobCompletion): PlainEnd | null {
  const { fireInstanceId, instruction, isAwaited, jobDataMap, jobDetail, retryTrigger, trigger } = completion
  const isPlain =
    (instruction === 'noop' || (instruction === 'deleteTrigger' && trigger.nextFireTimeMs === null)) &&
    isAwaited !== true &&
    jobDataMap === null &&
    retryTrigger === null &&
    !jobDetail.disallowConcurrentExecution &&
    firingPartOf(trigger.jobDataMap) === null
  return isPlain ? { completion, fireInstanceId, trigger, jobKey: jobDetail.key } : null
}

/** Deletes jobs that have lost their last trigger; the flags of a job that is not deleted at once are read. */
function* deleteJobsOf(
  tx: SqlTransaction,
  plainEnds: PlainEnds,
  ends: readonly PlainEnd[],
): SqlProgram<void> {
  if (ends.length === 0) return
  const keys = uniqueKeys(ends.map(({ jobKey }) => jobKey))
  const deleted = new KeySet<JobKey>()
  for (const key of yield* plainEnds.deleteJobs(keys)) {
    deleted.add(key)
    tx.signals.add('jobDeleted', key)
  }
  if (deleted.size === keys.length) return
  const kept = yield* lockJobs(
    tx,
    keys.filter((key) => !deleted.has(key)),
  )
  yield* deleteFinishedJobs(tx, kept.values())
}
