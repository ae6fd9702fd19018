import type { JobKey, TriggerKey } from '../../core/key.ts'
import type { Logger } from '../../core/logger.ts'
import { unawaited } from '../../core/promises.ts'
import { logThrown } from '../../core/thrown-value.ts'
import type { SchedulerListener } from '../../listeners/scheduler-listener.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Clock, ClockTimer } from '../../time/clock.ts'
import { scheduledMethodsOf } from '../scheduled-methods.ts'
import { type ClusterSchedulingOptions, resolveEveryOptions } from '../scheduling-options.ts'
import { type ClusterJob, type ClusterTrigger, clusterJobsOf, methodsGroup } from './cluster-jobs.ts'
import { registerMethods } from './method-registrations.ts'
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
   * Deletes the schedule for every instance, until an instance starts that has it, or that others took for failed;
   * false when it is deleted already.
   */
  cancel(): Promise<boolean>
}

/** What `enableScheduling` returns for a cluster. */
export interface ClusterScheduling extends AsyncDisposable {
  /** Group of the jobs and triggers. */
  readonly group: string
  /** The schedules of this instance's methods. */
  tasks(): readonly ClusterTask[]
  /**
   * Deletes the jobs of this instance's methods, for all instances, until one starts that has them. One that others
   * took for failed counts as one that starts.
   */
  cancel(): Promise<void>
  /** Stops looking for jobs to delete. The jobs stay, and run here until the scheduler is shut down. */
  close(): Promise<void>
}

/** How long after a look that is not the last one. */
const lookAgainMs = 60_000

