import { type JobKey, triggerKey } from '../../../../core/key.ts'
import { asSeen } from '../../../ended-trigger.ts'
import {
  isDeclaredUpTo,
  nextFireTimeMsAfter,
  type PlannedJob,
  type PutPlan,
  planChange,
  type SetGeneration,
} from '../../../planned-job.ts'
import { plannedOntoAnother } from '../../../refusals.ts'
import { isPausedState } from '../../../trigger-state.ts'
import { type SqlProgram, together } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { StoredTrigger, TriggerRef } from '../../tables/triggers/trigger-table.ts'
import { calendarsOf } from '../steps/calendar-lookup.ts'
import { endStaleClaims } from '../steps/ended-claims.ts'
import { lockJobs, lockTriggers, storeNewTriggers } from '../steps/new-triggers.ts'
import { uniqueKeys } from '../steps/settling.ts'
import { deleteJobs } from './deleting.ts'
import { deleteRetriesOf } from './former-work.ts'
import { storeJobs } from './scheduling.ts'

/** Stores a declared job and its trigger, as far as they differ from what was declared before. */
export function* putPlanned(tx: SqlTransaction, planned: PlannedJob): SqlProgram<PutPlan> {
  const { job } = planned
  const key = triggerKey(job.key.name, job.key.group)
  // The note before jobs, and jobs before triggers, as everywhere.
  const [inForce, locked, existing] = yield* together(
    lockGeneration(tx, job.plan.set),
    lockJobs(tx, [job.key]),
    lockTriggers(tx, [key]),
  )
  const ref = existing.get(key)
  if (ref !== undefined && !ref.jobKey.equals(job.key)) throw plannedOntoAnother(key)
  // Only what was there to be locked; most calls store what is new.
  const [{ found, broken }, stored] = yield* together(
    tx.session.jobs.load([...locked.keys()]),
    storedTrigger(tx, ref),
  )
  const fault = broken.get(job.key)
  if (fault !== undefined) throw fault
  const calendarOf = yield* calendarsOf(tx, [planned.trigger])
  const before = {
    job: found.get(job.key) ?? null,
    trigger: stored === undefined ? null : asSeen(stored.trigger, stored.state),
    isPaused: ref !== undefined && isPausedState(ref.state),
  }
  const change = planChange(before, planned, {
    calendar: calendarOf(planned.trigger),
    nowMs: tx.nowMs,
    inForce,
  })
  if (change.job !== null) yield* storeJobs(tx, [change.job], locked)
  if (change.dropsTrigger && ref !== undefined) yield* dropTrigger(tx, ref)
  if (change.dropsRetries) yield* deleteRetriesOf(tx, job.key, key)
  if (change.trigger !== null) {
    const { disallowConcurrentExecution: nonConcurrent } = change.job ?? job
    const jobs = { get: () => ({ nonConcurrent }) }
    yield* storeNewTriggers(tx, [change.trigger], { existing, jobs, keepsPauses: true })
  }
  return { ...change, nextFireTimeMs: nextFireTimeMsAfter(change, before.trigger) }
}

/** Deletes declared jobs, unless a later generation has declared them. A job that cannot be read stays. */
export function* deletePlanned(
  tx: SqlTransaction,
  keys: readonly JobKey[],
  upTo: SetGeneration,
): SqlProgram<readonly JobKey[]> {
  const unique = uniqueKeys(keys)
  const [inForce] = yield* together(tx.session.notes.lockGeneration(upTo.set), lockJobs(tx, unique))
  if (inForce > upTo.generation) return []
  const { found } = yield* tx.session.jobs.load(unique)
  return yield* deleteJobs(
    tx,
    unique.filter((key) => isDeclaredUpTo(found.get(key), upTo)),
  )
}

function* lockGeneration(tx: SqlTransaction, set: string | null): SqlProgram<number> {
  return set === null ? 0 : yield* tx.session.notes.lockGeneration(set)
}

/** A trigger that cannot be read counts as none: it is replaced. */
function* storedTrigger(
  tx: SqlTransaction,
  ref: TriggerRef | undefined,
): SqlProgram<StoredTrigger | undefined> {
  if (ref === undefined) return undefined
  const { found } = yield* tx.session.triggers.load([ref.key])
  return found.get(ref.key)
}

function* dropTrigger(tx: SqlTransaction, ref: TriggerRef): SqlProgram<void> {
  yield* tx.session.triggers.delete([ref])
  yield* tx.session.pauses.forget([{ scope: 'trigger', key: ref.key }])
  if (ref.state === 'ACQUIRED') yield* endStaleClaims(tx)
}
