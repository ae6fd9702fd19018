import { type ArgumentCheck, checkNumber, checkObject, checkOptions } from '../../../core/arguments.ts'
import type { EpochMs } from '../../../time/clock.ts'
import type { Calendar } from '../../calendars/calendar.ts'
import {
  FluentTriggerBuilder,
  type ScheduleBuilder,
  type TriggerBuilderOptions,
} from '../../fluent-trigger-builder.ts'
import {
  checkedFields,
  instantMaxMs,
  int32Max,
  invalidTrigger,
  requireOneOf,
  requireWhole,
} from '../../invalid-trigger.ts'
import { type SimpleMisfireInstruction, simpleMisfireInstructions } from '../../misfire-instruction.ts'
import { plannedFireTimeMs, Trigger } from '../../trigger.ts'
import { repeatIndefinitely, type TriggerFields } from '../../trigger-fields.ts'
import { intervalsBetween, simpleFinalFireTime, simpleFireTimeAfter } from './simple-schedule.ts'

/** What a simple trigger has beyond the fields of every trigger. */
export interface SimpleTriggerFields {
  /** Fires after the first one: 0 or more, or -1 for ever. */
  readonly repeatCount: number
  /** Milliseconds between fires; 0 only when nothing repeats. */
  readonly repeatIntervalMs: number
  readonly misfireInstruction: SimpleMisfireInstruction
  /** The schedule as it was defined, when a misfire has begun it anew since. Default null: none has. */
  readonly movedFrom?: SimpleSeries | null
}

/** Where a simple schedule begins, and how often it repeats. */
export interface SimpleSeries {
  readonly startTimeMs: EpochMs
  readonly repeatCount: number
}

/** Fires at its start time and then at a fixed interval, a number of times or for ever. The end time is exclusive. */
export class SimpleTrigger extends Trigger implements SimpleTriggerFields {
  readonly repeatCount: number
  readonly repeatIntervalMs: number
  override readonly misfireInstruction: SimpleMisfireInstruction
  readonly movedFrom: SimpleSeries | null

  constructor(
    fields: TriggerFields,
    schedule: SimpleTriggerFields,
    nextFireTimeMs: EpochMs | null = null,
    previousFireTimeMs: EpochMs | null = null,
    timesTriggered: number = 0,
    misfiredFireTimeMs: EpochMs | null = null,
  ) {
    super(
      checkedFields('SimpleTrigger', fields, schedule),
      nextFireTimeMs,
      previousFireTimeMs,
      timesTriggered,
      misfiredFireTimeMs,
    )
    this.repeatCount = schedule.repeatCount
    this.repeatIntervalMs = schedule.repeatIntervalMs
    this.misfireInstruction = schedule.misfireInstruction
    this.movedFrom = schedule.movedFrom ?? null
  }

  override get type(): 'simple' {
    return 'simple'
  }

  override fireTimeAfterMs(afterMs: EpochMs, timesTriggered: number = this.timesTriggered): EpochMs | null {
    return simpleFireTimeAfter(this, afterMs, timesTriggered)
  }

  override finalFireTimeMs(): EpochMs | null {
    return simpleFinalFireTime(this)
  }

  override firstFireTimeMs(): EpochMs {
    return this.startTimeMs
  }

  /**
   * `smart` means `fireNow` for a trigger that fires once, `rescheduleNextWithRemainingCount` for one that repeats for
   * ever, else `rescheduleNowWithExistingRepeatCount`. The "now" instructions of a repeating trigger move its start
   * time to `nowMs`; they do not ask the calendar. From its end time on they finish the trigger.
   */
  override updateAfterMisfire(calendar: Calendar | null, nowMs: EpochMs): this {
    const unfired = this.repeatCount - this.timesTriggered
    switch (effectiveInstruction(this)) {
      case 'ignore':
        return this
      case 'fireNow':
        return this.hasEnded(nowMs) ? this.finished() : this.firingLateAt(nowMs)
      case 'rescheduleNextWithExistingCount':
        return this.fireNextAfter(calendar, nowMs, { countMissed: false })
      case 'rescheduleNextWithRemainingCount':
        return this.fireNextAfter(calendar, nowMs, { countMissed: true })
      case 'rescheduleNowWithExistingRepeatCount':
        return this.restartedAt(nowMs, unfired)
      case 'rescheduleNowWithRemainingRepeatCount':
        return this.restartedAt(nowMs, unfired - missedFires(this, nowMs))
    }
  }

  /** The fires that were missed count: a trigger that fires a number of times does not make up for them. */
  override withoutMissed(calendar: Calendar | null, nowMs: EpochMs): this {
    const isLate = this.nextFireTimeMs !== null && this.nextFireTimeMs <= nowMs
    return isLate ? this.fireNextAfter(calendar, nowMs, { countMissed: true }) : this
  }

  /** The fire that is left out counts as one that was missed does. */
  override withoutNextFire(calendar: Calendar | null): this {
    const { nextFireTimeMs, timesTriggered } = this.triggered(calendar)
    return this.remade(this, nextFireTimeMs, this.previousFireTimeMs, timesTriggered, null)
  }

