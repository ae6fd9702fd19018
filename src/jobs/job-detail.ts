import type { JobDataMap } from '../core/job-data-map.ts'
import type { JobKey } from '../core/key.ts'
import type { RetryPolicy } from './retry-policy.ts'

/**
 * WHAT: a stored job. It names the code to run (`jobType`, the name of a job definition that nodes register) and
 * carries the data to run it with. Immutable; build one with `JobBuilder`.
 */
export interface JobDetail {
  readonly key: JobKey
  readonly jobType: string
  readonly description: string | null
  readonly jobDataMap: JobDataMap
  /** A durable job stays when its last trigger goes. */
  readonly durable: boolean
  /** Run again under a recovery trigger when the node dies in the middle (persistent stores). */
  readonly requestsRecovery: boolean
  /** No two executions of this job key at the same time. */
  readonly disallowConcurrentExecution: boolean
  /** Store what the job left in `context.jobDetail.jobDataMap`. */
  readonly persistJobDataAfterExecution: boolean
  /** Milliseconds after which an execution is interrupted; null for no limit. */
  readonly timeoutMs: number | null
  readonly retry: RetryPolicy | null
}
