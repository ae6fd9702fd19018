import { checkBoolean, checkNumber, checkObject, checkOptions } from '../../../core/arguments.ts'
import type { EpochMs } from '../../../time/clock.ts'
import { TimeZone } from '../../../time/zone.ts'
import {
  FluentTriggerBuilder,
  type ScheduleBuilder,
  type TriggerBuilderOptions,
} from '../../fluent-trigger-builder.ts'
import { checkedFields, int32Max, requireOneOf, requireWhole, requireZone } from '../../invalid-trigger.ts'
import type { CalendarMisfireInstruction } from '../../misfire-instruction.ts'
import { RecurringTrigger } from '../../recurring-trigger.ts'
import type { TriggerFields } from '../../trigger-fields.ts'
import {
  type CalendarIntervalUnit,
  calendarIntervalFinalFireTime,
  calendarIntervalFireTimeAfter,
  calendarIntervalUnits,
} from './calendar-interval-schedule.ts'

/** What a calendar-interval trigger has beyond the fields of every trigger. */
export interface CalendarIntervalTriggerFields {
  /** How many units lie between fires, at least 1. */
  readonly repeatInterval: number
  readonly repeatIntervalUnit: CalendarIntervalUnit
  readonly zone: TimeZone
  /** Kept and stored for Quartz's sake: intervals of days and longer always keep the hour. */
  readonly preserveHourOfDayAcrossDaylightSavings: boolean
  /** True leaves out a fire whose local time does not exist; false fires at the first instant after the gap. */
  readonly skipDayIfHourDoesNotExist: boolean
  readonly misfireInstruction: CalendarMisfireInstruction
}

/**
 * Fires at its start time and then every so many seconds, minutes, hours, days, weeks, months or years. The k-th fire
 * is start + k x interval in the trigger's zone: the 31st clamps to the end of a short month and comes back after it.
 * The end time is exclusive.
 */
export class CalendarIntervalTrigger extends RecurringTrigger implements CalendarIntervalTriggerFields {
  readonly repeatInterval: number
  readonly repeatIntervalUnit: CalendarIntervalUnit
  readonly zone: TimeZone
  readonly preserveHourOfDayAcrossDaylightSavings: boolean
  readonly skipDayIfHourDoesNotExist: boolean

  constructor(
    fields: TriggerFields,
    schedule: CalendarIntervalTriggerFields,
    nextFireTimeMs: EpochMs | null = null,
    previousFireTimeMs: EpochMs | null = null,
    timesTriggered: number = 0,
    misfiredFireTimeMs: EpochMs | null = null,
  ) {
    super(
      checkedFields('CalendarIntervalTrigger', fields, schedule),
      schedule.misfireInstruction,
      nextFireTimeMs,
      previousFireTimeMs,
      timesTriggered,
      misfiredFireTimeMs,
    )
    this.repeatInterval = schedule.repeatInterval
    this.repeatIntervalUnit = schedule.repeatIntervalUnit
    this.zone = schedule.zone
    this.preserveHourOfDayAcrossDaylightSavings = schedule.preserveHourOfDayAcrossDaylightSavings
    this.skipDayIfHourDoesNotExist = schedule.skipDayIfHourDoesNotExist
  }

  override get type(): 'calendarInterval' {
    return 'calendarInterval'
  }

  override get timeZone(): string {
    return this.zone.name
  }

  override fireTimeAfterMs(afterMs: EpochMs): EpochMs | null {
    return calendarIntervalFireTimeAfter(this, afterMs)
  }

  override finalFireTimeMs(): EpochMs | null {
    return calendarIntervalFinalFireTime(this)
  }

  override firstFireTimeMs(): EpochMs {
    return this.startTimeMs
  }

  override getScheduleBuilder(): CalendarIntervalScheduleBuilder {
    return CalendarIntervalScheduleBuilder.of(this)
  }

  override getTriggerBuilder(options?: TriggerBuilderOptions): FluentTriggerBuilder<CalendarIntervalTrigger> {
    return FluentTriggerBuilder.from(this, this.getScheduleBuilder(), options)
  }

  override validate(): void {
    super.validate()
    const owner = this.describe()
    requireWhole(owner, 'repeatInterval', this.repeatInterval, { min: 1, max: int32Max })
    requireOneOf(owner, 'repeatIntervalUnit', this.repeatIntervalUnit, calendarIntervalUnits)
    requireZone(owner, this.zone)
    for (const field of ['preserveHourOfDayAcrossDaylightSavings', 'skipDayIfHourDoesNotExist'] as const) {
      checkBoolean(owner, field, this[field], 'ERR_INVALID_TRIGGER')
    }
  }

