import { Lanes } from '../../../core/lanes.ts'
import type { Logger } from '../../../core/logger.ts'
import { moduleBeside } from '../../../core/package-files.ts'
import { type PiscinaThreadPoolOptions, resolvePiscinaOptions } from '../../../threadpool/piscina-options.ts'
import { StandaloneThreads } from '../../../threadpool/standalone-threads.ts'
import type { Clock } from '../../../time/clock.ts'
import type { HandleResult } from '../run-context.ts'
import type { JobRunner, RunningJob } from './job-runner.ts'
import type { WorkerRunData } from './worker-bridge.ts'
import type { XxlJobWorker } from './xxl-job-handler.ts'

export interface WorkerHandlersOptions {
  readonly threadPool: PiscinaThreadPoolOptions
  readonly interruptGraceMs: number
  readonly clock: Clock
  readonly logger: Logger
}

/** The threads of the handlers in worker modules; they start with the first run that needs one. */
export class WorkerHandlers {
  readonly #threads: StandaloneThreads
  /** One lane for each slot of the pool. */
  readonly #slots: Lanes
  #lastRun = 0

  constructor(options: WorkerHandlersOptions) {
    this.#threads = new StandaloneThreads({ ...options, owner: 'XxlJobExecutor' })
    this.#slots = new Lanes(resolvePiscinaOptions(options.threadPool).size)
  }

  /** @throws SchedulerError ERR_WORKER_MODULE when the threads cannot load the module */
  check({ moduleUrl }: XxlJobWorker): void {
    this.#threads.check(moduleUrl)
  }

  /** Settles when the run has ended, or at once when it is interrupted before a thread has it. */
  run(worker: XxlJobWorker, run: RunningJob): Promise<HandleResult> {
    return new Promise((resolve, reject) => {
      const { signal } = run
      const interrupted = (): void => {
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', interrupted, { once: true })
      const work = this.#slots.run(async () => {
        signal.removeEventListener('abort', interrupted)
        if (!signal.aborted) resolve(await this.#runInThread(worker, run))
      })
      work.catch(reject)
    })
  }

  close(): Promise<void> {
    return this.#threads.close()
  }

  async #runInThread(worker: XxlJobWorker, { facts, signal, log }: RunningJob): Promise<HandleResult> {
    const data: WorkerRunData = { moduleUrl: worker.moduleUrl, exportName: worker.exportName, facts }
    const result = await this.#threads.run(
      {
        id: String(++this.#lastRun),
        name: facts.handler,
        moduleUrl: workerBridge().href,
        exportName: 'runXxlJob',
        data: { ...data },
        scheduledMs: facts.logDateTimeMs,
      },
      {
        signal,
        onProgress: () => {},
        onLog: (_level, _fields, message) => {
          log.line(message)
        },
      },
    )
    return result as HandleResult
  }
}

/** Runs a handler in a worker thread. */
export class WorkerRunner implements JobRunner {
  readonly kind = 'handler'
  readonly canBeStopped = true
  readonly name: string
  readonly #worker: XxlJobWorker
  readonly #threads: WorkerHandlers

  constructor(name: string, worker: XxlJobWorker, threads: WorkerHandlers) {
    this.name = name
    this.#worker = worker
    this.#threads = threads
  }

  isSame(other: JobRunner): boolean {
    return other === this
  }

  init(): unknown {
    return null
  }

  destroy(): unknown {
    return null
  }

  execute(run: RunningJob): Promise<HandleResult> {
    return this.#threads.run(this.#worker, run)
  }
}

function workerBridge(): URL {
  return moduleBeside(import.meta.url, './worker-bridge', 'xxl-job/executor/handlers/worker-bridge')
}
