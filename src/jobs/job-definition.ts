import type { JobExecutionContext, JobRunContext } from './job-execution-context.ts'
import type { RemoteJobHooks } from './remote-job.ts'
import type { RetryPolicy } from './retry-policy.ts'
import type { StandardSchema } from './standard-schema.ts'

/** The class form of a job: one instance per execution, made with a constructor that takes nothing. */
export interface Job<Data extends object = Record<string, unknown>> {
  execute(context: JobExecutionContext<Data>): unknown
}

export interface JobClass<Data extends object = Record<string, unknown>> {
  new (): Job<Data>
  /** Name under which jobs of this class are stored. Default: the name of the class. */
  readonly jobType?: string
  readonly disallowConcurrentExecution?: boolean
  readonly persistJobDataAfterExecution?: boolean
}

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
