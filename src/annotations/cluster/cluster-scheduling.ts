import { InvalidArgumentError } from '../../core/errors.ts'
import type { JobKey, TriggerKey } from '../../core/key.ts'
import type { Logger } from '../../core/logger.ts'
import { describeValue } from '../../core/options.ts'
import { logThrown } from '../../core/thrown-value.ts'
import type { SchedulerListener } from '../../listeners/scheduler-listener.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Clock, ClockTimer } from '../../time/clock.ts'
import { scheduledMethodsOf } from '../scheduled-methods.ts'
import { type ClusterSchedulingOptions, resolveEveryOptions } from '../scheduling-options.ts'
import { type ClusterJob, clusterJobsOf, methodsGroup } from './cluster-jobs.ts'
import { deleteUnknown, storeJobs } from './reconcile.ts'

/** One schedule of a method in the cluster. */
export interface ClusterTask {
  /** The name that was given, or `Class.method`. */
  readonly name: string
  readonly kind: 'cron' | 'fixedRate' | 'fixedDelay'
  readonly jobKey: JobKey
  readonly triggerKey: TriggerKey
  /** When some instance runs it next; null when it is cancelled. */
  nextExecution(): Promise<Date | null>
  /**
   * Deletes the schedule for every instance, until an instance starts that has it; false when it is deleted already.
   */
  cancel(): Promise<boolean>
}

/** What `enableScheduling` returns for a cluster. */
export interface ClusterScheduling extends AsyncDisposable {
  /** Group of the jobs and triggers. */
  readonly group: string
  /** The schedules of this instance's methods. */
  tasks(): readonly ClusterTask[]
  /** Deletes the jobs of this instance's methods, for all instances, until one starts that has them. */
  cancel(): Promise<void>
  /** Stops looking for jobs to delete. The jobs stay, and run here until the scheduler is shut down. */
  close(): Promise<void>
}

/** How often an instance looks again while other nodes have methods that it lacks: those nodes may stop. */
const lookAgainMs = 60_000

export async function enableClusterScheduling(options: ClusterSchedulingOptions): Promise<ClusterScheduling> {
  const { instances, resolve, logger, clock } = resolveEveryOptions(options)
  const { cluster: scheduler, removeUnknown = true } = options
  const group = groupOf(options.application)
  const jobs = clusterJobsOf(scheduledMethodsOf(instances), { group, scheduler, clock, logger, resolve })
  scheduler.registerJobs(jobs.map(({ definition }) => definition))
  // A schedule that cannot be stored is refused before any method runs.
  await storeJobs(scheduler, jobs)
  const caretaker = new Caretaker({ scheduler, group, jobs, removeUnknown, clock, logger })
  caretaker.begin()
  const close = (): Promise<void> => caretaker.end()
  return {
    group,
    tasks: () => jobs.flatMap((job) => tasksOf(scheduler, job)),
    cancel: async () => {
      await scheduler.deleteJobs(jobs.map(({ job }) => job.key))
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function groupOf(application: unknown): string {
  if (application === undefined) return methodsGroup
  if (typeof application === 'string' && application.trim() !== '') return `${methodsGroup}.${application}`
  throw new InvalidArgumentError(
    'application',
    `enableScheduling: 'application' must be a name that is not blank, got ${describeValue(application)}.`,
    'ERR_INVALID_OPTION',
  )
}

function tasksOf(scheduler: Scheduler, { job, triggers }: ClusterJob): ClusterTask[] {
  return triggers.map((trigger) => ({
    name: job.key.name,
    kind: trigger.kind,
    jobKey: job.key,
    triggerKey: trigger.key,
    nextExecution: async () => (await scheduler.getTrigger(trigger.key))?.nextFireTime ?? null,
    cancel: () => scheduler.unscheduleJob(trigger.key),
  }))
}

interface CaretakerParts {
  readonly scheduler: Scheduler
  readonly group: string
  readonly jobs: readonly ClusterJob[]
  readonly removeUnknown: boolean
  readonly clock: Clock
  readonly logger: Logger
}

/** Looks for jobs to delete once the scheduler has started, because nodes publish their job types when they start. */
class Caretaker {
  readonly #parts: CaretakerParts
  readonly #listener: SchedulerListener
  #timer: ClockTimer | null = null
  #looking: Promise<void> = Promise.resolve()
  #isStarted = false
  #isEnded = false

  constructor(parts: CaretakerParts) {
    this.#parts = parts
    this.#listener = {
      schedulerStarted: () => this.#started(),
      schedulerInStandbyMode: () => {
        this.#timer?.cancel()
      },
      schedulerShuttingdown: () => this.end(),
    }
  }

  begin(): void {
    this.#parts.scheduler.listenerManager.addSchedulerListener(this.#listener)
  }

  async end(): Promise<void> {
    this.#isEnded = true
    this.#timer?.cancel()
    this.#parts.scheduler.listenerManager.removeSchedulerListener(this.#listener)
    await this.#looking
  }

  async #started(): Promise<void> {
    const { scheduler, jobs, removeUnknown } = this.#parts
    // An instance of older code that started meanwhile may have deleted jobs that it did not know.
    if (!this.#isStarted) await storeJobs(scheduler, jobs)
    this.#isStarted = true
    if (removeUnknown) await this.#look()
  }

  async #look(): Promise<void> {
    const { scheduler, group, jobs, clock, logger } = this.#parts
    this.#timer?.cancel()
    let left: number
    try {
      left = await deleteUnknown(
        scheduler,
        group,
        jobs.map(({ job }) => job.key),
      )
    } catch (error) {
      if (this.#isEnded) return
      logThrown(logger, error, 'Jobs that no node knows could not be looked for; trying again', { group })
      left = 1
    }
    if (left === 0 || this.#isEnded) return
    const again = (): void => {
      this.#looking = this.#look()
    }
    this.#timer = clock.setTimer(lookAgainMs, again, { unref: true })
  }
}
