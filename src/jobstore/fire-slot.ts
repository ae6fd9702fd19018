import type { JobDetail } from '../jobs/job-detail.ts'
import type { EpochMs } from '../time/clock.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { TriggerFiredBundle } from './fired-bundle.ts'

/** A thread of the pool for a trigger that may fire in the step that stores it. */
export interface FireSlot {
  /** What is due by then is due, though it may be a little ahead of the store's clock. */
  readonly dueByMs: EpochMs
  /**
   * Keeps a thread free for the trigger. False when none is free, or the loop has something else to fire: then the
   * trigger is stored only. Called again while a thread is kept, it does nothing and answers true.
   */
  reserve(): boolean
  /** The trigger does not fire in this step after all. */
  release(): void
}

/** The part of a store that fires triggers in the step that stores them. */
export interface FiringOnSchedule {
  /**
   * Stores one new trigger, with its job where that is new, as `scheduleJobs` does without `replace`, and fires it in
   * the same step, with one commit: a simple trigger that is due by now, not late, and fires once, of a job that
   * allows concurrent execution on any node. Other triggers may be left to the loop. Answers the firing, or null when
   * the trigger was only stored. The store reserves the slot when nothing else is in the way, and releases it when
   * the step fails or has to wait for a lock of another session. For stores where a step is expensive; optional.
   *
   * @throws ObjectAlreadyExistsError when the job or the trigger exists
   * @throws JobPersistenceError ERR_JOB_NOT_FOUND when the trigger names a job that is not there
   */
  scheduleAndFire?(
    entry: { readonly job: JobDetail | null; readonly triggers: readonly Trigger[] },
    slot: FireSlot,
  ): Promise<TriggerFiredBundle | null>
}
