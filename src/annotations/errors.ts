import { SchedulerError } from '../core/errors.ts'

/** A task scheduler did not take a task: it is shut down, or its executor refused. */
export class TaskRejectedError extends SchedulerError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_TASK_REJECTED', message, options)
  }
}
