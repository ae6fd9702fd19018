import type { SchedulerError } from '../core/errors.ts'
import type { JobKey, TriggerKey } from '../core/key.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { Trigger } from '../triggers/trigger.ts'

/** Called for changes of the scheduler and of what is scheduled, in order, and awaited. */
export interface SchedulerListener {
  jobScheduled?(trigger: Trigger): void | Promise<void>
  jobUnscheduled?(triggerKey: TriggerKey): void | Promise<void>
  /** The trigger will never fire again. */
  triggerFinalized?(trigger: Trigger): void | Promise<void>
  triggerPaused?(triggerKey: TriggerKey): void | Promise<void>
  /** `group` is null for all groups. */
  triggersPaused?(group: string | null): void | Promise<void>
  triggerResumed?(triggerKey: TriggerKey): void | Promise<void>
  triggersResumed?(group: string | null): void | Promise<void>
  jobAdded?(jobDetail: JobDetail): void | Promise<void>
  jobDeleted?(jobKey: JobKey): void | Promise<void>
  jobPaused?(jobKey: JobKey): void | Promise<void>
  jobsPaused?(group: string): void | Promise<void>
  jobResumed?(jobKey: JobKey): void | Promise<void>
  jobsResumed?(group: string): void | Promise<void>
  schedulerError?(message: string, error: SchedulerError): void | Promise<void>
  schedulerInStandbyMode?(): void | Promise<void>
  /** The start waits for it: it must not itself await a start, standby or shutdown. */
  schedulerStarting?(): void | Promise<void>
  schedulerStarted?(): void | Promise<void>
  /** The shutdown waits for it for 10 seconds at most: it must not itself await the shutdown. */
  schedulerShuttingdown?(): void | Promise<void>
  /** The shutdown waits for it for 10 seconds at most: it must not itself await the shutdown. */
  schedulerShutdown?(): void | Promise<void>
  schedulingDataCleared?(): void | Promise<void>
}
