import type { JobDetail } from '../../jobs/job-detail.ts'
import type { Trigger } from '../../triggers/trigger.ts'

/**
 * A job with its trigger and what people know it by. The name says all of what it is: a stored trigger of that key is
 * this one.
 */
export interface PlannedJob {
  readonly label: string
  readonly job: JobDetail
  readonly trigger: Trigger
  /** When it runs: by its schedule, or once at each start. */
  readonly runs: 'scheduled' | 'atStart'
}
