import { KeySet } from '../../../../core/key-set.ts'
import type { DefinitionChanges, RemovedDefinitions } from '../../../definition-changes.ts'
import type { TransactionLock } from '../../kernel/sql-runner.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import { lockJobs, lockTriggers } from '../steps/new-triggers.ts'
import { addCalendar, deleteCalendar } from './calendar-changes.ts'
import { deleteJobs, deleteTriggers } from './deleting.ts'
import { scheduleJobs } from './scheduling.ts'

/** Triggers depend on calendars without a lock on them. */
export function lockOfChanges({ calendars, removedCalendars }: DefinitionChanges): TransactionLock {
  return calendars.length > 0 || removedCalendars.length > 0 ? 'exclusive' : 'shared'
}

export function* changeDefinitions(
  tx: SqlTransaction,
  changes: DefinitionChanges,
): SqlProgram<RemovedDefinitions> {
  yield* lockInOrder(tx, changes)
  for (const { name, calendar } of changes.calendars) {
    yield* addCalendar(tx, name, calendar, { replace: true, updateTriggers: true })
  }
  if (changes.entries.length > 0) yield* scheduleJobs(tx, changes.entries, { replace: true })
  const removedTriggers = yield* deleteTriggers(tx, changes.removedTriggers)
  const removedJobs = yield* deleteJobs(tx, changes.removedJobs)
  for (const name of changes.removedCalendars) yield* deleteCalendar(tx, name)
  return { removedTriggers, removedJobs }
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
