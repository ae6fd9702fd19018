import type { JobExecutionError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { after } from '../core/promises.ts'
import { logThrown } from '../core/thrown-value.ts'
import type { ExecutionContext } from './execution-context.ts'
import { tellComplete, tellFinalized, tellRetry } from './execution-listeners.ts'
import type { Outcome } from './execution-outcome.ts'
import type { Notifier } from './notifier.ts'
import { canBeRetried, type Verdict } from './verdict.ts'

export interface ConclusionParts {
  readonly logger: Logger
  readonly notifier: Notifier
  readonly maxRefires: number
}

/** Tells what follows after listeners were told how the job ended: `again` when it is run again at once. */
export function conclude(
  error: JobExecutionError | null,
  { hasNoRefires, instruction, isDeleted }: Verdict,
  outcome: Outcome,
  context: ExecutionContext,
  parts: ConclusionParts,
): Outcome | 'again' | Promise<Outcome | 'again'> {
  const { notifier } = parts
  if (hasNoRefires) reportRefires(context, parts)
  if (error !== null) reportFailure(error, outcome, isDeleted, context, parts)
  return after(tellComplete(instruction, context, notifier), () =>
    instruction === 'reExecuteJob' ? 'again' : finalized(outcome, context, notifier),
  )
}

function finalized(
  outcome: Outcome,
  context: ExecutionContext,
  notifier: Notifier,
): Outcome | Promise<Outcome> {
  return after(tellFinalized(context, notifier), () => {
    if (outcome.retry !== null) tellRetry(outcome.retry, context, notifier)
    return outcome
  })
}

/** A job may refire itself `maxRefires` times; after that its failure is a plain one. */
function reportRefires({ jobKey }: ExecutionContext, { maxRefires, notifier }: ConclusionParts): void {
  notifier.error(
    `Job ${jobKey.toString()} asked to be refired more than maxRefires (${maxRefires}) times; ` +
      'its schedule goes on.',
    null,
  )
}

/** Logs an error when the job is not tried again, a warning when it is tried again or was interrupted. */
function reportFailure(
  error: JobExecutionError,
  { instruction, retry, recovery }: Outcome,
  isDeleted: boolean,
  { attempt, bundle, fireInstanceId, isTakenOver, jobKey, originalTriggerKey }: ExecutionContext,
  { logger, notifier }: ConclusionParts,
): void {
  const attempts = bundle.jobDetail.retry?.attempts ?? null
  const fields = {
    jobType: bundle.jobDetail.jobType,
    triggerKey: originalTriggerKey.toString(),
    fireInstanceId,
  }
  const name = `Job ${jobKey.toString()}`
  const isLast = attempts !== null && (attempt >= attempts || error.giveUp) && canBeRetried(instruction)
  const isExhausted = isLast && recovery === null && !isTakenOver
  if (isTakenOver) {
    logThrown(logger, error, `${name} ended here after another node had taken it over.`, fields, 'warn')
  } else if (recovery !== null) {
    logThrown(logger, error, `${name} was interrupted by the shutdown and will run again.`, fields, 'warn')
  } else if (instruction === 'reExecuteJob') {
    logThrown(logger, error, `${name} failed and is run again at once.`, fields, 'warn')
  } else if (retry !== null && attempts !== null) {
    const when = `attempt ${attempt} of ${attempts}; the next is at ${retry.startTime.toISOString()}`
    logThrown(logger, error, `${name} failed in ${when}.`, fields, 'warn')
  } else if (error.code === 'ERR_JOB_INTERRUPTED') {
    const gone = isDeleted ? ' and does not run again: it was deleted or replaced' : ''
    logThrown(logger, error, `${name} was interrupted${gone}.`, fields, 'warn')
  } else if (isDeleted) {
    logThrown(logger, error, `${name} failed and is not tried again: it was deleted or replaced.`, fields)
  } else {
    const which = error.giveUp ? `attempt ${attempt}, gave up` : `the last of ${attempts} attempts`
    const how = isExhausted ? ` in ${which} and is not tried again` : ''
    logThrown(logger, error, `${name} failed${how}.`, fields)
  }
  // One without attempts, which was to be recovered, has exhausted none.
  if (!isExhausted && (!isDeleted || attempts === null)) return
  notifier.events.emit('retriesExhausted', {
    jobKey,
    triggerKey: originalTriggerKey,
    attempts: attempt,
    error,
  })
}
