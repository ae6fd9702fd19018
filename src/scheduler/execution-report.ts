import { SchedulerError } from '../core/errors.ts'
import { recoveringJobsGroup } from '../core/key.ts'
import { textOf } from '../core/thrown-value.ts'
import type { EndedExecution } from '../jobstore/job-status.ts'
import type { ExecutionReport, TriggerFiredBundle } from '../jobstore/job-store.ts'
import type { EpochMs } from '../time/clock.ts'
import type { ExecutionContext } from './execution-context.ts'
import { attemptOriginOf } from './retry.ts'

/** How an execution ended, in a word, and with what error. */
export type ExecutionEnd = Pick<ExecutionReport, 'outcome' | 'errorText'>

const succeeded: ExecutionEnd = Object.freeze({ outcome: 'succeeded', errorText: null })

/** The outcome of an execution that threw `error`, or ended well (null). */
export function endOf(thrown: unknown): ExecutionEnd {
  if (thrown === null) return succeeded
  return { outcome: outcomeOf(thrown), errorText: textOf(thrown) }
}

function outcomeOf(thrown: unknown): ExecutionReport['outcome'] {
  switch (SchedulerError.is(thrown) ? thrown.code : null) {
    case 'ERR_JOB_TIMEOUT':
      return 'timedOut'
    case 'ERR_JOB_INTERRUPTED':
      return 'interrupted'
    default:
      return 'failed'
  }
}

export function reportOf(
  context: ExecutionContext,
  { outcome, errorText }: ExecutionEnd,
  nowMs: EpochMs,
): ExecutionReport {
  return {
    outcome,
    errorText,
    triggerKey: context.originalTriggerKey,
    scheduledFireTimeMs: context.scheduledFireTime.getTime(),
    fireTimeMs: context.bundle.fireTimeMs,
    finishedTimeMs: nowMs,
    attempt: context.attempt,
    recovering: context.recovering,
  }
}

/** What the status of the job takes from the report of an execution. */
export function endedExecution(bundle: TriggerFiredBundle, report: ExecutionReport): EndedExecution {
  const { outcome, errorText, fireTimeMs, finishedTimeMs } = report
  return {
    jobKey: bundle.jobDetail.key,
    fireInstanceId: bundle.fireInstanceId,
    outcome,
    fireTimeMs,
    finishedTimeMs,
    knownTimeMs: finishedTimeMs,
    errorText,
  }
}

/** The report of a firing whose job could not be begun. */
export function reportOfUnbegun(
  bundle: TriggerFiredBundle,
  errorText: string,
  nowMs: EpochMs,
): ExecutionReport {
  const { attempt, triggerKey, scheduledFireTimeMs } = attemptOriginOf(bundle)
  return {
    outcome: 'failed',
    errorText,
    triggerKey,
    scheduledFireTimeMs,
    fireTimeMs: bundle.fireTimeMs,
    finishedTimeMs: nowMs,
    attempt,
    recovering: bundle.trigger.key.group === recoveringJobsGroup,
  }
}
