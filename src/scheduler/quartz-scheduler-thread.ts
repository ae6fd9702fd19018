import type { IdGenerator } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type {
  AcquiredTrigger,
  JobStore,
  TriggerFiredBundle,
  TriggerFiredResult,
} from '../jobstore/job-store.ts'
import type { ThreadPool } from '../threadpool/thread-pool.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import { Gate } from '../time/gate.ts'
import type { Notifier } from './notifier.ts'
import { planTurn, type TurnState } from './plan-turn.ts'

export interface QuartzSchedulerThreadOptions {
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly logger: Logger
  readonly jobStore: JobStore
  readonly threadPool: ThreadPool
  readonly notifier: Notifier
  readonly idleWaitMs: number
  readonly maxBatchSize: number
  readonly batchTimeWindowMs: number
  /** Hands a firing to the pool; never throws. */
  readonly dispatch: (bundle: TriggerFiredBundle) => void
}

const switchThresholdMs = { persistent: 70, volatile: 7 }
/** The longest the loop works without letting timers and I/O of the process have their turn. */
const sliceMs = 4
/** How often a halting loop tries to give back its claims before it leaves them to recovery. */
const releaseAttemptsMax = 10
/** Share of the idle wait that is random, so that nodes of a cluster do not ask in step. */
const idleJitter = 0.2

/**
 * The loop: blocks for available threads, acquires the next batch, waits for the fire time, fires. It carries out
 * what `planTurn` decides and is the only place that does; signals only set a flag and open the gate. Nothing thrown
 * by the store or the pool leaves it, and however it ends, no trigger stays acquired.
 */
export class QuartzSchedulerThread {
  readonly #options: QuartzSchedulerThreadOptions
  readonly #gate: Gate
  readonly #haltSignal = new AbortController()
  #running: Promise<void> | null = null
  #firing: Promise<void> | null = null
  #paused = true
  #held: readonly AcquiredTrigger[] = []
  #signal: TurnState['signal'] = null
  #failures = 0
  #retryAtMs = 0
  #idleUntilMs = 0
  #sliceStartMs = 0

  constructor(options: QuartzSchedulerThreadOptions) {
    this.#options = options
    this.#gate = new Gate(options.clock)
  }

  /** Starts or resumes firing. */
  resume(): void {
    this.#paused = false
    this.#failures = 0
    this.#retryAtMs = 0
    this.#idleUntilMs = 0
    this.#running ??= this.#run()
    this.#gate.wake()
  }

  /**
   * Fires nothing more until `resume`, and releases what is acquired. Resolves when no firing is on its way any more.
   */
  async pause(): Promise<void> {
    this.#paused = true
    this.#gate.wake()
    await this.#firing
  }

  /** Ends the loop; resolves when it has ended and holds nothing. */
  async halt(): Promise<void> {
    this.#haltSignal.abort()
    this.#gate.wake()
    await this.#running
  }

  /** Something may fire at `candidateMs`, or soon when that is null. */
  signalSchedulingChange(candidateMs: EpochMs | null): void {
    const known = this.#signal
    const earliest =
      candidateMs === null || known?.candidateMs === null
        ? null
        : Math.min(candidateMs, known?.candidateMs ?? Number.POSITIVE_INFINITY)
    this.#signal = { candidateMs: earliest }
    this.#gate.wake()
  }

  async #run(): Promise<void> {
    for (;;) {
      if (this.#sliceIsOver()) await this.#yield()
      const decision = planTurn(this.#state())
      switch (decision.kind) {
        case 'end':
          return
        case 'standby':
          await this.#sleep(this.#options.idleWaitMs)
          break
        case 'sleep':
          await this.#sleep(decision.delayMs)
          break
        case 'release':
          await this.#release()
          break
        case 'acquire':
          await this.#acquire()
          break
        case 'fire':
          this.#held = decision.rest
          this.#firing = this.#fire(decision.due)
          await this.#firing
          this.#firing = null
          break
      }
    }
  }

  get #halted(): boolean {
    return this.#haltSignal.signal.aborted
  }

