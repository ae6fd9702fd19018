import type { Logger } from '../core/logger.ts'
import { logThrown } from '../core/thrown-value.ts'

/**
 * Told of what a task threw. When it throws itself, that is what the task ended with: a repeating task stops and its
 * future fails. Otherwise a repeating task goes on and a task that runs once ends well. May be asynchronous.
 */
export type ErrorHandler = (error: unknown) => unknown

/** Logs and goes on: what repeating tasks have by default. */
export function logAndSuppress(logger: Logger): ErrorHandler {
  return (error) => {
    logThrown(logger, error, 'A scheduled task failed; it will run again at its next time')
  }
}

/** Logs and throws on, so that the future fails: what tasks that run once have by default. */
export function logAndRethrow(logger: Logger): ErrorHandler {
  return (error) => {
    logThrown(logger, error, 'A scheduled task failed')
    throw error
  }
}
