import { SchedulerError } from '../core/errors.ts'

/** A task that was submitted to an executor: its result, and the means to cancel it. */
export interface ScheduledFuture<T> extends PromiseLike<T> {
  /** Whether the task is to run again and again. */
  readonly isPeriodic: boolean
  /** Whether it will not run (again): it ended, failed or was cancelled. */
  readonly isDone: boolean
  readonly isCancelled: boolean
  /**
   * The task's result. For a periodic task the promise never resolves: it rejects when the task is cancelled or, with
   * `onError: 'stop'`, fails. Without a caller that waits, a failure is the event `taskFailed` only.
   *
   * @throws CancellationError when the task was cancelled
   * @throws what the task threw
   */
  get(): Promise<T>
  /**
   * Keeps the task from running (again). A run in progress goes on; with `mayInterrupt` its signal aborts. False when
   * the task is done already.
   */
  cancel(options?: CancelOptions): boolean
  /** Milliseconds until the task is due; negative when it is late, 0 when it is not waiting. */
  getDelay(): number
}

export interface CancelOptions {
  /** Abort the signal of a run in progress. Default false. */
  readonly mayInterrupt?: boolean
}

/** The task was cancelled, so it has no result. */
export class CancellationError extends SchedulerError {
  constructor(message = 'The task was cancelled.') {
    super('ERR_TASK_CANCELLED', message)
  }
}
