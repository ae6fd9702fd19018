import { SchedulerError } from '../core/errors.ts'

/** A task that was handed to an executor: what came of it, and the means to withdraw it. */
export interface ScheduledFuture<T> extends PromiseLike<T> {
  /** Whether the task is to run again and again. */
  readonly isPeriodic: boolean
  /** Whether it will not run (again): it ended, failed or was cancelled. */
  readonly isDone: boolean
  readonly isCancelled: boolean
  /**
   * What the task answered, as a promise. That of a periodic task never resolves: it rejects when the task is cancelled
   * or, with `onError: 'stop'`, fails. A failure that nobody waits for is told by the event `taskFailed` alone.
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

/** The task was cancelled, so there is nothing that it could answer. */
export class CancellationError extends SchedulerError {
  constructor(message = 'The task was cancelled.') {
    super('ERR_TASK_CANCELLED', message)
  }
}
