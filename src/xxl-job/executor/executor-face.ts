import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypedEvents } from '../../core/typed-events.ts'
import type { XxlJobExecutorEventMap } from './executor-events.ts'
import type { XxlJobHandler } from './handlers/xxl-job-handler.ts'

/** How an executor is doing. */
export interface XxlJobExecutorStatus {
  readonly state: 'new' | 'running' | 'closing' | 'closed'
  /** The URL by which admins call it; null before `start`. */
  readonly address: string | null
  /** When an admin took the registration last; null when none has. */
  readonly lastBeat: Date | null
  readonly admins: readonly {
    readonly address: string
    /** The version whose form of results it took last; null before. */
    readonly version: 'before-3.5' | '3.5' | null
  }[]
  readonly handlers: readonly string[]
  /** The jobs that have something to do, or had within 93 seconds. */
  readonly jobs: readonly {
    readonly jobId: number
    readonly handler: string
    /** The run that runs; null when none does. */
    readonly runningLogId: number | null
    readonly runningSince: Date | null
    readonly queued: number
  }[]
  /** Results that no admin has yet. */
  readonly waitingResults: number
}

/** Options of `close`. */
export interface XxlJobCloseOptions {
  /**
   * How long runs that run or wait may go on before they are killed. Milliseconds, 0 to 86,400,000, default 10,000.
   */
  readonly timeoutMs?: number
}

/** An executor for XXL-JOB: admins of XXL-JOB have it run its handlers. */
export interface XxlJobExecutor extends AsyncDisposable {
  readonly events: TypedEvents<XxlJobExecutorEventMap>
  /**
   * Listens, and registers with the admins; an admin that does not answer is asked again. Resolves when it listens. An
   * executor that cannot start is closed.
   *
   * @throws SchedulerError ERR_XXL_JOB_EXECUTOR when it was started or closed before; the error of Node.js when the
   *   port is taken or `logPath` cannot be written
   */
  start(): Promise<void>
  /**
   * Adds a handler, also while the executor runs.
   *
   * @throws InvalidArgumentError ERR_INVALID_OPTION for what is no handler, and for a name that is taken
   * @throws SchedulerError ERR_WORKER_MODULE when the threads cannot load the module
   */
  registerHandler(name: string, handler: XxlJobHandler): void
  /** Answers one request of an admin, in servers of the Fetch standard. Never rejects. */
  fetch(request: Request): Promise<Response>
  /** Answers one request of an admin, in servers of `node:http` and in Express, before anything reads its body. */
  listener(request: IncomingMessage, response: ServerResponse): void
  status(): XxlJobExecutorStatus
  /**
   * Takes the executor off the admins' lists, accepts no more runs, waits for those it has, kills what takes too long,
   * and sends the results. What no admin takes is kept on disk for the next start. May be called again.
   *
   * @throws InvalidArgumentError ERR_INVALID_OPTION
   */
  close(options?: XxlJobCloseOptions): Promise<void>
}
