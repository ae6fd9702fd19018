import { checkNumber, checkObject } from '../../../core/arguments.ts'
import type { EpochMs } from '../../../time/clock.ts'
import { TimeZone } from '../../../time/zone.ts'
import type { Calendar } from '../../calendars/calendar.ts'
import {
  FluentTriggerBuilder,
  type ScheduleBuilder,
  type TriggerBuilderOptions,
} from '../../fluent-trigger-builder.ts'
import {
  checkedFields,
  int32Max,
  invalidTrigger,
  requireOneOf,
  requireWhole,
  requireZone,
} from '../../invalid-trigger.ts'
import type { CalendarMisfireInstruction } from '../../misfire-instruction.ts'
import { RecurringTrigger } from '../../recurring-trigger.ts'
import { checkTimeOfDay, TimeOfDay } from '../../time-of-day.ts'
import { repeatIndefinitely, type TriggerFields } from '../../trigger-fields.ts'
import {
  type DailyTimeIntervalUnit,
  dailyIntervalMs,
  dailyTimeIntervalFinalFireTime,
  dailyTimeIntervalFireTimeAfter,
  dailyTimeIntervalUnits,
  everyDayOfWeek,
  lastSecondOfDay,
} from './daily-time-interval-schedule.ts'

/** What a daily-time-interval trigger has beyond the fields of every trigger. */
export interface DailyTimeIntervalTriggerFields {
  /** How many units lie between the fires of a day, at least 1 and at most 24 hours. */
  readonly repeatInterval: number
  readonly repeatIntervalUnit: DailyTimeIntervalUnit
  /** Fires after the first one, counted across days: 0 or more, or -1 for ever. */
  readonly repeatCount: number
  /** Start of the window of each day, in seconds since midnight. */
  readonly startSecondOfDay: number
  /** End of the window of each day, inclusive, in seconds since midnight. */
  readonly endSecondOfDay: number
  /** Allowed weekdays: bit n is weekday n, 1=SUN to 7=SAT. */
  readonly daysOfWeekMask: number
  readonly zone: TimeZone
  readonly misfireInstruction: CalendarMisfireInstruction
}

/**
 * Fires in a window of each allowed day: at the window's start and then every interval of elapsed time, up to and
 * including its end. Days and windows are read in the trigger's zone. The end time is inclusive.
 */
export class DailyTimeIntervalTrigger extends RecurringTrigger implements DailyTimeIntervalTriggerFields {
  readonly repeatInterval: number
  readonly repeatIntervalUnit: DailyTimeIntervalUnit
  readonly repeatCount: number
  readonly startSecondOfDay: number
  readonly endSecondOfDay: number
  readonly daysOfWeekMask: number
  readonly zone: TimeZone

  constructor(
    fields: TriggerFields,
    schedule: DailyTimeIntervalTriggerFields,
    nextFireTimeMs: EpochMs | null = null,
    previousFireTimeMs: EpochMs | null = null,
    timesTriggered: number = 0,
    misfiredFireTimeMs: EpochMs | null = null,
  ) {
    super(
      checkedFields('DailyTimeIntervalTrigger', fields, schedule),
      schedule.misfireInstruction,
      nextFireTimeMs,
      previousFireTimeMs,
      timesTriggered,
      misfiredFireTimeMs,
    )
    this.repeatInterval = schedule.repeatInterval
    this.repeatIntervalUnit = schedule.repeatIntervalUnit
    this.repeatCount = schedule.repeatCount
    this.startSecondOfDay = schedule.startSecondOfDay
    this.endSecondOfDay = schedule.endSecondOfDay
    this.daysOfWeekMask = schedule.daysOfWeekMask
    this.zone = schedule.zone
  }

  override get type(): 'dailyTimeInterval' {
    return 'dailyTimeInterval'
  }

  override get timeZone(): string {
    return this.zone.name
  }

  /** Start of the window of each day. */
  get startTimeOfDay(): TimeOfDay {
    return TimeOfDay.ofSecondOfDay(this.startSecondOfDay)
  }

  /** End of the window of each day, inclusive. */
  get endTimeOfDay(): TimeOfDay {
    return TimeOfDay.ofSecondOfDay(this.endSecondOfDay)
  }

  /** Allowed weekdays, ascending, 1=SUN to 7=SAT. */
  get daysOfWeek(): readonly number[] {
    return weekdays.filter((weekday) => (this.daysOfWeekMask & (1 << weekday)) !== 0)
  }

  override fireTimeAfterMs(afterMs: EpochMs, timesTriggered: number = this.timesTriggered): EpochMs | null {
    return dailyTimeIntervalFireTimeAfter(this, afterMs, timesTriggered)
  }

