import { SchedulerError } from '../core/errors.ts'

/** An executor or timer that was shut down takes no more tasks. */
export class RejectedExecutionError extends SchedulerError {
  constructor(message: string) {
    super('ERR_REJECTED_EXECUTION', message)
  }
}

/** The task was cancelled, so there is nothing that it could answer. */
export class CancellationError extends SchedulerError {
  constructor(message = 'The task was cancelled.') {
    super('ERR_TASK_CANCELLED', message)
  }
}
