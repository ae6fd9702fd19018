import type { JobDataMap } from '../../core/job-data-map.ts'
import { type Logger, silentLogger } from '../../core/logger.ts'
import type { Runnable, ThreadPool, WorkerTaskHandlers } from '../../threadpool/thread-pool.ts'
import type { WorkerTask } from '../../threadpool/wire.ts'
import { ManualClock } from '../../time/manual-clock.ts'

/** A pool that is initialized on a manual clock, and what it logged. */
export class PoolUnderTest {
  readonly pool: ThreadPool
  readonly clock: ManualClock = new ManualClock()
  readonly errors: { readonly fields: object; readonly message: string }[] = []
  readonly logger: Logger = {
    ...silentLogger,
    error: (fields, message) => {
      this.errors.push({ fields, message })
    },
  }

  private constructor(pool: ThreadPool) {
    this.pool = pool
  }

  static async start(pool: ThreadPool): Promise<PoolUnderTest> {
    const underTest = new PoolUnderTest(pool)
    const { clock, logger } = underTest
    await pool.initialize({ schedulerName: 'conformance', clock, logger })
    return underTest
  }

  /** Starts an execution that ends when it is told to; null when the pool did not take it. */
  occupy(): Execution | null {
    const execution = new Execution()
    return this.pool.runInThread(execution) ? execution : null
  }

  async stop(): Promise<void> {
    await this.pool.shutdown({ waitForJobsToComplete: true })
  }
}

/** An execution that lasts until the test ends it. */
export class Execution implements Runnable {
  started = false
  #end: () => void = () => {}
  readonly #ended: Promise<void>

  constructor() {
    this.#ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  run(): Promise<void> {
    this.started = true
    return this.#ended
  }

  end(): void {
    this.#end()
  }
}

/** The progress and log lines of a worker task, and the data that it left when it failed. */
export class Recorder implements WorkerTaskHandlers {
  readonly controller: AbortController = new AbortController()
  readonly signal: AbortSignal = this.controller.signal
  readonly interruptGraceMs = 1000
  readonly reports: unknown[] = []
  /** Resolves with the first progress, the sign that the job runs. */
  readonly started: Promise<unknown>
  #start: (value: unknown) => void = () => {}

  constructor() {
    this.started = new Promise((resolve) => {
      this.#start = resolve
    })
  }

  onProgress(value: unknown): void {
    this.reports.push({ progress: value })
    this.#start(value)
  }

  onLog(level: string, fields: object, message: string): void {
    this.reports.push({ level, fields, message })
  }

  onJobData(jobDataMap: JobDataMap): void {
    this.reports.push({ jobDataMap })
  }

  onJobDataRefused(error: unknown): void {
    this.reports.push({ refused: error })
  }
}

export function workerTask(
  moduleUrl: string,
  exportName: string,
  fields: Partial<WorkerTask> = {},
): WorkerTask {
  return {
    moduleUrl,
    exportName,
    fireInstanceId: 'firing-1',
    jobType: 'type',
    job: { name: 'job', group: 'jobs' },
    trigger: { name: 'trigger', group: 'triggers' },
    jobDataMap: {},
    mergedJobDataMap: {},
    fireTimeMs: 1000,
    scheduledFireTimeMs: 990,
    previousFireTimeMs: null,
    nextFireTimeMs: 2000,
    recovering: false,
    refireCount: 0,
    attempt: 1,
    shard: null,
    traceContext: null,
    ...fields,
  }
}
