import { isBrokenRow } from '../core/errors.ts'
import { isGeneratedKey, type JobKey, type TriggerKey } from '../core/key.ts'
import type { KeyMap } from '../core/key-map.ts'
import type { JobSource } from '../jobs/job-definition.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { ScheduledJob, ScheduleOptions } from '../jobs/schedule-options.ts'
import type { JobStoreTransaction } from '../jobstore/job-store.ts'
import {
  nextFireTimeMsAfter,
  type PlannedJob,
  type PutPlan,
  planChange,
  type StoredPlan,
} from '../jobstore/planned-job.ts'
import { plannedOntoAnother } from '../jobstore/refusals.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import type { Trigger } from '../triggers/trigger.ts'
import { jobSchedule } from './define-schedule.ts'
import type { Nameless } from './nameless.ts'
import { Planner, type PlanOwner } from './planner.ts'
import type { ScheduleChecks } from './schedule-checks.ts'
import type { JobSchedule } from './schedule-definition.ts'
import type { ResolvedSchedulerOptions } from './scheduler-options.ts'
import type { SchedulingObserver } from './scheduling-observer.ts'
import type { TurnBudget } from './turn-budget.ts'

export interface PlannedJobsParts {
  readonly options: ResolvedSchedulerOptions
  readonly checks: ScheduleChecks
  readonly observer: SchedulingObserver
  readonly nameless: Nameless
  readonly budget: TurnBudget
  /** The store; throws once the scheduler has been shut down. */
  readonly open: () => JobStoreTransaction
}

/** What storing a plan would do, and the generation that is stored. */
export interface SeenPlan extends PutPlan {
  readonly generation: number
}

/** What is known of many plans at once, so that not each is read by itself. */
export interface ReadAhead {
  readonly jobs: KeyMap<JobKey, JobDetail>
  readonly triggers: KeyMap<TriggerKey, Trigger>
  /** By name; what is read is added. */
  readonly calendars: Map<string, Calendar | null>
}

/** Carries out single schedules, of the short form. */
export class PlannedJobs {
  readonly #parts: PlannedJobsParts
  readonly #planner: Planner
  /** Job types of which another definition was given than that which is registered. */
  readonly #otherDefinitions = new Set<string>()

  constructor(parts: PlannedJobsParts) {
    this.#parts = parts
    this.#planner = new Planner({ ...parts.options, checks: parts.checks.beforeWriting() })
  }

  async schedule(job: JobSource | string, options: ScheduleOptions<object>): Promise<ScheduledJob> {
    const definition = jobSchedule('schedule', job, options)
    if (typeof job !== 'string') this.#warnOfOtherCode(job)
    const planned = await this.plan('schedule', definition, { set: null, generation: 0 })
    const { outcome, nextFireTimeMs } = await this.put(planned)
    return {
      key: planned.job.key,
      change: outcome === 'newer' ? 'unchanged' : outcome,
      nextFireTime: nextFireTimeMs === null ? null : new Date(nextFireTimeMs),
    }
  }

  plan(method: string, definition: JobSchedule, owner: PlanOwner): Promise<PlannedJob> {
    return this.#planner.plan(method, definition, owner)
  }

  /** Stores a plan that differs from what is stored; what is the same costs two reads. */
  async put(planned: PlannedJob): Promise<PutPlan> {
    // Nothing is stored under a key that was made a moment ago.
    if (isGeneratedKey(planned.job.key)) return this.store(planned)
    const job = await this.#parts.open().getJob(planned.job.key)
    // The store itself looks for the trigger of a job that is new.
    const trigger = job === null ? null : await this.#triggerOf(planned)
    const seen = await this.#compare(planned, { job, trigger })
    if (changesNothing(seen)) return seen
    const put = await this.store(planned)
    if (job !== null && job.jobType !== planned.job.jobType) this.#warnOfOtherJob(job, planned.job)
    return put
  }

