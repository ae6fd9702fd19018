import { JobExecutionError, SchedulerError } from '../core/errors.ts'
import type { JobKey } from '../core/key.ts'

/**
 * Makes a JobExecutionError of whatever a job threw. A job can throw anything: nothing, a promise, an object whose
 * properties throw when they are read; none of it may disturb the scheduler.
 */
export function toJobExecutionError(jobKey: JobKey, thrown: unknown): JobExecutionError {
  if (isJobExecutionError(thrown)) return thrown
  if (isPromise(thrown)) {
    // Nobody will look at a thrown promise; were it to reject later, it would end the process.
    void Promise.resolve(thrown).catch(() => {})
  }
  const code = SchedulerError.is(thrown) ? thrown.code : 'ERR_JOB_EXECUTION'
  return new JobExecutionError(`Job ${jobKey.toString()} threw: ${textOf(thrown)}`, { cause: thrown, code })
}

function isJobExecutionError(value: unknown): value is JobExecutionError {
  try {
    return SchedulerError.is(value) && 'refireImmediately' in value
  } catch {
    // A proxy whose traps throw is not one of our errors.
    return false
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  try {
    return value instanceof Promise
  } catch {
    return false
  }
}

/** The message of anything, without trusting it. */
export function textOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return thrown.message
    return typeof thrown === 'object' && thrown !== null
      ? Object.prototype.toString.call(thrown)
      : String(thrown)
  } catch (error) {
    return `something that cannot be read (${error === thrown ? 'its message throws' : 'reading it throws'})`
  }
}
