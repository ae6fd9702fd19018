import { checkThat } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import type { IdGenerator } from '../core/ids.ts'
import { describeValue, isObject, refuseUnknownKeys, requireInteger } from '../core/options.ts'

/** How long to wait before attempt `n + 1`, as data, so that stores can keep it. */
export interface RetryBackoff {
  /** Whether each wait is longer than the one before it. Default `exponential`. */
  readonly type: 'exponential' | 'fixed'
  /** Before the second attempt. Milliseconds, at least 0, default 1,000, or `maxMs` where that is less. */
  readonly initialMs: number
  /** Each further wait is so many times as long (exponential only). At least 1, default 2. */
  readonly factor: number
  /**
   * No wait is longer than this. Milliseconds, at least `initialMs`, default 3,600,000, an hour, or `initialMs` where
   * that is more.
   */
  readonly maxMs: number
  /**
   * Share of the wait that is random, 0 to 1, so that jobs that failed together are not tried again together. Default
   * 0.5.
   */
  readonly jitter: number
}

/** What to do when a job fails. `attempts` counts the first run too. */
export interface RetryPolicy {
  readonly attempts: number
  readonly backoff: RetryBackoff
}

export interface RetryOptions {
  /** Most runs of one firing, the first included: 1 to 1000. */
  readonly attempts: number
  /** Default: exponential from one second, factor 2, at most an hour, half of it random. */
  readonly backoff?: Partial<RetryBackoff>
}

const checkRepeats = checkThat('an object such as { attempts: 3 }', isObject)
const backoffTypes: readonly string[] = ['exponential', 'fixed']

const defaultBackoff: RetryBackoff = {
  type: 'exponential',
  initialMs: 1000,
  factor: 2,
  maxMs: 3_600_000,
  jitter: 0.5,
}

/**
 * Fills in the defaults and refuses what makes no sense.
 *
 * @param what who was called, for messages
 * @param path what fields of errors begin with, such as `retry.`
 */
export function resolveRetryPolicy(what: string, options: RetryOptions, path: string = ''): RetryPolicy {
  const policy = resolved(what, options, path)
  const given: Partial<RetryBackoff> = options.backoff ?? {}
  // What was resolved already has all of the fields, and may be given again.
  const isWhole = Object.keys(defaultBackoff).every((name) => Reflect.get(given, name) !== undefined)
  if (given.type !== 'fixed' || given.factor === undefined || isWhole) return policy
  const field = `${path}backoff.factor`
  throw new InvalidArgumentError(
    field,
    `${what}: '${field}' goes with the type 'exponential' only: with 'fixed' all waits are 'initialMs' long. ` +
      'Leave one of the two out.',
    'ERR_INVALID_OPTION',
  )
}

function resolved(what: string, options: RetryOptions, path: string): RetryPolicy {
  const argument = path === '' ? 'options' : path.slice(0, -1)
  checkRepeats(what, argument, options)
  refuseUnknownKeys(what, options, ['attempts', 'backoff'], argument, path)
  requireInteger(what, `${path}attempts`, options.attempts, { min: 1, max: 1000 })
  const given = options.backoff ?? {}
  const of = `${path}backoff`
  refuseUnknownKeys(what, given, Object.keys(defaultBackoff), of, `${of}.`)
  const backoff: RetryBackoff = { ...defaultBackoff, ...withoutUndefined(given) }
  const invalid = (field: string, problem: string): InvalidArgumentError =>
    new InvalidArgumentError(`${of}.${field}`, `${what}: '${of}.${field}' ${problem}.`, 'ERR_INVALID_OPTION')
  if (!backoffTypes.includes(backoff.type)) {
    throw invalid('type', `must be 'exponential' or 'fixed', got ${describeValue(backoff.type)}`)
  }
  requireInteger(what, `${of}.initialMs`, backoff.initialMs, { min: 0 })
  requireInteger(what, `${of}.maxMs`, backoff.maxMs, { min: 0 })
  if (given.initialMs !== undefined && given.maxMs !== undefined && given.maxMs < given.initialMs) {
    throw invalid('maxMs', `must be at least '${of}.initialMs', ${given.initialMs}, got ${given.maxMs}`)
  }
  if (!isNumber(backoff.factor) || backoff.factor < 1) {
    throw invalid('factor', `must be at least 1, got ${describeValue(backoff.factor)}`)
  }
  if (!isNumber(backoff.jitter) || backoff.jitter < 0 || backoff.jitter > 1) {
    throw invalid('jitter', `must be from 0 to 1, got ${describeValue(backoff.jitter)}`)
  }
  return Object.freeze({ attempts: options.attempts, backoff: Object.freeze(inOrder(backoff, given)) })
}

/** The default of one of the two bounds gives way to the other one. */
function inOrder(backoff: RetryBackoff, given: Partial<RetryBackoff>): RetryBackoff {
  const { initialMs, maxMs } = backoff
  return given.initialMs === undefined
    ? { ...backoff, initialMs: Math.min(initialMs, maxMs) }
    : { ...backoff, maxMs: Math.max(initialMs, maxMs) }
}

/**
 * The policy of a stored job. What a newer version has written beside is not looked at, and a kind of backoff that is
 * not known is the default, so that nodes of both versions run the job.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION
 */
export function storedRetryPolicy(stored: object): RetryPolicy {
  const { attempts, backoff }: { readonly attempts?: unknown; readonly backoff?: unknown } = stored
  const options = { attempts, backoff: isObject(backoff) ? knownOf(backoff) : backoff } as RetryOptions
  return resolved('a stored job', options, '')
}

function knownOf(backoff: object): object {
  const known = Object.entries(backoff).filter(([name, value]: [string, unknown]) => {
    return name === 'type' ? backoffTypes.some((type) => type === value) : Object.hasOwn(defaultBackoff, name)
  })
  return Object.fromEntries(known)
}

/** Milliseconds from the failure of attempt `attempt` (the first is 1) to the next one. */
export function retryDelayMs(policy: RetryPolicy, attempt: number, ids: IdGenerator): number {
  const { type, initialMs, factor, maxMs, jitter } = policy.backoff
  // In this order: 0 times a factor that has grown to Infinity is no number.
  const planned = type === 'fixed' || initialMs === 0 ? initialMs : initialMs * factor ** (attempt - 1)
  const capped = Math.min(planned, maxMs)
  return Math.round(capped * (1 - jitter * ids.random()))
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

/** As everywhere in options: what is undefined is left out. */
function withoutUndefined(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
