import { SchedulerError } from '../core/errors.ts'
import { requireEntry } from '../core/package-files.ts'
import { unawaited } from '../core/promises.ts'
import { logThrown } from '../core/thrown-value.ts'
import {
  type PiscinaThreadPoolOptions,
  type ResolvedPiscinaOptions,
  resolvePiscinaOptions,
} from './piscina-options.ts'
import { SlotPool } from './slot-pool.ts'
import type { ThreadPool, ThreadPoolContext, WorkerTaskHandlers } from './thread-pool.ts'
import { requireRunnableModule } from './typescript-modules.ts'
import type { WorkerTask, WorkerTaskResult } from './wire.ts'
import { WorkerThreads, workerEntry } from './worker-threads.ts'

class PiscinaThreadPool extends SlotPool {
  override readonly runsWorkerJobs = true
  readonly #options: ResolvedPiscinaOptions
  /** Modules that passed the check, so that each is checked once. */
  readonly #runnable = new Set<string>()
  #opening: Promise<WorkerThreads> | null = null
  #threads: WorkerThreads | null = null
  #closed = false

  constructor(options: ResolvedPiscinaOptions) {
    super('piscina', options.size)
    this.#options = options
  }

  override async initialize(context: ThreadPoolContext): Promise<void> {
    await super.initialize(context)
    this.#closed = false
    if (context.expectsWorkerJobs === true) requireEntry(workerEntry(this.#options))
    if (this.#options.minThreads === 0) return
    const threads = await this.#open()
    await threads.warmUp()
  }

  override checkWorkerModule(moduleUrl: string): void {
    if (this.#runnable.has(moduleUrl)) return
    requireEntry(workerEntry(this.#options))
    requireRunnableModule(moduleUrl, { execArgv: this.#options.execArgv, env: this.#options.env })
    this.#runnable.add(moduleUrl)
  }

  override runInWorker(task: WorkerTask, handlers: WorkerTaskHandlers): Promise<WorkerTaskResult> {
    if (this.#threads !== null && this.#runnable.has(task.moduleUrl)) return this.#threads.run(task, handlers)
    return this.#runFirst(task, handlers)
  }

  override async shutdown(options: {
    readonly waitForJobsToComplete: boolean
    readonly timeoutMs?: number
  }): Promise<number> {
    const { timeoutMs } = options
    const startedMs = this.elapsedMs()
    const running = await super.shutdown(options)
    const spentMs = this.elapsedMs() - startedMs
    if (running === 0) await this.#close(timeoutMs === undefined ? undefined : timeoutMs - spentMs)
    // Executions that go on keep their threads; the last one to end closes them.
    else {
      const closed = this.drained().then(() => this.#close())
      unawaited(closed, (error) => {
        logThrown(this.context.logger, error, 'The worker threads could not be closed.')
      })
    }
    return running
  }

  async #runFirst(task: WorkerTask, handlers: WorkerTaskHandlers): Promise<WorkerTaskResult> {
    this.checkWorkerModule(task.moduleUrl)
    const threads = await this.#open()
    return threads.run(task, handlers)
  }

  async #open(): Promise<WorkerThreads> {
    if (this.#closed) {
      throw new SchedulerError(
        'ERR_THREAD_POOL_SHUTDOWN',
        `Thread pool '${this.name}' is shut down and runs no more worker jobs.`,
      )
    }
    const opening = (this.#opening ??= WorkerThreads.open(this.#options, this.context))
    try {
      this.#threads = await opening
      return this.#threads
    } catch (error) {
      // The next worker job tries again.
      if (this.#opening === opening) this.#opening = null
      throw error
    }
  }

  async #close(timeoutMs?: number): Promise<void> {
    this.#closed = true
    const opening = this.#opening
    this.#opening = null
    this.#threads = null
    // Threads that could not be opened need no end; the caller that opened them has the error.
    const threads = await opening?.catch(() => null)
    await threads?.close(timeoutMs)
  }
}

/**
 * Runs inline jobs and class jobs on the event loop and worker jobs in threads, all within the same slots.
 *
 * A job that is interrupted sees its `signal` abort; a worker job that goes on for the scheduler's `interruptGraceMs`
 * has its thread terminated and fails with ERR_JOB_INTERRUPTED. A thread that dies fails the executions on it with
 * ERR_WORKER_FAILED and is replaced.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION
 */
export function piscinaThreadPool(options: PiscinaThreadPoolOptions = {}): ThreadPool {
  return new PiscinaThreadPool(resolvePiscinaOptions(options))
}
