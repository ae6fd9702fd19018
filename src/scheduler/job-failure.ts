import { JobExecutionError, SchedulerError } from '../core/errors.ts'
import type { JobKey } from '../core/key.ts'
import { disarm, textOf } from '../core/thrown-value.ts'

/**
 * Makes a JobExecutionError of whatever a job threw. A job can throw anything: undefined, a promise, an object whose
 * properties throw when they are read. This function throws for none of them.
 */
export function toJobExecutionError(jobKey: JobKey, thrown: unknown): JobExecutionError {
  if (isJobExecutionError(thrown)) return thrown
  disarm(thrown)
  const code = SchedulerError.is(thrown) ? thrown.code : 'ERR_JOB_EXECUTION'
  return new JobExecutionError(`Job ${jobKey.toString()} threw: ${textOf(thrown)}`, { cause: thrown, code })
}

/** An error of ours, of this copy of the package or another one, whose flags can be read. */
function isJobExecutionError(value: unknown): value is JobExecutionError {
  try {
    return (
      SchedulerError.is(value) &&
      flags.every((flag) => flag in value && typeof Reflect.get(value, flag) === 'boolean') &&
      // One of version 0.1.0 does not have it.
      (!('giveUp' in value) || typeof value.giveUp === 'boolean')
    )
  } catch {
    // A proxy round one of our errors may still throw.
    return false
  }
}

const flags = ['refireImmediately', 'unscheduleFiringTrigger', 'unscheduleAllTriggers'] as const
