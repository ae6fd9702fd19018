import { type ArgumentCheck, checkDate, checkThat, hasMethods } from '../core/arguments.ts'
import type { JobDataMap } from '../core/job-data-map.ts'
import { compareKeys, type JobKey, type TriggerKey } from '../core/key.ts'
import type { EpochMs } from '../time/clock.ts'
import { firstIncluded, firstIncludedAfterReplacement } from './calendar-skip.ts'
import type { Calendar } from './calendars/calendar.ts'
import {
  FluentTriggerBuilder,
  type ScheduleBuilder,
  type TriggerBuilderOptions,
} from './fluent-trigger-builder.ts'
import { instantMaxMs, int32Max, invalidTrigger, requireWhole } from './invalid-trigger.ts'
import type { MisfireInstruction } from './misfire-instruction.ts'
import type { FireState, TriggerFields } from './trigger-fields.ts'

/**
 * WHEN: a schedule for one job, and its progress.
 *
 * Triggers are immutable values. The operations that move a trigger along (`computeFirstFireTime`, `triggered`,
 * `updateAfterMisfire`, `updateWithNewCalendar`) return the trigger as it is afterwards, so a store keeps and returns
 * them without copying. Build one with `TriggerBuilder`.
 */
export abstract class Trigger implements TriggerFields, FireState {
  /** The name of its family: `simple`, `cron`, `calendarInterval`, `dailyTimeInterval`, or one of the user's own. */
  abstract readonly type: string
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

  // The fire state comes as single values, so that a transition allocates the new trigger and nothing else.
  protected constructor(
    fields: TriggerFields,
    nextFireTimeMs: EpochMs | null,
    previousFireTimeMs: EpochMs | null,
    timesTriggered: number,
    misfiredFireTimeMs: EpochMs | null,
  ) {
    this.key = fields.key
    this.jobKey = fields.jobKey
    this.description = fields.description
    this.calendarName = fields.calendarName
    this.jobDataMap = fields.jobDataMap
    this.priority = fields.priority
    this.startTimeMs = fields.startTimeMs
    this.endTimeMs = fields.endTimeMs
    this.nextFireTimeMs = nextFireTimeMs
    this.previousFireTimeMs = previousFireTimeMs
    this.timesTriggered = timesTriggered
    this.misfiredFireTimeMs = misfiredFireTimeMs
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
    checkDate('getFireTimeAfter', 'after', after)
    return toDate(this.fireTimeAfterMs(after.getTime()))
  }
  mayFireAgain(): boolean {
    return this.nextFireTimeMs !== null
  }

  /**
   * The schedule as a pure function: the first time strictly after `afterMs`, ignoring calendars, of a trigger that
   * has fired `timesTriggered` times (default: as often as this one has).
   */
  abstract fireTimeAfterMs(afterMs: EpochMs, timesTriggered?: number): EpochMs | null
  abstract finalFireTimeMs(): EpochMs | null
  /**
   * Whether the time after a given one depends on how often the trigger has fired, so that to look ahead is to follow
   * it from fire to fire. Default false.
   */
  countsFires(): boolean {
    return false
  }
  /** The first time by schedule, ignoring calendars. */
  abstract firstFireTimeMs(): EpochMs | null

  /** The trigger with its first fire time set, skipping what the calendar excludes; null there means "never". */
  computeFirstFireTime(calendar: Calendar | null): this {
    const firstMs = firstIncluded(this, calendar, this.firstFireTimeMs(), this.timesTriggered)
    return this.remade(this, firstMs, this.previousFireTimeMs, this.timesTriggered, null)
  }

  /** The trigger after it fired: the next time becomes the previous one, and the one after it the next. */
  triggered(calendar: Calendar | null): this {
    const timesTriggered = this.timesTriggered + 1
    const firedMs = this.nextFireTimeMs
    const nextMs = firedMs === null ? null : this.fireTimeAfterMs(firedMs, timesTriggered)
    return this.remade(
      this,
      firstIncluded(this, calendar, nextMs, timesTriggered),
      firedMs,
      timesTriggered,
      null,
    )
  }

