import { type ArgumentCheck, checkBoolean, checkFunction, checkName, checkThat } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import type { StorableJobData } from '../core/job-data-type.ts'
import { describeValue, isObject, refuseUnknownKeys, requireInteger } from '../core/options.ts'
import { timerDelayMaxMs } from '../time/clock.ts'
import type {
  InlineJobDefinition,
  Job,
  JobClass,
  JobDefinition,
  JobExecutionContext,
  JobSource,
} from './job-definition.ts'
import { type RetryOptions, resolveRetryPolicy } from './retry-policy.ts'
import type { StandardSchema } from './standard-schema.ts'

/**
 * What a job of a type gets when it is stored, unless its `JobDetail` says more; it keeps that until it is declared
 * again by `schedule` or `reconcile`, or replaced.
 */
export interface JobOptions<Data extends object = Record<string, unknown>> {
  /** What the job is for; jobs built from the definition start with it. */
  readonly description?: string
  /** No two executions of one job key at the same time. Default false. */
  readonly disallowConcurrentExecution?: boolean
  /**
   * Store the keys of `context.jobDataMap` that the job changed or deleted, as it left them. In the other keys, what
   * others have stored meanwhile stays. Default false.
   */
  readonly persistJobDataAfterExecution?: boolean
  /**
   * Milliseconds after which an execution is interrupted and has failed, also when the job then returns: it may have
   * left off half way. `retry` runs it again. The time counts in which other code blocks the event loop; a refire has
   * it anew. 1 to 2,147,483,647. Default: no limit.
   */
  readonly timeoutMs?: number
  /** How often and when a failed execution is repeated. Default: not. */
  readonly retry?: RetryOptions
  /** A Standard Schema (zod, valibot, arktype, ...) for the merged data, checked when scheduled and when fired. */
  readonly schema?: StandardSchema<Data, unknown>
}

/** Options with a schema: the store keeps the schema's input, the job gets its output. */
export interface WithSchema<Data extends object, Stored> extends JobOptions<Data> {
  readonly schema: StandardSchema<Data, Stored>
}

/** Longest name of a job type: what Quartz's tables hold. */
export const jobTypeMaxLength = 250

export const jobOptionNames = [
  'description',
  'disallowConcurrentExecution',
  'persistJobDataAfterExecution',
  'timeoutMs',
  'retry',
  'schema',
] as const

/**
 * Defines a job that runs on the event loop.
 *
 * @param jobType the name under which jobs of this kind are stored: the same on every node, for ever;
 *   at most 250 characters
 * @throws InvalidArgumentError when the name is blank or too long, `execute` is no function, or an option is wrong
 */
export function defineJob<
  Stored extends StorableJobData<Stored>,
  Data extends object = Stored,
  Result = unknown,
>(
  jobType: string,
  execute: (context: JobExecutionContext<Data>) => Result,
  options: WithSchema<Data, Stored>,
): InlineJobDefinition<Data, Awaited<Result>, Stored>
export function defineJob<Data extends StorableJobData<Data> = Record<string, unknown>, Result = unknown>(
  jobType: string,
  execute: (context: JobExecutionContext<Data>) => Result,
  options?: JobOptions<Data>,
): InlineJobDefinition<Data, Awaited<Result>>
export function defineJob<Data extends object, Result>(
  jobType: string,
  execute: (context: JobExecutionContext<Data>) => Result,
  options: JobOptions<Data> = {},
): InlineJobDefinition<Data, Awaited<Result>> {
  requireJobType(jobType)
  checkFunction(`Job '${jobType}'`, 'execute', execute)
  refuseUnknownKeys(`Job '${jobType}'`, options, jobOptionNames)
  return Object.freeze({
    kind: 'inline',
    jobType,
    execute,
    jobClass: null,
    ...resolveJobOptions(jobType, options),
  })
}

/**
 * The definition behind a class job. Its type is the static `jobType` or else the name of the class, so give a
 * `jobType` where a minifier may rename classes.
 *
 * @throws InvalidArgumentError when the class has no `execute` method or neither a name nor a `jobType`
 */
