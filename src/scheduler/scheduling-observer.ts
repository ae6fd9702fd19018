import type { JobKey, TriggerKey } from '../core/key.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { Told } from './notifier.ts'

/** What is called when something was scheduled. The store wakes the loop itself. */
export interface SchedulingObserver {
  jobAdded(jobDetail: JobDetail): Told
  jobDeleted(jobKey: JobKey): Told
  jobScheduled(trigger: Trigger): Told
  jobUnscheduled(triggerKey: TriggerKey): Told
}

/** For operations that may yet be rolled back: calls nothing. */
export const silentObserver: SchedulingObserver = {
  jobAdded: () => null,
  jobDeleted: () => null,
  jobScheduled: () => null,
  jobUnscheduled: () => null,
}
