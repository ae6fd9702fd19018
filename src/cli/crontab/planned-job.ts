import type { JobDetail } from '../../jobs/job-detail.ts'
import type { Trigger } from '../../triggers/trigger.ts'

/** A job with its trigger and what people know it by. */
export interface PlannedJob {
  readonly label: string
  readonly job: JobDetail
  readonly trigger: Trigger
}