  /** The trigger after its misfire instruction was applied at `nowMs`. */
  abstract updateAfterMisfire(calendar: Calendar | null, nowMs: EpochMs): this

  /**
   * The trigger after the calendar it names was replaced by `calendar`: it goes on after its previous fire time, or
   * after `nowMs` when it has none. The result may lie in the past and is then a misfire.
   */
  updateWithNewCalendar(calendar: Calendar | null, nowMs: EpochMs, misfireThresholdMs: number): this {
    const candidateMs = this.fireTimeAfterMs(this.previousFireTimeMs ?? nowMs)
    const nextMs =
      calendar === null
        ? candidateMs
        : firstIncludedAfterReplacement(
            this,
            calendar,
            candidateMs,
            this.timesTriggered,
            nowMs - misfireThresholdMs,
          )
    return this.remade(this, nextMs, this.previousFireTimeMs, this.timesTriggered, null)
  }

  /** The trigger with its first fire time after `nowMs`, without those that it has missed. */
  withoutMissed(calendar: Calendar | null, nowMs: EpochMs): this {
    const isLate = this.nextFireTimeMs !== null && this.nextFireTimeMs <= nowMs
    return isLate ? this.goingOnAfter(calendar, nowMs) : this
  }

  /**
   * The trigger without its next fire time, which counts where the schedule has a number of fires: the one after it is
   * the next one.
   */
  withoutNextFire(calendar: Calendar | null): this {
    const { nextFireTimeMs, timesTriggered } = this.triggered(calendar)
    const counted = this.countsFires() ? timesTriggered : this.timesTriggered
    return this.remade(this, nextFireTimeMs, this.previousFireTimeMs, counted, null)
  }

  /** The same trigger for another job. */
  withJobKey(jobKey: JobKey): this {
    const { nextFireTimeMs, previousFireTimeMs, timesTriggered, misfiredFireTimeMs } = this
    const fields = this.fieldsWith({ jobKey })
    return this.remade(fields, nextFireTimeMs, previousFireTimeMs, timesTriggered, misfiredFireTimeMs)
  }

  /** The same schedule with its progress replaced: for stores that read a trigger back. */
  withFireState(state: FireState): this {
    const { nextFireTimeMs, previousFireTimeMs, timesTriggered, misfiredFireTimeMs } = state
    return this.remade(this, nextFireTimeMs, previousFireTimeMs, timesTriggered, misfiredFireTimeMs)
  }

  /** A builder of the same schedule, for triggers that differ in the rest. */
  abstract getScheduleBuilder(): ScheduleBuilder<Trigger>

  /**
   * A builder that holds everything this trigger has except its progress: what it builds has not fired yet. A program
   * with a clock of its own gives it for `startNow`.
   */
  getTriggerBuilder(options?: TriggerBuilderOptions): FluentTriggerBuilder<Trigger> {
    return FluentTriggerBuilder.from(this, this.getScheduleBuilder(), options)
  }

  /**
   * Throws an error that names the field and the remedy when the trigger cannot work. Builders call it.
   *
   * @throws InvalidArgumentError ERR_INVALID_TRIGGER
   */
  validate(): void {
    const owner = this.describe()
    requireWhole(owner, 'priority', this.priority, { min: -int32Max - 1, max: int32Max })
    requireWhole(owner, 'startTimeMs', this.startTimeMs, { min: -instantMaxMs, max: instantMaxMs })
    if (this.endTimeMs !== null) {
      requireWhole(owner, 'endTimeMs', this.endTimeMs, { min: -instantMaxMs, max: instantMaxMs })
      if (this.endTimeMs < this.startTimeMs) {
        throw invalidTrigger(
          owner,
          'endAt',
          `the end time ${new Date(this.endTimeMs).toISOString()} is before the start time ` +
            `${this.startTime.toISOString()}. Use endAt with a later instant, or leave it out.`,
        )
      }
    }
    if (this.calendarName?.trim() === '') {
      throw invalidTrigger(
        owner,
        'calendarName',
        'the calendar name is blank. Name a calendar or use modifiedByCalendar(null).',
      )
    }
  }

