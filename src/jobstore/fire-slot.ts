import type { JobDetail } from '../jobs/job-detail.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { TriggerFiredBundle } from './fired-bundle.ts'

/**
 * A trigger that is due so soon may fire in the step that stores it, because the clock of the caller may be a little
 * ahead of the scheduler's; its job begins when it is due. Milliseconds.
 */
export const dueSoonMs = 5

/** A thread of the pool for a trigger that may fire in the step that stores it. */
export interface FireSlot {
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
   * the same step, with one commit: a simple trigger that is due within `dueSoonMs`, not late, and fires once, of a job
   * that allows concurrent execution on any node. Its firing has the time at which it is due, if that is still to come,
   * and the caller begins it then. Other triggers may be left to the loop. Answers the firing, or null when
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
