import {
  type ArgumentCheck,
  checkObject,
  checkOptions,
  checkThat,
  checkWhole,
  orNull,
} from '../../core/arguments.ts'
import { InvalidArgumentError } from '../../core/errors.ts'
import { resolveLogger } from '../../core/line-logger.ts'
import { checkLoggerOrFalse, type Logger } from '../../core/logger.ts'
import { type Clock, checkClock, systemClock } from '../../time/clock.ts'
import { checkBasePath, checkToken, isHttpUrl } from '../protocol/option-checks.ts'

/** Options of `createXxlJobAdmin`. */
export interface XxlJobAdminOptions {
  /**
   * What admin and executors know each other by. Null: none; then no executor can register, only those in `executors`
   * are called, and everybody who reaches the admin can report results.
   */
  readonly accessToken: string | null
  /**
   * Tokens of their own, by AppName, as executors have them from version 3.5 on; `accessToken` is for the others. A
   * token is good for its AppName alone. Default none.
   */
  readonly accessTokens?: Readonly<Record<string, string>>
  /**
   * Addresses that are entered by hand, by AppName, as in `{ billing: ['http://10.0.0.7:9999/'] }`. Executors that
   * register under such a name are not called. Default none.
   */
  readonly executors?: Readonly<Record<string, readonly string[]>>
  /**
   * What paths begin with where the admin is mounted, as in `/xxl`. `/xxl-job-admin` below it is understood as well.
   * Default none.
   */
  readonly basePath?: string
  /** How long an executor may take to answer. Milliseconds, 1,000 to 10,000, default 3,000. */
  readonly callTimeoutMs?: number
  /**
   * Most runs of `run` whose results this admin waits for at a time, because they are in its memory; further ones fail.
   * Runs of jobs of `xxlJob` do not count: they wait in the store. 1 to 1,000,000, default 10,000.
   */
  readonly maxRuns?: number
  /** Most executors that can be registered at a time; further ones are refused. 1 to 1,000,000, default 10,000. */
  readonly maxExecutors?: number
  /**
   * Most requests in a minute that one client may send, told apart by its IP address; further ones are refused, and
   * executors in Java send them again. With `fetch` all clients are one. 1 to 10,000,000, default 100,000.
   */
  readonly requestsPerMinute?: number
  /** A pino logger or anything of its shape; false: no log. Default: warnings and errors go to stderr. */
  readonly logger?: Logger | false
  /** Where time comes from. Default: the system's. */
  readonly clock?: Clock
}

/** The options with every default filled in; frozen. */
export interface ResolvedAdminOptions {
  readonly accessToken: string | null
  readonly accessTokens: ReadonlyMap<string, string>
  readonly executors: ReadonlyMap<string, readonly string[]>
  readonly basePath: string
  readonly callTimeoutMs: number
  readonly maxRuns: number
  readonly maxExecutors: number
  readonly requestsPerMinute: number
  readonly logger: Logger
  readonly clock: Clock
}

const what = 'createXxlJobAdmin'

const checkExecutors: ArgumentCheck = (method, argument, value, code) => {
  checkObject(method, argument, value, code)
  const checkAddresses = checkThat("a list of URLs such as 'http://10.0.0.7:9999/'", (addresses) => {
    return Array.isArray(addresses) && addresses.every(isHttpUrl)
  })
  for (const [appName, addresses] of Object.entries(value as object)) {
    if (!isAppName(appName)) checkAppName(method, argument, appName, code)
    checkAddresses(method, `${argument}.${appName}`, addresses, code)
  }
}

const checkTokens: ArgumentCheck = (method, argument, value, code) => {
  checkObject(method, argument, value, code)
  for (const [appName, token] of Object.entries(value as object)) {
    if (!isAppName(appName)) checkAppName(method, argument, appName, code)
    checkToken(method, `${argument}.${appName}`, token, code)
  }
}

const optionChecks: Readonly<Record<keyof XxlJobAdminOptions, ArgumentCheck>> = {
  accessToken: orNull(checkToken),
  accessTokens: checkTokens,
  executors: checkExecutors,
  basePath: checkBasePath,
  callTimeoutMs: checkWhole(1000, 10_000),
  maxRuns: checkWhole(1, 1_000_000),
  maxExecutors: checkWhole(1, 1_000_000),
  requestsPerMinute: checkWhole(1, 10_000_000),
  logger: checkLoggerOrFalse,
  clock: checkClock,
}

/** Longest address that executors can register with. */
export const addressLengthMax = 255

/** It goes into a header. */
export function isAppName(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value)
}

export const checkAppName: ArgumentCheck = checkThat(
  'an AppName of 1 to 255 visible ASCII characters',
  isAppName,
)

/**
 * Fills in defaults and refuses what cannot work, or is not safe.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION naming the option
 */
export function resolveAdminOptions(options: XxlJobAdminOptions): ResolvedAdminOptions {
  checkObject(what, 'options', options)
  checkOptions(what, options, optionChecks)
  if ((options as Partial<XxlJobAdminOptions>).accessToken === undefined) {
    const message = `${what}: 'accessToken' is missing. Pass the token of the executors, or null to go without one.`
    throw new InvalidArgumentError('accessToken', message, 'ERR_INVALID_OPTION')
  }
  const { clock = systemClock } = options
  const executors = Object.entries(options.executors ?? {})
  return Object.freeze({
    accessToken: options.accessToken,
    accessTokens: new Map(Object.entries(options.accessTokens ?? {})),
    executors: new Map(executors.map(([appName, addresses]) => [appName, Object.freeze([...addresses])])),
    basePath: options.basePath ?? '',
    callTimeoutMs: options.callTimeoutMs ?? 3000,
    maxRuns: options.maxRuns ?? 10_000,
    maxExecutors: options.maxExecutors ?? 10_000,
    requestsPerMinute: options.requestsPerMinute ?? 100_000,
    logger: resolveLogger(options.logger, () => clock.now()),
    clock,
  })
}
