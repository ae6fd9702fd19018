import type { JobSource } from '../jobs/job-definition.ts'
import type { ScheduledJob, ScheduleOptions } from '../jobs/schedule-options.ts'
import type { JobStoreTransaction } from '../jobstore/job-store.ts'
import { nextFireTimeMsAfter, type PlannedJob, type PutPlan, planChange } from '../jobstore/planned-job.ts'
import { scheduleDefinition } from './define-schedule.ts'
import type { Nameless } from './nameless.ts'
import { Planner, type PlanOwner } from './planner.ts'
import type { ScheduleChecks } from './schedule-checks.ts'
import type { ScheduleDefinition } from './schedule-definition.ts'
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

/** Carries out single schedules, of the short form. */
export class PlannedJobs {
  readonly #parts: PlannedJobsParts
  readonly #planner: Planner

  constructor(parts: PlannedJobsParts) {
    this.#parts = parts
    this.#planner = new Planner({ ...parts.options, checks: parts.checks })
  }

  async schedule(job: JobSource | string, options: ScheduleOptions<object>): Promise<ScheduledJob> {
    const definition = scheduleDefinition('schedule', job, options)
    const planned = await this.plan('schedule', definition, { set: null, generation: 0 })
    const { outcome, nextFireTimeMs } = await this.put(planned)
    return {
      key: planned.job.key,
      change: outcome === 'newer' ? 'unchanged' : outcome,
      nextFireTime: nextFireTimeMs === null ? null : new Date(nextFireTimeMs),
    }
  }

  plan(method: string, definition: ScheduleDefinition, owner: PlanOwner): Promise<PlannedJob> {
    return this.#planner.plan(method, definition, owner)
  }

  /** Stores a plan that differs from what is stored; what is the same costs two reads. */
  async put(planned: PlannedJob): Promise<PutPlan> {
    const { observer, nameless, budget } = this.#parts
    const seen = await this.lookAt(planned)
    if (seen.job === null && seen.trigger === null && !seen.dropsTrigger) return seen
    const put = await this.#parts.open().putPlanned(planned)
    const { outcome, job, trigger, dropsTrigger } = put
    nameless.note(planned.job, [planned.trigger])
    if (outcome === 'changed' && (trigger !== null || dropsTrigger)) {
      await observer.jobUnscheduled(planned.trigger.key)
    }
    if (job !== null && outcome !== 'unchanged') await observer.jobAdded(job)
    if (trigger !== null) await observer.jobScheduled(trigger)
    await budget.spend()
    return put
  }

  /** What `put` would do now. */
  async lookAt(planned: PlannedJob): Promise<PutPlan> {
    const store = this.#parts.open()
    const job = await store.getJob(planned.job.key)
    const trigger = job === null ? null : await store.getTrigger(planned.trigger.key)
    const { calendarName } = planned.trigger
    const calendar = calendarName === null ? null : await store.getCalendar(calendarName)
    const change = planChange({ job, trigger }, planned, { calendar, nowMs: this.#parts.options.clock.now() })
    return { ...change, nextFireTimeMs: nextFireTimeMsAfter(change, trigger) }
  }
}
