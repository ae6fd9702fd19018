import { checkNumber, checkObject, listOf, refuseNew } from '../../../core/arguments.ts'
import { secondMs } from '../../../time/civil.ts'
import type { EpochMs } from '../../../time/clock.ts'
import { CronExpression, checkExpression, refuseOptionsOfParsed } from '../../cron/cron-expression.ts'
import type { CronOptions, UnixCronOptions } from '../../cron/cron-reader.ts'
import { type CronTimes, isCronTimes } from '../../cron/cron-times.ts'
import type { CronDst } from '../../cron/dst-policy.ts'
import { parseUnixCron } from '../../cron/unix-cron.ts'
import {
  FluentTriggerBuilder,
  type ScheduleBuilder,
  type TriggerBuilderOptions,
} from '../../fluent-trigger-builder.ts'
import { checkedFields, invalidTrigger } from '../../invalid-trigger.ts'
import type { CalendarMisfireInstruction } from '../../misfire-instruction.ts'
import { RecurringTrigger } from '../../recurring-trigger.ts'
import type { TriggerFields } from '../../trigger-fields.ts'

/** What a cron trigger has beyond the fields of every trigger. */
export interface CronTriggerFields {
  /** The expression with its zone, dialect and DST policy. */
  readonly cronExpression: CronTimes
  readonly misfireInstruction: CalendarMisfireInstruction
}

/**
 * Fires when a cron expression matches the wall clock of its zone. The start time counts in whole seconds and is a
 * fire time only when it matches; the end time is inclusive.
 */
export class CronTrigger extends RecurringTrigger implements CronTriggerFields {
  readonly cronExpression: CronTimes

  constructor(
    fields: TriggerFields,
    schedule: CronTriggerFields,
    nextFireTimeMs: EpochMs | null = null,
    previousFireTimeMs: EpochMs | null = null,
    timesTriggered: number = 0,
    misfiredFireTimeMs: EpochMs | null = null,
  ) {
    super(
      startingOnSecond(checkedFields('CronTrigger', fields, schedule)),
      schedule.misfireInstruction,
      nextFireTimeMs,
      previousFireTimeMs,
      timesTriggered,
      misfiredFireTimeMs,
    )
    this.cronExpression = schedule.cronExpression
  }

  override get type(): 'cron' {
    return 'cron'
  }

  override get timeZone(): string {
    return this.cronExpression.timeZone
  }

  /** What happens where the wall clock jumps. */
  get dst(): CronDst {
    return this.cronExpression.dst
  }

  override fireTimeAfterMs(afterMs: EpochMs): EpochMs | null {
    const { startTimeMs, endTimeMs } = this
    if (endTimeMs !== null && afterMs >= endTimeMs) return null
    const nextMs = this.cronExpression.nextTimeMs(afterMs < startTimeMs ? startTimeMs - secondMs : afterMs)
    return nextMs === null || (endTimeMs !== null && nextMs > endTimeMs) ? null : nextMs
  }

  override finalFireTimeMs(): EpochMs | null {
    if (this.endTimeMs === null) return null
    const lastMs = this.cronExpression.previousTimeMs(this.endTimeMs + 1)
    return lastMs === null || lastMs < this.startTimeMs ? null : lastMs
  }

  override firstFireTimeMs(): EpochMs | null {
    return this.fireTimeAfterMs(this.startTimeMs - secondMs)
  }

  override getScheduleBuilder(): CronScheduleBuilder {
    return CronScheduleBuilder.of(this)
  }

  override getTriggerBuilder(options?: TriggerBuilderOptions): FluentTriggerBuilder<CronTrigger> {
    return FluentTriggerBuilder.from(this, this.getScheduleBuilder(), options)
  }

  override validate(): void {
    super.validate()
    if (isCronTimes(this.cronExpression)) return
    throw invalidTrigger(
      this.describe(),
      'cronExpression',
      "'cronExpression' must be a CronExpression. Make one with CronExpression.parse or CronScheduleBuilder.",
    )
  }

  protected override remade(
    fields: TriggerFields,
    nextFireTimeMs: EpochMs | null,
    previousFireTimeMs: EpochMs | null,
    timesTriggered: number,
    misfiredFireTimeMs: EpochMs | null,
  ): this {
    return new CronTrigger(
      fields,
      this,
      nextFireTimeMs,
      previousFireTimeMs,
      timesTriggered,
      misfiredFireTimeMs,
    ) as this
  }
}

function startingOnSecond(fields: TriggerFields): TriggerFields {
  const startTimeMs = Math.floor(fields.startTimeMs / secondMs) * secondMs
  return startTimeMs === fields.startTimeMs ? fields : { ...fields, startTimeMs }
}

/** Refuses a value that is no number before it becomes a part of an expression. */
function checkNumbers(method: string, numbers: Readonly<Record<string, number>>): void {
  for (const [argument, value] of Object.entries(numbers)) checkNumber(method, argument, value)
}

/** A cron schedule. Each method changes this builder and returns it. */
export class CronScheduleBuilder implements ScheduleBuilder<CronTrigger> {
  #cronExpression: CronTimes
  #misfireInstruction: CalendarMisfireInstruction = 'smart'

