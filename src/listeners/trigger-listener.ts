import type { JobExecutionContext } from '../jobs/job-definition.ts'
import type { CompletedExecutionInstruction } from '../jobstore/job-store.ts'
import type { Trigger } from '../triggers/trigger.ts'

/** Called for triggers, awaited, with a veto. A listener that throws is reported and counts as no veto. */
export interface TriggerListener {
  /** Unique: adding another listener of this name replaces this one. */
  readonly name: string
  /** The trigger fired; its job is about to run. */
  triggerFired?(trigger: Trigger, context: JobExecutionContext): void | Promise<void>
  /**
   * True keeps the job from running this time; the firing is consumed. No other answer does: one that only counts as
   * true is reported as a failure of the listener.
   */
  vetoJobExecution?(trigger: Trigger, context: JobExecutionContext): boolean | Promise<boolean>
  /** The trigger could not fire in time; its misfire policy is about to be applied. */
  triggerMisfired?(trigger: Trigger): void | Promise<void>
  /** The job ended and this is what will happen to the trigger. */
  triggerComplete?(
    trigger: Trigger,
    context: JobExecutionContext,
    instruction: CompletedExecutionInstruction,
  ): void | Promise<void>
}
