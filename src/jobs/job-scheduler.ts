import type { MoreJobData } from '../core/job-data-type.ts'
import type { JobKey, TriggerKey } from '../core/key.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { JobDetail } from './job-detail.ts'

export interface TriggerJobOptions {
  /** Who asked for it; the history has it as `triggeredBy`. Default: it says null. */
  readonly by?: string
}

export interface ReplaceOptions {
  /** Replace what has the same key. Default false: what exists already is an error. */
  readonly replace?: boolean
}

/** The part of `Scheduler` that a running job has. */
export interface JobScheduler {
  readonly schedulerName: string
  readonly schedulerInstanceId: string
  /** Values shared by all jobs of this scheduler instance; not stored. */
  readonly context: Map<string, unknown>
  /** Stores a trigger for a job that exists already; answers its first fire time. */
  scheduleJob(trigger: Trigger, options?: ReplaceOptions): Promise<Date>
  /**
   * Stores a job with its trigger or several triggers, all or none; answers the earliest first fire time.
   *
   * @throws InvalidArgumentError when there is no trigger
   */
  scheduleJob(
    jobDetail: JobDetail,
    triggers: Trigger | readonly Trigger[],
    options?: ReplaceOptions,
  ): Promise<Date>
  rescheduleJob(triggerKey: TriggerKey, trigger: Trigger): Promise<Date | null>
  unscheduleJob(triggerKey: TriggerKey): Promise<boolean>
  /** Runs a job once, now; `data` is merged over the job's own. */
  triggerJob<Data extends object>(
    jobKey: JobKey<Data>,
    data?: MoreJobData<Data>,
    options?: TriggerJobOptions,
  ): Promise<TriggerKey>
  /**
   * `triggerJob` by the name of a job of the group `DEFAULT`, or by a key: runs it once, now.
   *
   * @returns the key of the one-shot trigger made for it
   * @throws JobPersistenceError ERR_JOB_NOT_FOUND
   */
  runNow<Data extends object>(
    key: string | JobKey<Data>,
    data?: MoreJobData<Data>,
    options?: TriggerJobOptions,
  ): Promise<TriggerKey>
  deleteJob(jobKey: JobKey): Promise<boolean>
  getJobDetail(jobKey: JobKey): Promise<JobDetail | null>
  getTrigger(triggerKey: TriggerKey): Promise<Trigger | null>
  checkExists(key: JobKey | TriggerKey): Promise<boolean>
}
