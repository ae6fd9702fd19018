import { InvalidArgumentError, JobPersistenceError, SchedulerError } from '../core/errors.ts'
import { emptyJobDataMap, mergeJobData, refuseReservedKeys, validateJobData } from '../core/job-data-map.ts'
import type { JobKey } from '../core/key.ts'
import { isSameCode, toJobDefinition } from '../jobs/define-job.ts'
import type { JobSource } from '../jobs/job-definition.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { JobRegistry } from '../jobs/job-registry.ts'
import { validateAgainstSchema } from '../jobs/schema-validation.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import { neverFires } from '../jobstore/refusals.ts'
import type { StoreLimits } from '../jobstore/store-limits.ts'
import type { ThreadPool } from '../threadpool/thread-pool.ts'
import type { EpochMs } from '../time/clock.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import type { TriggerFamilies } from '../triggers/families/trigger-families.ts'
import type { Trigger } from '../triggers/trigger.ts'

/** Where jobs and calendars are looked up. */
export type CheckedStore = Pick<JobStore, 'getJob' | 'getCalendar'>

/** What the checks go by. */
export interface CheckedParts {
  readonly registry: JobRegistry
  readonly triggerFamilies: TriggerFamilies
  readonly store: CheckedStore
  /** The store that is to keep what is checked. */
  readonly keeper: StoreLimits
  readonly threadPool: ThreadPool
  readonly maxJobDataBytes: number
  /** The name of a store that does not split firings; null for one that does. */
  readonly storeWithoutSharding: string | null
}

/** Fire times up to now that a trigger leaves out when it is stored first: all, or all but the last one. */
export interface LeftOut {
  readonly nowMs: EpochMs
  readonly keepsLast: boolean
  /** Whether a trigger of which nothing would be left keeps them all. Default false: it is refused. */
  readonly keepsPassed?: boolean
}

/** Refuses jobs and triggers that could not run, before they are stored. */
export class ScheduleChecks {
  readonly #parts: CheckedParts
  readonly #registry: JobRegistry
  readonly #store: CheckedStore
  readonly #threadPool: ThreadPool
  readonly #maxJobDataBytes: number
  /** Null where the store itself refuses what it cannot keep, when it writes. */
  readonly #keeper: StoreLimits | null

  constructor(parts: CheckedParts, keeper: StoreLimits | null = null) {
    this.#parts = parts
    this.#keeper = keeper
    this.#registry = parts.registry
    this.#store = parts.store
    this.#threadPool = parts.threadPool
    this.#maxJobDataBytes = parts.maxJobDataBytes
  }