export async function enableClusterScheduling(options: ClusterSchedulingOptions): Promise<ClusterScheduling> {
  const { instances, resolve, logger, clock } = resolveEveryOptions(options)
  const { cluster: scheduler, removeUnknown = true } = options
  const group = options.application === undefined ? methodsGroup : `${methodsGroup}.${options.application}`
  const jobs = clusterJobsOf(scheduledMethodsOf(instances), { group, scheduler, clock, logger, resolve })
  const giveBack = registerMethods(scheduler, jobs)
  try {
    // A schedule that cannot be stored is refused before any method runs.
    await storeJobs(scheduler, jobs, { decides: true })
  } catch (error) {
    giveBack()
    throw error
  }
  const caretaker = new Caretaker({ scheduler, group, jobs, removeUnknown, clock, logger })
  caretaker.begin()
  const close = (): Promise<void> => caretaker.end()
  return {
    group,
    tasks: () => jobs.flatMap((job) => tasksOf(scheduler, job, caretaker)),
    cancel: async () => {
      const triggers = jobs.flatMap((each) => each.triggers)
      await caretaker.leave(triggers, () => scheduler.deleteJobs(jobs.map(({ job }) => job.key)))
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function tasksOf(scheduler: Scheduler, { job, triggers }: ClusterJob, caretaker: Caretaker): ClusterTask[] {
  return triggers.map((trigger) => ({
    name: job.key.name,
    kind: trigger.kind,
    jobKey: job.key,
    triggerKey: trigger.key,
    nextExecution: async () => (await scheduler.getTrigger(trigger.key))?.nextFireTime ?? null,
    cancel: () => caretaker.leave([trigger], () => scheduler.unscheduleJob(trigger.key)),
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

/**
 * Keeps the jobs up to date once the scheduler has started, because nodes publish their job types when they start:
 * stores those that another instance took away, and deletes those that no instance has any more.
 */
class Caretaker {
  readonly #parts: CaretakerParts
  readonly #listener: SchedulerListener
  /** What it may store again. */
  readonly #jobs: Set<ClusterJob>
  #mustStore = true
  #isStoring = false
  readonly #left = new Set<ClusterTrigger>()
  /** Cancellations that came while a look stored jobs. */
  readonly #cancelled: (() => Promise<unknown>)[] = []
  /** The job types that no node had at the last look. */
  #unknown: ReadonlySet<string> = new Set()
  #timer: ClockTimer | null = null
  #looking: Promise<void> = Promise.resolve()
  #isEnded = false
  #unsubscribe = (): void => {}

  constructor(parts: CaretakerParts) {
    this.#parts = parts
    this.#jobs = new Set(parts.jobs)
    this.#listener = {
      schedulerStarted: () => this.#lookAnew(),
      schedulerInStandbyMode: () => {
        this.#timer?.cancel()
      },
      schedulerShuttingdown: () => this.end(),
    }
  }

  begin(): void {
    const { scheduler } = this.#parts
    scheduler.listenerManager.addSchedulerListener(this.#listener)
    this.#unsubscribe = scheduler.events.on('recoveredByPeer', () => {
      this.#mustStore = true
      unawaited(this.#lookAnew(), () => {})
    })
  }

  /**
   * Carries out a cancellation of schedules, whose jobs are not stored again. A look that stores jobs leaves them out
   * from now on. It carries the cancellation out once more at its end, because of what it is just storing. The caller
   * does not wait for that: it may be a listener that the look waits for.
   */
  leave<Answer>(triggers: readonly ClusterTrigger[], cancel: () => Promise<Answer>): Promise<Answer> {
    for (const trigger of triggers) this.#left.add(trigger)
    for (const job of this.#jobs)
      if (job.triggers.some((each) => this.#left.has(each))) this.#jobs.delete(job)
    if (this.#isStoring) this.#cancelled.push(cancel)
    return cancel()
  }

  async end(): Promise<void> {
    this.#isEnded = true
    this.#timer?.cancel()
    this.#unsubscribe()
    this.#parts.scheduler.listenerManager.removeSchedulerListener(this.#listener)
    await this.#looking
  }

  #lookAnew(): Promise<void> {
    // After the look that is under way, which would set it again at its end.
    this.#looking = this.#looking.then(() => {
      this.#unknown = new Set()
    })
    return this.#look()
  }

  #look(): Promise<void> {
    this.#timer?.cancel()
    this.#looking = this.#looking.then(() => (this.#isEnded ? undefined : this.#lookOnce()))
    return this.#looking
  }

  async #lookOnce(): Promise<void> {
    const { clock, logger, group } = this.#parts
    let isOver = false
    try {
      isOver = await this.#update()
    } catch (error) {
      if (this.#isEnded) return
      // Of the nodes since the look before this one nothing is known.
      this.#unknown = new Set()
      logThrown(logger, error, 'The jobs of methods could not be kept up to date; trying again', { group })
    }
    if (isOver || this.#isEnded) return
    const again = (): void => {
      unawaited(this.#look(), () => {})
    }
    this.#timer = clock.setTimer(lookAgainMs, again, { unref: true })
  }

  async #store(): Promise<void> {
    this.#isStoring = true
    try {
      // The set itself, which loses those that are cancelled meanwhile.
      const isCancelled = (trigger: ClusterTrigger): boolean => this.#left.has(trigger)
      await storeJobs(this.#parts.scheduler, this.#jobs, { decides: false, isCancelled })
    } finally {
      this.#isStoring = false
    }
  }

  /** Answers whether there is nothing left to look for. */
  async #update(): Promise<boolean> {
    const { scheduler, group, jobs, removeUnknown } = this.#parts
    // An instance that started at the same time, or one that took this one for failed, may have deleted some.
    if (this.#mustStore) await this.#store()
    this.#mustStore = false
    for (let cancel = this.#cancelled[0]; cancel !== undefined; cancel = this.#cancelled[0]) {
      await cancel()
      this.#cancelled.shift()
    }
    if (!removeUnknown) return true
    const own = jobs.map(({ job }) => job.key)
    const { isOver, unknown } = await deleteUnknown(scheduler, group, { own, before: this.#unknown })
    this.#unknown = unknown
    return isOver
  }
}
