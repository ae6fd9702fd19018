import { checkAddressRange } from '../../core/address-range.ts'
import {
  type ArgumentCheck,
  checkBoolean,
  checkHostName,
  checkLongSecret,
  checkName,
  checkObject,
  checkOptions,
  checkOrigin,
  checkString,
  checkWhole,
  hasMethods,
  listOf,
} from '../../core/arguments.ts'
import { InvalidArgumentError } from '../../core/errors.ts'
import type { JobStore } from '../../jobstore/job-store.ts'
import type { SchedulerOptions } from '../../scheduler/create-scheduler.ts'
import { timerDelayMaxMs } from '../../time/clock.ts'

/** How `quartz-ts serve` serves. */
export interface ServeConfig {
  /** 0 for a free one. Default 8080. */
  readonly port?: number
  /** The address to listen on. Default `127.0.0.1`: this machine alone. */
  readonly host?: string
  /**
   * The names by which the server is called, such as that of a proxy, without scheme and port. Default: as in
   * `createServer`.
   */
  readonly allowedHosts?: readonly string[]
  /** Origins besides the server's own whose pages may change things, as in `https://ops.example.com`. Default none. */
  readonly allowedOrigins?: readonly string[]
  /**
   * The proxies that say in `X-Forwarded-For` for whom they ask: addresses such as `10.0.0.7`, or ranges such as
   * `10.0.0.0/8`. Default: none.
   */
  readonly trustedProxies?: readonly string[]
  /** Keeps the hash of the token that is made at the first start. Default: a new token at each start. */
  readonly tokenHashFile?: string
  /**
   * From what session cookies are sealed, so that open pages live through a restart; the same for all processes that
   * share their sessions. At least 32 characters. Default: random, so that sessions end with the process.
   */
  readonly sessionSecret?: string
  /** Refuse everything that changes something. Default false. */
  readonly readOnly?: boolean
  /**
   * How long the server says at `/health/ready` that it ends, before anything does: until others send no more work.
   * Milliseconds, 0 to 3,600,000, default 0.
   */
  readonly notReadyMs?: number
  /** With `--start`: answer measurements at `/metrics`, which needs the package prom-client. Default false. */
  readonly metrics?: boolean
}

/** What `quartz-ts.config.ts` says, so that the command line need not. The command line goes before it. */
export interface QuartzConfig {
  /**
   * Where jobs are kept: `sqlite:FILE` or the `postgres://` URL of a database; or a store with options of its own, as
   * `postgresJobStore({ ... })` makes it. Default: it has to be on the command line.
   */
  readonly jobStore?: string | JobStore
  /** What the names of the tables begin with, where `jobStore` is text. Default `qrtz_`. */
  readonly tablePrefix?: string
  /** The schema of the tables, where `jobStore` is the URL of a PostgreSQL database. Default: as in its store. */
  readonly schema?: string
  /** The name of the schedulers on the store, or of one on the server. Default: as in theirs. */
  readonly schedulerName?: string
  /** The address of a server, which commands that look and steer ask instead of the store. Default none. */
  readonly server?: string
  /** A file that holds the token for `server`. Default: the environment variable `QUARTZ_TS_TOKEN`. */
  readonly tokenFile?: string
  /** How `quartz-ts serve` serves. */
  readonly serve?: ServeConfig
  /** What `quartz-ts serve --start` runs: jobs, the thread pool and so on. */
  readonly scheduler?: Omit<SchedulerOptions, 'jobStore' | 'schedulerName' | 'clock'>
  /**
   * How long running jobs may go on after a signal, or at the end of `crontab`. Milliseconds, 0 to 2,147,483,647,
   * default 30,000 for `serve --start` and 10,000 for `crontab`.
   */
  readonly drainMs?: number
}

const checkStore: ArgumentCheck = (method, argument, value, code) => {
  if (typeof value === 'string' && value.trim() !== '') return
  if (hasMethods(value, ['initialize', 'acquireNextTriggers'])) return
  throw new InvalidArgumentError(
    argument,
    `${method}: '${argument}' must be 'sqlite:FILE', the postgres:// URL of a database, or a job store.`,
    code,
  )
}

const serveChecks: Readonly<Record<keyof ServeConfig, ArgumentCheck>> = {
  port: checkWhole(0, 65_535),
  host: checkName,
  allowedHosts: listOf(checkHostName),
  allowedOrigins: listOf(checkOrigin),
  trustedProxies: listOf(checkAddressRange),
  tokenHashFile: checkName,
  sessionSecret: checkLongSecret(32),
  readOnly: checkBoolean,
  notReadyMs: checkWhole(0, 3_600_000),
  metrics: checkBoolean,
}

const configChecks: Readonly<Record<keyof QuartzConfig, ArgumentCheck>> = {
  jobStore: checkStore,
  tablePrefix: checkString,
  schema: checkName,
  schedulerName: checkName,
  server: checkName,
  tokenFile: checkName,
  serve: (method, argument, value, code) => {
    checkObject(method, argument, value, code)
    checkOptions(method, value, serveChecks, argument)
  },
  scheduler: checkObject,
  drainMs: checkWhole(0, timerDelayMaxMs),
}

/**
 * The settings of the command `quartz-ts`, with their types: the default export of `quartz-ts.config.ts`.
 *
 * @example
 * export default defineConfig({ jobStore: 'sqlite:jobs.db', scheduler: { jobs: [report] } })
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION for a setting that is unknown or wrong
 */
export function defineConfig(config: QuartzConfig): QuartzConfig {
  checkObject('defineConfig', 'config', config)
  checkOptions('defineConfig', config, configChecks, 'config')
  return Object.freeze({ ...config })
}
