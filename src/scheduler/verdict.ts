import type { JobExecutionError } from '../core/errors.ts'
import type { RetryPolicy } from '../jobs/retry-policy.ts'
import { firingPartOf } from '../jobstore/firing-part.ts'
import type { CompletedExecutionInstruction } from '../jobstore/job-store.ts'
import type { Trigger } from '../triggers/trigger.ts'

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
export const goesOn: Verdict = { instruction: 'noop', hasNoRefires: false, again: null, isDeleted: false }
export const isOver: Verdict = {
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
