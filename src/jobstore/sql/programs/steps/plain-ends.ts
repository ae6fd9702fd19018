import type { JobKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import { firingPartOf } from '../../../firing-part.ts'
import type { JobCompletion } from '../../../job-store.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { PlainExecution } from '../../tables/triggers/plain-ends.ts'
import { lockJobs } from './new-triggers.ts'
import { deleteFinishedJobs } from './orphans.ts'
import { uniqueKeys } from './settling.ts'

/** What was ended without a look at it. */
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
 * Ends executions that leave nothing but their own rows to delete, where no row need be locked before: most executions.
 * The others are not touched.
 */
export function* endPlain(
  tx: SqlTransaction,
  completions: readonly JobCompletion[],
): SqlProgram<PlainlyEnded> {
  const { plainEnds } = tx.session
  const plain = plainEnds === null ? [] : completions.flatMap(plainEndOf)
  if (plainEnds === null || plain.length === 0) return none
  const ended = yield* plainEnds.endExecutions(plain)
  const last = ended.filter(({ completion }) => completion.instruction === 'deleteTrigger')
  const deleted = new Set(yield* plainEnds.deleteTriggers(last))
  yield* deleteJobsOf(tx, [...deleted])
  const isBegun = (end: PlainEnd): boolean =>
    end.completion.instruction === 'deleteTrigger' && !deleted.has(end)
  return {
    whole: new Set(ended.filter((end) => !isBegun(end)).map(({ completion }) => completion)),
    begun: new Set(ended.filter(isBegun).map(({ completion }) => completion)),
  }
}

/** The end of an execution that changes no other row than those of its trigger and its job. */
function plainEndOf(completion: JobCompletion): PlainEnd[] {
  const { fireInstanceId, instruction, isAwaited, jobDataMap, jobDetail, report, retryTrigger } = completion
  const { trigger } = completion
  const isPlain =
    (instruction === 'noop' || (instruction === 'deleteTrigger' && trigger.nextFireTimeMs === null)) &&
    isAwaited !== true &&
    jobDataMap === null &&
    retryTrigger === null &&
    !jobDetail.disallowConcurrentExecution &&
    firingPartOf(trigger.jobDataMap) === null
  if (!isPlain || report === undefined) return []
  return [{ completion, fireInstanceId, trigger, jobKey: jobDetail.key, fireTimeMs: report.fireTimeMs }]
}

/** Deletes jobs that have lost their last trigger; the flags of a job that is not deleted at once are read. */
function* deleteJobsOf(tx: SqlTransaction, ends: readonly PlainEnd[]): SqlProgram<void> {
  const { plainEnds } = tx.session
  if (plainEnds === null || ends.length === 0) return
  const keys = uniqueKeys(ends.map(({ jobKey }) => jobKey))
  const deleted = new KeyMap<JobKey, true>()
  for (const key of yield* plainEnds.deleteJobs(keys)) {
    deleted.set(key, true)
    tx.signals.add('jobDeleted', key)
  }
  if (deleted.size === keys.length) return
  const kept = yield* lockJobs(
    tx,
    keys.filter((key) => !deleted.has(key)),
  )
  yield* deleteFinishedJobs(tx, kept.values())
}