  override getScheduleBuilder(): SimpleScheduleBuilder {
    return SimpleScheduleBuilder.of(this)
  }

  override getTriggerBuilder(options?: TriggerBuilderOptions): FluentTriggerBuilder<SimpleTrigger> {
    return FluentTriggerBuilder.from(this, this.getScheduleBuilder(), options)
  }

  override validate(): void {
    super.validate()
    const owner = this.describe()
    requireWhole(owner, 'repeatCount', this.repeatCount, { min: repeatIndefinitely, max: int32Max })
    requireWhole(owner, 'repeatIntervalMs', this.repeatIntervalMs, { min: 0, max: instantMaxMs })
    if (this.repeatIntervalMs === 0 && this.repeatCount !== 0) {
      throw invalidTrigger(
        owner,
        'repeatIntervalMs',
        'a repeating trigger needs an interval of at least 1 millisecond, got 0. ' +
          'Use withInterval, or withRepeatCount(0) to fire once.',
      )
    }
    requireOneOf(owner, 'misfireInstruction', this.misfireInstruction, simpleMisfireInstructions)
    if (this.movedFrom === null) return
    const { startTimeMs, repeatCount } = this.movedFrom
    requireWhole(owner, 'movedFrom.startTimeMs', startTimeMs, { min: -instantMaxMs, max: instantMaxMs })
    requireWhole(owner, 'movedFrom.repeatCount', repeatCount, { min: repeatIndefinitely, max: int32Max })
  }

  protected override remade(
    fields: TriggerFields,
    nextFireTimeMs: EpochMs | null,
    previousFireTimeMs: EpochMs | null,
    timesTriggered: number,
    misfiredFireTimeMs: EpochMs | null,
  ): this {
    return new SimpleTrigger(
      fields,
      this,
      nextFireTimeMs,
      previousFireTimeMs,
      timesTriggered,
      misfiredFireTimeMs,
    ) as this
  }

  private fireNextAfter(calendar: Calendar | null, nowMs: EpochMs, options: { countMissed: boolean }): this {
    const next = this.goingOnAfter(calendar, nowMs)
    if (!options.countMissed || next.nextFireTimeMs === null) return next
    const timesTriggered = this.timesTriggered + missedFires(this, next.nextFireTimeMs)
    return this.remade(this, next.nextFireTimeMs, this.previousFireTimeMs, timesTriggered, null)
  }

  /** Whether no fire may lie at `nowMs` or later: the end time is exclusive. */
  private hasEnded(nowMs: EpochMs): boolean {
    return this.endTimeMs !== null && this.endTimeMs <= nowMs
  }

  /** The schedule begun anew at `nowMs`; a finite one has `remaining` repeats left. */
  private restartedAt(nowMs: EpochMs, remaining: number): this {
    const isFinite = this.repeatCount > 0
    const isOver = this.hasEnded(nowMs)
    const { startTimeMs, repeatCount } = this
    return new SimpleTrigger(
      isOver ? this : this.fieldsWith({ startTimeMs: nowMs }),
      {
        repeatCount: isFinite ? Math.max(0, remaining) : this.repeatCount,
        repeatIntervalMs: this.repeatIntervalMs,
        misfireInstruction: this.misfireInstruction,
        movedFrom: isOver ? this.movedFrom : (this.movedFrom ?? { startTimeMs, repeatCount }),
      },
      isOver ? null : nowMs,
      this.previousFireTimeMs,
      isFinite ? 0 : this.timesTriggered,
      isOver ? null : plannedFireTimeMs(this),
    ) as this
  }
}

function effectiveInstruction(trigger: SimpleTrigger): Exclude<SimpleMisfireInstruction, 'smart'> {
  const { misfireInstruction, repeatCount } = trigger
  if (misfireInstruction === 'smart') {
    if (repeatCount === 0) return 'fireNow'
    return repeatCount === repeatIndefinitely
      ? 'rescheduleNextWithRemainingCount'
      : 'rescheduleNowWithExistingRepeatCount'
  }
  return misfireInstruction === 'fireNow' && repeatCount !== 0
    ? 'rescheduleNowWithRemainingRepeatCount'
    : misfireInstruction
}

function missedFires(trigger: SimpleTrigger, untilMs: EpochMs): number {
  return trigger.nextFireTimeMs === null ? 0 : intervalsBetween(trigger, trigger.nextFireTimeMs, untilMs)
}

/** A simple schedule; default: fires once. Each method changes this builder and returns it. */
export class SimpleScheduleBuilder implements ScheduleBuilder<SimpleTrigger> {
  #repeatCount = 0
  #repeatIntervalMs = 0
  #misfireInstruction: SimpleMisfireInstruction = 'smart'

  static simpleSchedule(): SimpleScheduleBuilder {
    return new SimpleScheduleBuilder()
  }

