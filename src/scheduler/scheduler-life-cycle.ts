import { SchedulerError } from '../core/errors.ts'
import type { JobSource } from '../jobs/job-definition.ts'
import type { JobRegistry } from '../jobs/job-registry.ts'
import type { NodeReport, NodeStatus } from '../jobstore/cluster-view.ts'
import type { JobStoreContext } from '../jobstore/job-store.ts'
import type { StoreProbe } from '../jobstore/store-probe.ts'
import type { EpochMs } from '../time/clock.ts'
import { RecentEventLoopLag } from '../time/event-loop-lag.ts'
import { unlessAborted } from '../time/unless-aborted.ts'
import type { CompletionWriter } from './completion-writer.ts'
import type { ExecutingJobs } from './executing-jobs.ts'
import { NeverStarted } from './never-started.ts'
import type { Notifier, Told } from './notifier.ts'
import { PauseWatch } from './pause-watch.ts'
import type { QuartzSchedulerThread } from './quartz-scheduler-thread.ts'
import type { Recorder } from './recorder.ts'
import type { RemoteExecutions } from './remote-executions.ts'
import type { Scheduler } from './scheduler.ts'
import type { ResolvedSchedulerOptions } from './scheduler-options.ts'
import type { PluginContext, SchedulerPlugin } from './scheduler-plugin.ts'
import type { SchedulerProbe } from './scheduler-probe.ts'
import { SchedulerShutdown } from './scheduler-shutdown.ts'
import type { ShutdownOptions } from './shutdown-options.ts'
import type { SignalReceiver } from './signal-receiver.ts'
import { awaitPlugin } from './slow-plugins.ts'
import { UnknownJobTypes } from './unknown-job-types.ts'

export type SchedulerState = 'standby' | 'started' | 'shuttingDown' | 'shutdown'

export interface SchedulerLifeCycleParts {
  readonly options: ResolvedSchedulerOptions
  /** Null when nothing is measured. */
  readonly probe: SchedulerProbe | null
  readonly registry: JobRegistry
  readonly notifier: Notifier
  readonly executing: ExecutingJobs
  readonly completions: CompletionWriter
  readonly recorder: Recorder
  readonly remotes: RemoteExecutions
  readonly thread: QuartzSchedulerThread
  readonly signals: SignalReceiver
}

/** A change of the life cycle that has happened; `told` settles when the listeners have answered. */
interface Change {
  readonly told: Told
}
const unchanged: Change = { told: null }

/** The code with which a part refuses a scheduler because another one has it. */
const takenCodes = {
  pool: 'ERR_THREAD_POOL_IN_USE',
  store: 'ERR_STORE_IN_USE',
  plugin: 'ERR_PLUGIN_IN_USE',
} as const

/** Starts, pauses and ends a scheduler: store, loop, pool and plugins, one change of the life cycle after the other. */
export class SchedulerLifeCycle {
  readonly #parts: SchedulerLifeCycleParts
  readonly #unknownJobTypes: UnknownJobTypes
  /** Has pauses end by themselves while the scheduler is started. */
  readonly pauseWatch: PauseWatch
  /** Is told what is stored and whether it is to fire, so that it can warn of triggers that were never started. */
  readonly neverStarted: NeverStarted
  /** Pool and store, once they are this scheduler's to shut down. */
  readonly #owned = new Set<'pool' | 'store'>()
  #state: SchedulerState = 'standby'
  #runningSinceMs: EpochMs | null = null
  #isStarting = false
  #isDraining = false
  /** Listeners or a plugin that hold up a start; null while none does. */
  #startWaitsFor: string | null = null
  /** Those that are shut down: a plugin that was never called has nothing to end. */
  readonly #initialized: SchedulerPlugin[] = []
  readonly #started = new Set<SchedulerPlugin>()
  readonly #lag = new RecentEventLoopLag()
  #changing: Promise<unknown> = Promise.resolve()
  #isClosed = false
  /** Aborted when a shutdown cuts off a store that does not answer. */
  readonly #cut = new AbortController()
  /** Aborted when callers of `start` and `standby` are no longer kept waiting for it by a shutdown. */
  readonly #refused = new AbortController()
  #ending: { readonly shutdown: SchedulerShutdown; readonly ended: Promise<void> } | null = null

