import type { MoreJobData, StorableJobData } from '../core/job-data-type.ts'
import type { JobKey, TriggerKey } from '../core/key.ts'
import type { Clock } from '../time/clock.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { JobDetail } from './job-detail.ts'
import type { ExecutingJobDetail, JobRunContext } from './job-run-context.ts'
import type { RemoteJobHooks } from './remote-job.ts'
import type { RetryPolicy } from './retry-policy.ts'
import type {
  ReplaceOptions,
  RescheduleOptions,
  ScheduledJob,
  ScheduleOptions,
  TriggerJobOptions,
} from './schedule-options.ts'
import type { StandardSchema } from './standard-schema.ts'

// In one file, because each type needs the others: a job is given a context, whose scheduler schedules jobs.

/**
 * The class form of a job: one instance per execution, made with a constructor that takes nothing, or by the
 * `jobFactory` of the scheduler.
 */
export interface Job<Data extends object = Record<string, unknown>> {
  execute(context: JobExecutionContext<Data>): unknown
}

export interface JobClass<Data extends object = Record<string, unknown>> {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what it takes is between the class and its factory
  new (...services: any[]): Job<Data>
  /** Name under which jobs of this class are stored. Default: the name of the class. */
  readonly jobType?: string
  readonly disallowConcurrentExecution?: boolean
  readonly persistJobDataAfterExecution?: boolean
}

/**
 * Makes the object that runs for a class job, such as one whose constructor takes services. It is called for each
 * execution, when its job is about to run; a refire in the same execution goes on with the same object. What it answers
 * may be one object for all executions. What it throws is a failure of the job, ERR_JOB_FACTORY.
 */
export type JobFactory = (jobClass: JobClass<object>, context: JobExecutionContext) => Job | Promise<Job>

/** What a worker module exports. Its argument and its result cross a thread, so they are plain data. */
export type WorkerJobFunction<Data extends object = Record<string, unknown>> = (
  context: JobRunContext<Data>,
) => unknown

export interface JobDefinitionBase<Data extends object> {
  /** Name under which jobs of this kind are stored: the same on every node, for ever. */
  readonly jobType: string
  /** What jobs built from the definition start with. */
  readonly description: string | null
  readonly disallowConcurrentExecution: boolean
  readonly persistJobDataAfterExecution: boolean
  readonly timeoutMs: number | null
  readonly retry: RetryPolicy | null
  readonly schema: StandardSchema<Data, unknown> | null
  /** Of a job whose firings go on elsewhere; absent for other jobs. */
  readonly remote?: RemoteJobHooks
}

/** A job that runs on the event loop of the scheduler's process. */
export interface InlineJobDefinition<
  Data extends object = Record<string, unknown>,
  Result = unknown,
  Stored extends object = Data,
> extends JobDefinitionBase<Data> {
  readonly kind: 'inline'
  execute(context: JobExecutionContext<Data>): unknown
  /** Has no value; carries the type of the job's result. */
  readonly answers?: Result
  /** Has no value; carries the type of the data as it is stored, before a schema fills in and converts. */
  readonly stores?: Stored
  /** The class of a class job; null for a function. */
  readonly jobClass: JobClass<Data> | null
}

/** A job that runs in a worker thread. */
export interface WorkerJobDefinition<
  Data extends object = Record<string, unknown>,
  Stored extends object = Data,
> extends JobDefinitionBase<Data> {
  readonly kind: 'worker'
  /** Has no value; carries the type of the data as it is stored, before a schema fills in and converts. */
  readonly stores?: Stored
  /** `file:` URL of the module. */
  readonly moduleUrl: string
  /** The export to call. Default `default`. */
  readonly exportName: string
}

/** The code behind a job type, as `defineJob`, `defineWorkerJob` and class jobs give it. */
export type JobDefinition<
  Data extends object = Record<string, unknown>,
  Result = unknown,
  Stored extends object = Data,
> = InlineJobDefinition<Data, Result, Stored> | WorkerJobDefinition<Data, Stored>

/** Anything that can be registered as a job: a definition, or a class with an `execute` method. */
export type JobSource<Data extends object = object> = JobDefinition<Data> | JobClass<Data>

/** The type of the data of a job as it is stored: any for the name of a job type, or a job that does not say it. */
export type StoredDataOf<Source> = Source extends {
  readonly kind: 'inline' | 'worker'
  readonly stores?: infer Stored
}
  ? StorableData<Exclude<Stored, undefined>>
  : Source extends abstract new (
        ...services: never[]
      ) => { execute(context: JobExecutionContext<infer Data>): unknown }
    ? StorableData<Data>
    : Record<string, unknown>

/** Data that JSON can hold as it is, or else with texts in the place of what it cannot hold. */
export type StorableData<Data> = unknown extends Data
  ? Record<string, unknown>
  : Data extends object
    ? Data extends StorableJobData<Data>
      ? Data
      : StorableJobData<Data>
    : never

