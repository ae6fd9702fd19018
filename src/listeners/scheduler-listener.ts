import type { SchedulerError } from '../core/errors.ts'
import type { JobKey, TriggerKey } from '../core/key.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { Trigger } from '../triggers/trigger.ts'

type Told = void | Promise<void>

/** Called for changes of the scheduler and of what is scheduled, in order, and awaited. */
export interface SchedulerListener {
  jobScheduled?(trigger: Trigger): Told
  jobUnscheduled?(triggerKey: TriggerKey): Told
  /** The trigger will never fire again. */
  triggerFinalized?(trigger: Trigger): Told
  triggerPaused?(triggerKey: TriggerKey): Told
  /** `group` is null for all groups. */
  triggersPaused?(group: string | null): Told
  triggerResumed?(triggerKey: TriggerKey): Told
  triggersResumed?(group: string | null): Told
  jobAdded?(jobDetail: JobDetail): Told
  jobDeleted?(jobKey: JobKey): Told
  jobPaused?(jobKey: JobKey): Told
  jobsPaused?(group: string): Told
  jobResumed?(jobKey: JobKey): Told
  jobsResumed?(group: string): Told
  schedulerError?(message: string, error: SchedulerError): Told
  schedulerInStandbyMode?(): Told
  /** The start waits for it: it must not itself await a start, standby or shutdown. */
  schedulerStarting?(): Told
  schedulerStarted?(): Told
  schedulerShuttingdown?(): Told
  schedulerShutdown?(): Told
  schedulingDataCleared?(): Told
}
