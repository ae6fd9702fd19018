import { InvalidArgumentError, SchedulerError } from '../core/errors.ts'
import { requireInteger } from '../core/options.ts'
import { Waiters } from '../time/waiters.ts'
import type { Runnable, ThreadPool, ThreadPoolContext, WorkerTaskHandlers } from './thread-pool.ts'
import type { WorkerTask, WorkerTaskResult } from './wire.ts'

/** Most slots of one pool. */
export const poolSizeMax = 100_000

/**
 * Counts slots and runs executions on the event loop: the whole of a pool without threads, and the base class of the
 * pool with threads.
 */
export class SlotPool implements ThreadPool {
  readonly name: string
  readonly size: number
  readonly runsWorkerJobs: boolean = false
  #running = 0
  #context: ThreadPoolContext | null = null
  #shutDown = false
  /** One that has run nothing may begin anew: the scheduler for which it was shut down could not be made. */
  #hasRun = false
  /** Callers that wait for a slot, an abort or the shutdown; each looks again when woken. */
  readonly #blocked = new Set<() => void>()
  /** Signals whose abort wakes these callers. */
  readonly #watched = new WeakSet<AbortSignal>()
  /** Callers that wait for the last execution to end. */
  readonly #draining = new Waiters()

  constructor(name: string, size: number) {
    this.name = name
    this.size = size
  }

  async initialize(context: ThreadPoolContext): Promise<void> {
    if (this.#context !== null && !this.#shutDown) {
      throw new SchedulerError(
        'ERR_THREAD_POOL_IN_USE',
        `Thread pool '${this.name}' belongs to scheduler '${this.#context.schedulerName}' already; ` +
          'give every scheduler a pool of its own.',
      )
    }
    if (this.#hasRun) {
      throw new SchedulerError(
        'ERR_THREAD_POOL_IN_USE',
        `Thread pool '${this.name}' is shut down and cannot be used again; make another one.`,
      )
    }
    this.#context = context
    this.#shutDown = false
  }

  availableThreads(): number {
    return this.size - this.#running
  }

  async blockForAvailableThreads(signal: AbortSignal): Promise<number> {
    while (!this.#shutDown && !signal.aborted) {
      const available = this.availableThreads()
      if (available > 0) return available
      await this.#slotOrEnd(signal)
    }
    return 0
  }

  runInThread(runnable: Runnable): boolean {
    if (this.#context === null) throw this.#notInitialized()
    if (this.#shutDown || this.availableThreads() <= 0) return false
    this.#hasRun = true
    this.#running++
    try {
      runnable.run().then(this.#release, this.#rejected)
    } catch (error) {
      this.#rejected(error)
    }
    return true
  }

  checkWorkerModule(moduleUrl: string): void {
    throw this.#noWorkers(moduleUrl)
  }

  async runInWorker(...[task]: [WorkerTask, WorkerTaskHandlers]): Promise<WorkerTaskResult> {
    throw this.#noWorkers(task.moduleUrl)
  }

  async shutdown(options: {
    readonly waitForJobsToComplete: boolean
    readonly timeoutMs?: number
  }): Promise<number> {
    this.#shutDown = true
    wakeAll(this.#blocked)
    if (options.waitForJobsToComplete) await this.drained(options.timeoutMs)
    return this.#running
  }

  protected get context(): ThreadPoolContext {
    if (this.#context !== null) return this.#context
    throw this.#notInitialized()
  }

  /** Monotonic milliseconds of the scheduler's clock; 0 before there is one. */
  protected elapsedMs(): number {
    return this.#context?.clock.elapsedMs() ?? 0
  }

  /** Resolves when no execution runs, or after `timeoutMs`. */
  protected async drained(timeoutMs?: number): Promise<void> {
    if (this.#running > 0) await this.#draining.wait(this.context.clock, timeoutMs)
  }

  readonly #release = (): void => {
    this.#running--
    wakeAll(this.#blocked)
    if (this.#running === 0) this.#draining.wakeAll()
  }

  readonly #rejected = (error: unknown): void => {
    this.context.logger.error(
      { err: error },
      'An execution rejected, which it must not; its slot is free again',
    )
    this.#release()
  }

  #slotOrEnd(signal: AbortSignal): Promise<void> {
    // The loop passes the same signal each time, so one listener is enough.
    if (!this.#watched.has(signal)) {
      this.#watched.add(signal)
      signal.addEventListener(
        'abort',
        () => {
          wakeAll(this.#blocked)
        },
        { once: true },
      )
    }
    return new Promise((resolve) => {
      this.#blocked.add(resolve)
    })
  }

  #notInitialized(): SchedulerError {
    return new SchedulerError('ERR_SCHEDULER_STATE', `Thread pool '${this.name}' is not initialized.`)
  }

  #noWorkers(moduleUrl: string): SchedulerError {
    return new SchedulerError(
      'ERR_WORKER_UNAVAILABLE',
      `Thread pool '${this.name}' runs no worker jobs, so '${moduleUrl}' cannot run here. ` +
        'Give the scheduler a piscinaThreadPool.',
    )
  }
}

/** Checks a pool's `size`. */
export function requirePoolSize(what: string, size: unknown): number {
  if (size === 0) {
    throw new InvalidArgumentError(
      'size',
      `${what}: 'size' must be at least 1; for a node that only schedules use zeroSizeThreadPool().`,
      'ERR_INVALID_OPTION',
    )
  }
  return requireInteger(what, 'size', size, { min: 1, max: poolSizeMax })
}

/** Wakes all waiting callers; a caller that still has nothing to do waits again. */
function wakeAll(waiters: Set<() => void>): void {
  if (waiters.size === 0) return
  const woken = [...waiters]
  waiters.clear()
  for (const wake of woken) wake()
}
