import { SchedulerError } from '../core/errors.ts'
import type { JobDataMap } from '../core/job-data-map.ts'
import type { Logger } from '../core/logger.ts'
import { logThrown } from '../core/thrown-value.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import type { PiscinaThreadPoolOptions } from './piscina-options.ts'
import { piscinaThreadPool } from './piscina-thread-pool.ts'
import type { ThreadPool, WorkerTaskHandlers } from './thread-pool.ts'

export interface StandaloneThreadsOptions {
  /** Whose threads they are, for messages: also the group of every task. */
  readonly owner: string
  readonly threadPool: PiscinaThreadPoolOptions
  readonly interruptGraceMs: number
  readonly clock: Clock
  readonly logger: Logger
}

/** A function of a module, and what it is called with. */
export interface StandaloneTask {
  /** Another one for each task of the owner. */
  readonly id: string
  readonly name: string
  readonly moduleUrl: string
  readonly exportName: string
  readonly data: JobDataMap
  /** When it was to run. */
  readonly scheduledMs: EpochMs
}

/** Runs functions of modules in worker threads where there is no scheduler. The owner counts the slots. */
export class StandaloneThreads {
  readonly #options: StandaloneThreadsOptions
  #pool: ThreadPool
  /** Of the pool; null before its first task. */
  #ready: Promise<void> | null = null
  #isClosed = false

  constructor(options: StandaloneThreadsOptions) {
    this.#options = options
    this.#pool = piscinaThreadPool(options.threadPool)
  }

  /** @throws SchedulerError ERR_WORKER_MODULE when the threads cannot load the module */
  check(moduleUrl: string): void {
    this.#pool.checkWorkerModule(moduleUrl)
  }

  /** Starts the `minThreads`, unless they are up. After a failure the next call tries again. */
  async warmUp(): Promise<void> {
    if (this.#isClosed) {
      throw new SchedulerError(
        'ERR_THREAD_POOL_SHUTDOWN',
        `The worker threads of '${this.#options.owner}' are closed.`,
      )
    }
    this.#ready ??= this.#initialize(this.#pool)
    await this.#ready
  }

  /** Answers what the function does; see `ThreadPool.runInWorker`. */
  async run(
    { id, name, moduleUrl, exportName, data, scheduledMs }: StandaloneTask,
    handlers: Pick<WorkerTaskHandlers, 'signal' | 'onProgress' | 'onLog'>,
  ): Promise<unknown> {
    const { clock, interruptGraceMs, owner } = this.#options
    await this.warmUp()
    const identity = { name, group: owner }
    const { result } = await this.#pool.runInWorker(
      {
        moduleUrl,
        exportName,
        fireInstanceId: id,
        jobType: null,
        job: identity,
        trigger: identity,
        jobDataMap: {},
        mergedJobDataMap: data,
        fireTimeMs: clock.now(),
        scheduledFireTimeMs: scheduledMs,
        previousFireTimeMs: null,
        nextFireTimeMs: null,
        recovering: false,
        refireCount: 0,
        shard: null,
        attempt: 1,
        traceContext: null,
      },
      { ...handlers, interruptGraceMs, onJobData: () => {}, onJobDataRefused: () => {} },
    )
    return result
  }

  /** Ends the threads, once no task runs. Tasks that come later are refused with ERR_THREAD_POOL_SHUTDOWN. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pool.shutdown({ waitForJobsToComplete: true })
  }

  async #initialize(pool: ThreadPool): Promise<void> {
    const { clock, logger, owner, threadPool } = this.#options
    try {
      await pool.initialize({ schedulerName: owner, clock, logger })
    } catch (error) {
      // A pool is initialized once, so the next task gets another one.
      if (!this.#isClosed) {
        this.#pool = piscinaThreadPool(threadPool)
        this.#ready = null
      }
      await pool.shutdown({ waitForJobsToComplete: false }).catch((failure: unknown) => {
        logThrown(logger, failure, 'The worker threads that did not start could not be closed.')
      })
      throw error
    }
  }
}