  /** A builder that starts out with the schedule of an existing trigger. */
  static of(schedule: SimpleTriggerFields): SimpleScheduleBuilder {
    checkObject('SimpleScheduleBuilder.of', 'schedule', schedule)
    const builder = new SimpleScheduleBuilder()
    builder.#repeatCount = schedule.repeatCount
    builder.#repeatIntervalMs = schedule.repeatIntervalMs
    builder.#misfireInstruction = schedule.misfireInstruction
    return builder
  }

  /** Every `seconds` (default 1), for ever. */
  static repeatSecondlyForever(seconds = 1): SimpleScheduleBuilder {
    return new SimpleScheduleBuilder().withIntervalInSeconds(seconds).repeatForever()
  }
  /** Every `minutes` (default 1), for ever. */
  static repeatMinutelyForever(minutes = 1): SimpleScheduleBuilder {
    return new SimpleScheduleBuilder().withIntervalInMinutes(minutes).repeatForever()
  }
  /** Every `hours` (default 1), for ever. */
  static repeatHourlyForever(hours = 1): SimpleScheduleBuilder {
    return new SimpleScheduleBuilder().withIntervalInHours(hours).repeatForever()
  }
  /** Every `seconds` (default 1) until it has fired `count` times in all; at least 1. */
  static repeatSecondlyForTotalCount(count: number, seconds = 1): SimpleScheduleBuilder {
    return new SimpleScheduleBuilder().withIntervalInSeconds(seconds).withRepeatCount(repeatsOf(count))
  }
  /** Every `minutes` (default 1) until it has fired `count` times in all; at least 1. */
  static repeatMinutelyForTotalCount(count: number, minutes = 1): SimpleScheduleBuilder {
    return new SimpleScheduleBuilder().withIntervalInMinutes(minutes).withRepeatCount(repeatsOf(count))
  }
  /** Every `hours` (default 1) until it has fired `count` times in all; at least 1. */
  static repeatHourlyForTotalCount(count: number, hours = 1): SimpleScheduleBuilder {
    return new SimpleScheduleBuilder().withIntervalInHours(hours).withRepeatCount(repeatsOf(count))
  }

  /** The time between fires: the sum of the given units. */
  withInterval(interval: IntervalParts): this {
    checkObject('SimpleScheduleBuilder.withInterval', 'interval', interval)
    checkOptions('SimpleScheduleBuilder.withInterval', interval, intervalParts)
    const { hours = 0, minutes = 0, seconds = 0, milliseconds = 0 } = interval
    const sumMs = hours * 3_600_000 + minutes * 60_000 + seconds * 1000 + milliseconds
    return this.withIntervalInMilliseconds(wholeMs(sumMs))
  }
  withIntervalInMilliseconds(milliseconds: number): this {
    return this.#every('Milliseconds', milliseconds, 1)
  }
  withIntervalInSeconds(seconds: number): this {
    return this.#every('Seconds', seconds, 1000)
  }
  withIntervalInMinutes(minutes: number): this {
    return this.#every('Minutes', minutes, 60_000)
  }
  withIntervalInHours(hours: number): this {
    return this.#every('Hours', hours, 3_600_000)
  }

  /** Fires after the first one, so the trigger fires one time more than this; -1 means for ever. */
  withRepeatCount(repeatCount: number): this {
    this.#repeatCount = repeatCount
    return this
  }
  repeatForever(): this {
    return this.withRepeatCount(repeatIndefinitely)
  }

  /** What to do when the trigger could not fire in time. Default `smart`. */
  withMisfireInstruction(instruction: SimpleMisfireInstruction): this {
    this.#misfireInstruction = instruction
    return this
  }

  build(fields: TriggerFields): SimpleTrigger {
    const trigger = new SimpleTrigger(fields, {
      repeatCount: this.#repeatCount,
      repeatIntervalMs: this.#repeatIntervalMs,
      misfireInstruction: this.#misfireInstruction,
    })
    trigger.validate()
    return trigger
  }

  #every(unit: string, count: number, unitMs: number): this {
    checkNumber(`SimpleScheduleBuilder.withIntervalIn${unit}`, unit.toLowerCase(), count)
    this.#repeatIntervalMs = wholeMs(count * unitMs)
    return this
  }
}

/** Without what binary fractions add: 1.001 seconds are 1000.9999999999999 ms. */
function wholeMs(ms: number): number {
  const whole = Math.round(ms)
  return Math.abs(whole - ms) < 1e-3 ? whole : ms
}

/** A span of time in parts, for example `{ minutes: 1, seconds: 30 }`. */
export interface IntervalParts {
  readonly hours?: number
  readonly minutes?: number
  readonly seconds?: number
  readonly milliseconds?: number
}

const intervalParts: Readonly<Record<keyof IntervalParts, ArgumentCheck>> = {
  hours: checkNumber,
  minutes: checkNumber,
  seconds: checkNumber,
  milliseconds: checkNumber,
}

function repeatsOf(totalCount: number): number {
  return requireWhole('SimpleScheduleBuilder', 'totalCount', totalCount, { min: 1, max: int32Max + 1 }) - 1
}