  private constructor(cronExpression: CronTimes) {
    if (!isCronTimes(cronExpression)) {
      refuseNew(
        'CronScheduleBuilder',
        'cronExpression',
        cronExpression,
        'CronScheduleBuilder.cronSchedule(text)',
      )
    }
    this.#cronExpression = cronExpression
  }

  /**
   * An expression as text, which `options` say how to read (default: Quartz's dialect, the zone of this process, the
   * DST policy `vixie`); or a parsed one, which keeps its dialect, zone and policy.
   *
   * @throws CronExpressionError, InvalidArgumentError ERR_UNKNOWN_TIME_ZONE, ERR_INVALID_OPTION
   */
  static cronSchedule(expression: string, options?: CronOptions): CronScheduleBuilder
  static cronSchedule(expression: CronTimes): CronScheduleBuilder
  static cronSchedule(expression: string | CronTimes, options?: CronOptions): CronScheduleBuilder {
    const method = 'CronScheduleBuilder.cronSchedule'
    checkExpression(method, 'expression', expression)
    if (typeof expression === 'string')
      return new CronScheduleBuilder(CronExpression.parse(expression, options))
    refuseOptionsOfParsed(method, options)
    return new CronScheduleBuilder(expression)
  }

  /**
   * A Unix expression of five fields or a macro such as `@daily`; with `seconds: 'optional'` a field for seconds may
   * stand first. Throws CronExpressionError.
   */
  static unixCron(expression: string, options?: UnixCronOptions): CronScheduleBuilder {
    return new CronScheduleBuilder(parseUnixCron(expression, options))
  }

  /** Every day at that time. */
  static dailyAtHourAndMinute(hour: number, minute: number): CronScheduleBuilder {
    checkNumbers('CronScheduleBuilder.dailyAtHourAndMinute', { hour, minute })
    return CronScheduleBuilder.cronSchedule(`0 ${minute} ${hour} ? * *`)
  }

  /** At that time on the given weekdays (at least one), 1=SUN to 7=SAT. */
  static atHourAndMinuteOnGivenDaysOfWeek(
    hour: number,
    minute: number,
    ...daysOfWeek: readonly number[]
  ): CronScheduleBuilder {
    checkNumbers('CronScheduleBuilder.atHourAndMinuteOnGivenDaysOfWeek', { hour, minute })
    listOf(checkNumber)('CronScheduleBuilder.atHourAndMinuteOnGivenDaysOfWeek', 'daysOfWeek', daysOfWeek)
    if (daysOfWeek.length === 0) {
      throw invalidTrigger('CronScheduleBuilder', 'daysOfWeek', 'name at least one weekday, 1=SUN to 7=SAT.')
    }
    return CronScheduleBuilder.cronSchedule(`0 ${minute} ${hour} ? * ${daysOfWeek.join(',')}`)
  }

  /** Every week on that weekday, 1=SUN to 7=SAT, at that time. */
  static weeklyOnDayAndHourAndMinute(dayOfWeek: number, hour: number, minute: number): CronScheduleBuilder {
    checkNumbers('CronScheduleBuilder.weeklyOnDayAndHourAndMinute', { dayOfWeek, hour, minute })
    return CronScheduleBuilder.cronSchedule(`0 ${minute} ${hour} ? * ${dayOfWeek}`)
  }

  /** Every month on that day, 1 to 31, at that time; months that are too short have no fire. */
  static monthlyOnDayAndHourAndMinute(dayOfMonth: number, hour: number, minute: number): CronScheduleBuilder {
    checkNumbers('CronScheduleBuilder.monthlyOnDayAndHourAndMinute', { dayOfMonth, hour, minute })
    return CronScheduleBuilder.cronSchedule(`0 ${minute} ${hour} ${dayOfMonth} * ?`)
  }

  /** A builder that starts out with the schedule of an existing trigger. */
  static of(schedule: CronTriggerFields): CronScheduleBuilder {
    checkObject('CronScheduleBuilder.of', 'schedule', schedule)
    checkExpression('CronScheduleBuilder.of', 'cronExpression', schedule.cronExpression)
    return new CronScheduleBuilder(schedule.cronExpression).withMisfireInstruction(
      schedule.misfireInstruction,
    )
  }

  /** IANA name of the zone. Default: the zone of this process. Throws ERR_UNKNOWN_TIME_ZONE. */
  inTimeZone(timeZone: string): this {
    this.#cronExpression = this.#cronExpression.withTimeZone(timeZone)
    return this
  }

  /** What happens where the wall clock jumps. Default `vixie`; `quartz` is what Java Quartz does. */
  withDstPolicy(dst: CronDst): this {
    this.#cronExpression = this.#cronExpression.withDst(dst)
    return this
  }

  /** What to do when the trigger could not fire in time. Default `smart`. */
  withMisfireInstruction(instruction: CalendarMisfireInstruction): this {
    this.#misfireInstruction = instruction
    return this
  }

  build(fields: TriggerFields): CronTrigger {
    const trigger = new CronTrigger(fields, {
      cronExpression: this.#cronExpression,
      misfireInstruction: this.#misfireInstruction,
    })
    trigger.validate()
    return trigger
  }
}
