import { InvalidArgumentError } from '../core/errors.ts'
import { isObject } from '../core/options.ts'
import { logThrown } from '../core/thrown-value.ts'
import { type ResolvedPiscinaOptions, resolvePiscinaOptions } from '../threadpool/piscina-options.ts'
import { piscinaThreadPool } from '../threadpool/piscina-thread-pool.ts'
import type { ThreadPool } from '../threadpool/thread-pool.ts'
import type { ResolvedScheduledExecutorOptions } from './scheduled-executor-options.ts'
import type { TaskContext, TaskFunction } from './task.ts'
import type { WorkerTaskDefinition } from './worker-task.ts'

interface OpenPool {
  readonly pool: ThreadPool
  readonly ready: Promise<void>
  /** How many tasks run in it. */
  running: number
  closing: Promise<unknown> | null
}

/** Runs worker tasks in threads, which are started for the first such task. */
export class WorkerTasks {
  readonly #options: ResolvedScheduledExecutorOptions
  readonly #onProgress: (context: TaskContext, value: unknown) => void
  /** The most slots that there were; with fewer slots, threads are idle. */
  #slots: number
  /** The pool of new tasks. */
  #current: OpenPool | null = null
  /** Every pool that has threads: the pool of new tasks, and smaller ones in which tasks still run. */
  readonly #pools = new Set<OpenPool>()
  #lastRun = 0

  constructor(
    options: ResolvedScheduledExecutorOptions,
    onProgress: (context: TaskContext, value: unknown) => void,
  ) {
    this.#options = options
    this.#onProgress = onProgress
    this.#slots = options.policies.corePoolSize
  }

  /**
   * @throws InvalidArgumentError for what only looks like a task
   * @throws SchedulerError ERR_WORKER_MODULE when the threads cannot load the module
   */
  runnable(definition: WorkerTaskDefinition<unknown>): TaskFunction<unknown> {
    const { name, moduleUrl, exportName, data } = definition as Partial<WorkerTaskDefinition<unknown>>
    if ([name, moduleUrl, exportName].some((part) => typeof part !== 'string') || !isObject(data)) {
      const wanted = 'a task of defineWorkerTask: a job of defineWorkerJob is for a scheduler'
      throw new InvalidArgumentError('task', `'task' must be a function or ${wanted}.`)
    }
    this.#openPool().pool.checkWorkerModule(definition.moduleUrl)
    return (context) => this.#run(definition, context)
  }

  /** Gives new tasks as many threads as so many slots need. Running tasks stay in their pool. */
  resize(slots: number): void {
    if (slots <= this.#slots) return
    const before = this.#poolOptions().maxThreads
    this.#slots = slots
    const outgrown = this.#current
    if (outgrown === null || this.#poolOptions().maxThreads === before) return
    this.#current = null
    this.#closeWhenUnused(outgrown)
  }

  /** Ends the threads; null when there are none. */
  close(): Promise<unknown> | null {
    if (this.#pools.size === 0) return null
    return Promise.all([...this.#pools].map((open) => this.#close(open)))
  }

  #poolOptions(): ResolvedPiscinaOptions {
    return resolvePiscinaOptions({ size: this.#slots, ...this.#options.threadPool })
  }

  #openPool(): OpenPool {
    if (this.#current === null) {
      const { clock, logger } = this.#options
      const pool = piscinaThreadPool(this.#poolOptions())
      const ready = pool.initialize({ schedulerName: 'ScheduledExecutor', clock, logger })
      // The caller of `run` gets the error.
      ready.catch(() => {})
      this.#current = { pool, ready, running: 0, closing: null }
      this.#pools.add(this.#current)
    }
    return this.#current
  }

  #close(open: OpenPool): Promise<unknown> {
    open.closing ??= open.pool.shutdown({ waitForJobsToComplete: true }).finally(() => {
      this.#pools.delete(open)
    })
    return open.closing
  }

  #closeWhenUnused(open: OpenPool): void {
    if (open === this.#current || open.running > 0) return
    this.#close(open).catch((error: unknown) => {
      logThrown(this.#options.logger, error, 'The worker threads of an executor did not end')
    })
  }

  async #run(definition: WorkerTaskDefinition<unknown>, context: TaskContext): Promise<unknown> {
    const open = this.#openPool()
    open.running++
    try {
      await open.ready
      return await this.#runIn(open.pool, definition, context)
    } finally {
      open.running--
      this.#closeWhenUnused(open)
    }
  }

  async #runIn(
    pool: ThreadPool,
    definition: WorkerTaskDefinition<unknown>,
    context: TaskContext,
  ): Promise<unknown> {
    const { clock, logger, interruptGraceMs } = this.#options
    const nowMs = clock.now()
    const identity = { name: definition.name, group: 'ScheduledExecutor' }
    const { result } = await pool.runInWorker(
      {
        moduleUrl: definition.moduleUrl,
        exportName: definition.exportName,
        fireInstanceId: String(++this.#lastRun),
        job: identity,
        trigger: identity,
        jobDataMap: {},
        mergedJobDataMap: definition.data,
        fireTimeMs: nowMs,
        scheduledFireTimeMs: nowMs,
        previousFireTimeMs: null,
        nextFireTimeMs: null,
        recovering: false,
        refireCount: 0,
        shard: null,
        attempt: 1,
        traceContext: null,
      },
      {
        signal: context.signal,
        interruptGraceMs,
        onProgress: (value) => {
          this.#onProgress(context, value)
        },
        onLog: (level, fields, message) => {
          logger[level](fields, message)
        },
        onJobData: () => {},
      },
    )
    return result
  }
}
