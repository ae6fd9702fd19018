import { checkBoolean, checkOptions, checkString, checkWhole, orNull, refuseNew } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { systemIds } from '../core/ids.ts'
import { copyJobData, emptyJobDataMap, type JobDataMap } from '../core/job-data-map.ts'
import type { RequiredKeys } from '../core/job-data-type.ts'
import { checkJobKey, generatedJobKey, JobKey } from '../core/key.ts'
import { describeValue, isDataObject, isObject } from '../core/options.ts'
import { timerDelayMaxMs } from '../time/clock.ts'
import { checkJobSource, requireJobType, toJobDefinition } from './define-job.ts'
import type { JobSource, StoredDataOf } from './job-definition.ts'
import {
  checkJobDetail,
  checkNodeNames,
  type DefinedField,
  type JobDetail,
  unsaidFieldsOf,
  withUnsaidFields,
} from './job-detail.ts'
import { type RetryOptions, resolveRetryPolicy } from './retry-policy.ts'
import { resolveSharding, type ShardingOptions } from './sharding.ts'

/** What `build` asks of the builder, which no builder is, while these fields of the data are missing. */
export interface MissingJobData<Missing extends PropertyKey> {
  readonly 'pass these fields to usingJobData, or call restOfDataFromTriggers()': Missing
}

/** Forbids fields that the data type does not have, in words that the compiler shows: `extends` would let them pass. */
export type UnknownKeys<Given, Data extends object> = object extends Data
  ? unknown
  : { readonly [Key in Exclude<keyof Given, keyof Data>]: 'The data of this job has no such field' }

/** Fields that are there for certain: one that may be undefined may be left out. */
export type FilledKeys<Given, Data> = {
  [Key in keyof Given]: undefined extends Given[Key]
    ? Key extends keyof Data
      ? undefined extends Data[Key]
        ? Key
        : never
      : never
    : Key
}[keyof Given] &
  RequiredKeys<Given>

type Plain = Omit<JobDetail, 'key' | 'jobDataMap' | 'requestsRecovery'>

type JobDraft = { -readonly [Field in keyof Plain]: Plain[Field] } & {
  key: JobKey | null
  data: JobDataMap
  /** Null where the caller has not said it: it goes by the sharding. */
  requestsRecovery: boolean | null
  /** What the definition is to fill in. */
  unsaid: Set<DefinedField>
}

/**
 * Builds a {@link JobDetail}. `Data` comes from the definition, so that data of the wrong shape does not compile, and
 * neither does `build` while a field that must be there is missing. Triggers may bring the rest, see
 * {@link JobBuilder.restOfDataFromTriggers}.
 *
 * @example
 * JobBuilder.newJob(report).withIdentity('daily', 'reports').usingJobData({ to: 'ops@example.com' }).build()
 */
export class JobBuilder<
  Data extends object = Record<string, unknown>,
  Missing extends PropertyKey = RequiredKeys<Data>,
