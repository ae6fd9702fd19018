import { JobPersistenceError, ObjectAlreadyExistsError, SchedulerError } from '../core/errors.ts'
import type { JobKey, TriggerKey } from '../core/key.ts'
import { KeySet } from '../core/key-set.ts'
import type { EpochMs } from '../time/clock.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { JobAndTriggers } from './job-and-triggers.ts'

// The errors with which every store refuses an operation, so that the messages are the same for all stores.

/** Why entries cannot be stored over what is there, or null. */
export function refusalOf(
  entries: readonly JobAndTriggers[],
  replace: boolean,
  stored: { readonly jobs: Keys<JobKey>; readonly triggers: Keys<TriggerKey> },
): Error | null {
  // The usual call, with one job and one trigger, needs no sets.
  const isAlone = entries.length === 1 && (entries[0]?.triggers.length ?? 0) <= 1
  const newJobs = isAlone ? null : new KeySet<JobKey>()
  for (const { job } of entries) {
    if (job === null) continue
    const isTaken = newJobs?.add(job.key) === false || stored.jobs.has(job.key)
    if (isTaken && !replace) return new ObjectAlreadyExistsError('job', job.key.toString())
  }
  const newTriggers = isAlone ? null : new KeySet<TriggerKey>()
  for (const { job, triggers } of entries) {
    for (const { key, jobKey } of triggers) {
      const isTaken = newTriggers?.add(key) === false || stored.triggers.has(key)
      if (isTaken && !replace) return new ObjectAlreadyExistsError('trigger', key.toString())
      const hasJob =
        jobKey !== null && (job?.key.equals(jobKey) || newJobs?.has(jobKey) || stored.jobs.has(jobKey))
      if (!hasJob) return jobNotFound(key, jobKey)
    }
  }
  return null
}

interface Keys<Key> {
  has(key: Key): boolean
}

export function jobNotFound(key: TriggerKey, jobKey: JobKey | null): JobPersistenceError {
  const found = jobKey === null ? 'names no job' : `names job '${jobKey.toString()}', which does not exist`
  return new JobPersistenceError(
    `Cannot store trigger '${key.toString()}': it ${found}. Store the job first, or together with the trigger.`,
    { code: 'ERR_JOB_NOT_FOUND' },
  )
}

/** A trigger of `jobKey` cannot be replaced by one of `newJobKey`. */
export function jobKeyMismatch(
  key: TriggerKey,
  jobKey: JobKey,
  newJobKey: JobKey | null,
): JobPersistenceError {
  return new JobPersistenceError(
    `Cannot replace trigger '${key.toString()}' of job '${jobKey.toString()}' ` +
      `by one of job '${String(newJobKey)}'. Give the new trigger the key of the same job.`,
    { code: 'ERR_JOB_KEY_MISMATCH' },
  )
}

/** A trigger cannot be replaced by one whose key a third trigger has. */
export function rescheduledOntoAnother(key: TriggerKey): ObjectAlreadyExistsError {
  return new ObjectAlreadyExistsError(
    'trigger',
    key.toString(),
    'Give the new trigger another identity, or unschedule that one first.',
  )
}

/** A declared job cannot have a trigger whose key a trigger of another job has. */
export function plannedOntoAnother(key: TriggerKey): ObjectAlreadyExistsError {
  return new ObjectAlreadyExistsError(
    'trigger',
    key.toString(),
    'Give the schedule another key, or unschedule that trigger first.',
  )
}

export function calendarNotFound(key: TriggerKey, calendarName: string): JobPersistenceError {
  return new JobPersistenceError(
    `Trigger '${key.toString()}' names calendar '${calendarName}', which does not exist. ` +
      'Add the calendar, then reset the trigger from its error state.',
    { code: 'ERR_CALENDAR_NOT_FOUND' },
  )
}

export function calendarInUse(calendarName: string, user: TriggerKey): JobPersistenceError {
  return new JobPersistenceError(
    `Cannot delete calendar '${calendarName}': trigger '${user.toString()}' names it. ` +
      'Reschedule or delete such triggers first.',
    { code: 'ERR_CALENDAR_IN_USE' },
  )
}

