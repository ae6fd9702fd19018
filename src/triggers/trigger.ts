import type { JobDataMap } from '../core/job-data-map.ts'
import { compareKeys, type JobKey, type TriggerKey } from '../core/key.ts'
import type { EpochMs } from '../time/clock.ts'
import type { Calendar } from './calendars/calendar.ts'
import type { MisfireInstruction } from './misfire-instruction.ts'

export const triggerTypes = ['simple', 'cron', 'calendarInterval', 'dailyTimeInterval'] as const
export type TriggerType = (typeof triggerTypes)[number]

export const defaultPriority = 5

/** What every trigger family has. `null` stands for "none". */
export interface TriggerFields {
  readonly key: TriggerKey
  /** The job to run; null only until the trigger is scheduled together with a job. */
  readonly jobKey: JobKey | null
  readonly description: string | null
  readonly calendarName: string | null
  /** Merged over the job's own data when the trigger fires. */
  readonly jobDataMap: JobDataMap
  /** Between triggers due at the same millisecond the higher number goes first. Default 5. */
  readonly priority: number
  readonly startTimeMs: EpochMs
  readonly endTimeMs: EpochMs | null
  readonly misfireInstruction: MisfireInstruction
}

/** The part of a trigger that firing changes. A fresh trigger has none of it yet. */
export interface FireState {
  readonly nextFireTimeMs: EpochMs | null
  readonly previousFireTimeMs: EpochMs | null
  readonly timesTriggered: number
  /** The planned instant that a misfire policy moved to `nextFireTimeMs`; null when nothing was moved. */
  readonly misfiredFireTimeMs: EpochMs | null
}

/**
 * WHEN: a schedule for one job, and how far it has come.
 *
 * Triggers are immutable values. The operations that move a trigger along (`computeFirstFireTime`, `triggered`,
 * `updateAfterMisfire`, `updateWithNewCalendar`) return the trigger as it is afterwards, so a store can keep what it
 * is given and hand out what it keeps. Build one with `TriggerBuilder`.
 */
export abstract class Trigger implements TriggerFields, FireState {
  abstract readonly type: TriggerType
  readonly key: TriggerKey
  readonly jobKey: JobKey | null
  readonly description: string | null
  readonly calendarName: string | null
  readonly jobDataMap: JobDataMap
  readonly priority: number
  readonly startTimeMs: EpochMs
  readonly endTimeMs: EpochMs | null
  abstract readonly misfireInstruction: MisfireInstruction
  readonly nextFireTimeMs: EpochMs | null
  readonly previousFireTimeMs: EpochMs | null
  readonly timesTriggered: number
  readonly misfiredFireTimeMs: EpochMs | null

  protected constructor(fields: Omit<TriggerFields, 'misfireInstruction'>, state: FireState) {
    this.key = fields.key
    this.jobKey = fields.jobKey
    this.description = fields.description
    this.calendarName = fields.calendarName
    this.jobDataMap = fields.jobDataMap
    this.priority = fields.priority
    this.startTimeMs = fields.startTimeMs
    this.endTimeMs = fields.endTimeMs
    this.nextFireTimeMs = state.nextFireTimeMs
    this.previousFireTimeMs = state.previousFireTimeMs
    this.timesTriggered = state.timesTriggered
    this.misfiredFireTimeMs = state.misfiredFireTimeMs
  }

  /** The earliest instant at which the schedule can fire. */
  get startTime(): Date {
    return new Date(this.startTimeMs)
  }
  get endTime(): Date | null {
    return toDate(this.endTimeMs)
  }
  /** When the trigger fires next; null before it is scheduled and after its last fire. */
  get nextFireTime(): Date | null {
    return toDate(this.nextFireTimeMs)
  }
  get previousFireTime(): Date | null {
    return toDate(this.previousFireTimeMs)
  }
  /** The last time by schedule, whatever calendars exclude; null when the schedule has no end. */
  get finalFireTime(): Date | null {
    return toDate(this.finalFireTimeMs())
  }
  /** The first time by schedule strictly after `after`, whatever calendars exclude; null when there is none. */
  getFireTimeAfter(after: Date): Date | null {
    return toDate(this.fireTimeAfterMs(after.getTime()))
  }
  mayFireAgain(): boolean {
    return this.nextFireTimeMs !== null
  }

  /** The schedule as a pure function: the first time strictly after `afterMs`, ignoring calendars. */
  abstract fireTimeAfterMs(afterMs: EpochMs): EpochMs | null
  abstract finalFireTimeMs(): EpochMs | null

  /** The trigger with its first fire time set, skipping what the calendar excludes; null there means "never". */
  abstract computeFirstFireTime(calendar: Calendar | null): Trigger

  /** The trigger after it fired: the next time becomes the previous one, and the one after it the next. */
  abstract triggered(calendar: Calendar | null): Trigger

  /** The trigger after its misfire instruction was applied at `nowMs`. */
  abstract updateAfterMisfire(calendar: Calendar | null, nowMs: EpochMs): Trigger

  /** The trigger after the calendar it names was replaced by `calendar`. */
  abstract updateWithNewCalendar(
    calendar: Calendar | null,
    nowMs: EpochMs,
    misfireThresholdMs: number,
  ): Trigger

  /** The same trigger for another job. */
  abstract withJobKey(jobKey: JobKey): Trigger

  /** The same schedule with its progress replaced: for stores that read a trigger back. */
  abstract withFireState(state: FireState): Trigger

  /** Throws an error that names the field and the remedy when the trigger cannot work. */
  abstract validate(): void
}

function toDate(ms: EpochMs | null): Date | null {
  return ms === null ? null : new Date(ms)
}

/** Order in which triggers fire: by next fire time, then the higher priority, then the key. Null times come last. */
export function compareFireOrder(
  a: Pick<Trigger, 'nextFireTimeMs' | 'priority' | 'key'>,
  b: Pick<Trigger, 'nextFireTimeMs' | 'priority' | 'key'>,
): number {
  const aTime = a.nextFireTimeMs ?? Number.POSITIVE_INFINITY
  const bTime = b.nextFireTimeMs ?? Number.POSITIVE_INFINITY
  if (aTime !== bTime) return aTime < bTime ? -1 : 1
  if (a.priority !== b.priority) return b.priority - a.priority
  return compareKeys(a.key, b.key)
}