  constructor(parts: SchedulerLifeCycleParts) {
    this.#parts = parts
    const { notifier, options, registry } = parts
    this.#unknownJobTypes = new UnknownJobTypes({
      ...options,
      events: notifier.events,
      jobTypes: () => registry.jobTypes,
    })
    this.pauseWatch = new PauseWatch({ ...options, notifier })
    this.neverStarted = new NeverStarted(options.schedulerName, options.jobStore, options.logger)
  }

  /** The job types that this node runs: none where its pool has no slots, so that other nodes do not rely on it. */
  get jobTypes(): readonly string[] {
    const { options, registry } = this.#parts
    return options.threadPool.size === 0 ? [] : registry.jobTypes
  }
  get state(): SchedulerState {
    return this.#state
  }
  /** What the node does, as others are told: one whose start is under way is about to fire. */
  get #nodeStatus(): NodeStatus {
    if (this.#state === 'started' || this.#isStarting) return 'started'
    return this.#isDraining ? 'draining' : 'standby'
  }
  get nodeReport(): NodeReport {
    return { status: this.#nodeStatus, eventLoopLagMs: this.#lag.p99Ms() }
  }
  get notEndingSinceMs(): EpochMs | null {
    return this.#parts.completions.inVainSinceMs
  }
  /** When the scheduler was first started. */
  get runningSinceMs(): EpochMs | null {
    return this.#runningSinceMs
  }

  /**
   * Registers all of them or, when `then` throws, none.
   *
   * @throws SchedulerError ERR_SCHEDULER_STATE after the first start
   */
  registerJobs(jobs: readonly JobSource[], then: () => void): void {
    this.requireNotShutdown()
    if (this.#isStarting || this.#runningSinceMs !== null) {
      throw new SchedulerError(
        'ERR_SCHEDULER_STATE',
        'Jobs can be registered before the first start only. Do so between createScheduler and start().',
      )
    }
    this.#parts.registry.registerAll(jobs, then)
  }

  /** Prepares pool and store; before anything else. */
  async initialize(): Promise<void> {
    const { notifier, options, probe, registry, signals } = this.#parts
    const { clock, ids, instanceId, jobStore, logger, misfireThresholdMs, schedulerName, threadPool } =
      options
    await this.#takePart('pool', () =>
      threadPool.initialize({
        schedulerName,
        clock,
        logger,
        expectsWorkerJobs: this.jobTypes.some((jobType) => registry.get(jobType).kind === 'worker'),
        threadStuck: (stuck) => {
          signals.threadStuck(stuck)
        },
        allThreadsStuck: (error) => {
          notifier.error(error.message, error)
        },
      }),
    )
    const storeContext: JobStoreContext = {
      schedulerName,
      instanceId,
      clock,
      ids,
      logger,
      signaler: signals.signaler(),
      misfireThresholdMs,
      knowsJobType: (jobType) => registry.has(jobType),
      remoteItems: (jobType, data) => this.#parts.remotes.itemsOf(jobType, data),
      triggerFamilies: options.triggerFamilies,
      jobTypes: () => this.jobTypes,
      nodeReport: () => this.nodeReport,
      ...(probe !== null && { probe: storeProbeOf(probe) }),
    }
    await this.#takePart('store', () => jobStore.initialize(storeContext))
  }

  /**
   * Once pool and store are prepared. A plugin that fails is shut down too, because it may have begun something; but
   * not one that another scheduler has, which would lose it.
   */
  async initializePlugins(scheduler: Scheduler, context: PluginContext): Promise<void> {
    const { options, probe } = this.#parts
    probe?.observe?.(scheduler)
    for (const plugin of options.plugins) {
      this.#initialized.push(plugin)
      try {
        await awaitPlugin(options, plugin, 'initialize', () => plugin.initialize(scheduler, context))
      } catch (error) {
        if (isTaken('plugin', error)) this.#initialized.pop()
        throw error
      }
    }
  }

  /** A part that refuses because another scheduler has it is not this scheduler's to shut down. */
  async #takePart(part: 'pool' | 'store', take: () => Promise<void>): Promise<void> {
    this.#owned.add(part)
    try {
      await take()
    } catch (error) {
      if (isTaken(part, error)) this.#owned.delete(part)
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
      `The scheduler '${this.#parts.options.schedulerName}' has been shut down and cannot be used again; ` +
        'create another one.',
    )
  }

  async start(): Promise<void> {
    this.requireNotShutdown()
    this.neverStarted.noteStart()
    await this.#unlessRefused(told(this.#change(() => this.#startNow())))
  }

  async #startNow(): Promise<Change> {
    if (this.#state === 'started') return unchanged
    this.#isStarting = true
    try {
      return await this.#begin()
    } finally {
      this.#isStarting = false
    }
  }

  async #begin(): Promise<Change> {
    const { notifier, options, signals, thread } = this.#parts
    const { clock, jobStore } = options
    this.#requireWorkers()
    await this.#waitFor('listeners of schedulerStarting', () =>
      notifier.tell('schedulerStarting', {}, (listener) => listener.schedulerStarting?.()),
    )
    const isFirst = this.#runningSinceMs === null
    if (isFirst) {
      signals.starting()
      await jobStore.schedulerStarted()
      await this.#startPlugins()
    }
    // In the turn that sets the state: a shutdown may have begun in any turn since the last answer.
    this.requireNotShutdown()
    if (isFirst) this.#runningSinceMs = clock.now()
    else jobStore.cluster?.announce()
    this.#state = 'started'
    this.#isDraining = false
    thread.resume()
    this.#unknownJobTypes.start()
    this.pauseWatch.start()
    this.#parts.remotes.start()
    return { told: notifier.tell('schedulerStarted', {}, (listener) => listener.schedulerStarted?.()) }
  }

  /**
   * A node takes executions of the job types that it announces. Without threads it would fail those of worker jobs,
   * which other nodes can run.
   */
  #requireWorkers(): void {
    const { options, registry } = this.#parts
    const { threadPool } = options
    if (threadPool.runsWorkerJobs) return
    const workerType = this.jobTypes.find((jobType) => registry.get(jobType).kind === 'worker')
    if (workerType === undefined) return
    throw new SchedulerError(
      'ERR_WORKER_UNAVAILABLE',
      `Job '${workerType}' is a worker job, and thread pool '${threadPool.name}' runs none, so this node would fail ` +
        'what others could run. Give the scheduler a piscinaThreadPool, or leave the job out of `jobs`.',
    )
  }

  /** After a start that failed, those go on that have not started. */
  async #startPlugins(): Promise<void> {
    const { options } = this.#parts
    for (const plugin of options.plugins) {
      if (this.#started.has(plugin)) continue
      await this.#waitFor(`plugin '${plugin.name}'`, () =>
        awaitPlugin(options, plugin, 'start', () => plugin.start?.()),
      )
      this.#started.add(plugin)
    }
  }

  async #waitFor(whom: string, call: () => Told): Promise<void> {
    // A shutdown that began while no plugin and no listener was waited for set no limit to the wait for this start.
    this.requireNotShutdown()
    this.#startWaitsFor = whom
    try {
      await call()
    } finally {
      this.#startWaitsFor = null
    }
    // A shutdown may have begun meanwhile, which does not wait for them for ever.
    this.requireNotShutdown()
  }

  async standby(): Promise<void> {
    await this.#standBy(() => {
      this.#isDraining = false
      return this.#enterStandby()
    })
  }

  /** Standby of a node that is to end; one in standby only reports it. */
  async drain(): Promise<void> {
    await this.#standBy(async (before) => {
      this.#isDraining = true
      return before === 'started' ? this.#enterStandby() : unchanged
    })
  }

  async #standBy(enter: (before: SchedulerState) => Promise<Change>): Promise<void> {
    this.requireNotShutdown()
    const changing = this.#change(async () => {
      this.requireNotShutdown()
      const before = this.#state
      this.#state = 'standby'
      const change = await enter(before)
      if (this.#runningSinceMs !== null) this.#parts.options.jobStore.cluster?.announce()
      return change
    })
    await this.#unlessRefused(told(changing))
  }

  async #enterStandby(): Promise<Change> {
    const { notifier, thread } = this.#parts
    this.#unknownJobTypes.stop()
    this.pauseWatch.stop()
    this.#parts.remotes.stop()
    const { signal } = this.#cut
    if (!signal.aborted) await thread.pause()
    if (signal.aborted) return unchanged
    return { told: notifier.tell('schedulerInStandbyMode', {}, (l) => l.schedulerInStandbyMode?.()) }
  }

  /** One change of the life cycle after the other, in the order in which they were asked for. */
  #change(change: () => Promise<Change>): Promise<Change> {
    const changed = this.#changing.then(change)
    this.#changing = changed.catch(() => {
      // The caller of this change gets the error; the next change goes on from the state as it is.
    })
    return changed
  }

  /** Resolves when nothing that is due here is left to be fired, to end, or to be written. */
  async idle(): Promise<void> {
    const { completions, executing, options, recorder, remotes, thread } = this.#parts
    // What others have committed, or a transaction that this scheduler took part in, the loop may not have heard of.
    const { persistent, sharedTransactions = false } = options.jobStore.capabilities
    let mayHaveMissed = persistent || sharedTransactions
    for (;;) {
      await this.pauseWatch.settled()
      await remotes.settled()
      await thread.firstFirings.settled()
      await executing.drained(options.clock)
      await completions.drained()
      await recorder.flush()
      if (executing.count > 0 || completions.isBehind || thread.firstFirings.reservedCount > 0) continue
      if (remotes.isEnding) continue
      // A pool without slots only schedules.
      if (this.#state !== 'started' || options.threadPool.size === 0) return
      if (thread.isAtRest) {
        if (!mayHaveMissed) return
        mayHaveMissed = false
        thread.signalSchedulingChange(null)
      }
      await thread.nextSleep()
    }
  }

  /** A store that was cut off, listeners and plugins may never answer: callers that wait for them get the refusal. */
  #unlessRefused(change: Promise<void>): Promise<void> {
    return unlessAborted(change, this.#refused.signal, () => this.#refusal())
  }

  shutdown(options: ShutdownOptions): Promise<void> {
    if (this.#ending === null) {
      this.#state = 'shuttingDown'
      const shutdown = this.#makeShutdown(options)
      this.#ending = { shutdown, ended: shutdown.run() }
    } else this.#ending.shutdown.shorten(options)
    return this.#ending.ended
  }

  #makeShutdown(options: ShutdownOptions): SchedulerShutdown {
    return new SchedulerShutdown(
      {
        ...this.#parts,
        cut: this.#cut,
        changed: this.#changing,
        plugins: this.#initialized,
        startWaitsFor: () => this.#startWaitsFor,
        refuseChanges: () => {
          this.#refused.abort()
        },
        standBy: () => this.#enterStandby(),
        owns: (part) => this.#owned.has(part),
        noteNeverStarted: () => this.neverStarted.noteShutdown(),
        close: () => {
          this.#isClosed = true
          this.#parts.remotes.disconnect()
        },
        ended: () => {
          this.#lag.end()
          this.#state = 'shutdown'
          this.#refused.abort()
        },
      },
      options,
    )
  }
}

/** Resolves when the listeners of a change have answered. */
async function told(changing: Promise<Change>): Promise<void> {
  const change = await changing
  await change.told
}

function isTaken(part: keyof typeof takenCodes, error: unknown): boolean {
  return SchedulerError.is(error) && error.code === takenCodes[part]
}

function storeProbeOf(probe: SchedulerProbe): StoreProbe {
  return {
    statementAnswered: (keyword, durationMs) => probe.statementAnswered?.(keyword, durationMs),
    transactionRepeated: () => probe.transactionRepeated?.(),
  }
}
