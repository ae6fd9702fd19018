import { checkBoolean, checkOptions, checkString, checkWhole, orNull, refuseNew } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { systemIds } from '../core/ids.ts'
import { copyJobData, emptyJobDataMap, type JobDataMap, jobDataEntries } from '../core/job-data-map.ts'
import type { MoreJobData, RequiredKeys } from '../core/job-data-type.ts'
import { checkJobKey, generatedJobKey, JobKey } from '../core/key.ts'
import { describeValue, isDataObject, isObject } from '../core/options.ts'
import { timerDelayMaxMs } from '../time/clock.ts'
import { checkJobSource, requireJobType, toJobDefinition } from './define-job.ts'
import type { JobSource, StoredDataOf } from './job-definition.ts'
import {
  allUnsaid,
  checkJobDetail,
  checkNodeNames,
  type DefinedField,
  type JobDetail,
  noneUnsaid,
  refusesRecovery,
  unsaidFieldsOf,
  withUnsaidFields,
} from './job-detail.ts'
import { type RetryOptions, resolveRetryPolicy } from './retry-policy.ts'
import { resolveSharding, type Sharding, type ShardingOptions } from './sharding.ts'

/** What `build` asks of the builder, which no builder is, while these fields of the data are missing. */
export interface MissingJobData<Missing extends PropertyKey> {
  readonly 'pass these fields to usingJobData, or call restOfDataFromTriggers()': Missing
}

/** Forbids fields that the data type does not have, in words that the compiler shows: `extends` would let them pass. */
export type UnknownKeys<Given, Data extends object> = object extends Data
  ? unknown
  : {
      readonly [Key in Exclude<
        keyof Given,
        Data extends unknown ? keyof Data : never
      >]: 'The data of this job has no such field'
    }

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
  unsaid: readonly DefinedField[]
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
      return new JobBuilder<object>(draftOf(job, unknownDefinition, allUnsaid))
    }
    checkJobSource('JobBuilder.newJob', 'job', job)
    const definition = toJobDefinition(job)
    return new JobBuilder<object>(draftOf(definition.jobType, definition, noneUnsaid))
  }

  /**
   * A builder that holds everything the job has, to build a changed copy. Recovery that is the default for how the job
   * is split counts as not said, so that another sharding brings its own default.
   */
  static from<Data extends object>(
    jobDetail: JobDetail<Data>,
  ): object extends Data ? JobBuilder : JobBuilder<Data, never>
  static from(jobDetail: JobDetail): JobBuilder {
    checkJobDetail('JobBuilder.from', 'jobDetail', jobDetail)
    const { requestsRecovery, nodeAffinity, sharding, plan } = jobDetail
    const draft = draftOf(jobDetail.jobType, jobDetail, unsaidFieldsOf(jobDetail))
    draft.key = jobDetail.key
    draft.data = { ...jobDetail.jobDataMap }
    draft.durable = jobDetail.durable
    const isSaid = requestsRecovery !== isRecoveredByDefault(sharding) || refusesRecovery(jobDetail)
    draft.requestsRecovery = isSaid ? requestsRecovery : null
    draft.nodeAffinity = nodeAffinity
    draft.sharding = sharding
    draft.plan = plan
    return new JobBuilder(draft)
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
  usingJobData<Given extends MoreJobData<Data>>(
    data: Given & UnknownKeys<Given, Data>,
  ): JobBuilder<Data, Exclude<Missing, FilledKeys<Given, Data>>>
  usingJobData<Key extends keyof Data & string>(
    key: Key,
    value: Data[Key],
  ): JobBuilder<Data, Exclude<Missing, Key>>
  usingJobData(dataOrKey: object | string, value?: unknown): this {
    const entries = typeof dataOrKey === 'string' ? { [dataOrKey]: value } : entriesOf(dataOrKey)
    this.#draft.data = { ...this.#draft.data, ...entries }
    return this
  }

  /** Replaces all data. */
  setJobData<Given extends MoreJobData<Data>>(
    data: Given & UnknownKeys<Given, Data>,
  ): JobBuilder<Data, Exclude<RequiredKeys<Data>, FilledKeys<Given, Data>>>
  setJobData(data: object): object {
    this.#draft.data = entriesOf(data)
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
   * whose items may move, see {@link JobBuilder.withSharding}, or else false. A broadcast has false in any case.
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
    const { unsaid } = this.#draft
    // A copy, because builders and jobs share the list.
    if (unsaid.includes(field)) this.#draft.unsaid = unsaid.filter((each) => each !== field)
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
   * Splits each firing of the job into items, each an execution of its own, spread over the live nodes; null, the
   * default: each firing is one execution, unless a remote definition has `items` and its `isSharded` does not say
   * otherwise. An item never runs twice at the same time, unless it is `remote`. Items that
   * ran on a node that died run again on another one, in the same firing, unless `requestRecovery(false)` is called;
   * those of a broadcast (`nodes`) never move, also after `requestRecovery()`.
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
    // Field by field: a spread takes several times as long, which counts when a million jobs are stored.
    const job: JobDetail<Data> = {
      // Only this builder knows the type of the data.
      key: key as JobKey<Data>,
      jobType: draft.jobType,
      description: draft.description,
      jobDataMap: hasData ? copyJobData(`job '${key.toString()}'`, draft.data) : emptyJobDataMap,
      durable: draft.durable,
      // The item of a node that died would run on one that has its own.
      requestsRecovery: !isBroadcast(sharding) && (draft.requestsRecovery ?? isRecoveredByDefault(sharding)),
      disallowConcurrentExecution: draft.disallowConcurrentExecution,
      persistJobDataAfterExecution: draft.persistJobDataAfterExecution,
      timeoutMs: draft.timeoutMs,
      retry: draft.retry,
      nodeAffinity,
      sharding,
      plan,
    }
    return withUnsaidFields(job, draft.unsaid, draft.requestsRecovery === false)
  }
}

/** What a name alone says of its definition. */
const unknownDefinition = {
  description: null,
  disallowConcurrentExecution: false,
  persistJobDataAfterExecution: false,
  timeoutMs: null,
  retry: null,
} as const

type DefinedPart = Pick<JobDraft, keyof typeof unknownDefinition>

/** In one literal, for the same reason as in `build`. */
function draftOf(jobType: string, definition: DefinedPart, unsaid: readonly DefinedField[]): JobDraft {
  return {
    key: null,
    jobType,
    description: definition.description,
    data: emptyJobDataMap,
    durable: false,
    requestsRecovery: null,
    disallowConcurrentExecution: definition.disallowConcurrentExecution,
    persistJobDataAfterExecution: definition.persistJobDataAfterExecution,
    timeoutMs: definition.timeoutMs,
    retry: definition.retry,
    nodeAffinity: null,
    sharding: null,
    plan: null,
    unsaid,
  }
}

/** Whether a job that is split in this way is recovered, where the caller does not say it. */
function isRecoveredByDefault(sharding: Sharding | null): boolean {
  return sharding !== null && !isBroadcast(sharding)
}

function isBroadcast(sharding: Sharding | null): boolean {
  return sharding?.items === 'nodes'
}

function entriesOf(data: unknown): Record<string, unknown> {
  if (isDataObject(data)) return jobDataEntries('a job', data)
  throw new InvalidArgumentError(
    'jobDataMap',
    `Job data must be an object with one entry per key, got ${describeValue(data)}.`,
    'ERR_INVALID_JOB_DATA',
  )
}
