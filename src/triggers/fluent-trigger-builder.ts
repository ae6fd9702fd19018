import {
  checkMethods,
  checkNumber,
  checkOptions,
  checkString,
  orNull,
  wrongArgument,
} from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { checkIds, type IdGenerator, systemIds } from '../core/ids.ts'
import { copyJobData, emptyJobDataMap, type JobDataMap, jobDataEntries } from '../core/job-data-map.ts'
import { checkTriggerKey, generatedTriggerKey, isJobKey, JobKey, TriggerKey } from '../core/key.ts'
import { isDataObject, isObject } from '../core/options.ts'
import { type Clock, checkClock, type EpochMs, systemClock } from '../time/clock.ts'
import { requireInstantMs } from './invalid-trigger.ts'
import { markStartsNow, startsNow } from './starts-now.ts'
import { defaultPriority, type TriggerFields } from './trigger-fields.ts'

/** The schedule of a trigger that is still to be built. */
export interface ScheduleBuilder<T> {
  /**
   * Makes a trigger of this schedule that has not fired yet.
   *
   * @throws InvalidArgumentError ERR_INVALID_TRIGGER when the schedule or the fields cannot work
   */
  build(fields: TriggerFields): T
}

/** The sources of time and names of a builder. */
export interface TriggerBuilderOptions {
  /**
   * Read for the default start time and by `startNow`. Default: the system clock; where the time of a store corrects
   * it, such a start is corrected when the trigger is scheduled.
   */
  readonly clock?: Clock
  /** Names triggers that are given no identity. Default: random UUIDs. */
  readonly ids?: IdGenerator
}

const checkSchedule = checkMethods(
  'a schedule builder',
  ['build'],
  "Make one, as in CronScheduleBuilder.cronSchedule('0 0 12 * * ?') or SimpleScheduleBuilder.repeatHourlyForever().",
)

/**
 * Collects the fields of a trigger. Each method changes this builder and returns it. Start with
 * `TriggerBuilder.newTrigger()` or `trigger.getTriggerBuilder()`.
 */
export class FluentTriggerBuilder<T> {
  readonly #clock: Clock
  readonly #ids: IdGenerator
  /** Whether the clock is the machine's, because none was given. */
  readonly #hasMachineClock: boolean
  #schedule: ScheduleBuilder<T>
  #key: TriggerKey | null = null
  #jobKey: JobKey | null = null
  #description: string | null = null
  #calendarName: string | null = null
  #jobDataMap: JobDataMap = emptyJobDataMap
  #priority: number = defaultPriority
  #startTimeMs: EpochMs
  /** Whether the start was read from the machine's clock. */
  #startsNow: boolean
  #endTimeMs: EpochMs | null = null

  constructor(schedule: ScheduleBuilder<T>, options: TriggerBuilderOptions = {}) {
    checkOptions('TriggerBuilder.newTrigger', options, { clock: checkClock, ids: checkIds })
    this.#clock = options.clock ?? systemClock
    this.#ids = options.ids ?? systemIds
    this.#hasMachineClock = options.clock === undefined
    this.#schedule = schedule
    this.#startTimeMs = this.#clock.now()
    this.#startsNow = this.#hasMachineClock
  }

  /** A builder that starts out with all fields of an existing trigger. */
  static from<T>(
    fields: TriggerFields,
    schedule: ScheduleBuilder<T>,
    options?: TriggerBuilderOptions,
  ): FluentTriggerBuilder<T> {
    const builder = new FluentTriggerBuilder(schedule, options)
    builder.#key = fields.key
    builder.#jobKey = fields.jobKey
    builder.#description = fields.description
    builder.#calendarName = fields.calendarName
    builder.#jobDataMap = fields.jobDataMap
    builder.#priority = fields.priority
    builder.#startTimeMs = fields.startTimeMs
    builder.#startsNow = startsNow(fields)
    builder.#endTimeMs = fields.endTimeMs
    return builder
  }

  /** The key, or name and group (default `DEFAULT`). Without an identity each built trigger gets a unique name. */
  withIdentity(key: TriggerKey): this
  withIdentity(name: string, group?: string): this
  withIdentity(identity: TriggerKey | string, group?: string): this {
    if (typeof identity === 'string') this.#key = new TriggerKey(identity, group)
    else {
      checkTriggerKey('TriggerBuilder.withIdentity', 'identity', identity)
      this.#key = identity
    }
    return this
  }

