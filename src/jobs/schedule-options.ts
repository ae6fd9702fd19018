import type { RequiredKeys } from '../core/job-data-type.ts'
import type { JobKey } from '../core/key.ts'
import type { DurationLike } from '../time/duration-options.ts'
import type { CronDialect } from '../triggers/cron/cron-dialect.ts'
import type { CronDst } from '../triggers/cron/dst-policy.ts'
import type { CalendarMisfireInstruction, SimpleMisfireInstruction } from '../triggers/misfire-instruction.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { JobDetail } from './job-detail.ts'

/** What says when a schedule runs: exactly one of these is given. */
export type WhenName = 'cron' | 'daily' | 'every' | 'at' | 'in'

/** A cron expression. */
export interface CronWhen {
  /** Five fields or a macro such as `@daily` as in Unix, or six or seven fields in Quartz's dialect. */
  readonly cron: string
  /**
   * How the expression is read, see `CronDialect`; with `unix` a sixth field, for seconds, may stand first. Default: by
   * the number of fields.
   */
  readonly dialect?: CronDialect
  /**
   * IANA name of the zone whose wall clock counts. Default: the zone of the process that stored the schedule, UTC when
   * that has no IANA name, as with `TZ=GMT+2`; with a key it stays until the schedule is declared otherwise, also when
   * a later process has another one.
   */
  readonly zone?: string
  /** What happens where the wall clock jumps; `quartz` is what Java does. Default `vixie`. */
  readonly dst?: CronDst
  /** What to do when it could not run in time. Default `smart`: it runs once. */
  readonly misfireInstruction?: CalendarMisfireInstruction
}

/** Once a day. */
export interface DailyWhen extends Pick<CronWhen, 'zone' | 'dst' | 'misfireInstruction'> {
  /** The time on the wall clock, `HH:MM` or `HH:MM:SS`. */
  readonly daily: string
}

/** At a fixed interval. */
export interface EveryWhen {
  /**
   * The interval, at least 1 ms: milliseconds, or a text with units such as `10s`, `5m` or `1h30m`. The first run is at
   * once.
   */
  readonly every: DurationLike
  /** An interval goes on with the next run of its series by default. */
  readonly misfireInstruction?: SimpleMisfireInstruction
}

/** Once, at an instant. */
export interface AtWhen {
  /**
   * The instant at which it runs. With a key, one is left out that passed by more than `misfireThresholdMs` before it
   * was declared, or that is not after the last run.
   */
  readonly at: Date
}

/** Once, after a time. */
export interface InWhen {
  /** From the first call on: milliseconds, or a text such as `5m`. Repeating the call does not put it off. */
  readonly in: DurationLike
}

/** One form, without the options of the others. */
export type OneWhen<When> = When & {
  readonly [Name in
    | Exclude<WhenName | 'dialect' | 'zone' | 'dst' | 'misfireInstruction', keyof When>
    | (When extends AtWhen | InWhen ? 'startAt' | 'endAt' : 'durable')]?: never
}

/** When a schedule runs: one of five forms. */
export type ScheduleWhen =
  | OneWhen<DailyWhen>
  | OneWhen<EveryWhen>
  | OneWhen<AtWhen>
  | OneWhen<InWhen>
  // The last one: the compiler says of what fits none that this one's field is missing.
  | OneWhen<CronWhen>

/** The data of a schedule: required where the job has fields that must be there. */
export type ScheduleData<Data extends object> = [RequiredKeys<Data>] extends [never]
  ? {
      /** The data of the job. The same key with other values changes these, and leaves what the job itself stored. */
      readonly data?: Data
    }
  : {
      /** The data of the job. The same key with other values changes these, and leaves what the job itself stored. */
      readonly data: Data
    }