  /** The same checks, with jobs and calendars looked up elsewhere. */
  over(store: CheckedStore): ScheduleChecks {
    return new ScheduleChecks({ ...this.#parts, store }, this.#keeper)
  }

  /**
   * The same checks, and the store is asked what it can keep: for what is not stored at once, or not in one
   * transaction. It makes a row for the answer, as it does again when it writes.
   */
  beforeWriting(): ScheduleChecks {
    return new ScheduleChecks(this.#parts, this.#parts.keeper)
  }

  /**
   * The job as it is to be stored: with the settings of its definition, its data checked. A scheduler that runs nothing
   * and was given no jobs works on the data of nodes that know theirs, so it takes any type.
   *
   * @throws SchedulerError ERR_UNKNOWN_JOB_TYPE, ERR_WORKER_UNAVAILABLE, ERR_WORKER_MODULE, ERR_INVALID_JOB_DATA,
   *   ERR_JOB_DATA_TOO_LARGE, ERR_NOT_SUPPORTED for a sharded job that the store cannot split
   * @throws InvalidArgumentError for a sharded job whose items could not run side by side, or whose definition does not
   *   say how many there are; for a job that the store cannot keep
   */
  job(job: JobDetail): JobDetail {
    const complete = this.#complete(job)
    requireSplittable(complete)
    this.#requireItems(complete)
    const { storeWithoutSharding } = this.#parts
    if (complete.sharding === null || storeWithoutSharding === null) {
      this.#keeper?.requireStorable?.({ job: complete, triggers: [] })
      return complete
    }
    throw new SchedulerError(
      'ERR_NOT_SUPPORTED',
      `${storeWithoutSharding} does not split the firings of sharded jobs, such as ${job.key.toString()}. Use a ` +
        'store that does; tables that Java nodes share cannot, because those would run a firing as one execution.',
    )
  }

  /** The type of a definition under whose name another one with other code is registered; otherwise null. */
  otherCodeOf(source: JobSource): string | null {
    const given = toJobDefinition(source)
    const known = this.#registry.find(given.jobType)
    return known === null || isSameCode(known, given) ? null : given.jobType
  }

  #requireItems({ key, jobType, sharding }: JobDetail): void {
    if (sharding?.items !== 'remote') return
    const definition = this.#registry.find(jobType)
    if (definition === null || definition.remote?.items !== undefined) return
    throw new InvalidArgumentError(
      'sharding',
      `Job ${key.toString()} has 'remote' items, and '${jobType}' does not say how many: give its defineRemoteJob ` +
        "the option 'items', or the job a number of items.",
    )
  }

  #complete(job: JobDetail): JobDetail {
    if (this.#threadPool.size === 0 && this.#registry.jobTypes.length === 0) {
      this.#data('job', job)
      return job
    }
    const definition = this.#registry.get(job.jobType, job.key)
    // A pool of size 0 only schedules: other nodes run the jobs.
    if (definition.kind === 'worker' && this.#threadPool.size > 0) {
      this.#threadPool.checkWorkerModule(definition.moduleUrl)
    }
    this.#data('job', job)
    return this.#registry.complete(job)
  }

  /**
   * The trigger as it is to be stored: for this job, valid, with its first fire time that it does not leave out.
   * Not a promise where nothing else has to be asked: a caller may have a hundred thousand.
   *
   * @throws SchedulerError ERR_JOB_KEY_MISMATCH, ERR_INVALID_TRIGGER, ERR_CALENDAR_NOT_FOUND, ERR_JOB_DATA_SCHEMA,
   * ERR_TRIGGER_NEVER_FIRES, and those by which the store says that it cannot keep the trigger
   */
  trigger(trigger: Trigger, job: JobDetail, leftOut: LeftOut | null = null): Trigger | Promise<Trigger> {
    const ours = this.#forJob(trigger, job.key)
    this.#parts.triggerFamilies.of(ours)
    ours.validate()
    this.#data('trigger', ours)
    const definition = this.#registry.find(job.jobType)
    const isAlone = (definition?.schema ?? null) === null && ours.calendarName === null
    return isAlone ? this.#kept(firstFire(ours, null, leftOut)) : this.#withOthers(ours, job, leftOut)
  }

  /** What a trigger needs besides itself: the schema of its job's data, and its calendar. */
  async #withOthers(trigger: Trigger, job: JobDetail, leftOut: LeftOut | null): Promise<Trigger> {
    const owner = `trigger ${trigger.key.toString()}`
    const definition = this.#registry.find(job.jobType)
    if (definition !== null && definition.schema !== null) {
      const merged = mergeJobData(job.jobDataMap, trigger.jobDataMap)
      await validateAgainstSchema(definition, merged, `job ${job.key.toString()} with ${owner}`)
    }
    const calendar = trigger.calendarName === null ? null : await this.#calendar(trigger.calendarName, owner)
    return this.#kept(firstFire(trigger, calendar, leftOut))
  }

