import type { JobDetail } from '../jobs/job-detail.ts'
import type { EpochMs } from '../time/clock.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import type { Trigger } from '../triggers/trigger.ts'

/** One firing, with everything that its execution needs. */
export interface TriggerFiredBundle {
  readonly fireInstanceId: string
  readonly jobDetail: JobDetail
  /** The trigger after it fired. */
  readonly trigger: Trigger
  readonly calendar: Calendar | null
  /** When the trigger was claimed. */
  readonly acquiredTimeMs?: EpochMs
  readonly fireTimeMs: EpochMs
  /** The planned instant, also when a misfire policy moved the firing. */
  readonly scheduledFireTimeMs: EpochMs
  readonly previousFireTimeMs: EpochMs | null
  readonly nextFireTimeMs: EpochMs | null
}
