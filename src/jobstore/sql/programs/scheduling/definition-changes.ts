import { KeySet } from '../../../../core/key-set.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import { type DefinitionChanges, type RemovedDefinitions, withDataKept } from '../../../definition-changes.ts'
import { asSeen } from '../../../ended-trigger.ts'
import type { JobAndTriggers } from '../../../job-and-triggers.ts'
import { redefined } from '../../../planned-job.ts'
import { underCalendar } from '../../../under-calendar.ts'
import type { TransactionLock } from '../../kernel/sql-runner.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import { calendarsOf } from '../steps/calendar-lookup.ts'
import { lockJobs, lockTriggers } from '../steps/new-triggers.ts'
import { addCalendar, deleteCalendar } from './calendar-changes.ts'
import { deleteJobs, deleteTriggers } from './deleting.ts'
import type { ForeseenUpdates } from './foreseen-updates.ts'
import { scheduleJobs } from './scheduling.ts'

/** Triggers depend on calendars without a lock on them. */
export function lockOfChanges({ calendars, removedCalendars }: DefinitionChanges): TransactionLock {
  return calendars.length > 0 || removedCalendars.length > 0 ? 'exclusive' : 'shared'
}

export function* changeDefinitions(
  tx: SqlTransaction,
  changes: DefinitionChanges,
  foreseen: ForeseenUpdates,
): SqlProgram<RemovedDefinitions> {
  yield* lockInOrder(tx, changes)
  for (const { name, calendar } of changes.calendars) {
    yield* addCalendar(tx, name, calendar, { replace: true, updateTriggers: true, foreseen })
  }
  if (changes.entries.length > 0) {
    const entries = yield* entriesInPlace(tx, yield* withDataOf(tx, changes))
    yield* scheduleJobs(tx, entries, { replace: true, inPlace: true })
  }
  const removedTriggers = yield* deleteTriggers(tx, changes.removedTriggers)
  const removedJobs = yield* deleteJobs(tx, changes.removedJobs)
  for (const name of changes.removedCalendars) yield* deleteCalendar(tx, name)
  return { removedTriggers, removedJobs }
}

/** The entries, with the data that stored jobs keep. An unreadable job begins anew. */
function* withDataOf(
  tx: SqlTransaction,
  { entries, keepsJobData }: DefinitionChanges,
): SqlProgram<readonly JobAndTriggers[]> {
  const persisting = entries.flatMap(({ job }) =>
    job?.persistJobDataAfterExecution === true ? [job.key] : [],
  )
  if (keepsJobData !== true || persisting.length === 0) return entries
  const { found } = yield* tx.session.jobs.load(persisting)
  return entries.map((entry) => {
    const stored = entry.job === null ? undefined : found.get(entry.job.key)
    return entry.job === null || stored === undefined
      ? entry
      : { ...entry, job: withDataKept(entry.job, stored) }
  })
}

/**
 * The entries with each trigger that replaces one of its job as it takes its place, and the others under the calendars
 * that are stored. Unreadable ones begin anew.
 */
function* entriesInPlace(
  tx: SqlTransaction,
  entries: readonly JobAndTriggers[],
): SqlProgram<readonly JobAndTriggers[]> {
  const given = entries.flatMap(({ triggers }) => triggers)
  const { found } = yield* tx.session.triggers.load(given.map(({ key }) => key))
  const { nowMs } = tx
  const calendarOf = yield* calendarsOf(tx, given)
  const inPlace = (trigger: Trigger): Trigger => {
    const stored = found.get(trigger.key)
    const formerJob = stored?.trigger.jobKey ?? null
    const calendar = calendarOf(trigger)
    if (stored === undefined || formerJob === null || trigger.jobKey?.equals(formerJob) !== true)
      return underCalendar(trigger, calendar, nowMs)
    return redefined(asSeen(stored.trigger, stored.state), { trigger, calendar, nowMs })
  }
  return entries.map(({ job, triggers }) => ({ job, triggers: triggers.map(inPlace) }))
}

/** Each step locks its rows, jobs before triggers; all of them together must do so too. */
function* lockInOrder(tx: SqlTransaction, changes: DefinitionChanges): SqlProgram<void> {
  const triggers = new KeySet(changes.removedTriggers)
  const jobs = new KeySet(changes.removedJobs)
  for (const { job, triggers: given } of changes.entries) {
    if (job !== null) jobs.add(job.key)
    for (const { key, jobKey } of given) {
      triggers.add(key)
      if (jobKey !== null) jobs.add(jobKey)
    }
  }
  if (triggers.size > 0) {
    const formerJobs = yield* tx.session.keyLists.jobsOfTriggers(triggers.keys())
    for (const key of formerJobs.values()) jobs.add(key)
  }
  yield* lockJobs(tx, jobs.keys())
  yield* lockTriggers(tx, triggers.keys())
}
