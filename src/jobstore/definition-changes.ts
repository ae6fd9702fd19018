import type { JobKey, TriggerKey } from '../core/key.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import type { JobAndTriggers } from './job-and-triggers.ts'

export interface NamedCalendar {
  readonly name: string
  readonly calendar: Calendar
}

/** Many changes of what is defined, in the order in which they are made. */
export interface DefinitionChanges {
  /** Stored over those of the same names; the triggers that name them get their fire times anew. */
  readonly calendars: readonly NamedCalendar[]
  /**
   * Jobs and triggers, stored over those of the same keys. A trigger in place of one of its job keeps the pause of that
   * one, and goes on from where it was; where it has another start, it begins there.
   */
  readonly entries: readonly JobAndTriggers[]
  /**
   * Whether jobs keep what they have stored in their data: those that persist them, before the change and after it.
   * Default false.
   */
  readonly keepsJobData?: boolean
  /** Deleted, with jobs that lose their last trigger by it and are not durable. */
  readonly removedTriggers: readonly TriggerKey[]
  /** Deleted with their triggers. */
  readonly removedJobs: readonly JobKey[]
  /** Deleted; no trigger may name them by then. */
  readonly removedCalendars: readonly string[]
}

/** A job in place of the stored one, with the data of that one where the job keeps them. */
export function withDataKept(job: JobDetail, stored: JobDetail): JobDetail {
  const keeps = job.persistJobDataAfterExecution && stored.persistJobDataAfterExecution
  return keeps ? { ...job, jobDataMap: stored.jobDataMap } : job
}

/** What was there to be removed. */
export type RemovedDefinitions = Pick<DefinitionChanges, 'removedTriggers' | 'removedJobs'>