  override finalFireTimeMs(): EpochMs | null {
    return dailyTimeIntervalFinalFireTime(this)
  }

  override countsFires(): boolean {
    return this.repeatCount !== repeatIndefinitely
  }

  override firstFireTimeMs(): EpochMs | null {
    return this.fireTimeAfterMs(this.startTimeMs - 1)
  }

  /** As of every trigger of this kind, but one whose end time lies before `nowMs` has fired for the last time. */
  override updateAfterMisfire(calendar: Calendar | null, nowMs: EpochMs): this {
    const hasEnded = this.endTimeMs !== null && this.endTimeMs < nowMs
    return hasEnded && this.misfireInstruction !== 'ignore'
      ? this.finished()
      : super.updateAfterMisfire(calendar, nowMs)
  }

  override getScheduleBuilder(): DailyTimeIntervalScheduleBuilder {
    return DailyTimeIntervalScheduleBuilder.of(this)
  }

  override getTriggerBuilder(
    options?: TriggerBuilderOptions,
  ): FluentTriggerBuilder<DailyTimeIntervalTrigger> {
    return FluentTriggerBuilder.from(this, this.getScheduleBuilder(), options)
  }

  override validate(): void {
    super.validate()
    const owner = this.describe()
    requireOneOf(owner, 'repeatIntervalUnit', this.repeatIntervalUnit, dailyTimeIntervalUnits)
    const maxInterval =
      86_400_000 / dailyIntervalMs({ repeatInterval: 1, repeatIntervalUnit: this.repeatIntervalUnit })
    requireWhole(owner, 'repeatInterval', this.repeatInterval, { min: 1, max: maxInterval })
    requireZone(owner, this.zone)
    requireWhole(owner, 'repeatCount', this.repeatCount, { min: repeatIndefinitely, max: int32Max })
    requireWhole(owner, 'startTimeOfDay', this.startSecondOfDay, { min: 0, max: lastSecondOfDay })
    requireWhole(owner, 'endTimeOfDay', this.endSecondOfDay, { min: 0, max: lastSecondOfDay })
    if (this.endSecondOfDay < this.startSecondOfDay) {
      throw invalidTrigger(
        owner,
        'endTimeOfDay',
        `the window ends at ${this.endTimeOfDay.toString()}, before it starts at ` +
          `${this.startTimeOfDay.toString()}. A window cannot cross midnight; use two triggers.`,
      )
    }
    if ((this.daysOfWeekMask & everyDayOfWeek) === 0) {
      throw invalidTrigger(owner, 'daysOfWeek', 'no weekday is allowed. Name at least one, 1=SUN to 7=SAT.')
    }
  }

  protected override remade(
    fields: TriggerFields,
    nextFireTimeMs: EpochMs | null,
    previousFireTimeMs: EpochMs | null,
    timesTriggered: number,
    misfiredFireTimeMs: EpochMs | null,
  ): this {
    return new DailyTimeIntervalTrigger(
      fields,
      this,
      nextFireTimeMs,
      previousFireTimeMs,
      timesTriggered,
      misfiredFireTimeMs,
    ) as this
  }
}

const weekdays: readonly number[] = [1, 2, 3, 4, 5, 6, 7]

/**
 * A daily-time-interval schedule; default: every minute of every day. Each method changes this builder and returns it.
 */
export class DailyTimeIntervalScheduleBuilder implements ScheduleBuilder<DailyTimeIntervalTrigger> {
  #repeatInterval = 1
  #repeatIntervalUnit: DailyTimeIntervalUnit = 'MINUTE'
  #repeatCount: number = repeatIndefinitely
  #startSecondOfDay = 0
  #endSecondOfDay: number = lastSecondOfDay
  #countPerDay: number | null = null
  #daysOfWeekMask: number = everyDayOfWeek
  #zone: TimeZone | null = null
  #misfireInstruction: CalendarMisfireInstruction = 'smart'

  static dailyTimeIntervalSchedule(): DailyTimeIntervalScheduleBuilder {
    return new DailyTimeIntervalScheduleBuilder()
  }

  /** A builder that starts out with the schedule of an existing trigger. */
  static of(schedule: DailyTimeIntervalTriggerFields): DailyTimeIntervalScheduleBuilder {
    checkObject('DailyTimeIntervalScheduleBuilder.of', 'schedule', schedule)
    const builder = new DailyTimeIntervalScheduleBuilder()
    builder.#repeatInterval = schedule.repeatInterval
    builder.#repeatIntervalUnit = schedule.repeatIntervalUnit
    builder.#repeatCount = schedule.repeatCount
    builder.#startSecondOfDay = schedule.startSecondOfDay
    builder.#endSecondOfDay = schedule.endSecondOfDay
    builder.#daysOfWeekMask = schedule.daysOfWeekMask
    builder.#zone = schedule.zone
    builder.#misfireInstruction = schedule.misfireInstruction
    return builder
  }

