import { InvalidArgumentError } from '../core/errors.ts'
import { isObject } from '../core/options.ts'
import { logThrown } from '../core/thrown-value.ts'
import { type ResolvedPiscinaOptions, resolvePiscinaOptions } from '../threadpool/piscina-options.ts'
import { StandaloneThreads } from '../threadpool/standalone-threads.ts'
import type { ResolvedScheduledExecutorOptions } from './scheduled-executor-options.ts'
import type { TaskContext, TaskFunction } from './task.ts'
import type { WorkerTaskDefinition } from './worker-task.ts'

interface OpenPool {
  readonly threads: StandaloneThreads
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
    const { threads } = this.#openPool()
    threads.check(definition.moduleUrl)
    // The run of the task tries again, and its caller gets the error.
    threads.warmUp().catch(() => {})
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
      const { clock, logger, interruptGraceMs } = this.#options
      const threadPool = this.#poolOptions()
      const threads = new StandaloneThreads({
        owner: 'ScheduledExecutor',
        threadPool,
        interruptGraceMs,
        clock,
        logger,
      })
      this.#current = { threads, running: 0, closing: null }
      this.#pools.add(this.#current)
    }
    return this.#current
  }

  #close(open: OpenPool): Promise<unknown> {
    open.closing ??= open.threads.close().finally(() => {
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
      return await this.#runIn(open.threads, definition, context)
    } finally {
      open.running--
      this.#closeWhenUnused(open)
    }
  }

  #runIn(
    threads: StandaloneThreads,
    { name, moduleUrl, exportName, data }: WorkerTaskDefinition<unknown>,
    context: TaskContext,
  ): Promise<unknown> {
    const { clock, logger } = this.#options
    const id = String(++this.#lastRun)
    return threads.run(
      { id, name, moduleUrl, exportName, data, scheduledMs: clock.now() },
      {
        signal: context.signal,
        onProgress: (value) => {
          this.#onProgress(context, value)
        },
        onLog: (level, fields, message) => {
          logger[level](fields, message)
        },
      },
    )
  }
}