/** What an inline or class job is given: {@link JobRunContext} and everything that lives on the event loop. */
export interface JobExecutionContext<Data extends object = Record<string, unknown>, Result = unknown>
  extends JobRunContext<Data> {
  readonly scheduler: JobScheduler
  /** The trigger after it fired: its `nextFireTime` is the following one. */
  readonly trigger: Trigger
  readonly calendar: Calendar | null
  readonly jobDetail: ExecutingJobDetail
  /**
   * The object that runs, for class jobs; null for functions and worker jobs, and until the job runs where the
   * scheduler has a `jobFactory`.
   */
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
  /** For listeners, when a run has failed: whether the job is to run again, by a refire, a retry or a recovery. */
  readonly runsAgain: boolean
  /**
   * For listeners: whether another node has taken the firing over, because this one was not heard of for too long. How
   * the job ends here counts for nothing then: the other node runs it again, or counts it as lost. A node that stood
   * still learns of it at its next check-in: of a job that ends before that, this is false all the same.
   */
  readonly isTakenOver: boolean
  /** Notes of this firing alone, for listeners and the job. */
  put(key: string, value: unknown): void
  get(key: string): unknown
}

/**
 * The part of `Scheduler` that a running job has. A name in the place of a key is that of a job, or of a trigger, in
 * the group `DEFAULT`.
 */
export interface JobScheduler {
  readonly schedulerName: string
  readonly schedulerInstanceId: string
  /** Where its time comes from; on PostgreSQL it is the database's. */
  readonly clock: Clock
  /** Values shared by all jobs of this scheduler instance; not stored. */
  readonly context: Map<string, unknown>
  /**
   * Schedules a job in one call. The same key again changes the schedule, and leaves alone what is declared the same:
   * when it runs next, whether it is paused, and the data that the job has stored. What was due and has not run stays
   * due under a changed schedule, whose misfire policy decides.
   *
   * @throws InvalidArgumentError ERR_INVALID_OPTION naming the option, also when none or several options say when
   * @throws JobPersistenceError ERR_OBJECT_ALREADY_EXISTS when the key belongs to a set of `reconcile`, or its trigger
   *   to another job; what `scheduleJob` throws
   */
  schedule<Source extends JobSource | string>(
    job: Source,
    options: NoInfer<ScheduleOptions<StoredDataOf<Source>>>,
  ): Promise<ScheduledJob>
  /** Stores a trigger for a job that exists; answers its first fire time. @throws as below, ERR_JOB_NOT_FOUND */
  scheduleJob(trigger: Trigger, options?: ReplaceOptions): Promise<Date>
  /**
   * Stores a job with its trigger or several triggers, all or none; answers the earliest first fire time.
   *
   * @throws InvalidArgumentError ERR_INVALID_ARGUMENT, also without a trigger, ERR_INVALID_TRIGGER; SchedulerError
   *   ERR_UNKNOWN_JOB_TYPE, ERR_WORKER_MODULE, ERR_WORKER_UNAVAILABLE, ERR_INVALID_JOB_DATA, ERR_JOB_DATA_TOO_LARGE,
   *   ERR_NOT_SUPPORTED, ERR_JOB_KEY_MISMATCH, ERR_CALENDAR_NOT_FOUND, ERR_JOB_DATA_SCHEMA, ERR_TRIGGER_NEVER_FIRES;
   *   ObjectAlreadyExistsError
   */
  scheduleJob(
    jobDetail: JobDetail,
    triggers: Trigger | readonly Trigger[],
    options?: ReplaceOptions,
  ): Promise<Date>
  /** Replaces a trigger by another one for the same job. */
  rescheduleJob(
    triggerKey: TriggerKey | string,
    trigger: Trigger,
    options?: RescheduleOptions,
  ): Promise<Date | null>
  unscheduleJob(triggerKey: TriggerKey | string): Promise<boolean>
  /** Runs a job once, now; `data` is merged over the job's own. */
  triggerJob<Data extends object>(
    jobKey: JobKey<Data> | string,
    data?: NoInfer<MoreJobData<Data>>,
    options?: TriggerJobOptions,
  ): Promise<TriggerKey>
  /**
   * The same as `triggerJob`: runs a job once, now; while its group or everything is paused, the run waits.
   *
   * @returns the key of the one-shot trigger made for it
   * @throws JobPersistenceError ERR_JOB_NOT_FOUND
   */
  runNow<Data extends object>(
    jobKey: JobKey<Data> | string,
    data?: NoInfer<MoreJobData<Data>>,
    options?: TriggerJobOptions,
  ): Promise<TriggerKey>
  deleteJob(jobKey: JobKey | string): Promise<boolean>
  getJobDetail(jobKey: JobKey | string): Promise<JobDetail | null>
  getTrigger(triggerKey: TriggerKey | string): Promise<Trigger | null>
  /** Whether a job or trigger is stored, also one that cannot be read. */
  checkExists(key: JobKey | TriggerKey): Promise<boolean>
}