/** One store object serves one scheduler at a time. */
export function storeInUse(storeName: string, schedulerName: string): JobPersistenceError {
  return new JobPersistenceError(
    `This ${storeName} belongs to scheduler '${schedulerName}' already; give every scheduler a store of its own. ` +
      'Two stores of the same database are what several schedulers share.',
    { code: 'ERR_STORE_IN_USE' },
  )
}

export function nodeNotFound(instanceId: string): SchedulerError {
  return new SchedulerError(
    'ERR_NOT_FOUND',
    `There is no node '${instanceId}'; look at the list of the nodes.`,
  )
}

/** Only a node that has missed check-ins can be removed. */
export function nodeAlive(instanceId: string): SchedulerError {
  return new SchedulerError(
    'ERR_NODE_ALIVE',
    `Node '${instanceId}' checks in, so it is not removed. Shut it down, which makes it leave by itself.`,
  )
}

export function nodeNotReached(instanceId: string): SchedulerError {
  return new SchedulerError(
    'ERR_NOT_SUPPORTED',
    `Node '${instanceId}' does not hear other nodes: ask it itself, or end its process.`,
  )
}

/** The fire time that a caller wants to leave out has fired, or somebody else has left it out. */
export function otherFireIsNext(expectedMs: EpochMs, nextMs: EpochMs | null): SchedulerError {
  const expected = new Date(expectedMs).toISOString()
  const changed =
    nextMs === null
      ? `The trigger does not fire at ${expected} any more, nor later`
      : `The next fire time is ${new Date(nextMs).toISOString()} and not ${expected} any more`
  return new SchedulerError(
    'ERR_CHANGED_MEANWHILE',
    `${changed}, so none was left out. Look again, and decide anew.`,
  )
}

/** Somebody else has changed the job that a caller wants to replace or to delete. */
export function otherJobIsStored(key: JobKey): SchedulerError {
  return new SchedulerError(
    'ERR_CHANGED_MEANWHILE',
    `Job ${key.toString()} is not as expected any more, so nothing was changed. Look again, and decide anew.`,
  )
}

/** Somebody else has changed the trigger that a caller wants to replace or to delete. */
export function otherTriggerIsStored(key: TriggerKey): SchedulerError {
  return new SchedulerError(
    'ERR_CHANGED_MEANWHILE',
    `Trigger ${key.toString()} is not as expected any more, so nothing was changed. Look again, and decide anew.`,
  )
}

/** The answer for a trigger that has no fire to leave out. @throws SchedulerError when a certain one is expected */
export function noFireIsNext(expectedMs: EpochMs | null): null {
  if (expectedMs !== null) throw otherFireIsNext(expectedMs, null)
  return null
}

/** That no fire time is left of a trigger. */
export function neverFires({ key, calendarName }: Trigger): SchedulerError {
  return new SchedulerError(
    'ERR_TRIGGER_NEVER_FIRES',
    `Based on its schedule, trigger ${key.toString()} will never fire. ` +
      'Check its schedule, such as its years, and its start and end time' +
      (calendarName === null ? '.' : `, and its calendar '${calendarName}'.`),
  )
}

/** That the one fire time of a trigger is over, so that another one with the same start has none. */
export function firedOnce({ key, startTimeMs, previousFireTimeMs, calendarName }: Trigger): SchedulerError {
  const leftOut =
    calendarName === null ? 'was left out' : `was left out, by hand or by its calendar '${calendarName}'`
  return new SchedulerError(
    'ERR_TRIGGER_NEVER_FIRES',
    `Trigger ${key.toString()} fires once, at ${new Date(startTimeMs).toISOString()}, and ` +
      `${previousFireTimeMs === null ? leftOut : 'has fired'}: it will never fire again. Give it another start time.`,
  )
}

/** The calendar of that name is stored already, and replacing was not asked for. */
export function calendarTaken(name: string): ObjectAlreadyExistsError {
  return new ObjectAlreadyExistsError(
    'calendar',
    name,
    'Pass { replace: true, updateTriggers: true } to replace it and to compute the next times of its triggers anew, ' +
      'or use another name.',
  )
}
