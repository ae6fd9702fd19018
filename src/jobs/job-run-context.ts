import type { JobLog } from '../core/job-log.ts'
import type { JobKey, TriggerKey } from '../core/key.ts'
import type { TraceContext } from '../core/trace-context.ts'
import type { JobDetail } from './job-detail.ts'
import type { Shard } from './sharding.ts'

/** A job detail whose data the running job may change; stored back for jobs that persist their data. */
export type ExecutingJobDetail = Omit<JobDetail, 'jobDataMap'> & { jobDataMap: Record<string, unknown> }

/** What a job sees of its own firing, on the event loop and in a worker thread. */
export interface JobRunContext<Data extends object = Record<string, unknown>> {
  readonly jobKey: JobKey
  readonly triggerKey: TriggerKey
  /** Unique per firing: use it as the idempotency key for effects outside the store. */
  readonly fireInstanceId: string
  /** The job's data with the trigger's over it: a copy. */
  readonly mergedJobDataMap: Data
  /** The job's own data, writable; what is left here is stored for jobs that persist their data. */
  readonly jobDataMap: Record<string, unknown>
  /** When the trigger fired. */
  readonly fireTime: Date
  /** When the firing was planned, also when a misfire policy moved it. */
  readonly scheduledFireTime: Date
  readonly previousFireTime: Date | null
  readonly nextFireTime: Date | null
  /** True when this execution is the recovery of a firing that another process did not finish. */
  readonly recovering: boolean
  /** 0 for the first run, one more with each immediate refire. */
  readonly refireCount: number
  /** 1 for the first attempt, one more with each retry. */
  readonly attempt: number
  /** The item that this execution runs, for a job that has `withSharding`; null for other jobs. */
  readonly shard: Shard | null
  /** Aborted by `interrupt`, by the job's `timeoutMs` and by a shutdown that interrupts. */
  readonly signal: AbortSignal
  /** To the scheduler's logger, and into the store's log of executions. */
  readonly log: JobLog
  /** The trace that this run is part of, for spans of the job's own; null where nothing traces. */
  readonly traceContext: TraceContext | null
  /** Reports progress as any plain value; it reaches the `jobProgress` event. */
  progress(value: unknown): void
}