  /** The job to run: its key, anything that has a key, or name and group. */
  forJob(job: JobKey | { readonly key: JobKey }): this
  forJob(name: string, group?: string): this
  forJob(job: JobKey | { readonly key: JobKey } | string, group?: string): this {
    this.#jobKey = typeof job === 'string' ? new JobKey(job, group) : jobKeyOf(job)
    return this
  }

  withDescription(description: string | null): this {
    orNull(checkString)('TriggerBuilder.withDescription', 'description', description)
    this.#description = description
    return this
  }

  /** Of triggers due at the same millisecond the higher number goes first. A 32-bit integer, default 5. */
  withPriority(priority: number): this {
    checkNumber('TriggerBuilder.withPriority', 'priority', priority)
    this.#priority = priority
    return this
  }

  /** Name of the calendar whose excluded times the trigger skips, or null for none. */
  modifiedByCalendar(name: string | null): this {
    orNull(checkString)('TriggerBuilder.modifiedByCalendar', 'name', name)
    this.#calendarName = name
    return this
  }

  /**
   * No fire time lies before this instant, or for a cron trigger before its second. Default: the moment the builder was
   * made.
   */
  startAt(start: Date): this {
    this.#startTimeMs = requireInstantMs('TriggerBuilder.startAt', 'startAt', start)
    this.#startsNow = false
    return this
  }

  /** Starts at the moment of this call, by the clock that the builder was given. */
  startNow(): this {
    this.#startTimeMs = this.#clock.now()
    this.#startsNow = this.#hasMachineClock
    return this
  }

  /**
   * No fire is planned after this instant; null means no end. Each family says whether the instant itself counts.
   * A misfire after the end finishes simple and daily-time-interval triggers; cron and calendar-interval triggers make
   * up for it with one late fire unless their misfire instruction is `doNothing`.
   */
  endAt(end: Date | null): this {
    this.#endTimeMs = end === null ? null : requireInstantMs('TriggerBuilder.endAt', 'endAt', end)
    return this
  }

  /** Replaces the schedule; the builder then makes triggers of that family. */
  withSchedule<U>(schedule: ScheduleBuilder<U>): FluentTriggerBuilder<U> {
    checkSchedule('TriggerBuilder.withSchedule', 'schedule', schedule)
    const retyped = this as unknown as FluentTriggerBuilder<U>
    retyped.#schedule = schedule
    return retyped
  }

  /** Adds entries to the trigger's job data, over entries of the same key; `build` copies them. */
  usingJobData(data: JobDataMap): this
  usingJobData(key: string, value: unknown): this
  usingJobData(data: JobDataMap | string, value?: unknown): this {
    const added: unknown = typeof data === 'string' ? { [data]: value } : data
    if (!isDataObject(added)) {
      throw new InvalidArgumentError(
        'jobDataMap',
        'TriggerBuilder.usingJobData takes a record, or a key and a value.',
        'ERR_INVALID_JOB_DATA',
      )
    }
    this.#jobDataMap = { ...this.#jobDataMap, ...jobDataEntries('a trigger', added) }
    return this
  }

  /**
   * The trigger. It has not been scheduled: `nextFireTime` is null until a scheduler takes it.
   *
   * @throws InvalidArgumentError ERR_INVALID_TRIGGER, ERR_UNKNOWN_TIME_ZONE, ERR_INVALID_JOB_DATA
   */
  build(): T {
    const key = this.#key ?? generatedTriggerKey(this.#ids.uniqueName())
    const data = this.#jobDataMap
    const trigger = this.#schedule.build({
      key,
      jobKey: this.#jobKey,
      description: this.#description,
      calendarName: this.#calendarName,
      jobDataMap: data === emptyJobDataMap ? data : copyJobData(`trigger '${key.toString()}'`, data),
      priority: this.#priority,
      startTimeMs: this.#startTimeMs,
      endTimeMs: this.#endTimeMs,
    })
    if (this.#startsNow) markStartsNow(trigger)
    return trigger
  }
}

function jobKeyOf(job: JobKey | { readonly key: JobKey }): JobKey {
  if (isJobKey(job)) return job
  const key: unknown = isObject(job) ? job.key : undefined
  if (isJobKey(key)) return key
  throw wrongArgument('TriggerBuilder.forJob', 'job', 'a name, a JobKey or a JobDetail', job)
}
