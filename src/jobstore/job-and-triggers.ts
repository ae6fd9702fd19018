import type { JobDetail } from '../jobs/job-detail.ts'
import type { Trigger } from '../triggers/trigger.ts'

/** A job and triggers, to be stored together. */
export interface JobAndTriggers {
  /** Null when the triggers name jobs that are stored already. */
  readonly job: JobDetail | null
  readonly triggers: readonly Trigger[]
}
