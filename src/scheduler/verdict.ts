import type { JobExecutionError } from '../core/errors.ts'
import type { RetryPolicy } from '../jobs/retry-policy.ts'
import { firingPartOf } from '../jobstore/firing-part.ts'
import type { CompletedExecutionInstruction, JobStore } from '../jobstore/job-store.ts'
import type { Clock } from '../time/clock.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { ExecutionContext } from './execution-context.ts'
import { isStored } from './is-stored.ts'

export interface VerdictParts {
  readonly clock: Clock
  readonly maxRefires: number
  readonly jobStore: Pick<JobStore, 'capabilities' | 'getJob'>
}

/** How a run of the job is judged by its end. */
export interface Verdict {
  readonly instruction: CompletedExecutionInstruction
  /** It asked for another refire than it may have. */
  readonly hasNoRefires: boolean
  /** What a trigger of its own is stored for: another attempt by this policy, or a recovery. */
  readonly again: RetryPolicy | 'recovery' | null
  /** It would be tried again if it had not been deleted while it ran. */
  readonly isDeleted: boolean
}

/** A job that ended well, whose trigger fires again or not; made once, because nearly all end so. */
const goesOn: Verdict = { instruction: 'noop', hasNoRefires: false, again: null, isDeleted: false }
const isOver: Verdict = {
  instruction: 'deleteTrigger',
  hasNoRefires: false,
  again: null,
  isDeleted: false,
}

/** A job that unschedules its triggers or refires itself is not retried in addition. */
export function canBeRetried(instruction: CompletedExecutionInstruction): boolean {
  return instruction === 'noop' || instruction === 'deleteTrigger'
}

/** What follows for a trigger after its job ended: the first rule that applies. */
export function instructionAfter(
  trigger: Trigger,
  error: JobExecutionError | null,
): CompletedExecutionInstruction {
  if (error !== null) {
    if (error.refireImmediately) return 'reExecuteJob'
    // An item steers neither the trigger that fired, which is not its own, nor the other items.
    if (firingPartOf(trigger.jobDataMap) !== null) return 'deleteTrigger'
    if (error.unscheduleFiringTrigger) return 'setTriggerComplete'
    if (error.unscheduleAllTriggers) return 'setAllJobTriggersComplete'
  }
  return trigger.mayFireAgain() ? 'noop' : 'deleteTrigger'
}

/** Where a job has run that is judged. */
export interface JudgedRun {
  /** It went on elsewhere. */
  readonly isAwaited: boolean
  /** Whether the retry policy of the job applies to a failure. */
  readonly retries: boolean
}

/** Decided before listeners are told: what happens while they are is no part of how the job ended. */
export function judge(
  error: JobExecutionError | null,
  context: ExecutionContext,
  run: JudgedRun,
  parts: VerdictParts,
): Verdict | Promise<Verdict> {
  if (error === null) return context.trigger.mayFireAgain() ? goesOn : isOver
  const verdict = verdictOn(error, context, run, parts)
  return verdict.again === null ? verdict : unlessDeleted(verdict, context, parts)
}

function verdictOn(
  error: JobExecutionError,
  { attempt, bundle, interruption, isEndedByShutdown, isTakenOver, refireCount, trigger }: ExecutionContext,
  { isAwaited, retries }: JudgedRun,
  { jobStore, maxRefires }: VerdictParts,
): Verdict {
  const { requestsRecovery, retry } = bundle.jobDetail
  const asked = instructionAfter(trigger, error)
  // An interrupted job is not refired, nor one that went on elsewhere.
  const mayRefire = !isAwaited && interruption === null
  const hasNoRefires = asked === 'reExecuteJob' && mayRefire && refireCount >= maxRefires
  const isRefused = asked === 'reExecuteJob' && (!mayRefire || hasNoRefires)
  const instruction = isRefused ? instructionAfter(trigger, null) : asked
  // The node that has taken it over runs it again, or does not.
  const mayRunAgain = canBeRetried(instruction) && !isTakenOver && !error.giveUp
  // As after a crash, without counting an attempt. In memory nothing would be left to run it.
  const recovers = isEndedByShutdown && requestsRecovery && jobStore.capabilities.persistent
  if (mayRunAgain && recovers) return { instruction, hasNoRefires, again: 'recovery', isDeleted: false }
  const triesAgain = mayRunAgain && retries && retry !== null && attempt < retry.attempts
  return { instruction, hasNoRefires, again: triesAgain ? retry : null, isDeleted: false }
}

/** Neither listeners nor the log must be told of another run of a job that is gone or replaced: nothing runs it. */
async function unlessDeleted(
  verdict: Verdict,
  { bundle }: ExecutionContext,
  { clock, jobStore }: VerdictParts,
): Promise<Verdict> {
  if (await isStored(jobStore, clock, bundle.jobDetail)) return verdict
  return { ...verdict, again: null, isDeleted: true }
}
