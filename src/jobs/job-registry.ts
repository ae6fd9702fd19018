import { requireAnswerNow } from '../core/arguments.ts'
import { type ErrorCode, InvalidArgumentError, SchedulerError } from '../core/errors.ts'
import type { JobKey } from '../core/key.ts'
import { describeValue, nearestName } from '../core/options.ts'
import { checkJobSource, toJobDefinition } from './define-job.ts'
import type { JobDefinition, JobSource } from './job-definition.ts'
import {
  type DefinedField,
  isMarkedUnsaid,
  type JobDetail,
  refusesRecovery,
  unsaidFieldsOf,
} from './job-detail.ts'
import { resolveSharding } from './sharding.ts'

export interface JobRegistryOptions {
  /** Whether a factory makes the objects of class jobs. */
  readonly makesJobs: boolean
  /** What refused jobs of the constructor are: an argument or an option. */
  readonly code: ErrorCode
}

const argumentCode = 'ERR_INVALID_ARGUMENT'

/** The job types whose code this process has, by name. */
export class JobRegistry {
  readonly #definitions = new Map<string, JobDefinition<object>>()
  readonly #options: JobRegistryOptions

  /** @throws InvalidArgumentError as `register` */
  constructor(jobs: readonly JobSource[] = [], options: Partial<JobRegistryOptions> = {}) {
    this.#options = { makesJobs: false, code: argumentCode, ...options }
    for (const [index, job] of jobs.entries()) {
      const first = jobs.indexOf(job)
      if (first < index) throw listedTwice(job, [first, index], this.#options.code)
      this.#register(job, this.#options.code)
    }
  }

  /** Types in the order in which they were registered. */
  get jobTypes(): readonly string[] {
    return [...this.#definitions.keys()]
  }

  /**
   * @throws InvalidArgumentError when another job has this type already, or for a class whose constructor takes
   * something and that no factory makes
   */
  register(job: JobSource): JobDefinition<object> {
    return this.#register(job, argumentCode)
  }

  #register(job: JobSource, code: ErrorCode): JobDefinition<object> {
    checkJobSource('createScheduler', 'jobs', job, code)
    const definition = toJobDefinition(job)
    if (this.has(definition.jobType)) throw registeredAlready(definition.jobType, code)
    if (!this.#options.makesJobs) requireBareConstructor(definition, code)
    this.#definitions.set(definition.jobType, definition)
    return definition
  }

  /**
   * All of them or, when one is refused or `then` throws, none.
   *
   * @throws InvalidArgumentError as `register`
   */
  registerAll(jobs: readonly JobSource[], then: () => void): void {
    const together = new JobRegistry(jobs, { ...this.#options, code: argumentCode })
    for (const jobType of together.jobTypes) {
      if (this.has(jobType)) throw registeredAlready(jobType, argumentCode)
    }
    for (const job of jobs) this.register(job)
    try {
      then()
    } catch (error) {
      for (const jobType of together.jobTypes) this.#definitions.delete(jobType)
      throw error
    }
  }

  has(jobType: string): boolean {
    return this.#definitions.has(jobType)
  }

  find(jobType: string): JobDefinition<object> | null {
    return this.#definitions.get(jobType) ?? null
  }

  /**
   * @param of - the job, for the message
   * @throws SchedulerError ERR_UNKNOWN_JOB_TYPE, naming the nearest type that is known
   */
  get(jobType: string, of: JobKey | null = null): JobDefinition<object> {
    const definition = this.#definitions.get(jobType)
    if (definition !== undefined) return definition
    const known = this.jobTypes
    const nearest = nearestName(jobType, known)
    const hint =
      nearest !== null
        ? `Did you mean '${nearest}'?`
        : known.length === 0
          ? 'No job is registered.'
          : `Known: ${known.slice(0, 10).join(', ')}${known.length > 10 ? ', ...' : ''}.`
    throw new SchedulerError(
      'ERR_UNKNOWN_JOB_TYPE',
      `Unknown job type ${describeValue(jobType)}${of === null ? '' : ` of job ${of.toString()}`}. ` +
        `${hint} Register its definition in the 'jobs' of createScheduler.`,
    )
  }

  /**
   * The job with what its definition says filled in, where the caller has not said it: a job built from the bare name
   * of its type does not have it yet.
   *
   * @throws SchedulerError ERR_UNKNOWN_JOB_TYPE
   */
  complete(jobDetail: JobDetail): JobDetail {
    const definition = this.get(jobDetail.jobType)
    // A job that JobBuilder built from the definition has all of it already.
    if (Object.isFrozen(jobDetail) && hasEverythingOf(definition, jobDetail)) return jobDetail
    const unsaid = unsaidFieldsOf(jobDetail)
    const sayerOf = (field: DefinedField): Pick<JobDetail, DefinedField> =>
      unsaid.includes(field) ? definition : jobDetail
    const getsSharding = lacksSharding(definition, jobDetail)
    // Field by field, which leaves out the mark of what was not said: it is said now.
    const completed: JobDetail = {
      key: jobDetail.key,
      jobType: jobDetail.jobType,
      description: sayerOf('description').description,
      jobDataMap: jobDetail.jobDataMap,
      durable: jobDetail.durable,
      // What was sent is taken over, and never sent again.
      requestsRecovery: jobDetail.requestsRecovery || (getsSharding && !refusesRecovery(jobDetail)),
      disallowConcurrentExecution:
        jobDetail.disallowConcurrentExecution || definition.disallowConcurrentExecution,
      persistJobDataAfterExecution:
        jobDetail.persistJobDataAfterExecution || definition.persistJobDataAfterExecution,
      timeoutMs: sayerOf('timeoutMs').timeoutMs,
      retry: sayerOf('retry').retry,
      nodeAffinity: jobDetail.nodeAffinity,
      sharding: getsSharding ? resolveSharding({ items: 'remote' }) : jobDetail.sharding,
      plan: jobDetail.plan,
    }
    return Object.freeze(completed)
  }
}

/** Without this a service that is not there would be missed by the first run only. */
function requireBareConstructor(definition: JobDefinition<object>, code: ErrorCode): void {
  if (definition.kind !== 'inline' || definition.jobClass === null || definition.jobClass.length === 0) return
  throw new InvalidArgumentError(
    'jobs',
    `Job class '${definition.jobType}' has a constructor that takes ${definition.jobClass.length} ` +
      `argument${definition.jobClass.length === 1 ? '' : 's'}. Give 'jobFactory', which makes its objects.`,
    code,
  )
}

/** Two lists that were joined may share one: no type of its own would help. */
function listedTwice(
  job: JobSource,
  [first, index]: [number, number],
  code: ErrorCode,
): InvalidArgumentError {
  const name = describeValue(toJobDefinition(job).jobType)
  return new InvalidArgumentError(
    'jobs',
    `'jobs[${index}]' is the definition of ${name} that 'jobs[${first}]' is already: leave one of them out.`,
    code,
  )
}

function registeredAlready(jobType: string, code: ErrorCode): InvalidArgumentError {
  return new InvalidArgumentError(
    'jobs',
    `Job type '${jobType}' is registered already; every job definition needs a type of its own.`,
    code,
  )
}

function hasEverythingOf(definition: JobDefinition<object>, job: JobDetail): boolean {
  return (
    !isMarkedUnsaid(job) &&
    (job.disallowConcurrentExecution || !definition.disallowConcurrentExecution) &&
    (job.persistJobDataAfterExecution || !definition.persistJobDataAfterExecution) &&
    !lacksSharding(definition, job)
  )
}

function lacksSharding({ jobType, remote }: JobDefinition<object>, job: JobDetail): boolean {
  const { sharding, jobDataMap } = job
  if (sharding !== null || remote?.items === undefined) return false
  const isSharded = remote.isSharded?.(jobDataMap) ?? true
  requireAnswerNow('isSharded', `remote job '${jobType}'`, isSharded, 'ERR_INVALID_OPTION')
  return isSharded
}
