import type { JobExecutionError } from '../core/errors.ts'
import type { JobExecutionContext, JobScheduler } from '../jobs/job-definition.ts'
import type { EndedSharding } from '../jobstore/job-store-shards.ts'

/**
 * Called around executions of jobs, and awaited. A listener that throws is reported as a `schedulerError`; the job and
 * the other listeners go on.
 */
export interface JobListener {
  /** Unique: adding another listener of this name replaces this one. */
  readonly name: string
  /** Before the job runs. */
  jobToBeExecuted?(context: JobExecutionContext): void | Promise<void>
  /** Instead of the job: a trigger listener vetoed it. */
  jobExecutionVetoed?(context: JobExecutionContext): void | Promise<void>
  /** After each run of the job, immediate refires included; `error` is null when it ended well. */
  jobWasExecuted?(context: JobExecutionContext, error: JobExecutionError | null): void | Promise<void>
  /** After the last item of a firing of a sharded job has ended, on the node that has written that down. */
  allShardsDone?(firing: EndedSharding, scheduler: JobScheduler): void | Promise<void>
}
