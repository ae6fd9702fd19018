import { boundedJson } from '../core/bounded-json.ts'
import { SchedulerError } from '../core/errors.ts'
import { emptyJobDataMap, mergeJobData, triggeredByKey } from '../core/job-data-map.ts'
import { recoveringJobsGroup, type TriggerKey } from '../core/key.ts'
import { storedError } from '../core/secrets.ts'
import { fullTextOf } from '../core/thrown-value.ts'
import { attemptOriginOf } from '../jobstore/attempt-origin.ts'
import type { ExecutionLogLine } from '../jobstore/execution-log.ts'
import type { ExecutionReport, ExecutionTexts } from '../jobstore/execution-report.ts'
import type { TriggerFiredBundle } from '../jobstore/fired-bundle.ts'
import { firingPartOf } from '../jobstore/firing-part.ts'
import type { EndedExecution } from '../jobstore/job-status.ts'
import type { EndedSharding } from '../jobstore/job-store-shards.ts'
import { isManualTriggerKey } from '../jobstore/manual-trigger.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import type { ExecutionContext } from './execution-context.ts'

/** How an execution ended, in a word, and with what error. */
export type ExecutionEnd = Pick<ExecutionReport, 'outcome' | 'errorText'>

const succeeded: ExecutionEnd = Object.freeze({ outcome: 'succeeded', errorText: null })

/** The outcome of an execution that threw `error`, or ended well (null). */
export function endOf(thrown: unknown): ExecutionEnd {
  if (thrown === null) return succeeded
  return { outcome: outcomeOf(thrown), errorText: fullTextOf(thrown) }
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

/** A report to which is added what only some stores keep. */
export interface GrowingReport extends ExecutionReport {
  texts?: ExecutionTexts
  logLines?: readonly ExecutionLogLine[]
}

/**
 * When an execution that ends now has finished, so that the time between is how long it took: the wall clock may have
 * been set meanwhile. What went on elsewhere has no other clock, and may have begun on another node.
 */
export function finishedTimeOf(
  { beganElapsedMs, beganTimeMs }: ExecutionContext,
  clock: Clock,
  isAwaited: boolean,
): EpochMs {
  if (beganTimeMs === null) return clock.now()
  if (isAwaited || beganElapsedMs === null) return Math.max(beganTimeMs, clock.now())
  return beganTimeMs + Math.floor(clock.elapsedMs() - beganElapsedMs)
}

export function reportOf(
  context: ExecutionContext,
  { outcome, errorText }: ExecutionEnd,
  finishedTimeMs: EpochMs,
): GrowingReport {
  const { acquiredTimeMs, manual, triggeredBy, shard } = originOf(context.bundle, context.originalTriggerKey)
  // Field by field: with a spread, the report of each execution costs twice as much.
  return {
    outcome,
    errorText: errorText === null ? null : storedError(errorText),
    triggerKey: context.originalTriggerKey,
    scheduledFireTimeMs: context.scheduledFireTimeMs,
    fireTimeMs: context.bundle.fireTimeMs,
    finishedTimeMs,
    attempt: context.attempt,
    recovering: context.recovering,
    beganTimeMs: context.beganTimeMs,
    previousFireInstanceId: context.previousFireInstanceId,
    acquiredTimeMs,
    manual,
    triggeredBy,
    shard,
  }
}

/** How many characters of JSON are kept of what a job was given, reported and returned. */
const textLength = 4000

const noTexts: ExecutionTexts = Object.freeze({ progressText: null, resultText: null, dataText: null })

/** What is shown of an execution alone. */
export function textsOf({ bundle, dataText, lastProgress, result }: ExecutionContext): ExecutionTexts {
  const data = dataText === undefined ? dataTextOf(bundle) : dataText
  if (data === null && lastProgress === null && result === undefined) return noTexts
  return {
    progressText: lastProgress === null ? null : progressTextOf(lastProgress.value),
    resultText: result === undefined ? null : boundedJson(result, textLength),
    dataText: data,
  }
}

/** The data that the job is given, as it is shown; null for none. */
export function dataTextOf({ jobDetail, trigger }: TriggerFiredBundle): string | null {
  if (jobDetail.jobDataMap === emptyJobDataMap && trigger.jobDataMap === emptyJobDataMap) return null
  const data = mergeJobData(jobDetail.jobDataMap, trigger.jobDataMap)
  return Object.keys(data).length === 0 ? null : boundedJson(data, textLength)
}

export function progressTextOf(value: unknown): string {
  return boundedJson(value, textLength)
}

/** Where a firing comes from. */
function originOf(
  { acquiredTimeMs, trigger }: TriggerFiredBundle,
  originalKey: TriggerKey,
): Required<Pick<ExecutionReport, 'acquiredTimeMs' | 'manual' | 'triggeredBy' | 'shard'>> {
  const by = trigger.jobDataMap[triggeredByKey]
  const part = firingPartOf(trigger.jobDataMap)
  return {
    acquiredTimeMs: acquiredTimeMs ?? null,
    manual: isManualTriggerKey(originalKey),
    triggeredBy: typeof by === 'string' ? by : null,
    shard: part === null ? null : { firingId: part.firingId, item: part.item },
  }
}

/** What the status of the job takes from a firing that was split, of which is known now. */
export function endedFiring(firing: EndedSharding, knownTimeMs: EpochMs): EndedExecution {
  const { jobKey, fireInstanceId, outcome, fireTimeMs, finishedTimeMs, errorText } = firing
  return {
    jobKey,
    fireInstanceId,
    outcome,
    fireTimeMs,
    finishedTimeMs,
    knownTimeMs,
    errorText,
    part: 'firing',
  }
}

/** The report of a firing whose job could not be begun. */
export function reportOfUnbegun(
  bundle: TriggerFiredBundle,
  errorText: string,
  nowMs: EpochMs,
): ExecutionReport {
  const { attempt, previousFireInstanceId, triggerKey, scheduledFireTimeMs } = attemptOriginOf(bundle)
  return {
    outcome: 'failed',
    errorText: storedError(errorText),
    triggerKey,
    scheduledFireTimeMs,
    fireTimeMs: bundle.fireTimeMs,
    finishedTimeMs: nowMs,
    attempt,
    recovering: bundle.trigger.key.group === recoveringJobsGroup,
    beganTimeMs: null,
    previousFireInstanceId,
    ...originOf(bundle, triggerKey),
  }
}