  /** Two schedules of a program may have got one key, or a release has given it to another job. */
  #warnOfOtherJob({ jobType: former }: JobDetail, { key, jobType }: JobDetail): void {
    this.#parts.options.logger.warn(
      { jobType },
      `The schedule '${key.toString()}' runs the job type '${jobType}' from now on: it was stored for '${former}'. ` +
        'If that is not meant, give each of them a key of its own.',
    )
  }

  /** Only the name is stored, so what is registered under it runs. */
  #warnOfOtherCode(source: JobSource): void {
    const jobType = this.#parts.checks.otherCodeOf(source)
    if (jobType === null || this.#otherDefinitions.has(jobType)) return
    this.#otherDefinitions.add(jobType)
    this.#parts.options.logger.warn(
      { jobType },
      `schedule was given another definition of the job type '${jobType}' than the registered one, whose code runs. ` +
        "Give each a name of its own and list both in the 'jobs' of createScheduler; for one whose module was " +
        'loaded anew, pass the name as a text.',
    )
  }

  /** Stores a plan whose changes were looked at: the store decides anew, with what it has locked. */
  async store(planned: PlannedJob): Promise<PutPlan> {
    const { observer, nameless, budget } = this.#parts
    const put = await this.#parts.open().putPlanned(planned)
    const { outcome, job, trigger, dropsTrigger } = put
    nameless.note(planned.job, [planned.trigger])
    if (outcome === 'changed' && (trigger !== null || dropsTrigger)) {
      await observer.jobUnscheduled(planned.trigger.key)
    }
    if (job !== null && outcome !== 'unchanged') await observer.jobAdded(job)
    if (trigger !== null) await observer.jobScheduled(trigger)
    if (put.nextFireTimeMs === null) this.#warnOfPast(planned, outcome)
    await budget.spend()
    return put
  }

  /**
   * What is declared again at each start may be over by then; what is declared for the first time, or with other data,
   * was meant to run. In memory everything is new at each start.
   */
  #warnOfPast({ job: { durable, jobType, key }, trigger }: PlannedJob, outcome: PutPlan['outcome']): void {
    const { jobStore, logger } = this.#parts.options
    if (outcome === 'added' && jobStore.capabilities.persistent) {
      const left = trigger.calendarName === null ? '' : `, or are left out by '${trigger.calendarName}'`
      const problem = `is new and will never run: all of its times have passed${left}.`
      logger.warn({ jobType }, `The schedule '${key.toString()}' ${problem}`)
    } else if (outcome === 'changed' && !durable) {
      // It is still stored only because its run, or a retry, has not ended: the job itself may be declaring it.
      const problem =
        "was changed in its run or before a retry, and goes after that: 'at' or 'in' is the same."
      const remedy = 'For another run declare another time, schedule it after that, or use another key.'
      logger.warn({ jobType }, `The schedule '${key.toString()}' ${problem} ${remedy}`)
    } else if (outcome === 'changed') {
      const problem =
        'was changed and will not run: its times have passed, it has run once, or its trigger was deleted.'
      const remedy = 'For another run declare a time that is ahead, or use another key.'
      logger.warn({ jobType }, `The schedule '${key.toString()}' ${problem} ${remedy}`)
    }
  }

  /**
   * What storing it would do now, with the generation of its set that is stored. What was not read ahead is read by
   * itself.
   *
   * @throws JobPersistenceError ERR_OBJECT_ALREADY_EXISTS as storing it would
   */
  async lookAt(planned: PlannedJob, { jobs, triggers, calendars }: ReadAhead): Promise<SeenPlan> {
    const job = jobs.get(planned.job.key) ?? (await this.#parts.open().getJob(planned.job.key))
    const trigger = triggers.get(planned.trigger.key) ?? (await this.#triggerOf(planned))
    const seen = await this.#compare(planned, { job, trigger }, calendars)
    return { ...seen, generation: job?.plan?.generation ?? 0 }
  }

  /** A trigger that cannot be read counts as none, as it does where it is stored: it is replaced. */
  async #triggerOf({ trigger: { key } }: PlannedJob): Promise<Trigger | null> {
    try {
      return await this.#parts.open().getTrigger(key)
    } catch (error) {
      if (isBrokenRow(error)) return null
      throw error
    }
  }

  async #compare(
    planned: PlannedJob,
    found: Omit<StoredPlan, 'isPaused'>,
    calendars: Map<string, Calendar | null> = new Map(),
  ): Promise<PutPlan> {
    const { key, calendarName } = planned.trigger
    const { trigger } = found
    if (trigger !== null && trigger.jobKey?.equals(planned.job.key) !== true) throw plannedOntoAnother(key)
    const calendar = calendarName === null ? null : await this.#calendarOf(calendarName, calendars)
    // The store knows whether the trigger is paused, which decides nothing about whether there is something to store,
    // and what is in force by then.
    const stored = { ...found, isPaused: false }
    const nowMs = this.#parts.options.clock.now()
    const change = planChange(stored, planned, { calendar, nowMs, inForce: planned.job.plan.generation })
    return { ...change, nextFireTimeMs: nextFireTimeMsAfter(change, trigger) }
  }

  async #calendarOf(name: string, known: Map<string, Calendar | null>): Promise<Calendar | null> {
    const found = known.get(name)
    if (found !== undefined) return found
    const calendar = await this.#parts.open().getCalendar(name)
    known.set(name, calendar)
    return calendar
  }
}

/** Whether nothing is to be stored. */
export function changesNothing({ job, trigger, dropsTrigger }: PutPlan): boolean {
  return job === null && trigger === null && !dropsTrigger
}
