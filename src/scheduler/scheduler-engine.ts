import { JobExecutionError, SchedulerError } from '../core/errors.ts'
import { jobKey } from '../core/key.ts'
import { textOf } from '../core/thrown-value.ts'
import type { JobSource } from '../jobs/define-job.ts'
import type { JobExecutionContext } from '../jobs/job-execution-context.ts'
import type { JobRegistry } from '../jobs/job-registry.ts'
import type { JobScheduler } from '../jobs/job-scheduler.ts'
import type { InterruptTarget } from '../jobstore/cluster-view.ts'
import type { JobStoreContext, SchedulerSignaler, TriggerFiredBundle } from '../jobstore/job-store.ts'
import type { StuckThread } from '../threadpool/thread-pool.ts'
import type { EpochMs } from '../time/clock.ts'
import { CompletionWriter } from './completion-writer.ts'
import type { ExecutingJobs } from './executing-jobs.ts'
import { ExecutionContext, type ExecutionEnvironment } from './execution-context.ts'
import { reportOfUnbegun } from './execution-report.ts'
import { JobRunShell, type JobRunShellResources } from './job-run-shell.ts'
import { NeverStarted } from './never-started.ts'
import type { Notifier, Told } from './notifier.ts'
import { QuartzSchedulerThread } from './quartz-scheduler-thread.ts'
import { attemptOriginOf } from './retry.ts'
import type { ShutdownOptions } from './scheduler.ts'
import type { ResolvedSchedulerOptions } from './scheduler-options.ts'
import { SchedulerShutdown } from './scheduler-shutdown.ts'
import { UnknownJobTypes } from './unknown-job-types.ts'

export type SchedulerState = 'standby' | 'started' | 'shuttingDown' | 'shutdown'

type ClusterSignals = Pick<
  SchedulerSignaler,
  | 'nodeFailed'
  | 'nodeRecovered'
  | 'executionLost'
  | 'checkInFailed'
  | 'checkInRestored'
  | 'recoveredByPeer'
  | 'clockOffsetMeasured'
  | 'interruptRequested'
>

/** A change of the life cycle that has happened; `told` settles when the listeners have answered. */
interface Change {
  readonly told: Told
}
const unchanged: Change = { told: null }

/** What a part says that belongs to another scheduler already. */
const takenCodes = { pool: 'ERR_SCHEDULER_STATE', store: 'ERR_STORE_IN_USE' } as const

/** Life cycle of a scheduler and the wiring of its moving parts: store, loop, shells, pool, plugins. */
export class SchedulerEngine {
  readonly #options: ResolvedSchedulerOptions
  readonly #registry: JobRegistry
  readonly #notifier: Notifier
  readonly #executing: ExecutingJobs
  readonly #completions: CompletionWriter
  readonly #thread: QuartzSchedulerThread
  readonly #shellResources: JobRunShellResources
  readonly #unknownJobTypes: UnknownJobTypes
  readonly #neverStarted: NeverStarted
  /** Pool and store, once they are this scheduler's to shut down. */
  readonly #parts = new Set<'pool' | 'store'>()
  #environment: ExecutionEnvironment | null = null
  #state: SchedulerState = 'standby'
  #runningSinceMs: EpochMs | null = null
  #isStartBegun = false
  #changing: Promise<unknown> = Promise.resolve()
  #isClosed = false
  #isClockSkewed = false
  /** Aborted when a shutdown cuts off a store that does not answer. */
  readonly #cut = new AbortController()
  #ending: Promise<void> | null = null