  #kept(trigger: Trigger): Trigger {
    this.#keeper?.requireStorable?.({ job: null, triggers: [trigger] })
    return trigger
  }

  /** @throws JobPersistenceError ERR_JOB_NOT_FOUND */
  async existingJob(jobKey: JobKey | null, owner: string): Promise<JobDetail> {
    if (jobKey === null) {
      throw new InvalidArgumentError(
        'jobKey',
        `${owner} names no job: use forJob, or pass the job too.`,
        'ERR_INVALID_TRIGGER',
      )
    }
    const job = await this.#store.getJob(jobKey)
    if (job !== null) return job
    throw new JobPersistenceError(
      `The job ${jobKey.toString()} that ${owner} names does not exist. Store it first.`,
      {
        code: 'ERR_JOB_NOT_FOUND',
      },
    )
  }

  #forJob(trigger: Trigger, jobKey: JobKey): Trigger {
    if (trigger.jobKey === null) return trigger.withJobKey(jobKey)
    if (trigger.jobKey.equals(jobKey)) return trigger
    throw new SchedulerError(
      'ERR_JOB_KEY_MISMATCH',
      `Trigger ${trigger.key.toString()} is for job ${trigger.jobKey.toString()}, not for ${jobKey.toString()}. ` +
        'Leave out forJob, or name the same job.',
    )
  }

  async #calendar(name: string, owner: string): Promise<Calendar> {
    const calendar = await this.#store.getCalendar(name)
    if (calendar !== null) return calendar
    throw new JobPersistenceError(
      `The calendar '${name}' that ${owner} names does not exist. Add it first: name it in the option ` +
        `'calendars' of createScheduler, or call addCalendar.`,
      {
        code: 'ERR_CALENDAR_NOT_FOUND',
      },
    )
  }

  #data(what: string, { key: ownerKey, jobDataMap: data }: JobDetail | Trigger): void {
    if (data === emptyJobDataMap) return
    const owner = `${what} ${ownerKey.toString()}`
    validateJobData(owner, data, this.#maxJobDataBytes)
    refuseReservedKeys(owner, Object.keys(data))
  }
}

/**
 * Refuses a job whose items could not run side by side.
 *
 * @throws InvalidArgumentError ERR_INVALID_ARGUMENT
 */
function requireSplittable(job: JobDetail): void {
  if (job.sharding === null) return
  if (!job.disallowConcurrentExecution && !job.persistJobDataAfterExecution) return
  const setting = job.disallowConcurrentExecution
    ? 'disallowConcurrentExecution'
    : 'persistJobDataAfterExecution'
  throw new InvalidArgumentError(
    'sharding',
    `Job ${job.key.toString()} is sharded, and has '${setting}': its items run side by side, so leave that out. ` +
      'An item never runs twice at the same time.',
  )
}

/** A trigger with its first fire time. */
function firstFire(trigger: Trigger, calendar: Calendar | null, leftOut: LeftOut | null): Trigger {
  const first = trigger.computeFirstFireTime(calendar)
  const left = leftOut === null ? first : leavingOut(first, calendar, leftOut)
  const scheduled = left.nextFireTimeMs === null && leftOut?.keepsPassed === true ? first : left
  if (scheduled.nextFireTimeMs === null) throw neverFires(trigger)
  return scheduled
}

/** What was left out has not fired. */
function leavingOut(trigger: Trigger, calendar: Calendar | null, { nowMs, keepsLast }: LeftOut): Trigger {
  const afterMs = keepsLast ? beforeLastDue(trigger, calendar, nowMs) : nowMs
  const { nextFireTimeMs } = trigger.withoutMissed(calendar, afterMs)
  const { previousFireTimeMs, timesTriggered, misfiredFireTimeMs } = trigger
  return trigger.withFireState({ nextFireTimeMs, previousFireTimeMs, timesTriggered, misfiredFireTimeMs })
}

/** The latest instant after which a fire time comes that is due; before all of them when none is. */
function beforeLastDue(trigger: Trigger, calendar: Calendar | null, nowMs: EpochMs): EpochMs {
  let [beforeMs, behindMs] = [trigger.startTimeMs - 1, nowMs]
  while (behindMs - beforeMs > 1) {
    const middleMs = Math.floor((beforeMs + behindMs) / 2)
    const { nextFireTimeMs } = trigger.withoutMissed(calendar, middleMs)
    if (nextFireTimeMs !== null && nextFireTimeMs <= nowMs) beforeMs = middleMs
    else behindMs = middleMs
  }
  return beforeMs
}
