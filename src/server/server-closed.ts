import { SchedulerError } from '../core/errors.ts'

/** What a closed server answers, also to what came in before and is ready to begin only now. */
export function serverClosed(): SchedulerError {
  return new SchedulerError('ERR_SERVER_CLOSED', 'The server is closed.')
}
