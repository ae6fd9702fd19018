import type { SchedulerError } from '../core/errors.ts'
import type { JobDataMap } from '../core/job-data-map.ts'
import type { Logger } from '../core/logger.ts'
import type { Clock } from '../time/clock.ts'
import type { WorkerTask, WorkerTaskResult } from './wire.ts'

/** One execution, from the pool's point of view. `run` never rejects. */
export interface Runnable {
  run(): Promise<void>
}

export interface ThreadPoolContext {
  readonly schedulerName: string
  readonly clock: Clock
  readonly logger: Logger
  /** Whether the scheduler has worker jobs: a pool that cannot start threads refuses now. Default false. */
  readonly expectsWorkerJobs?: boolean
  /** Called once for each thread that was terminated and does not exit. Default: only a log line. */
  threadStuck?(thread: StuckThread): void
  /**
   * Told once when worker tasks wait while every thread that the pool may have is stuck, and again after one of them
   * has exited and all are stuck anew. Default: only the log says so.
   */
  allThreadsStuck?(error: SchedulerError): void
}

/** A terminated thread that has not exited, because native code cannot be stopped. */
export interface StuckThread {
  readonly threadId: number
  /** Milliseconds since it was terminated. */
  readonly waitedMs: number
  /** Its executions; empty when it runs something that a job left behind. */
  readonly executions: readonly {
    readonly job: { readonly name: string; readonly group: string }
    readonly fireInstanceId: string
  }[]
}

/**
 * The part of an AbortSignal that a pool uses. Every AbortSignal fits; the scheduler passes a lighter object, because
 * making an AbortSignal costs as much as handing a task to a thread.
 */
export interface TaskSignal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options: { readonly once: true }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** What a pool reports while a worker task runs. */
export interface WorkerTaskHandlers {
  /** Aborting asks the task to stop; one that does not stop within `interruptGraceMs` loses its thread. */
  readonly signal: TaskSignal
  readonly interruptGraceMs: number
  onProgress(value: unknown): void
  onLog(level: 'debug' | 'info' | 'warn' | 'error', fields: object, message: string): void
  /**
   * The job's own data as a task left them that throws, before it rejects; a result has them itself. Not called when
   * the task has not read them, or changed them to something that cannot be cloned.
   */
  onJobData(jobDataMap: JobDataMap): void
  /**
   * Why the job's own data cannot be stored as a task left them, before it settles: what comes across may lack what is
   * refused, such as a symbol as key. Not called when the task fails because its data cannot be cloned.
   */
  onJobDataRefused(error: unknown): void
}

/**
 * WHO: gives executions a place to run. Every execution takes one slot, wherever it runs: inline jobs use it on the
 * event loop, worker jobs in a thread.
 */
export interface ThreadPool {
  readonly name: string
  /** Number of slots; 0 for a node that only schedules. */
  readonly size: number
  /** Whether {@link runInWorker} works here. */
  readonly runsWorkerJobs: boolean

  /**
   * Called before anything else: a pool belongs to one scheduler. It is called again when the pool was shut down before
   * anything ran, because the scheduler could not be made and is tried once more: the pool begins anew.
   *
   * @throws SchedulerError ERR_THREAD_POOL_IN_USE when another scheduler has it, or it is shut down after something
   *   ran: with this code alone the scheduler does not shut it down
   */
  initialize(context: ThreadPoolContext): Promise<void>
  /**
   * Whether the pool's threads can load a worker job's module, so that a scheduler can refuse it before anything fires.
   *
   * @throws SchedulerError ERR_WORKER_UNAVAILABLE when the pool runs no worker jobs, ERR_WORKER_MODULE when it cannot
   *   load this one; the message says what to change
   */
  checkWorkerModule(moduleUrl: string): void
  /** Free slots now. */
  availableThreads(): number
  /** Waits for a free slot and answers how many there are; 0 once the signal aborts or the pool shuts down. */
  blockForAvailableThreads(signal: AbortSignal): Promise<number>
  /** Takes a slot and starts the execution on the event loop; false when no slot is free or the pool shuts down. */
  runInThread(runnable: Runnable): boolean
  /**
   * Runs a task in a worker thread, within a slot that its execution holds already. Settles when the task runs no more;
   * for a task in native code whose thread is terminated, when that code has returned.
   *
   * @throws what the task threw, with its name, message, stack, code and own fields;
   * @throws SchedulerError ERR_WORKER_FAILED when the thread died; ERR_JOB_INTERRUPTED when it was terminated
   */
  runInWorker(task: WorkerTask, handlers: WorkerTaskHandlers): Promise<WorkerTaskResult>
  /**
   * Takes no more work. With `waitForJobsToComplete` resolves when all executions ended or `timeoutMs` passed, and
   * answers how many still run. May be called again, to wait longer, or with an earlier end while a call waits.
   */
  shutdown(options: { readonly waitForJobsToComplete: boolean; readonly timeoutMs?: number }): Promise<number>
}