  #state(): TurnState {
    const { clock, idleWaitMs, jobStore } = this.#options
    return {
      halted: this.#halted,
      paused: this.#paused,
      held: this.#held,
      signal: this.#signal,
      nowMs: clock.now(),
      elapsedMs: clock.elapsedMs(),
      retryAtMs: this.#retryAtMs,
      idleUntilMs: this.#idleUntilMs,
      idleWaitMs,
      switchThresholdMs: jobStore.capabilities.persistent
        ? switchThresholdMs.persistent
        : switchThresholdMs.volatile,
    }
  }

  async #sleep(delayMs: number): Promise<void> {
    await this.#gate.wait(delayMs)
    this.#sliceStartMs = this.#options.clock.elapsedMs()
  }

  /** A store that answers at once would otherwise keep the loop in the microtask queue and starve the process. */
  #sliceIsOver(): boolean {
    return this.#options.clock.elapsedMs() - this.#sliceStartMs >= sliceMs
  }

  async #yield(): Promise<void> {
    const { clock } = this.#options
    await new Promise<void>((resolve) => clock.setImmediate(resolve))
    this.#sliceStartMs = clock.elapsedMs()
  }

  async #acquire(): Promise<void> {
    const { clock, ids, jobStore, threadPool, idleWaitMs, maxBatchSize, batchTimeWindowMs } = this.#options
    try {
      if (threadPool.availableThreads() === 0) {
        const free = await threadPool.blockForAvailableThreads(this.#haltSignal.signal)
        if (free === 0 && !this.#halted) {
          this.#backOff('The thread pool has no threads to give: was it shut down?', null)
        }
        // The state may have changed while we waited: plan again with the slots that are free now.
        if (this.#paused || threadPool.availableThreads() === 0) return
      }
      // What is signalled from here on may not be in the answer; what was signalled before is.
      this.#signal = null
      this.#held = await jobStore.acquireNextTriggers({
        noLaterThanMs: clock.now() + idleWaitMs,
        maxCount: Math.min(threadPool.availableThreads(), maxBatchSize),
        timeWindowMs: batchTimeWindowMs,
      })
      if (this.#held.length > 0) {
        this.#idleUntilMs = 0
        return
      }
      this.#failures = 0
      this.#idleUntilMs = clock.elapsedMs() + idleWaitMs * (1 - idleJitter * ids.random())
    } catch (error) {
      this.#backOff('The job store failed while scanning for the next triggers to fire.', error)
    }
  }

  async #fire(due: readonly AcquiredTrigger[]): Promise<void> {
    const { jobStore } = this.#options
    let results: readonly TriggerFiredResult[]
    try {
      results = await jobStore.triggersFired(due)
    } catch (error) {
      this.#held = [...due, ...this.#held]
      this.#backOff('The job store failed while firing triggers.', error)
      await this.#release()
      return
    }
    const failed: AcquiredTrigger[] = []
    for (const [index, result] of results.entries()) {
      if (result.kind === 'fired') this.#options.dispatch(result.bundle)
      else if (result.kind === 'failed') {
        const acquired = due[index]
        if (acquired === undefined) continue
        failed.push(acquired)
        const key = acquired.trigger.key.toString()
        this.#backOff(`Trigger ${key} could not be fired and was released.`, result.error)
      }
    }
    if (failed.length === 0) {
      this.#failures = 0
      return
    }
    const rest = this.#held
    this.#held = failed
    await this.#release()
    this.#held = rest
  }

  /** Gives back what is held. A store that cannot take it now is asked again until it does, or until we halt. */
  async #release(): Promise<void> {
    const held = this.#held
    this.#held = []
    this.#idleUntilMs = 0
    if (held.length === 0) return
    for (;;) {
      try {
        await this.#options.jobStore.releaseAcquiredTriggers(held)
        return
      } catch (error) {
        this.#backOff('The job store could not take back acquired triggers.', error)
        if (this.#halted && this.#failures >= releaseAttemptsMax) return
        await this.#gate.wait(this.#retryAtMs - this.#options.clock.elapsedMs())
      }
    }
  }

  /** The first failure of a series is reported and tried again at once; each further one waits longer. */
  #backOff(message: string, error: unknown): void {
    const { clock, ids, jobStore, logger, notifier } = this.#options
    this.#failures++
    if (this.#failures === 1) notifier.error(message, error)
    else {
      logger.debug({ err: error, failures: this.#failures }, message)
      const delayMs = jobStore.acquireRetryDelayMs(this.#failures)
      this.#retryAtMs = clock.elapsedMs() + delayMs * (1 - 0.5 * ids.random())
    }
  }
}
