import { type ArgumentCheck, checkThat } from '../core/arguments.ts'
import type { JobDataMap } from '../core/job-data-map.ts'
import { isJobKey, type JobKey } from '../core/key.ts'
import { isObject } from '../core/options.ts'
import type { JobPlan } from './job-plan.ts'
import type { RetryPolicy } from './retry-policy.ts'
import type { Sharding } from './sharding.ts'

/** On which nodes of a cluster a job runs. */
export interface NodeAffinity {
  /** Instance ids. */
  readonly names: readonly string[]
  /** True: no other node runs the job. False: other nodes run it while none of these is alive. */
  readonly required: boolean
}

/**
 * WHAT: a stored job. It names the code to run (`jobType`, the name of a job definition that nodes register) and
 * carries the data to run it with. Immutable; build one with `JobBuilder`, which knows the type of its data.
 */
export interface JobDetail<Data extends object = object> {
  readonly key: JobKey<Data>
  readonly jobType: string
  readonly description: string | null
  readonly jobDataMap: JobDataMap
  /** A durable job stays when its last trigger is deleted. */
  readonly durable: boolean
  /** Run again under a recovery trigger when the node dies during an execution (persistent stores). */
  readonly requestsRecovery: boolean
  /** No two executions of this job key at the same time. */
  readonly disallowConcurrentExecution: boolean
  /** Store what the job left in `context.jobDataMap`, where that differs from what it was given. */
  readonly persistJobDataAfterExecution: boolean
  /** Milliseconds after which an execution is interrupted; null for no limit. */
  readonly timeoutMs: number | null
  readonly retry: RetryPolicy | null
  /** The nodes of a cluster that are to run the job; absent for all. */
  readonly nodeAffinity?: NodeAffinity
  /** How each firing is split into several executions; absent for a job whose firings are one execution each. */
  readonly sharding?: Sharding
  /** How it was declared; absent for a job that was stored in another way. */
  readonly plan?: JobPlan
}

export const checkJobDetail: ArgumentCheck = checkThat(
  'a JobDetail',
  (value) => isObject(value) && isJobDetail(value),
  'Build one: JobBuilder.newJob(job).withIdentity(...).build().',
)

// By shape: any object with these fields is a JobDetail.
function isJobDetail(value: object): boolean {
  const { key, jobType, jobDataMap } = value as { readonly [Field in keyof JobDetail]?: unknown }
  return isJobKey(key) && typeof jobType === 'string' && isObject(jobDataMap)
}