  /** The time between the fires of a day: so many units, at least 1 and at most 24 hours. */
  withInterval(interval: number, unit: DailyTimeIntervalUnit): this {
    checkNumber('DailyTimeIntervalScheduleBuilder.withInterval', 'interval', interval)
    this.#repeatInterval = interval
    this.#repeatIntervalUnit = unit
    return this
  }
  withIntervalInSeconds(seconds: number): this {
    return this.withInterval(seconds, 'SECOND')
  }
  withIntervalInMinutes(minutes: number): this {
    return this.withInterval(minutes, 'MINUTE')
  }
  withIntervalInHours(hours: number): this {
    return this.withInterval(hours, 'HOUR')
  }

  /** Weekdays on which to fire, 1=SUN to 7=SAT, as in `DayOfWeek.MONDAY`; 0 is refused. */
  onDaysOfTheWeek(...daysOfWeek: readonly number[]): this {
    let mask = 0
    for (const weekday of daysOfWeek) {
      mask |= 1 << requireWhole('DailyTimeIntervalScheduleBuilder', 'daysOfWeek', weekday, { min: 1, max: 7 })
    }
    this.#daysOfWeekMask = mask
    return this
  }
  onMondayThroughFriday(): this {
    return this.onDaysOfTheWeek(2, 3, 4, 5, 6)
  }
  onSaturdayAndSunday(): this {
    return this.onDaysOfTheWeek(1, 7)
  }
  onEveryDay(): this {
    return this.onDaysOfTheWeek(...weekdays)
  }

  /** The first fire of each day. Default 00:00:00. */
  startingDailyAt(timeOfDay: TimeOfDay): this {
    checkTimeOfDay('DailyTimeIntervalScheduleBuilder.startingDailyAt', 'timeOfDay', timeOfDay)
    this.#startSecondOfDay = timeOfDay.secondOfDay
    return this
  }

  /** No fire of a day lies after this. Default 23:59:59. */
  endingDailyAt(timeOfDay: TimeOfDay): this {
    checkTimeOfDay('DailyTimeIntervalScheduleBuilder.endingDailyAt', 'timeOfDay', timeOfDay)
    this.#endSecondOfDay = timeOfDay.secondOfDay
    this.#countPerDay = null
    return this
  }

  /** Ends each day with its n-th fire, counted from the start of the window; the n fires must fit into the day. */
  endingDailyAfterCount(count: number): this {
    checkNumber('DailyTimeIntervalScheduleBuilder.endingDailyAfterCount', 'count', count)
    this.#countPerDay = count
    return this
  }

  /** Fires after the first one, counted across days, so the trigger fires one time more than this; -1 for ever. */
  withRepeatCount(repeatCount: number): this {
    this.#repeatCount = repeatCount
    return this
  }

  /** IANA name of the zone. Default: the zone of this process. Throws ERR_UNKNOWN_TIME_ZONE. */
  inTimeZone(timeZone: string): this {
    this.#zone = TimeZone.of(timeZone)
    return this
  }

  /** What to do when the trigger could not fire in time. Default `smart`. */
  withMisfireInstruction(instruction: CalendarMisfireInstruction): this {
    this.#misfireInstruction = instruction
    return this
  }

  build(fields: TriggerFields): DailyTimeIntervalTrigger {
    const trigger = new DailyTimeIntervalTrigger(fields, {
      repeatInterval: this.#repeatInterval,
      repeatIntervalUnit: this.#repeatIntervalUnit,
      repeatCount: this.#repeatCount,
      startSecondOfDay: this.#startSecondOfDay,
      endSecondOfDay: this.#windowEnd(),
      daysOfWeekMask: this.#daysOfWeekMask,
      zone: this.#zone ?? TimeZone.system(),
      misfireInstruction: this.#misfireInstruction,
    })
    trigger.validate()
    return trigger
  }

  #windowEnd(): number {
    if (this.#countPerDay === null) return this.#endSecondOfDay
    const owner = 'DailyTimeIntervalScheduleBuilder'
    const intervalSeconds =
      dailyIntervalMs({
        repeatInterval: this.#repeatInterval,
        repeatIntervalUnit: this.#repeatIntervalUnit,
      }) / 1000
    const max = Math.floor((lastSecondOfDay - this.#startSecondOfDay) / intervalSeconds) + 1
    const count = requireWhole(owner, 'endingDailyAfterCount', this.#countPerDay, { min: 1, max })
    return this.#startSecondOfDay + (count - 1) * intervalSeconds
  }
}
