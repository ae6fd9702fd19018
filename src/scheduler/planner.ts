import { createHash } from 'node:crypto'
import { SchedulerError } from '../core/errors.ts'
import type { IdGenerator } from '../core/ids.ts'
import { generatedJobKey, generatedTriggerKey, isGeneratedKey, JobKey, TriggerKey } from '../core/key.ts'
import { JobBuilder } from '../jobs/job-builder.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { JobPlan } from '../jobs/job-plan.ts'
import type { ScheduleOptions } from '../jobs/schedule-options.ts'
import type { PlannedJob } from '../jobstore/planned-job.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import { TriggerBuilder } from '../triggers/families/trigger-builder.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { LeftOut, ScheduleChecks } from './schedule-checks.ts'
import type { JobSchedule } from './schedule-definition.ts'
import { delayMsOf, timesOf } from './schedule-times.ts'

export interface PlannerParts {
  readonly checks: ScheduleChecks
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly misfireThresholdMs: number
}

/** The set of schedules that a definition belongs to. */
export interface PlanOwner {
  readonly set: string | null
  readonly generation: number
}

/** Makes of definitions what stores take. */
export class Planner {
  readonly #parts: PlannerParts

  constructor(parts: PlannerParts) {
    this.#parts = parts
  }

  /**
   * @throws SchedulerError, JobPersistenceError, InvalidArgumentError, CronExpressionError as `scheduleJob` does, and
   * for a time or a duration that cannot be read
   */
  async plan(method: string, definition: JobSchedule, owner: PlanOwner): Promise<PlannedJob> {
    const { options } = definition
    const key = keyOf(options) ?? generatedJobKey(this.#parts.ids.uniqueName())
    const job = this.#parts.checks.job(jobOf(definition, key))
    return {
      job: Object.freeze({
        ...job,
        plan: Object.freeze({
          ...owner,
          job: digestOf(settingsOf(job)),
          when: digestOf(whenOf(options)),
          ...instantOf(method, options),
          data: Object.fromEntries(
            Object.entries(job.jobDataMap).map(([name, value]) => [name, digestOf(value)]),
          ),
        }),
      }),
      ...(await this.#trigger(method, options, job)),
      goesOnFrom: goesOnFrom(options),
    }
  }

  /**
   * The trigger from now on: no instant before the declaration was missed, however long ago the start is. A program
   * with a key declares its schedule at every start, so one that is over by then is no error: it is the trigger of
   * former times, and past. What is not durable has no former times.
   */
  async #trigger(
    method: string,
    options: ScheduleOptions<object>,
    job: JobDetail,
  ): Promise<Pick<PlannedJob, 'trigger' | 'isPast'>> {
    const { checks, clock, misfireThresholdMs } = this.#parts
    const nowMs = clock.now()
    const { at, startAt, endAt } = options
    const pastMs = nowMs - misfireThresholdMs
    // A start that was taken when the program began is meant to be now.
    const leftOut =
      startAt !== undefined && startAt.getTime() < nowMs
        ? { nowMs, keepsLast: startAt.getTime() >= pastMs }
        : null
    const from = (start: Date, out: LeftOut | null = null): Trigger | Promise<Trigger> =>
      checks.trigger(triggerOf(method, options, job, { clock, start }), job, out)
    if (!job.durable) return { trigger: await from(startOf(method, options, nowMs)), isPast: false }
    if (endAt === undefined || endAt.getTime() >= nowMs) {
      const trigger = await unlessOver(() => from(startOf(method, options, nowMs), leftOut))
      if (trigger !== null) return { trigger, isPast: at !== undefined && at.getTime() < pastMs }
    }
    const trigger = await unlessOver(() => from(longAgo))
    return { trigger: trigger ?? (await this.#withoutTimes(method, options, job)), isPast: true }
  }

  /** The trigger of a schedule of which its calendar leaves nothing. */
  async #withoutTimes(method: string, options: ScheduleOptions<object>, job: JobDetail): Promise<Trigger> {
    const { checks, clock } = this.#parts
    const { calendarName = null, ...always } = options
    const unlimited = await checks.trigger(triggerOf(method, always, job, { clock, start: longAgo }), job)
    return unlimited.getTriggerBuilder().modifiedByCalendar(calendarName).build()
  }
}

/** Null for a trigger that never fires. */
async function unlessOver(make: () => Trigger | Promise<Trigger>): Promise<Trigger | null> {
  try {
    return await make()
  } catch (error) {
    if (error instanceof SchedulerError && error.code === 'ERR_TRIGGER_NEVER_FIRES') return null
    throw error
  }
}

/** Before all instants for which a schedule may have been declared. */
const longAgo = new Date(0)

function goesOnFrom({ at, startAt, every }: ScheduleOptions<object>): PlannedJob['goesOnFrom'] {
  if (at !== undefined || startAt !== undefined) return 'start'
  return every === undefined ? 'due' : 'lastFire'
}

/** The key that options name; null when they name none. */
export function keyOf({ key }: ScheduleOptions<object>): JobKey | null {
  if (key === undefined) return null
  return typeof key === 'string' ? new JobKey(key) : key
}

function jobOf({ job, options }: JobSchedule, key: JobKey): JobDetail {
  const { description, requestRecovery, data = {} } = options
  const builder = JobBuilder.newJob(job)
  builder.withIdentity(key)
  if (requestRecovery !== undefined) builder.requestRecovery(requestRecovery)
  // What was run once stays, so that nothing runs it again when it is declared again.
  builder.storeDurably(options.durable ?? options.key !== undefined)
  if (description !== undefined) builder.withDescription(description)
  builder.usingJobData(data as never)
  return builder.restOfDataFromTriggers().build()
}

function triggerOf(
  method: string,
  options: ScheduleOptions<object>,
  job: JobDetail,
  { clock, start }: { readonly clock: Clock; readonly start: Date },
): Trigger {
  const { startAt, endAt, priority, calendarName } = options
  const { name, group } = job.key
  const key = isGeneratedKey(job.key) ? generatedTriggerKey(name) : new TriggerKey(name, group)
  const builder = TriggerBuilder.newTrigger({ clock })
    .withIdentity(key)
    .forJob(job.key)
    .startAt(startAt ?? start)
    .withSchedule<Trigger>(timesOf(method, options))
  if (endAt !== undefined) builder.endAt(endAt)
  if (priority !== undefined) builder.withPriority(priority)
  if (calendarName !== undefined) builder.modifiedByCalendar(calendarName)
  return builder.build()
}

function startOf(method: string, options: ScheduleOptions<object>, nowMs: EpochMs): Date {
  if (options.at !== undefined) return options.at
  return new Date(nowMs + (options.in === undefined ? 0 : delayMsOf(method, options.in)))
}

const notWhen: ReadonlySet<string> = new Set(['key', 'data', 'description', 'requestRecovery', 'durable'])

/** The options that say when, without what differs between nodes that mean the same. */
function whenOf(options: ScheduleOptions<object>): object {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !notWhen.has(name)))
}

/**
 * What a job is declared with but for its data, without what it leaves out: a field that a later version knows must not
 * make schedules count as changed that do not use it.
 */
function settingsOf(job: JobDetail): object {
  const isSet = ([name, value]: readonly [string, unknown]): boolean =>
    name !== 'jobDataMap' && value !== null && value !== false
  return Object.fromEntries(Object.entries(job).filter(isSet))
}

/** The same instant in other words, or with another priority, is the same plan for a job that runs once. */
function instantOf(method: string, options: ScheduleOptions<object>): Pick<JobPlan, 'instant'> {
  if (options.at !== undefined) return { instant: digestOf(options.at) }
  return options.in === undefined ? {} : { instant: digestOf(delayMsOf(method, options.in)) }
}

/** A digest of a value as JSON, whatever the order of its fields. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalText(value)).digest('base64url').slice(0, 16)
}

function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, found: unknown) => {
    if (typeof found !== 'object' || found === null || Array.isArray(found)) return found
    return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