  /** The trigger with `nowMs` as its next time, in place of the missed time, which it remembers. */
  protected firingLateAt(nowMs: EpochMs): this {
    return this.remade(this, nowMs, this.previousFireTimeMs, this.timesTriggered, plannedFireTimeMs(this))
  }

  /** The trigger with the first time after `nowMs` that the calendar includes, in place of what it missed. */
  protected goingOnAfter(calendar: Calendar | null, nowMs: EpochMs): this {
    const nextMs = firstIncluded(this, calendar, this.fireTimeAfterMs(nowMs), this.timesTriggered)
    return this.remade(this, nextMs, this.previousFireTimeMs, this.timesTriggered, null)
  }

  /** The trigger without a next time: it never fires again. */
  protected finished(): this {
    return this.remade(this, null, this.previousFireTimeMs, this.timesTriggered, null)
  }

  /** How error messages name this trigger. */
  protected describe(): string {
    return `Trigger '${this.key.toString()}'`
  }

  protected fieldsWith(changes: Partial<TriggerFields>): TriggerFields {
    return {
      key: this.key,
      jobKey: this.jobKey,
      description: this.description,
      calendarName: this.calendarName,
      jobDataMap: this.jobDataMap,
      priority: this.priority,
      startTimeMs: this.startTimeMs,
      endTimeMs: this.endTimeMs,
      ...changes,
    }
  }

  /** A trigger with this one's schedule and the given other fields. */
  protected abstract remade(
    fields: TriggerFields,
    nextFireTimeMs: EpochMs | null,
    previousFireTimeMs: EpochMs | null,
    timesTriggered: number,
    misfiredFireTimeMs: EpochMs | null,
  ): this
}

/** By shape, so that a trigger of a second copy of the package will do. */
export function isTrigger(value: unknown): value is Trigger {
  return hasMethods(value, ['computeFirstFireTime', 'fireTimeAfterMs', 'validate'])
}

export const checkTrigger: ArgumentCheck = checkThat(
  'a Trigger',
  isTrigger,
  'Build one: TriggerBuilder.newTrigger().withIdentity(...).withSchedule(...).build().',
)

function toDate(ms: EpochMs | null): Date | null {
  return ms === null ? null : new Date(ms)
}

/** The instant a fire was planned for, before any misfire policy moved it. */
export function plannedFireTimeMs(trigger: FireState): EpochMs | null {
  return trigger.misfiredFireTimeMs ?? trigger.nextFireTimeMs
}

/** Order in which triggers fire: by next fire time, then the higher priority, then the key. Null times come last. */
export function compareFireOrder(
  a: Pick<Trigger, 'nextFireTimeMs' | 'priority' | 'key'>,
  b: Pick<Trigger, 'nextFireTimeMs' | 'priority' | 'key'>,
): number {
  return compareFireTimes(a, b) || compareKeys(a.key, b.key)
}

/** The same without the key, for callers that have another order of keys. */
export function compareFireTimes(
  a: Pick<Trigger, 'nextFireTimeMs' | 'priority'>,
  b: Pick<Trigger, 'nextFireTimeMs' | 'priority'>,
): number {
  const aTime = a.nextFireTimeMs ?? Number.POSITIVE_INFINITY
  const bTime = b.nextFireTimeMs ?? Number.POSITIVE_INFINITY
  if (aTime !== bTime) return aTime < bTime ? -1 : 1
  return b.priority - a.priority
}
