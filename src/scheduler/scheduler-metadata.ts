import { checkObject } from '../core/arguments.ts'

/** A snapshot of what a scheduler is and does. */
export interface SchedulerMetaData {
  readonly schedulerName: string
  readonly schedulerInstanceId: string
  readonly version: string
  readonly isStarted: boolean
  readonly isInStandbyMode: boolean
  readonly isShutdown: boolean
  /** When the scheduler was first started; null before. */
  readonly runningSince: Date | null
  /**
   * Since when this instance tries in vain to find and fire triggers, because the store does not answer or takes no
   * change; null while its last try has succeeded, and before the first start.
   */
  readonly notFiringSince: Date | null
  /**
   * Since when this instance tries in vain to write the ends of executions, of more than one job, because the store
   * fails or a table is locked; null while some are written, and for the first 5 seconds.
   */
  readonly notEndingSince: Date | null
  /** How often jobs have begun to run on this instance since it was made: refires count, what was vetoed does not. */
  readonly numberOfJobsExecuted: number
  readonly jobStore: string
  readonly jobStorePersistent: boolean
  readonly jobStoreClustered: boolean
  /** Whether the history of the job store keeps executions that succeeded, as with `record: 'all'`. */
  readonly historyKeepsSuccesses: boolean
  /** Whether the job store notes how the jobs of this instance end, so that `getJobStatus` knows of them. */
  readonly jobStatusIsKept: boolean
  /** How many jobs of a group this instance lets be claimed or executing at once, in the whole cluster, by group. */
  readonly jobGroupLimits: Readonly<Record<string, number>>
  readonly threadPool: string
  readonly threadPoolSize: number
}

/**
 * The metadata as a few lines for people.
 *
 * @throws InvalidArgumentError for what is no object
 */
export function summaryOfMetaData(metaData: SchedulerMetaData): string {
  checkObject('summaryOfMetaData', 'metaData', metaData)
  const state = metaData.isShutdown ? 'shut down' : metaData.isStarted ? 'started' : 'in standby mode'
  const since = metaData.runningSince === null ? '' : `, running since ${metaData.runningSince.toISOString()}`
  const store = [
    metaData.jobStorePersistent ? 'persistent' : 'not persistent',
    metaData.jobStoreClustered ? 'clustered' : 'not clustered',
  ].join(', ')
  return [
    `quartz-ts ${metaData.version}: scheduler '${metaData.schedulerName}', instance '${metaData.schedulerInstanceId}'`,
    `  ${state}${since}`,
    `  ${metaData.numberOfJobsExecuted} runs begun`,
    `  job store ${metaData.jobStore} (${store})`,
    `  thread pool ${metaData.threadPool} with ${metaData.threadPoolSize} threads`,
  ].join('\n')
}