export function defineClassJob<Data extends object>(jobClass: JobClass<Data>): InlineJobDefinition<Data> {
  const jobType = jobClass.jobType ?? jobClass.name
  const prototype = jobClass.prototype as Partial<Job> | undefined
  if (typeof prototype?.execute !== 'function') {
    const given = jobType === '' ? 'A function or class without a name' : `Job class '${jobType}'`
    throw new InvalidArgumentError(
      'execute',
      `${given} has no method 'execute(context)'. ` +
        'Pass a class that implements Job, or wrap a function in defineJob.',
    )
  }
  if (jobType === '') {
    throw new InvalidArgumentError(
      'jobType',
      'A class without a name cannot be stored as a job; give it a static jobType.',
    )
  }
  requireJobType(jobType)
  return Object.freeze({
    kind: 'inline',
    jobType,
    jobClass,
    execute: (context: JobExecutionContext<Data>) => new jobClass().execute(context),
    ...resolveJobOptions<Data>(jobType, {
      disallowConcurrentExecution: jobClass.disallowConcurrentExecution ?? false,
      persistJobDataAfterExecution: jobClass.persistJobDataAfterExecution ?? false,
    }),
  })
}

/** What {@link toJobDefinition} takes. */
export const checkJobSource: ArgumentCheck = checkThat(
  'what defineJob or defineWorkerJob returned, or a class with an execute method',
  (value) => typeof value === 'function' || (isObject(value) && isJobDefinition(value)),
)

function isJobDefinition(value: object): boolean {
  const of = (field: string): unknown => Reflect.get(value, field)
  const runs =
    of('kind') === 'inline'
      ? typeof of('execute') === 'function' && of('jobClass') !== undefined
      : of('kind') === 'worker' && typeof of('moduleUrl') === 'string'
  const isComplete = ['retry', 'timeoutMs', 'schema'].every((field) => of(field) !== undefined)
  return runs && isComplete && typeof of('jobType') === 'string'
}

/** The definition behind any form of job. */
export function toJobDefinition<Data extends object>(source: JobSource<Data>): JobDefinition<Data> {
  return typeof source === 'function' ? defineClassJob(source) : source
}

/** Whether two definitions of one name run the same code, whatever their options say. */
export function isSameCode(one: JobDefinition<object>, other: JobDefinition<object>): boolean {
  if (one.kind === 'worker') {
    return other.kind === 'worker' && one.moduleUrl === other.moduleUrl && one.exportName === other.exportName
  }
  if (other.kind === 'worker') return false
  return one.jobClass === other.jobClass && (one.jobClass !== null || one.execute === other.execute)
}

/** Refuses a job type that a store cannot keep. */
export function requireJobType(jobType: string): void {
  if (typeof jobType !== 'string' || jobType.trim() === '' || jobType.length > jobTypeMaxLength) {
    throw new InvalidArgumentError(
      'jobType',
      `A job type is a name of 1 to ${jobTypeMaxLength} characters, got ${describeValue(jobType)}.`,
    )
  }
}

/** Fills in the defaults of job options and refuses what makes no sense. */
export function resolveJobOptions<Data extends object>(
  jobType: string,
  options: JobOptions<Data>,
): Omit<InlineJobDefinition<Data>, 'kind' | 'jobType' | 'execute' | 'answers' | 'stores' | 'jobClass'> {
  const what = `Job '${jobType}'`
  const flag = (name: 'disallowConcurrentExecution' | 'persistJobDataAfterExecution'): boolean => {
    const { [name]: value = false } = options
    checkBoolean(what, name, value, 'ERR_INVALID_OPTION')
    return value
  }
  if (options.description !== undefined)
    checkName(what, 'description', options.description, 'ERR_INVALID_OPTION')
  if (options.schema !== undefined) requireSchema(what, options.schema)
  return {
    description: options.description ?? null,
    disallowConcurrentExecution: flag('disallowConcurrentExecution'),
    persistJobDataAfterExecution: flag('persistJobDataAfterExecution'),
    timeoutMs:
      options.timeoutMs === undefined
        ? null
        : requireInteger(what, 'timeoutMs', options.timeoutMs, { min: 1, max: timerDelayMaxMs }),
    retry: options.retry === undefined ? null : resolveRetryPolicy(what, options.retry, 'retry.'),
    schema: options.schema ?? null,
  }
}

function requireSchema(what: string, schema: unknown): void {
  const standard: unknown =
    (typeof schema === 'object' && schema !== null) || typeof schema === 'function'
      ? Reflect.get(schema, '~standard')
      : undefined
  if (typeof standard === 'object' && standard !== null) {
    if (typeof Reflect.get(standard, 'validate') === 'function') return
  }
  throw new InvalidArgumentError(
    'schema',
    `${what}: 'schema' must implement Standard Schema (zod 3.24+, valibot 1+, arktype 2+), got ` +
      `${describeValue(schema)}.`,
    'ERR_INVALID_OPTION',
  )
}
