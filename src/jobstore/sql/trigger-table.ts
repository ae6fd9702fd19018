import type { JobKey, TriggerKey } from '../../core/key.ts'
import type { EpochMs } from '../../time/clock.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import type { StoredTriggerState, TriggerAction } from '../trigger-state.ts'
import type { KeyMap } from './key-map.ts'
import type { SqlProgram } from './statement.ts'

export interface StoredTrigger {
  readonly trigger: Trigger
  readonly state: StoredTriggerState
}

/** What a row of `triggers` says of itself without its sub-table, enough to decide most things. */
export interface TriggerRef {
  readonly key: TriggerKey
  readonly jobKey: JobKey
  readonly state: StoredTriggerState
  readonly nextFireTimeMs: EpochMs | null
  readonly calendarName: string | null
  /** Quartz's word: SIMPLE, CRON, CAL_INT, DAILY_I, BLOB, or one that nobody here knows. */
  readonly storedType: string
  readonly misfireIsIgnored: boolean
}

/** A row that cannot be read: an unknown type, a missing sub-row, data that Java serialized. */
export interface BrokenTrigger {
  readonly key: TriggerKey
  readonly error: Error
}

export interface LoadedTriggers {
  readonly found: KeyMap<TriggerKey, StoredTrigger>
  readonly broken: readonly BrokenTrigger[]
}

export interface DueRequest {
  readonly untilMs: EpochMs
  readonly limit: number
  /** Triggers of jobs of these types are left to other nodes. */
  readonly unknownJobTypes: readonly string[]
}

/** A waiting trigger whose time has come, as found. */
export interface DueTrigger {
  readonly key: TriggerKey
  readonly jobKey: JobKey
  readonly jobType: string
  readonly nonConcurrent: boolean
  readonly requestsRecovery: boolean
  readonly nextFireTimeMs: EpochMs
  readonly misfireIsIgnored: boolean
}

/** The rows of `triggers` and of its sub-tables. */
export interface TriggerTable {
  /** Stores rows of keys that are not there yet. */
  insert(entries: readonly StoredTrigger[]): SqlProgram<void>
  /** Stores rows whole, over those of the same key, whatever type those were. */
  put(entries: readonly StoredTrigger[]): SqlProgram<void>
  /** Writes state and fire state (next, previous, misfired time, times triggered) and nothing else. */
  advance(entries: readonly StoredTrigger[]): SqlProgram<void>
  /** Reads whole triggers; keys that do not exist are left out. */
  load(keys: readonly TriggerKey[]): SqlProgram<LoadedTriggers>
  loadOfJob(key: JobKey): SqlProgram<LoadedTriggers>
  /** Locks those rows that exist and answers what they are, in order of keys. */
  lock(keys: readonly TriggerKey[]): SqlProgram<readonly TriggerRef[]>
  lockOfJobs(keys: readonly JobKey[]): SqlProgram<readonly TriggerRef[]>
  lockOfCalendar(name: string): SqlProgram<readonly TriggerRef[]>
  /**
   * Locks waiting triggers that are due, in the order in which they fire, leaving out those that another transaction
   * holds and those of non-concurrent jobs that have a claim or an execution in flight.
   */
  lockDue(request: DueRequest): SqlProgram<readonly DueTrigger[]>
  /** Carries out an action on all triggers of these jobs; answers the earliest fire time of what now waits. */
  applyToJobs(action: TriggerAction, keys: readonly JobKey[]): SqlProgram<EpochMs | null>
  /** Sets the state of locked rows one by one. */
  setStates(
    states: readonly { readonly key: TriggerKey; readonly state: StoredTriggerState }[],
  ): SqlProgram<void>
  /** Deletes locked rows and their sub-rows. */
  delete(refs: readonly Pick<TriggerRef, 'key' | 'storedType'>[]): SqlProgram<void>
}
