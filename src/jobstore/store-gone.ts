import { SchedulerError } from '../core/errors.ts'

/**
 * Whether the store takes nothing of this scheduler any more: it has shut down, or another one has taken its place. The
 * store has told that itself, so that what is tried now and then ends without a report of its own.
 */
export function isStoreGone(error: unknown): boolean {
  return (
    SchedulerError.is(error) && (error.code === 'ERR_STORE_IN_USE' || error.code === 'ERR_SCHEDULER_SHUTDOWN')
  )
}