  protected override remade(
    fields: TriggerFields,
    nextFireTimeMs: EpochMs | null,
    previousFireTimeMs: EpochMs | null,
    timesTriggered: number,
    misfiredFireTimeMs: EpochMs | null,
  ): this {
    return new CalendarIntervalTrigger(
      fields,
      this,
      nextFireTimeMs,
      previousFireTimeMs,
      timesTriggered,
      misfiredFireTimeMs,
    ) as this
  }
}

/** A calendar-interval schedule; default: once a day. Each method changes this builder and returns it. */
export class CalendarIntervalScheduleBuilder implements ScheduleBuilder<CalendarIntervalTrigger> {
  #repeatInterval = 1
  #repeatIntervalUnit: CalendarIntervalUnit = 'DAY'
  #zone: TimeZone | null = null
  #preserveHourOfDay = false
  #skipDayIfHourDoesNotExist = false
  #misfireInstruction: CalendarMisfireInstruction = 'smart'

  static calendarIntervalSchedule(): CalendarIntervalScheduleBuilder {
    return new CalendarIntervalScheduleBuilder()
  }

  /** A builder that starts out with the schedule of an existing trigger. */
  static of(schedule: CalendarIntervalTriggerFields): CalendarIntervalScheduleBuilder {
    checkObject('CalendarIntervalScheduleBuilder.of', 'schedule', schedule)
    const builder = new CalendarIntervalScheduleBuilder()
    builder.#repeatInterval = schedule.repeatInterval
    builder.#repeatIntervalUnit = schedule.repeatIntervalUnit
    builder.#zone = schedule.zone
    builder.#preserveHourOfDay = schedule.preserveHourOfDayAcrossDaylightSavings
    builder.#skipDayIfHourDoesNotExist = schedule.skipDayIfHourDoesNotExist
    builder.#misfireInstruction = schedule.misfireInstruction
    return builder
  }

  /** The time between fires: so many units, at least 1. */
  withInterval(interval: number, unit: CalendarIntervalUnit): this {
    checkNumber('CalendarIntervalScheduleBuilder.withInterval', 'interval', interval)
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
  withIntervalInDays(days: number): this {
    return this.withInterval(days, 'DAY')
  }
  withIntervalInWeeks(weeks: number): this {
    return this.withInterval(weeks, 'WEEK')
  }
  withIntervalInMonths(months: number): this {
    return this.withInterval(months, 'MONTH')
  }
  withIntervalInYears(years: number): this {
    return this.withInterval(years, 'YEAR')
  }

  /** IANA name of the zone. Default: the zone of this process. Throws ERR_UNKNOWN_TIME_ZONE. */
  inTimeZone(timeZone: string): this {
    this.#zone = TimeZone.of(timeZone)
    return this
  }

  /** Kept and stored for Quartz's sake: intervals of days and longer always keep the hour. */
  preserveHourOfDayAcrossDaylightSavings(options: { enabled: boolean } = { enabled: true }): this {
    checkSwitch('preserveHourOfDayAcrossDaylightSavings', options)
    this.#preserveHourOfDay = options.enabled
    return this
  }

  /** Leave out a fire whose local time does not exist. Default: fire at the first instant after the gap. */
  skipDayIfHourDoesNotExist(options: { enabled: boolean } = { enabled: true }): this {
    checkSwitch('skipDayIfHourDoesNotExist', options)
    this.#skipDayIfHourDoesNotExist = options.enabled
    return this
  }

  /** What to do when the trigger could not fire in time. Default `smart`. */
  withMisfireInstruction(instruction: CalendarMisfireInstruction): this {
    this.#misfireInstruction = instruction
    return this
  }

  build(fields: TriggerFields): CalendarIntervalTrigger {
    const trigger = new CalendarIntervalTrigger(fields, {
      repeatInterval: this.#repeatInterval,
      repeatIntervalUnit: this.#repeatIntervalUnit,
      zone: this.#zone ?? TimeZone.system(),
      preserveHourOfDayAcrossDaylightSavings: this.#preserveHourOfDay,
      skipDayIfHourDoesNotExist: this.#skipDayIfHourDoesNotExist,
      misfireInstruction: this.#misfireInstruction,
    })
    trigger.validate()
    return trigger
  }
}

function checkSwitch(method: string, options: { enabled: boolean }): void {
  const owner = `CalendarIntervalScheduleBuilder.${method}`
  checkOptions(owner, options, { enabled: checkBoolean })
  checkBoolean(owner, 'enabled', options.enabled, 'ERR_INVALID_OPTION')
}
