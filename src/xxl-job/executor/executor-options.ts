import { resolve } from 'node:path'
import {
  type ArgumentCheck,
  checkName,
  checkObject,
  checkOneOf,
  checkOptions,
  checkString,
  checkThat,
  checkWhole,
  listOf,
  orNull,
} from '../../core/arguments.ts'
import { InvalidArgumentError } from '../../core/errors.ts'
import { resolveLogger } from '../../core/line-logger.ts'
import { checkLoggerOrFalse, type Logger } from '../../core/logger.ts'
import { type PiscinaThreadPoolOptions, resolvePiscinaOptions } from '../../threadpool/piscina-options.ts'
import { type Clock, checkClock, systemClock, timerDelayMaxMs } from '../../time/clock.ts'
import { TimeZone } from '../../time/zone.ts'
import type { CallbackShape } from '../protocol/callback.ts'
import { checkBasePath, checkToken, isHttpUrl } from '../protocol/option-checks.ts'
import type { XxlJobHandler } from './handlers/xxl-job-handler.ts'
import { scriptTypes, type XxlJobScript } from './scripts/script-runner.ts'

/** Options of `createXxlJobExecutor`. */
export interface XxlJobExecutorOptions {
  /**
   * The addresses of the admins of one cluster, as in `http://xxl-job.example.com/xxl-job-admin`: a list, or one text
   * with commas between them.
   */
  readonly adminAddresses: string | readonly string[]
  /**
   * The AppName of the executor, as it was entered on the admin's page. 4 to 64 visible ASCII characters but < and >.
   */
  readonly appName: string
  /** What admins and executor know each other by. Null: none, so that everybody who reaches the port can run jobs. */
  readonly accessToken: string | null
  /** Handlers by their names: functions, objects with `execute`, or what `defineXxlJobWorker` made. Default none. */
  readonly handlers?: Readonly<Record<string, XxlJobHandler>>
  /** Objects whose methods with `@XxlJob` are handlers; of classes the static ones. Default none. */
  readonly instances?: readonly object[]
  /**
   * Where to listen, 0 to 65,535; 0 takes any free one. Null: nowhere, because the executor is mounted in another
   * server; then there has to be an `address`. Default: the first free one from 9999 on.
   */
  readonly port?: number | null
  /** The address of this machine to listen on. Default `0.0.0.0`, and without a token `127.0.0.1`. */
  readonly host?: string
  /**
   * The URL by which admins call the executor, as in `http://10.0.0.7:9999/`. Default: made of the port and of `host`,
   * or of the first address of this machine that others reach.
   */
  readonly address?: string
  /** What paths begin with where the executor is mounted, as in `/xxl-job`. Default none. */
  readonly basePath?: string
  /** The folder of logs, scripts and results that wait. Default `xxl-job-logs` in the current folder. */
  readonly logPath?: string
  /** How many days logs are kept. Days, 3 to 3,650, default 30; null keeps them for ever. */
  readonly logRetentionDays?: number | null
  /** Most bytes of the log of one run. 1,024 to 1,099,511,627,776, default 1,073,741,824, which is 1 GiB. */
  readonly maxLogBytes?: number
  /** IANA name of the zone of log folders and lines. Default: the zone of this process. */
  readonly timeZone?: string
  /**
   * The version of the admins, where it matters: from 3.5 on they take results in another form. Default `auto`: the
   * executor finds out.
   */
  readonly adminVersion?: 'auto' | 'before-3.5' | '3.5'
  /** How long an admin may take to answer. Milliseconds, 1,000 to 10,000, default 3,000. */
  readonly adminTimeoutMs?: number
  /**
   * The kinds of scripts that admins may have run here, each in a process of its own: `GLUE_SHELL`, `GLUE_PYTHON`,
   * `GLUE_PYTHON2`, `GLUE_NODEJS`, `GLUE_POWERSHELL`, `GLUE_PHP`. Who may edit jobs can then run anything on this
   * machine. Default none.
   */
  readonly scripts?: readonly XxlJobScript[]
  /** Options of the worker threads of handlers in modules. Default: up to 10, started when needed. */
  readonly threadPool?: PiscinaThreadPoolOptions
  /**
   * How long a worker or a script that is asked to end may take before it is ended. Milliseconds, 0 to
   * 2,147,483,647, default 5,000.
   */
  readonly interruptGraceMs?: number
  /** Most runs of one job that wait; further ones are refused. 1 to 1,000,000, default 10,000. */
  readonly maxQueuedPerJob?: number
  /** Most runs that wait in all; further ones are refused. 1 to 1,000,000, default 100,000. */
  readonly maxQueued?: number
  /** Most results that no admin has yet; beyond them runs are refused. 1 to 1,000,000, default 100,000. */
  readonly maxResults?: number
  /** A pino logger or anything of its shape; false: no log. Default: warnings and errors go to stderr. */
  readonly logger?: Logger | false
  /** Where time comes from. Default: the system's. */
  readonly clock?: Clock
}

/** The options with every default filled in; frozen. */
export interface ResolvedExecutorOptions {
  /** Without slashes at their ends. */
  readonly adminAddresses: readonly string[]
  readonly appName: string
  readonly accessToken: string | null
  readonly handlers: Readonly<Record<string, XxlJobHandler>>
  readonly instances: readonly object[]
  /** Undefined: search from 9999 on. */
  readonly port: number | null | undefined
  readonly host: string
  readonly address: string | null
  readonly basePath: string
  readonly logPath: string
  readonly logRetentionDays: number | null
  readonly maxLogBytes: number
  readonly zone: TimeZone
  readonly callbackShape: CallbackShape | null
  readonly adminTimeoutMs: number
  readonly scripts: ReadonlySet<string>
  readonly threadPool: PiscinaThreadPoolOptions
  readonly interruptGraceMs: number
  readonly maxQueuedPerJob: number
  readonly maxQueued: number
  readonly maxResults: number
  readonly logger: Logger
  readonly clock: Clock
}

