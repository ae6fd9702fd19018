import type { JobKey, TriggerKey } from '../core/key.ts'
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
  /** Deleted, with jobs that lose their last trigger by it and are not durable. */
  readonly removedTriggers: readonly TriggerKey[]
  /** Deleted with their triggers. */
  readonly removedJobs: readonly JobKey[]
  /** Deleted; no trigger may name them by then. */
  readonly removedCalendars: readonly string[]
}

/** What was there to be removed. */
export type RemovedDefinitions = Pick<DefinitionChanges, 'removedTriggers' | 'removedJobs'>
