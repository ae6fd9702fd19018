import { piscinaThreadPool } from '../threadpool/piscina-thread-pool.ts'
import type { ThreadPool } from '../threadpool/thread-pool.ts'
import { wireVersion } from '../threadpool/wire.ts'
import type { ResolvedScheduledExecutorOptions } from './scheduled-executor-options.ts'
import type { TaskContext, TaskFunction } from './task.ts'
import type { WorkerTaskDefinition } from './worker-task.ts'

interface OpenPool {
  readonly pool: ThreadPool
  readonly ready: Promise<void>
}

/** Runs worker tasks in threads, which are there from the first such task on. */
export class WorkerTasks {
  readonly #options: ResolvedScheduledExecutorOptions
  readonly #onProgress: (context: TaskContext, value: unknown) => void
  #open: OpenPool | null = null
  #lastRun = 0

  constructor(
    options: ResolvedScheduledExecutorOptions,
    onProgress: (context: TaskContext, value: unknown) => void,
  ) {
    this.#options = options
    this.#onProgress = onProgress
  }

  /** @throws SchedulerError ERR_WORKER_MODULE when the threads cannot load the module */
  runnable(definition: WorkerTaskDefinition<unknown>): TaskFunction<unknown> {
    this.#pool().pool.checkWorkerModule(definition.moduleUrl)
    return (context) => this.#run(definition, context)
  }

  /** Ends the threads; null when there never were any. */
  close(): Promise<unknown> | null {
    return this.#open?.pool.shutdown({ waitForJobsToComplete: true }) ?? null
  }

  #pool(): OpenPool {
    if (this.#open === null) {
      const { clock, logger, policies, threadPool } = this.#options
      const pool = piscinaThreadPool({ size: policies.corePoolSize, ...threadPool })
      this.#open = { pool, ready: pool.initialize({ schedulerName: 'ScheduledExecutor', clock, logger }) }
      // Whoever runs a task is told.
      this.#open.ready.catch(() => {})
    }
    return this.#open
  }

  async #run(definition: WorkerTaskDefinition<unknown>, context: TaskContext): Promise<unknown> {
    const { pool, ready } = this.#pool()
    await ready
    const { clock, logger, interruptGraceMs } = this.#options
    const nowMs = clock.now()
    const identity = { name: definition.name, group: 'ScheduledExecutor' }
    const { result } = await pool.runInWorker(
      {
        version: wireVersion,
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
        attempt: 1,
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
      },
    )
    return result
  }
}