/** What a schedule has beside when it runs and the data of its job. */
export interface ScheduleSettings {
  /**
   * The name of the job and of its trigger, in the group `DEFAULT`, or a key with another group. The same key again
   * changes the schedule. Default: a new name with each call, and the job is deleted after its last run.
   */
  readonly key?: string | JobKey
  /** For people. Default: that of the job's definition. */
  readonly description?: string
  /** Of triggers that are due at the same millisecond the higher number goes first. A 32-bit integer, default 5. */
  readonly priority?: number
  /** Name of a stored calendar whose excluded times are left out. Default none. */
  readonly calendarName?: string
  /**
   * Not before this instant; an interval begins with it. Not with `at` and `in`. Default: now. With a key, an instant
   * that has passed makes up for nothing: times between it and the first declaration are left out. Only the last of
   * them runs, when the instant is not longer ago than `misfireThresholdMs`.
   */
  readonly startAt?: Date
  /**
   * Not after this instant, and with `every` not at it; with a key, one that has passed is no error. Not with `at` and
   * `in`. Default: no end.
   */
  readonly endAt?: Date
  /**
   * Run again when the node dies during an execution, or shuts down and interrupts it (persistent stores). Default
   * false, or true where the definition makes the job sharded.
   */
  readonly requestRecovery?: boolean
  /**
   * For `at` and `in` with a key: false deletes the job after its run and its retries, so nothing is left of it, and
   * the key can be scheduled anew. An instant that has passed runs at once. Not in a set. Default: true with a key, so
   * that the same declaration does not run again; false without one.
   */
  readonly durable?: boolean
}

/** Options of `schedule`. */
export type ScheduleOptions<Data extends object = Record<string, unknown>> = ScheduleSettings &
  ScheduleWhen &
  ScheduleData<Data>

/** What the schedules of a set have to name. */
export interface KeyedSchedule {
  readonly key: string | JobKey
}

/** What became of a schedule. */
export interface ScheduledJob {
  /** Of the job; its trigger has the same name and group. */
  readonly key: JobKey
  /** `unchanged`: it was declared the same before, so it was left alone. */
  readonly change: 'added' | 'changed' | 'unchanged'
  /** When it is due next; null when it is over. While it is paused it has this too, and does not run. */
  readonly nextFireTime: Date | null
}

export interface TriggerJobOptions {
  /** Who asked for it, not blank; the history has it as `triggeredBy`. Default: it says null. */
  readonly by?: string
}

export interface ReplaceOptions {
  /**
   * Replace what has the same key. A trigger of another job goes to this one, and that job is deleted when it is not
   * durable and has no other. Default false: what exists already is an error.
   */
  readonly replace?: boolean
}

export interface AddJobOptions extends ReplaceOptions {
  /** Accept a job that is neither durable nor has a trigger; it is deleted when it later loses its last trigger. */
  readonly storeNonDurableWhileAwaitingScheduling?: boolean
}

export interface AddCalendarOptions extends ReplaceOptions {
  /** Compute the next fire times of the triggers that name the calendar anew. Default false. */
  readonly updateTriggers?: boolean
}

export interface ChangeDefinitionsOptions {
  /** Only check what is to be stored, as far as the scheduler checks it. Default false. */
  readonly dryRun?: boolean
}

export interface ExpectedJobOptions {
  /**
   * The job as it was read: when another one is stored, the call fails with ERR_CHANGED_MEANWHILE and changes nothing.
   * All of its fields count, its data included. `addJob` fails so also when none is stored. Default: whatever is
   * stored.
   */
  readonly expected?: JobDetail
}

export interface ExpectedTriggerOptions {
  /**
   * The trigger as it was read: when the stored one has another definition, the call fails with ERR_CHANGED_MEANWHILE
   * and changes nothing. What firing changes does not count. Default: whatever is stored.
   */
  readonly expected?: Trigger
}

export interface RescheduleOptions {
  /**
   * Take the place of the former trigger, which has the same key, and keep its pause and its last fire. With `due` and
   * `lastFire` it also keeps what was due and has not run, about which its own misfire policy decides. `due`: no later
   * time is left out. `lastFire`: an interval counts from the last fire. `start`: it begins at its own start, and what
   * was due before is left out. A trigger that its job ended goes on with its next time after now. Default: it begins
   * anew.
   */
  readonly goesOnFrom?: 'due' | 'lastFire' | 'start'
  /**
   * The former trigger as it was read: when the stored one has another definition, the call fails with
   * ERR_CHANGED_MEANWHILE and changes nothing. What firing changes does not count. Default: whatever is stored.
   */
  readonly expected?: Trigger
}
