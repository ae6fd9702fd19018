import type { JobExecutionError } from '../core/errors.ts'
import type { IdGenerator } from '../core/ids.ts'
import type { JobDataMap } from '../core/job-data-map.ts'
import type { RetryPolicy } from '../jobs/retry-policy.ts'
import type { ExecutionReport } from '../jobstore/execution-report.ts'
import type { CompletedExecutionInstruction, JobCompletion } from '../jobstore/job-store.ts'
import { isManualTriggerKey } from '../jobstore/manual-trigger.ts'
import type { Clock } from '../time/clock.ts'
import type { Trigger } from '../triggers/trigger.ts'
import { dataToPersist } from './data-to-persist.ts'
import type { ExecutionContext } from './execution-context.ts'
import { type ExecutionEnd, endOf, finishedTimeOf, reportOf, textsOf } from './execution-report.ts'
import type { LateCauses } from './late-causes.ts'
import type { Notifier } from './notifier.ts'
import type { Recorder } from './recorder.ts'
import { recoveryTriggerOf, retryTriggerFor } from './retry.ts'
import { instructionAfter, type Verdict } from './verdict.ts'

/** What an execution leaves for the store. */
export interface Outcome {
  readonly instruction: CompletedExecutionInstruction
  readonly retry: Trigger | null
  /** What runs the job again after the shutdown that interrupted it. */
  readonly recovery: Trigger | null
  readonly end: ExecutionEnd
}

export interface OutcomeParts {
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly notifier: Notifier
  readonly recorder: Recorder
  readonly lateCauses: LateCauses
  readonly maxJobDataBytes: number
}

export function outcomeOf(
  error: JobExecutionError | null,
  { again, instruction }: Verdict,
  context: ExecutionContext,
  parts: OutcomeParts,
): Outcome {
  const recovery = again === 'recovery' ? recoveryTriggerOf(context, parts) : null
  const retry = again === null || again === 'recovery' ? null : retryOf(again, context, parts)
  return { instruction, retry, recovery, end: endOf(error) }
}

function retryOf(policy: RetryPolicy, context: ExecutionContext, { clock, ids }: OutcomeParts): Trigger {
  const origin = {
    attempt: context.attempt,
    triggerKey: context.originalTriggerKey,
    scheduledFireTimeMs: context.scheduledFireTimeMs,
  }
  return retryTriggerFor(context.bundle, policy, origin, clock.now(), ids)
}

export function vetoedOutcome({ trigger }: ExecutionContext): Outcome {
  const end: ExecutionEnd = { outcome: 'vetoed', errorText: null }
  return { instruction: instructionAfter(trigger, null), retry: null, recovery: null, end }
}

/** When something outside the job fails, the trigger goes on as after a job that ended well. */
export function failedOutside(
  error: unknown,
  { jobKey, trigger }: ExecutionContext,
  { notifier }: OutcomeParts,
): Outcome {
  notifier.error(`Execution of job ${jobKey.toString()} failed outside the job.`, error)
  return { instruction: instructionAfter(trigger, null), retry: null, recovery: null, end: endOf(error) }
}

/** `isAwaited`: whether the store keeps a row for the result of the execution. */
export function completionOf(
  { instruction, retry, recovery, end }: Outcome,
  context: ExecutionContext,
  isAwaited: boolean,
  parts: OutcomeParts,
): JobCompletion {
  const { bundle } = context
  const report = takeReport(end, context, isAwaited, parts)
  const completion: JobCompletion = {
    fireInstanceId: bundle.fireInstanceId,
    trigger: bundle.trigger,
    jobDetail: bundle.jobDetail,
    instruction,
    jobDataMap: isAwaited ? null : storableData(context, parts),
    retryTrigger: retry ?? recovery,
    report,
  }
  // Spread by spread, the completion of each plain job would take several times as long.
  return isAwaited ? { ...completion, isAwaited } : completion
}

function takeReport(
  end: ExecutionEnd,
  context: ExecutionContext,
  isAwaited: boolean,
  { clock, lateCauses, recorder }: OutcomeParts,
): ExecutionReport {
  const report = reportOf(context, end, finishedTimeOf(context, clock, isAwaited))
  const { fireTimeMs, jobDetail } = context.bundle
  if (jobDetail.disallowConcurrentExecution) {
    lateCauses.blocked(jobDetail.key, fireTimeMs, report.finishedTimeMs)
  }
  if (end.outcome === 'vetoed') noteVeto(report, context, recorder)
  // Of several ends of one that is awaited, the one that counts is noted afterwards.
  if (!context.isTakenOver && !isAwaited) recorder.noteCompletion(context.bundle, report)
  if (context.lastProgress !== null) {
    recorder.note('progress', { fireInstanceId: context.fireInstanceId, progressText: () => null })
  }
  if (!recorder.keepsOutcome(end.outcome)) return report
  const logLines = context.isTakenOver ? null : recorder.takeLogLines(context.fireInstanceId)
  // Into the report: a copy with one more field costs more than the report.
  report.texts = textsOf(context)
  if (logLines !== null) report.logLines = logLines
  return report
}

function noteVeto(
  { attempt, finishedTimeMs, scheduledFireTimeMs, triggerKey }: ExecutionReport,
  { jobKey }: ExecutionContext,
  recorder: Recorder,
): void {
  // Another attempt at a planned instant is no misfire, nor what a caller asked for.
  if (attempt > 1 || isManualTriggerKey(triggerKey)) return
  recorder.note('misfires', {
    triggerKey,
    jobKey,
    cause: 'vetoed',
    policy: null,
    noticedTimeMs: finishedTimeMs,
    fires: scheduledFireTimeMs,
  })
}

/** Null when there is nothing to store, or what there is cannot be stored. */
function storableData(
  context: ExecutionContext,
  { maxJobDataBytes, notifier }: OutcomeParts,
): JobDataMap | null {
  try {
    return dataToPersist(context, maxJobDataBytes)
  } catch (error) {
    const name = context.jobKey.toString()
    notifier.error(`Job ${name} left data that cannot be stored; the data before it are kept.`, error)
    return null
  }
}
