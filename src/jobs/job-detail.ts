import {
  type ArgumentCheck,
  checkBoolean,
  checkData,
  checkString,
  checkThat,
  checkWhole,
  isName,
  orNull,
  wrongArgument,
} from '../core/arguments.ts'
import type { ErrorCode } from '../core/errors.ts'
import { emptyJobDataMap, type JobDataMap } from '../core/job-data-map.ts'
import { isJobKey, type JobKey } from '../core/key.ts'
import { isObject } from '../core/options.ts'
import { timerDelayMaxMs } from '../time/clock.ts'
import type { JobPlan } from './job-plan.ts'
import { type RetryPolicy, resolveRetryPolicy } from './retry-policy.ts'
import { resolveSharding, type Sharding } from './sharding.ts'

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
  /** What happens when the job fails; null for one run only. */
  readonly retry: RetryPolicy | null
  /** The nodes of a cluster that are to run the job; null for all. */
  readonly nodeAffinity: NodeAffinity | null
  /** How each firing is split into several executions; null for a job whose firings are one execution each. */
  readonly sharding: Sharding | null
  /** How it was declared; null for a job that was stored in another way. */
  readonly plan: JobPlan | null
}

const remedy = 'Build one: JobBuilder.newJob(job).withIdentity(...).build().'

const checkShape: ArgumentCheck = checkThat(
  'a JobDetail',
  (value) => isObject(value) && isJobDetail(value),
  remedy,
)

// By shape: any object with these fields is a JobDetail, so that a caller may spread one to change it.
function isJobDetail(value: object): boolean {
  const { key, jobType, jobDataMap } = value as { readonly [Field in keyof JobDetail]?: unknown }
  return isJobKey(key) && typeof jobType === 'string' && isObject(jobDataMap)
}

// In place of `checkObject`, whose text would read as if every job needed one of these.
const checkObjectOrNull = checkThat('an object or null', (value) => value === null || isObject(value), remedy)

const fieldChecks: Readonly<Record<Exclude<keyof JobDetail, 'key' | 'jobType'>, ArgumentCheck>> = {
  description: orNull(checkString),
  jobDataMap: checkData,
  durable: checkBoolean,
  requestsRecovery: checkBoolean,
  disallowConcurrentExecution: checkBoolean,
  persistJobDataAfterExecution: checkBoolean,
  timeoutMs: orNull(checkWhole(1, timerDelayMaxMs)),
  retry: orNull(checkRetry),
  nodeAffinity: orNull(checkAffinity),
  sharding: orNull(checkSharding),
  plan: checkObjectOrNull,
}

/** Checks what JobBuilder checks, because anybody may have made the object, and a store could not read it again. */
export const checkJobDetail: ArgumentCheck = (method, argument, value, code) => {
  checkShape(method, argument, value, code)
  for (const [name, check] of Object.entries(fieldChecks)) {
    check(method, `${argument}.${name}`, Reflect.get(value as object, name), code)
  }
}

function checkRetry(method: string, argument: string, value: unknown, code?: ErrorCode): void {
  const { backoff } = resolveRetryPolicy(method, value as RetryPolicy, `${argument}.`)
  requireAllOf(backoff, Reflect.get(value as object, 'backoff'), {
    method,
    argument: `${argument}.backoff`,
    code,
    remedy: 'withRetry of JobBuilder fills in the defaults.',
  })
}

function checkSharding(method: string, argument: string, value: unknown, code?: ErrorCode): void {
  checkObjectOrNull(method, argument, value, code)
  requireAllOf(resolveSharding(value as Sharding, method, `${argument}.`), value, {
    method,
    argument,
    code,
    remedy: 'withSharding of JobBuilder fills in the defaults.',
  })
}

interface Asked {
  readonly method: string
  readonly argument: string
  readonly code: ErrorCode | undefined
  readonly remedy: string
}

/** Stores keep it as it is, so a field that was left out would be read in a way of its own by each of them. */
function requireAllOf(filled: object, given: unknown, { method, argument, code, remedy: help }: Asked): void {
  const missing = Object.keys(filled).filter(
    (name) => Reflect.get(Object(given) as object, name) === undefined,
  )
  if (missing.length === 0) return
  const wanted = `an object with ${missing.map((name) => `'${name}'`).join(', ')}`
  throw wrongArgument(method, argument, wanted, given, { code, remedy: help })
}

function checkAffinity(method: string, argument: string, value: unknown, code?: ErrorCode): void {
  checkObjectOrNull(method, argument, value, code)
  checkNodeNames(method, `${argument}.names`, Reflect.get(value as object, 'names'), code)
  checkBoolean(method, `${argument}.required`, Reflect.get(value as object, 'required'), code)
}

/** Characters that would need escaping in the stored list of names. */
const unfitForNodeName = /["\\\p{Cc}\p{Surrogate}]/u

const isFitForNodeName = (name: unknown): boolean => isName(name) && !unfitForNodeName.test(name)

export const checkNodeNames: ArgumentCheck = checkThat(
  'a list of one or more instance ids, without quotes, backslashes and control characters',
  (value) =>
    Array.isArray(value) && value.length > 0 && [...(value as readonly unknown[])].every(isFitForNodeName),
)

/** What a job takes from its definition where the caller of the builder has not said it. */
export type DefinedField = 'description' | 'timeoutMs' | 'retry'

/** Those of a job built from the bare name of its type, until its caller says them. */
export const allUnsaid: readonly DefinedField[] = Object.freeze([
  'description',
  'timeoutMs',
  'retry',
] as const)
export const noneUnsaid: readonly DefinedField[] = Object.freeze([])

/** In the job itself, so that a spread takes it along; neither JSON nor a table of a store has it. */
const unsaidFields: unique symbol = Symbol('fields left to the definition')

/** In the job itself, for the same reason. */
const recoveryRefused: unique symbol = Symbol('its caller has said that it is not recovered')

interface MarkedJob extends JobDetail {
  [unsaidFields]?: readonly DefinedField[]
  [recoveryRefused]?: true
}

/** Whether the caller has said so, and not left it to how the job is split. */
export function refusesRecovery(job: MarkedJob): boolean {
  return job[recoveryRefused] === true && !job.requestsRecovery
}

/** Whether the job is to be completed, though its caller may have said everything by now. */
export function isMarkedUnsaid(job: JobDetail): boolean {
  return unsaidFields in job
}

/** Which fields of a job built from the bare name of its type are null because its caller has not said them. */
export function unsaidFieldsOf(job: MarkedJob): readonly DefinedField[] {
  // A spread that sets a field says it, and leaves the mark as it was.
  return job[unsaidFields]?.filter((field) => job[field] === null) ?? noneUnsaid
}

/** The same job, frozen, whose definition is to fill in these fields. */
export function withUnsaidFields<Data extends object>(
  job: JobDetail<Data>,
  unsaid: readonly DefinedField[],
  refuses: boolean,
): JobDetail<Data> {
  if (unsaid.length > 0) (job as MarkedJob)[unsaidFields] = unsaid
  if (refuses) (job as MarkedJob)[recoveryRefused] = true
  return Object.freeze(job)
}

/** A job of which nothing is known but its key and its type. */
export function bareJob(key: JobKey, jobType: string): JobDetail {
  return Object.freeze({
    key,
    jobType,
    description: null,
    jobDataMap: emptyJobDataMap,
    durable: false,
    requestsRecovery: false,
    disallowConcurrentExecution: false,
    persistJobDataAfterExecution: false,
    timeoutMs: null,
    retry: null,
    nodeAffinity: null,
    sharding: null,
    plan: null,
  })
}
