import type { JobKey, TriggerKey } from '../core/key.ts'
import type { Logger } from '../core/logger.ts'
import type { TraceContext } from '../core/trace-context.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { JobDetail } from './job-detail.ts'
import type { JobScheduler } from './job-scheduler.ts'
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
  readonly log: Logger
  /** The trace that this run is part of, for spans of the job's own; null where nothing traces. */
  readonly traceContext: TraceContext | null
  /** Reports progress as any plain value; it reaches the `jobProgress` event. */
  progress(value: unknown): void
}

/** What an inline or class job is given: {@link JobRunContext} and everything that lives on the event loop. */
export interface JobExecutionContext<Data extends object = Record<string, unknown>, Result = unknown>
  extends JobRunContext<Data> {
  readonly scheduler: JobScheduler
  /** The trigger after it fired: its `nextFireTime` is the following one. */
  readonly trigger: Trigger
  readonly calendar: Calendar | null
  readonly jobDetail: ExecutingJobDetail
  /** The object that runs, for class jobs; null for functions and worker jobs. */
  readonly jobInstance: object | null
  /** Key of the trigger whose unfinished firing is recovered; null when nothing is. */
  readonly recoveringTriggerKey: TriggerKey | null
  /** The trigger that planned this firing: differs from `triggerKey` in a retry or a recovery. */
  readonly originalTriggerKey: TriggerKey
  /**
   * What the job returned or set here, for listeners; undefined until it has ended well. Its type is known where the
   * definition is, see `isExecutionOf`.
   */
  result: Result | undefined
  /** Milliseconds the job ran; -1 until it has ended. */
  readonly jobRunTimeMs: number
  /** Notes of this firing alone, for listeners and the job. */
  put(key: string, value: unknown): void
  get(key: string): unknown
}
