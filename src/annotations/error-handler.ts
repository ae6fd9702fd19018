import { unfailing } from '../core/line-logger.ts'
import type { Logger } from '../core/logger.ts'
import { logThrown } from '../core/thrown-value.ts'

/**
 * Called with what a task threw, and with the name of the task. When the handler throws, the task has failed with that
 * error: a repeating task stops and its future fails. Otherwise a repeating task goes on and a task that runs once ends
 * well. May be asynchronous.
 */
export type ErrorHandler = (error: unknown, task?: string) => unknown

/** Logs and goes on: the default of repeating tasks. */
export function logAndSuppress(logger: Logger): ErrorHandler {
  const guarded = unfailing(logger)
  return (error, task) => {
    logThrown(guarded, error, 'A scheduled task failed; it will run again at its next time', { task })
  }
}

/** Logs and throws again, so that the future fails: the default of tasks that run once. */
export function logAndRethrow(logger: Logger): ErrorHandler {
  const guarded = unfailing(logger)
  return (error, task) => {
    logThrown(guarded, error, 'A scheduled task failed', { task })
    throw error
  }
}