const what = 'createXxlJobExecutor'
const defaultFolder = 'xxl-job-logs'
const shapes = { auto: null, 'before-3.5': 'array', '3.5': 'object' } as const

const checkAddresses: ArgumentCheck = (method, argument, value, code) => {
  const check = Array.isArray(value) ? listOf(checkName) : checkName
  check(method, argument, value, code)
}
const checkHttpUrl = checkThat("a URL such as 'http://10.0.0.7:9999/'", isHttpUrl)

const optionChecks: Readonly<Record<keyof XxlJobExecutorOptions, ArgumentCheck>> = {
  adminAddresses: checkAddresses,
  // It goes into a header.
  appName: checkThat('4 to 64 visible ASCII characters but < and >', (value) => {
    return typeof value === 'string' && /^[\x21-\x3b=\x3f-\x7e]{4,64}$/.test(value)
  }),
  accessToken: orNull(checkToken),
  handlers: checkObject,
  instances: checkThat('an array', Array.isArray),
  port: orNull(checkWhole(0, 65_535)),
  host: checkName,
  address: checkHttpUrl,
  basePath: checkBasePath,
  logPath: checkName,
  logRetentionDays: orNull(checkWhole(3, 3650)),
  maxLogBytes: checkWhole(1024, 1_099_511_627_776),
  timeZone: checkString,
  adminVersion: checkOneOf(Object.keys(shapes)),
  adminTimeoutMs: checkWhole(1000, 10_000),
  scripts: listOf(checkOneOf(scriptTypes)),
  threadPool: checkObject,
  interruptGraceMs: checkWhole(0, timerDelayMaxMs),
  maxQueuedPerJob: checkWhole(1, 1_000_000),
  maxQueued: checkWhole(1, 1_000_000),
  maxResults: checkWhole(1, 1_000_000),
  logger: checkLoggerOrFalse,
  clock: checkClock,
}

/**
 * Fills in defaults and refuses what cannot work, or is not safe.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION naming the option
 */
export function resolveExecutorOptions(options: XxlJobExecutorOptions): ResolvedExecutorOptions {
  checkObject(what, 'options', options)
  checkOptions(what, options, optionChecks)
  requireField(options, 'adminAddresses', 'Pass the address of the admin.')
  requireField(options, 'appName', "Pass the executor's AppName as it is on the admin's page.")
  requireField(options, 'accessToken', 'Pass the token of the admin, or null to go without one.')
  const { accessToken, clock = systemClock, port, address = null, logRetentionDays = 30 } = options
  if (port === null && address === null) {
    throw invalid('address', "without a port there has to be an 'address' by which admins call the executor")
  }
  return Object.freeze({
    adminAddresses: Object.freeze(addressesOf(options.adminAddresses)),
    appName: options.appName,
    accessToken,
    handlers: Object.freeze({ ...options.handlers }),
    instances: Object.freeze([...(options.instances ?? [])]),
    port,
    host: options.host ?? (accessToken === null ? '127.0.0.1' : '0.0.0.0'),
    address,
    basePath: options.basePath ?? '',
    logPath: resolve(options.logPath ?? defaultFolder),
    logRetentionDays,
    maxLogBytes: options.maxLogBytes ?? 1_073_741_824,
    zone: options.timeZone === undefined ? TimeZone.system() : TimeZone.of(options.timeZone),
    callbackShape: shapes[options.adminVersion ?? 'auto'],
    adminTimeoutMs: options.adminTimeoutMs ?? 3000,
    scripts: new Set<string>(options.scripts ?? []),
    threadPool: Object.freeze(resolvePiscinaOptions(options.threadPool ?? {})),
    interruptGraceMs: options.interruptGraceMs ?? 5000,
    maxQueuedPerJob: options.maxQueuedPerJob ?? 10_000,
    maxQueued: options.maxQueued ?? 100_000,
    maxResults: options.maxResults ?? 100_000,
    logger: resolveLogger(options.logger, () => clock.now()),
    clock,
  })
}

/** @throws InvalidArgumentError for what is no address, and for none */
function addressesOf(given: string | readonly string[]): readonly string[] {
  const texts = typeof given === 'string' ? given.split(',') : given
  const addresses = texts.map((text) => text.trim().replace(/\/$/, '')).filter((text) => text !== '')
  const wrong = addresses.find((address) => !isHttpUrl(address))
  if (wrong !== undefined)
    throw invalid('adminAddresses', `'adminAddresses' has '${wrong}', which is no http URL`)
  if (addresses.length === 0) throw invalid('adminAddresses', "'adminAddresses' has to name an admin")
  return addresses
}

function requireField(
  options: XxlJobExecutorOptions,
  field: keyof XxlJobExecutorOptions,
  remedy: string,
): void {
  if ((options as Partial<XxlJobExecutorOptions>)[field] === undefined) {
    throw invalid(field, `'${field}' is missing. ${remedy.replace(/\.$/, '')}`)
  }
}

function invalid(field: string, problem: string): InvalidArgumentError {
  return new InvalidArgumentError(field, `${what}: ${problem}.`, 'ERR_INVALID_OPTION')
}
