import type { JobKey } from '../core/key.ts'
import type { JobSource } from '../jobs/job-definition.ts'
import type { KeyedSchedule, ScheduleOptions } from '../jobs/schedule-options.ts'

/** A job with when it runs. */
export interface JobSchedule {
  readonly job: JobSource | string
  readonly options: ScheduleOptions<object>
}

/** A job with when it runs, as `defineSchedule` makes it: a set finds its schedules again by their keys. */
export interface ScheduleDefinition {
  readonly job: JobSource | string
  readonly options: ScheduleOptions<object> & KeyedSchedule
  /** So that the compiler takes none that was made by hand, whose data it has not compared with the job. */
  readonly '~defined': true
}

/** Options of `reconcile`. */
export interface ReconcileOptions {
  /**
   * Which of two declarations is the newer one: the greater number, such as that of a build. 0 to 2^53-1. Default: the
   * one that was declared later for the first time.
   */
  readonly version?: number
  /** Only say what would change. Default false. */
  readonly dryRun?: boolean
}

/** A set of schedules, for `schedules` of createScheduler. */
export interface ScheduleSet {
  /** Of the set. Programs that share a store and the name of the scheduler need different ones. Default `default`. */
  readonly name?: string
  /** As in {@link ReconcileOptions}. */
  readonly version?: number
  readonly schedules: readonly ScheduleDefinition[]
}

/** What became of a set of schedules. */
export interface Reconciliation {
  readonly added: readonly JobKey[]
  readonly changed: readonly JobKey[]
  readonly removed: readonly JobKey[]
  readonly unchanged: readonly JobKey[]
  /**
   * True: live nodes have declared the set in a newer form, so this one changed nothing. It is declared again every
   * minute, until no live node has the newer form.
   */
  readonly deferred: boolean
  /**
   * Jobs of the set whose rows cannot be read: they stay as they are, the others are carried out, and a
   * `schedulerError` says why. They are looked at again every minute.
   */
  readonly broken: readonly JobKey[]
}