> {
  readonly #draft: JobDraft

  private constructor(draft: JobDraft) {
    if (!isObject(draft)) refuseNew('JobBuilder', 'draft', draft, 'JobBuilder.newJob(job)')
    this.#draft = draft
  }

  /**
   * Starts from a definition, a job class, or the name of a job type that the scheduler knows.
   *
   * @throws InvalidArgumentError when it is none of these
   */
  static newJob<Source extends JobSource | string>(job: Source): JobBuilder<StoredDataOf<Source>>
  static newJob(job: JobSource | string): JobBuilder<object> {
    if (typeof job === 'string') {
      requireJobType(job)
      return new JobBuilder<object>({
        ...emptyDraft,
        jobType: job,
        unsaid: new Set<DefinedField>(['description', 'timeoutMs', 'retry']),
      })
    }
    checkJobSource('JobBuilder.newJob', 'job', job)
    const { jobType, description, timeoutMs, retry, ...flags } = toJobDefinition(job)
    const { disallowConcurrentExecution, persistJobDataAfterExecution } = flags
    return new JobBuilder<object>({
      ...emptyDraft,
      jobType,
      description,
      disallowConcurrentExecution,
      persistJobDataAfterExecution,
      timeoutMs,
      retry,
      unsaid: new Set(),
    })
  }

  /** A builder that holds everything the job has, to build a changed copy. */
  static from<Data extends object>(
    jobDetail: JobDetail<Data>,
  ): object extends Data ? JobBuilder : JobBuilder<Data, never>
  static from(jobDetail: JobDetail): JobBuilder {
    checkJobDetail('JobBuilder.from', 'jobDetail', jobDetail)
    const { jobDataMap, requestsRecovery, ...fields } = jobDetail
    return new JobBuilder({
      ...fields,
      // A job that is split from here on is recovered by default.
      requestsRecovery: requestsRecovery || fields.sharding !== null ? requestsRecovery : null,
      data: { ...jobDataMap },
      unsaid: new Set(unsaidFieldsOf(jobDetail)),
    })
  }

  /** Default: a unique name in group DEFAULT. */
  withIdentity(key: JobKey): this
  withIdentity(name: string, group?: string): this
  withIdentity(nameOrKey: string | JobKey, group?: string): this {
    const key = typeof nameOrKey === 'string' ? new JobKey(nameOrKey, group) : nameOrKey
    checkJobKey('JobBuilder.withIdentity', 'identity', key)
    // Under another key it is another job, which is in no set of schedules.
    if (this.#draft.key?.equals(key) === false) this.#draft.plan = null
    this.#draft.key = key
    return this
  }

  /** For people; null for none. */
  withDescription(description: string | null): this {
    orNull(checkString)('JobBuilder.withDescription', 'description', description)
    this.#say('description', description)
    return this
  }

  /** Adds entries to the data: one, or all those of an object. Entries of the same key are replaced. */
  usingJobData<Given extends Partial<Data>>(
    data: Given & UnknownKeys<Given, Data>,
  ): JobBuilder<Data, Exclude<Missing, FilledKeys<Given, Data>>>
  usingJobData<Key extends keyof Data & string>(
    key: Key,
    value: Data[Key],
  ): JobBuilder<Data, Exclude<Missing, Key>>
  usingJobData(dataOrKey: object | string, value?: unknown): this {
    const entries = typeof dataOrKey === 'string' ? { [dataOrKey]: value } : requireObject(dataOrKey)
    this.#draft.data = { ...this.#draft.data, ...entries }
    return this
  }

  /** Replaces all data. */
  setJobData<Given extends Partial<Data>>(
    data: Given & UnknownKeys<Given, Data>,
  ): JobBuilder<Data, Exclude<RequiredKeys<Data>, FilledKeys<Given, Data>>>
  setJobData(data: object): object {
    this.#draft.data = { ...requireObject(data) }
    return this
  }

  /**
   * Says that the rest of the data comes with the triggers, or with `triggerJob`: `build` then requires no field. A
   * schema, when the definition has one, still checks the merged data when a trigger is scheduled.
   */
  restOfDataFromTriggers(): JobBuilder<Data, never>
  restOfDataFromTriggers(): this {
    return this
  }

  /**
   * Run again when the node dies during an execution (persistent stores): under a recovery trigger, or, for an item of
   * a sharded job, on another node in the same firing. False: do not; such an item is lost. Default: true for a job
   * whose items may move, see {@link JobBuilder.withSharding}, or else false.
   */
  requestRecovery(requests: boolean = true): this {
    checkBoolean('JobBuilder.requestRecovery', 'requests', requests)
    this.#draft.requestsRecovery = requests
    return this
  }

  /** Keep the job when its last trigger goes. False: delete it then. */
  storeDurably(durable: boolean = true): this {
    checkBoolean('JobBuilder.storeDurably', 'durable', durable)
    this.#draft.durable = durable
    return this
  }

  /**
   * No two executions of this job key at the same time. False undoes an earlier call; it does not change what the
   * definition says.
   */
  disallowConcurrentExecution(disallows: boolean = true): this {
    checkBoolean('JobBuilder.disallowConcurrentExecution', 'disallows', disallows)
    this.#draft.disallowConcurrentExecution = disallows
    return this
  }

  /**
   * Store what the job left in `context.jobDataMap`, where that differs from what it was given. False undoes an earlier
   * call; it does not change what the definition says.
   */
  persistJobDataAfterExecution(persists: boolean = true): this {
    checkBoolean('JobBuilder.persistJobDataAfterExecution', 'persists', persists)
    this.#draft.persistJobDataAfterExecution = persists
    return this
  }

  /**
   * Interrupts an execution after so many milliseconds, 1 to 2,147,483,647; null for no limit. Default: that of the
   * definition, or no limit.
   */
  withTimeout(timeoutMs: number | null): this {
    orNull(checkWhole(1, timerDelayMaxMs))('JobBuilder.withTimeout', 'timeoutMs', timeoutMs)
    this.#say('timeoutMs', timeoutMs)
    return this
  }

  /** Repeats a failed execution; null: does not. Default: as the definition says, or not. */
  withRetry(options: RetryOptions | null): this {
    this.#say('retry', options === null ? null : resolveRetryPolicy('withRetry', options))
    return this
  }

  #say<Field extends DefinedField>(field: Field, value: JobDraft[Field]): void {
    this.#draft[field] = value
    this.#draft.unsaid.delete(field)
  }

  /**
   * Runs the job on these nodes of a cluster, by their instance ids: on no other node when it is `required` (the
   * default), or else on other nodes only while none of these is alive; null for all nodes, the default. With a store
   * for one scheduler the job runs in any case.
   *
   * @throws InvalidArgumentError for an empty list, or a name that `onNodes` cannot store
   */
  onNodes(names: readonly string[] | null, options: { readonly required?: boolean } = {}): this {
    orNull(checkNodeNames)('JobBuilder.onNodes', 'names', names)
    checkOptions('JobBuilder.onNodes', options, { required: checkBoolean })
    this.#draft.nodeAffinity =
      names === null
        ? null
        : Object.freeze({ names: Object.freeze([...new Set(names)]), required: options.required ?? true })
    return this
  }

  /**
   * Splits each firing of the job into items, each an execution of its own, spread over the live nodes; null: each
   * firing is one execution, the default. An item never runs twice at the same time, unless it is `remote`. Items that
   * ran on a node that died run again on another one, in the same firing, unless `requestRecovery(false)` is called;
   * those of a broadcast (`nodes`) never move.
   *
   * @throws InvalidArgumentError ERR_INVALID_ARGUMENT, ERR_INVALID_OPTION
   */
  withSharding(options: ShardingOptions | null): this {
    this.#draft.sharding = options === null ? null : resolveSharding(options)
    return this
  }

  /**
   * The job, frozen, with a copy of the data.
   *
   * @throws InvalidArgumentError ERR_INVALID_JOB_DATA, naming the key, when the data cannot be stored
   */
  build(this: [Missing] extends [never] ? this : MissingJobData<Missing>): JobDetail<Data>
  build(): JobDetail<Data> {
    const draft = this.#draft
    const key: JobKey = draft.key ?? generatedJobKey(systemIds.uniqueName())
    const hasData = Object.keys(draft.data).length > 0
    const { nodeAffinity, sharding, plan } = draft
    const canMove = sharding !== null && sharding.items !== 'nodes'
    // Field by field: a spread takes several times as long, which counts when a million jobs are stored.
    const job: JobDetail<Data> = {
      // Only this builder knows the type of the data.
      key: key as JobKey<Data>,
      jobType: draft.jobType,
      description: draft.description,
      jobDataMap: hasData ? copyJobData(`job '${key.toString()}'`, draft.data) : emptyJobDataMap,
      durable: draft.durable,
      requestsRecovery: draft.requestsRecovery ?? canMove,
      disallowConcurrentExecution: draft.disallowConcurrentExecution,
      persistJobDataAfterExecution: draft.persistJobDataAfterExecution,
      timeoutMs: draft.timeoutMs,
      retry: draft.retry,
      nodeAffinity,
      sharding,
      plan,
    }
    return withUnsaidFields(job, draft.unsaid) as JobDetail<Data>
  }
}

const emptyDraft = {
  key: null,
  description: null,
  data: emptyJobDataMap,
  durable: false,
  requestsRecovery: null,
  disallowConcurrentExecution: false,
  persistJobDataAfterExecution: false,
  timeoutMs: null,
  retry: null,
  nodeAffinity: null,
  sharding: null,
  plan: null,
} as const

function requireObject(data: unknown): object {
  if (isDataObject(data)) return data
  throw new InvalidArgumentError(
    'jobDataMap',
    `Job data must be an object with one entry per key, got ${describeValue(data)}.`,
    'ERR_INVALID_JOB_DATA',
  )
}
