import type { JobDetail } from '../jobs/job-detail.ts'
import type { Trigger } from '../triggers/trigger.ts'

export interface ScheduleEntry {
  /** The job to store, or null when the triggers name a job that exists. */
  readonly job: JobDetail | null
  readonly triggers: readonly Trigger[]
}