  constructor(
    options: ResolvedSchedulerOptions,
    registry: JobRegistry,
    notifier: Notifier,
    executing: ExecutingJobs,
  ) {
    this.#options = options
    this.#registry = registry
    this.#notifier = notifier
    this.#executing = executing
    this.#completions = new CompletionWriter(
      options.jobStore,
      options.clock,
      notifier,
      options.threadPool.size,
    )
    this.#thread = new QuartzSchedulerThread({
      ...options,
      notifier,
      dispatch: (bundle) => {
        this.#dispatch(bundle)
      },
    })
    this.#shellResources = { ...options, notifier, executing, completions: this.#completions }
    this.#unknownJobTypes = new UnknownJobTypes({
      ...options,
      events: notifier.events,
      jobTypes: () => registry.jobTypes,
    })
    this.#neverStarted = new NeverStarted(options.schedulerName, options.jobStore, options.logger)
  }

  /** To be told what is stored and whether it is to fire, so that it can say when it never did. */
  get neverStarted(): NeverStarted {
    return this.#neverStarted
  }

  get jobTypes(): readonly string[] {
    return this.#registry.jobTypes
  }
  get state(): SchedulerState {
    return this.#state
  }
  /** When the scheduler was first started. */
  get runningSinceMs(): EpochMs | null {
    return this.#runningSinceMs
  }

  /** @throws SchedulerError ERR_SCHEDULER_STATE after the first start */
  registerJobs(jobs: readonly JobSource[]): void {
    this.requireNotShutdown()
    if (this.#isStartBegun) {
      throw new SchedulerError(
        'ERR_SCHEDULER_STATE',
        'Jobs can be registered before the first start only. Do so between createScheduler and start().',
      )
    }
    this.#registry.registerAll(jobs)
  }

  /** Prepares store, pool and plugins; before anything else. */
  async initialize(scheduler: JobScheduler): Promise<void> {
    const { clock, ids, instanceId, jobStore, logger, misfireThresholdMs, schedulerName, threadPool } =
      this.#options
    this.#environment = {
      scheduler,
      logger,
      onProgress: (context: JobExecutionContext, value: unknown) => {
        this.#notifier.events.emit('jobProgress', { context, value })
      },
      onInterrupt: ({ fireInstanceId, jobKey }: JobExecutionContext, reason: string) => {
        this.#notifier.events.emit('jobInterrupted', { jobKey, fireInstanceId, reason })
      },
    }
    await this.#takePart('pool', () =>
      threadPool.initialize({
        schedulerName,
        clock,
        logger,
        threadStuck: (stuck) => {
          this.#tellStuck(stuck)
        },
      }),
    )
    const storeContext: JobStoreContext = {
      schedulerName,
      instanceId,
      clock,
      ids,
      logger,
      signaler: this.#signaler(),
      misfireThresholdMs,
      knowsJobType: (jobType) => this.#registry.has(jobType),
      triggerFamilies: this.#options.triggerFamilies,
      jobTypes: () => this.#registry.jobTypes,
    }
    await this.#takePart('store', () => jobStore.initialize(storeContext))
  }

  /** A part that refuses because another scheduler has it is not ours to shut down. */
  async #takePart(part: 'pool' | 'store', take: () => Promise<void>): Promise<void> {
    this.#parts.add(part)
    try {
      await take()
    } catch (error) {
      const isTaken = SchedulerError.is(error) && error.code === takenCodes[part]
      if (isTaken) this.#parts.delete(part)
      throw error
    }
  }

  /** For what may not begin any more once a shutdown has begun. */
  requireNotShutdown(): void {
    if (this.#state === 'shutdown' || this.#state === 'shuttingDown') throw this.#refusal()
  }

  /** For operations on data: jobs that a shutdown waits for may still schedule and look things up. */
  requireOpen(): void {
    if (this.#isClosed) throw this.#refusal()
  }

  #refusal(): SchedulerError {
    return new SchedulerError(
      'ERR_SCHEDULER_SHUTDOWN',
      `The scheduler '${this.#options.schedulerName}' has been shut down and cannot be used again; create another one.`,
    )
  }

  signal(candidateMs: EpochMs | null): void {
    this.#thread.signalSchedulingChange(candidateMs)
  }

  async start(): Promise<void> {
    this.requireNotShutdown()
    this.#neverStarted.noteStart()
    const started = await this.#unlessCutOff(this.#change(() => this.#startNow()))
    await started.told
  }

  async #startNow(): Promise<Change> {
    if (this.#state === 'started') return unchanged
    this.#isStartBegun = true
    const { clock, jobStore, plugins } = this.#options
    await this.#notifier.tell('schedulerStarting', {}, (listener) => listener.schedulerStarting?.())
    if (this.#runningSinceMs === null) {
      await jobStore.schedulerStarted()
      this.requireNotShutdown()
      for (const plugin of plugins) await plugin.start?.()
      this.#runningSinceMs = clock.now()
    } else {
      await jobStore.schedulerResumed()
    }
    // A shutdown may have begun while the store was starting.
    this.requireNotShutdown()
    this.#state = 'started'
    this.#thread.resume()
    this.#unknownJobTypes.start()
    return {
      told: this.#notifier.tell('schedulerStarted', {}, (listener) => listener.schedulerStarted?.()),
    }
  }

  async standby(): Promise<void> {
    this.requireNotShutdown()
    const changing = this.#change(() => {
      this.requireNotShutdown()
      this.#state = 'standby'
      return this.#enterStandby()
    })
    const standing = await this.#unlessCutOff(changing)
    await standing.told
  }

  async #enterStandby(): Promise<Change> {
    this.#unknownJobTypes.stop()
    const { signal } = this.#cut
    if (!signal.aborted) await this.#thread.pause()
    if (signal.aborted) return unchanged
    // A store that was never started has nothing to pause.
    if (this.#runningSinceMs !== null) {
      await this.#guard('The job store failed to go into standby.', () =>
        this.#options.jobStore.schedulerPaused(),
      )
    }
    return {
      told: this.#notifier.tell('schedulerInStandbyMode', {}, (l) => l.schedulerInStandbyMode?.()),
    }
  }

  /** One change of the life cycle after the other, in the order in which they were asked for. */
  #change(change: () => Promise<Change>): Promise<Change> {
    const changed = this.#changing.then(change)
    this.#changing = changed.catch(() => {
      // Whoever asked for the change is told; the next one goes on from what is.
    })
    return changed
  }

  /** Resolves when nothing that is due here is left to be fired, to end, or to be written. */
  async idle(): Promise<void> {
    const { clock, threadPool } = this.#options
    for (;;) {
      await this.#executing.drained(clock)
      await this.#completions.drained()
      if (this.#executing.count > 0 || this.#completions.isBehind) continue
      // A pool without slots only schedules.
      if (this.#state !== 'started' || threadPool.size === 0 || this.#thread.isAtRest) return
      await this.#thread.nextSleep()
    }
  }

  /** A store that was cut off may never answer those who wait for it. */
  #unlessCutOff<Answer>(work: Promise<Answer>): Promise<Answer> {
    const { signal } = this.#cut
    return new Promise((resolve, reject) => {
      const onCut = (): void => {
        reject(this.#refusal())
      }
      signal.addEventListener('abort', onCut, { once: true })
      work.then(resolve, reject).finally(() => {
        signal.removeEventListener('abort', onCut)
      })
    })
  }

  shutdown(options: ShutdownOptions): Promise<void> {
    this.#ending ??= this.#shutDown(options)
    return this.#ending
  }

  #shutDown(options: ShutdownOptions): Promise<void> {
    this.#state = 'shuttingDown'
    const shutdown = new SchedulerShutdown(
      {
        cut: this.#cut,
        options: this.#options,
        notifier: this.#notifier,
        executing: this.#executing,
        completions: this.#completions,
        thread: this.#thread,
        standBy: () => this.#change(() => this.#enterStandby()),
        interruptAll: () => {
          this.interrupt(this.#executing.all(), 'shutdown')
        },
        owns: (part) => this.#parts.has(part),
        noteNeverStarted: () => this.#neverStarted.noteShutdown(),
        close: () => {
          this.#isClosed = true
        },
        ended: () => {
          this.#state = 'shutdown'
        },
      },
      options,
    )
    return shutdown.run()
  }

  /** Asks what runs on this node to stop; false when none of it does. */
  interruptHere(target: InterruptTarget): boolean {
    if ('jobKey' in target) return this.interrupt(this.#executing.ofJob(target.jobKey), 'interrupt')
    const context = this.#executing.get(target.fireInstanceId)
    return context !== null && this.interrupt([context], 'interrupt')
  }

  /** Asks executions to stop; false when there are none. */
  interrupt(contexts: readonly ExecutionContext[], reason: string): boolean {
    for (const context of contexts) {
      const error = new JobExecutionError(`Job ${context.jobKey.toString()} was interrupted (${reason}).`, {
        code: 'ERR_JOB_INTERRUPTED',
      })
      context.interrupt(error, reason)
    }
    return contexts.length > 0
  }

  /** Hands one firing to the pool. What cannot be run is told to the store, so that nothing stays acquired. */
  #dispatch(bundle: TriggerFiredBundle): void {
    const { clock, threadPool } = this.#options
    const jobName = bundle.jobDetail.key.toString()
    let problem = `The thread pool '${threadPool.name}' did not take job ${jobName}.`
    try {
      const definition = this.#registry.get(bundle.jobDetail.jobType)
      const context = new ExecutionContext(bundle, attemptOriginOf(bundle), this.#requireEnvironment())
      if (definition.kind === 'inline' && definition.jobClass !== null) {
        context.jobInstance = new definition.jobClass()
      }
      const shell = new JobRunShell(definition, context, this.#shellResources)
      if (threadPool.runInThread(shell)) return
      this.#notifier.error(problem, null)
    } catch (error) {
      problem = `Job ${jobName} could not be instantiated.`
      this.#notifier.error(problem, error)
      problem += ` ${textOf(error)}`
    }
    this.#notifier.track(
      this.#completions.complete({
        fireInstanceId: bundle.fireInstanceId,
        trigger: bundle.trigger,
        jobDetail: bundle.jobDetail,
        instruction: 'setAllJobTriggersError',
        jobDataMap: null,
        retryTrigger: null,
        report: reportOfUnbegun(bundle, problem, clock.now()),
      }),
    )
  }

  #requireEnvironment(): ExecutionEnvironment {
    if (this.#environment !== null) return this.#environment
    throw new SchedulerError('ERR_SCHEDULER_STATE', 'The scheduler was not initialized.')
  }

  #signaler(): SchedulerSignaler {
    const notifier = this.#notifier
    return {
      triggerMisfired: (trigger) => {
        notifier.events.emit('triggerMisfired', { trigger })
        const listeners = notifier.triggerListenersFor(trigger.key)
        notifier.track(
          notifier.callEach('triggerMisfired', listeners, (listener) => listener.triggerMisfired?.(trigger)),
        )
      },
      triggerFinalized: (trigger) => {
        notifier.tellLater('triggerFinalized', { trigger }, (l) => l.triggerFinalized?.(trigger))
      },
      jobDeleted: (jobKey) => {
        notifier.tellLater('jobDeleted', { jobKey }, (l) => l.jobDeleted?.(jobKey))
      },
      triggerInError: (triggerKey, reason) => {
        notifier.events.emit('triggerInError', { triggerKey, reason })
      },
      schedulingChanged: (candidateMs) => {
        this.signal(candidateMs)
      },
      storeError: (message, cause) => {
        notifier.error(message, cause)
      },
      lockWaitExceeded: (wait) => {
        notifier.events.emit('lockWaitExceeded', { instanceId: this.#options.instanceId, ...wait })
      },
      ...this.#clusterSignals(),
    }
  }

  #clusterSignals(): ClusterSignals {
    const { events } = this.#notifier
    const { instanceId, logger } = this.#options
    return {
      nodeFailed: (failedId) => {
        events.emit('nodeFailed', { instanceId: failedId })
        logger.warn({ failedId }, 'A node stopped checking in; its work is recovered.')
      },
      nodeRecovered: (recovery) => {
        events.emit('nodeRecovered', recovery)
      },
      executionLost: ({ scheduledFireTimeMs, ...execution }) => {
        events.emit('executionLost', { ...execution, scheduledFireTime: new Date(scheduledFireTimeMs) })
        const { fireInstanceId, triggerKey } = execution
        logger.warn(
          { fireInstanceId, triggerKey: triggerKey.toString() },
          'An execution died with its node and is not run again: its job does not request recovery, or is gone.',
        )
      },
      checkInFailed: (cause) => {
        this.#notifier.error(`Node '${instanceId}' could not check in; it tries again.`, cause)
        events.emit('checkInFailed', { instanceId, cause })
      },
      checkInRestored: (failedAttempts) => {
        logger.info({ failedAttempts }, 'the node checks in again')
        events.emit('checkInRestored', { instanceId, failedAttempts })
      },
      recoveredByPeer: () => {
        events.emit('recoveredByPeer', { instanceId })
        this.interrupt(this.#executing.all(), 'recovered')
        logger.warn({ instanceId }, 'Another node took this one for failed and recovered its work.')
      },
      interruptRequested: (target) => {
        this.interruptHere(target)
      },
      clockOffsetMeasured: (offsetMs, uncertaintyMs) => {
        this.#adjustClock(offsetMs, uncertaintyMs)
      },
    }
  }

  #tellStuck({ threadId, waitedMs, executions }: StuckThread): void {
    this.#notifier.events.emit('workerThreadStuck', {
      threadId,
      waitedMs,
      executions: executions.map(({ job, fireInstanceId }) => ({
        jobKey: jobKey(job.name, job.group),
        fireInstanceId,
      })),
    })
  }

  #adjustClock(aheadMs: number, uncertaintyMs: number): void {
    const { clock, logger, maxClockSkewMs } = this.#options
    // Sleeps were planned by the clock as it was.
    if (clock.adjust(aheadMs, uncertaintyMs)) this.signal(null)
    const { offsetMs } = clock
    const isSkewed = Math.abs(offsetMs) > maxClockSkewMs
    if (isSkewed && !this.#isClockSkewed) {
      logger.warn({ offsetMs, maxClockSkewMs }, "the machine's clock is far from the store's time")
      this.#notifier.events.emit('clockSkewed', { offsetMs, maxClockSkewMs })
    }
    this.#isClockSkewed = isSkewed
  }

  async #guard(message: string, action: () => unknown): Promise<void> {
    try {
      await action()
    } catch (error) {
      this.#notifier.error(message, error)
    }
  }
}
