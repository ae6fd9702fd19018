import type { AlertsPlugin } from '../alerts/alerts-plugin.ts'
import { checkAddressRange } from '../core/address-range.ts'
import {
  type ArgumentCheck,
  checkBoolean,
  checkFunction,
  checkHostName,
  checkLongSecret,
  checkMethods,
  checkName,
  checkObject,
  checkOneOf,
  checkOptions,
  checkOrigin,
  checkString,
  checkThat,
  checkWhole,
  listOf,
  orNull,
} from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { resolveLogger } from '../core/line-logger.ts'
import { checkLogger, type Logger } from '../core/logger.ts'
import { type SchedulerHealth, schedulerHealth } from '../health/scheduler-health.ts'
import type { PrometheusRegistry } from '../metrics/prometheus/prometheus-registry.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import { type Clock, checkClock, systemClock } from '../time/clock.ts'
import type { XxlJobAdmin } from '../xxl-job/admin/admin-face.ts'
import type { AuditRecord } from './audit.ts'
import { builtInToken, type ServerAuth } from './auth/auth-options.ts'
import { isPasswordHash } from './auth/passwords.ts'
import { tokenHashPattern } from './auth/tokens.ts'
import { roles } from './catalogue/role.ts'

/** Options of `createServer`. */
export interface SchedulerServerOptions {
  /** The scheduler that is served; or several, of different names, the first of which is the default. */
  readonly scheduler: Scheduler | readonly Scheduler[]
  /** How the server knows who sends a request; it has to be one way or another. */
  readonly auth: ServerAuth
  /** Refuse everything that changes something, whatever the role. Default false. */
  readonly readOnly?: boolean
  /** What paths begin with where the server is mounted, as in `/admin/jobs`. Default none. */
  readonly basePath?: string
  /**
   * The names by which the server is called, as in `ops.example.com`: without scheme and port. Requests to others are
   * refused. Where it listens on the loopback interface, `localhost`, `127.0.0.1` and `[::1]` are names as well.
   * Default: those there, and any name elsewhere.
   */
  readonly allowedHosts?: readonly string[]
  /** Origins besides the server's own whose pages may change things, as in `https://ops.example.com`. Default none. */
  readonly allowedOrigins?: readonly string[]
  /**
   * From what session cookies are sealed; the same for all processes that share their sessions. At least 32 characters.
   * Default: random, so that sessions end with the process.
   */
  readonly sessionSecret?: string
  /** How long a session lasts. Milliseconds, 60,000 to 2,592,000,000, default 43,200,000, which is 12 hours. */
  readonly sessionMs?: number
  /**
   * Most requests a minute of one client: of an address, or of an IPv6 network (`/64`). 1 to 1,000,000, default 3,000.
   */
  readonly requestsPerMinute?: number
  /**
   * Most logins, and wrong tokens, a minute of one client. Beyond them `authenticate` of a host is not asked for its
   * tokens, but for those that were right from there before. 1 to 1,000, default 10.
   */
  readonly loginsPerMinute?: number
  /**
   * Most bytes of the body of a request, but for an import of definitions, which may have 67,108,864. 1,024 to
   * 67,108,864, default 2,097,152.
   */
  readonly maxBodyBytes?: number
  /**
   * Most streams of events that are open at one time. When all are, a principal that has fewer than another gets one of
   * that, and within a principal an address: the oldest ends. 1 to 10,000, default 250.
   */
  readonly maxStreams?: number
  /** A folder with a page, `index.html`, to serve at `/`; false serves none. Default: the dashboard of this package. */
  readonly dashboard?: string | false
  /**
   * Told of each change, be it done, refused or a dry run, and of each login and export: who, what, from where,
   * with what answer. The answer does not wait for it, and what it throws or rejects with is logged. Default
   * none.
   */
  readonly onAudit?: (record: AuditRecord) => unknown
  /** Says who sends a request, for its limits, where the server is mounted in another. Default: one client. */
  readonly clientAddress?: (request: Request) => string
  /**
   * The proxies before `listen` that say in `X-Forwarded-For` for whom they ask: addresses such as `10.0.0.7`, or
   * ranges such as `10.0.0.0/8`. Limits and the audit then have the client in place of the proxy. Default: none, and
   * the header is not looked at.
   */
  readonly trustedProxies?: readonly string[]
  /**
   * What `/metrics` answers: a `prometheusPlugin`, or a `Registry` of prom-client. Default: there is no such page.
   */
  readonly metrics?: PrometheusRegistry
  /** The `alertsPlugin` of one or more of the schedulers, to look at and to silence. Default: there are none. */
  readonly alerts?: AlertsPlugin | readonly AlertsPlugin[]
  /** What `createXxlJobAdmin` made: its executors are shown, and their jobs can be run. Default: there are none. */
  readonly xxlJob?: XxlJobAdmin
  /**
   * What the paths below `/health` answer: what `schedulerHealth` made for one or more of the schedulers, to have
   * rules. Default: health without rules.
   */
  readonly health?: SchedulerHealth | readonly SchedulerHealth[]
  /** A pino logger or anything of its shape; false says nothing. Default: warnings and errors go to stderr. */
  readonly logger?: Logger | false
  /** Where time comes from. Default: the system's. */
  readonly clock?: Clock
}

/** The options with every default filled in; frozen. */
export interface ResolvedServerOptions
  extends Required<
    Omit<
      SchedulerServerOptions,
      | 'scheduler'
      | 'allowedHosts'
      | 'sessionSecret'
      | 'onAudit'
      | 'clientAddress'
      | 'logger'
      | 'dashboard'
      | 'metrics'
      | 'alerts'
      | 'xxlJob'
      | 'health'
    >
  > {
  /** By name; the first one is the default. */
  readonly schedulers: ReadonlyMap<string, Scheduler>
  readonly defaultScheduler: Scheduler
  readonly allowedHosts: readonly string[] | null
  readonly sessionSecret: string | null
  /** Null: that of this package; false: none. */
  readonly dashboard: string | false | null
  readonly onAudit: ((record: AuditRecord) => unknown) | null
  readonly clientAddress: ((request: Request) => string) | null
  readonly metrics: PrometheusRegistry | null
  /** Of the schedulers that have some, by their name. */
  readonly alerts: ReadonlyMap<string, AlertsPlugin>
  readonly xxlJob: XxlJobAdmin | null
  /** That of each scheduler, by its name. */
  readonly health: ReadonlyMap<string, SchedulerHealth>
  readonly logger: Logger
}

const what = 'createServer'

/** Most bytes of any body, and of a file of definitions whatever `maxBodyBytes` says: an export can be imported. */
export const bodyBytesMax = 67_108_864

const checkRole = checkOneOf(roles)
const checkScheduler = checkMethods(
  'a scheduler',
  ['queryJobs', 'getMetaData'],
  'Pass what createScheduler made.',
)

const checkHealth = checkMethods(
  'the health of a scheduler',
  ['live', 'ready', 'rules', 'beginStop'],
  'Pass what schedulerHealth made.',
)

const checkAlerts = checkMethods(
  'the alerts of a scheduler',
  ['active', 'silence', 'test'],
  'Pass what alertsPlugin made.',
)

const checkGroups: ArgumentCheck = (method, argument, value, code) => {
  checkObject(method, argument, value, code)
  for (const [group, role] of Object.entries(Object(value) as object)) {
    checkRole(method, `${argument}.${group}`, role, code)
  }
}
const principalChecks = { name: checkName, role: orNull(checkRole), jobGroups: checkGroups }

function checkFields(
  required: readonly string[],
  checks: Readonly<Record<string, ArgumentCheck>>,
): ArgumentCheck {
  return (method, argument, value, code) => {
    checkObject(method, argument, value, code)
    checkOptions(method, value, checks, argument, `${argument}.`)
    for (const field of required) {
      if (Reflect.get(Object(value) as object, field) !== undefined) continue
      throw invalid(`${argument}.${field}`, `'${argument}' needs '${field}'.`)
    }
  }
}

const checkToken = checkFields(['name', 'sha256', 'role'], {
  ...principalChecks,
  sha256: checkThat(
    '64 hexadecimal digits',
    (value) => typeof value === 'string' && tokenHashPattern.test(value),
  ),
})
const checkUser = checkFields(['name', 'passwordHash', 'role'], {
  ...principalChecks,
  passwordHash: checkThat('what hashPassword made', isPasswordHash),
})
const checkUsers: ArgumentCheck = (method, argument, value, code) => {
  listOf(checkUser)(method, argument, value, code)
  if (Array.isArray(value) && value.length === 0)
    throw invalid(argument, `'${argument}' is empty, so no person can log in. Give it a user.`)
}
const kindChecks: Readonly<Record<ServerAuth['kind'], ArgumentCheck>> = {
  token: checkFields([], {
    kind: checkString,
    hashFile: checkName,
    role: checkRole,
    tokens: listOf(checkToken),
  }),
  users: checkFields(['users'], {
    kind: checkString,
    users: checkUsers,
    tokens: listOf(checkToken),
  }),
  hook: checkFields(['authenticate'], { kind: checkString, authenticate: checkFunction }),
}

/** The session, the audit and the idempotency keys of one would be those of the other. */
function requireOwnNames(auth: ServerAuth): void {
  if (auth.kind === 'hook') return
  const known = new Map<string, string>(auth.kind === 'token' ? [[builtInToken, 'tokens']] : [])
  const { tokens = [] } = auth
  const given: Readonly<Record<string, readonly { readonly name: string }[]>> =
    auth.kind === 'users' ? { users: auth.users, tokens } : { tokens }
  for (const [what, principals] of Object.entries(given)) {
    for (const { name } of principals) {
      const other = known.get(name)
      if (other !== undefined) throw twice(auth.kind, name, what, other)
      known.set(name, what)
    }
  }
}

function twice(kind: ServerAuth['kind'], name: string, what: string, other: string): InvalidArgumentError {
  const whose = what === other ? `two ${what}` : 'a user and a token'
  const own = kind === 'token' && name === builtInToken ? ', one of which the server makes' : ''
  return invalid(`auth.${what}`, `'auth' has ${whose} of the name '${name}'${own}. Give each another name.`)
}

const checkAuth: ArgumentCheck = (method, argument, value, code) => {
  const kind: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'kind') : undefined
  const known = Object.keys(kindChecks).find((name): name is ServerAuth['kind'] => name === kind)
  if (known === undefined) {
    throw invalid('auth', `'auth' must say who may use the server: { kind: 'token' }, 'users' or 'hook'.`)
  }
  kindChecks[known](method, argument, value, code)
  requireOwnNames(value as ServerAuth)
}

const optionChecks: Readonly<Record<keyof SchedulerServerOptions, ArgumentCheck>> = {
  scheduler: (method, argument, value, code) => {
    const check = Array.isArray(value) ? listOf(checkScheduler) : checkScheduler
    check(method, argument, value, code)
  },
  auth: checkAuth,
  readOnly: checkBoolean,
  basePath: checkThat(
    "'' or a path such as '/admin/jobs'",
    // Clients leave out the parts . and .. of a path before they send it.
    (value) => typeof value === 'string' && /^(\/(?!\.{1,2}(\/|$))[\w.~-]+)*$/.test(value),
  ),
  allowedHosts: listOf(checkHostName),
  allowedOrigins: listOf(checkOrigin),
  sessionSecret: checkLongSecret(32),
  sessionMs: checkWhole(60_000, 2_592_000_000),
  requestsPerMinute: checkWhole(1, 1_000_000),
  loginsPerMinute: checkWhole(1, 1000),
  maxBodyBytes: checkWhole(1024, bodyBytesMax),
  maxStreams: checkWhole(1, 10_000),
  dashboard: checkThat(
    'a folder, or false',
    (value) => value === false || (typeof value === 'string' && value !== ''),
  ),
  onAudit: checkFunction,
  clientAddress: checkFunction,
  trustedProxies: listOf(checkAddressRange),
  metrics: checkMethods(
    'measurements',
    ['metrics'],
    'Pass a prometheusPlugin, or a Registry of prom-client.',
  ),
  alerts: (method, argument, value, code) => {
    const check = Array.isArray(value) ? listOf(checkAlerts) : checkAlerts
    check(method, argument, value, code)
  },
  xxlJob: checkMethods(
    "an admin of XXL-JOB's executors",
    ['executors', 'definitions', 'readLog'],
    'Pass what createXxlJobAdmin made.',
  ),
  health: (method, argument, value, code) => {
    const check = Array.isArray(value) ? listOf(checkHealth) : checkHealth
    check(method, argument, value, code)
  },
  logger: (method, argument, value, code) => {
    if (value !== false) checkLogger(method, argument, value, code)
  },
  clock: checkClock,
}

/**
 * Fills in defaults and refuses what cannot work, or is not safe.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION naming the option
 */
export function resolveServerOptions(options: SchedulerServerOptions): ResolvedServerOptions {
  checkObject(what, 'options', options)
  checkOptions(what, options, optionChecks)
  requireField(options, 'scheduler', 'Pass the scheduler to serve.')
  requireField(options, 'auth', `Say who may use the server: { kind: 'token' }, 'users' or 'hook'.`)
  const { scheduler, clock = systemClock } = options
  const schedulers = byName('queryJobs' in scheduler ? [scheduler] : scheduler)
  const [defaultScheduler] = schedulers.values()
  if (defaultScheduler === undefined)
    throw invalid('scheduler', `'scheduler' must name one or more schedulers.`)
  return Object.freeze({
    schedulers,
    defaultScheduler,
    auth: options.auth,
    readOnly: options.readOnly ?? false,
    basePath: options.basePath ?? '',
    allowedHosts: options.allowedHosts ?? null,
    allowedOrigins: options.allowedOrigins ?? [],
    sessionSecret: options.sessionSecret ?? null,
    sessionMs: options.sessionMs ?? 43_200_000,
    requestsPerMinute: options.requestsPerMinute ?? 3000,
    loginsPerMinute: options.loginsPerMinute ?? 10,
    maxBodyBytes: options.maxBodyBytes ?? 2_097_152,
    maxStreams: options.maxStreams ?? 250,
    dashboard: options.dashboard ?? null,
    onAudit: options.onAudit ?? null,
    clientAddress: options.clientAddress ?? null,
    trustedProxies: options.trustedProxies ?? [],
    metrics: options.metrics ?? null,
    alerts: alertsOf(schedulers, options.alerts ?? []),
    xxlJob: options.xxlJob ?? null,
    health: healthOf(schedulers, options.health ?? [], clock),
    logger: resolveLogger(options.logger, () => clock.now()),
    clock,
  })
}

function byName(schedulers: readonly Scheduler[]): ReadonlyMap<string, Scheduler> {
  const named = new Map<string, Scheduler>()
  for (const scheduler of schedulers) {
    const { schedulerName } = scheduler
    if (named.has(schedulerName)) throw invalid('scheduler', `two schedulers are called '${schedulerName}'.`)
    named.set(schedulerName, scheduler)
  }
  return named
}

function alertsOf(
  schedulers: ReadonlyMap<string, Scheduler>,
  given: AlertsPlugin | readonly AlertsPlugin[],
): ReadonlyMap<string, AlertsPlugin> {
  const named = new Map<string, AlertsPlugin>()
  for (const alerts of 'active' in given ? [given] : given) {
    const { schedulerName } = alerts
    if (schedulerName === null || !schedulers.has(schedulerName)) {
      throw invalid('alerts', "'alerts' has a plugin of a scheduler that is not served.")
    }
    named.set(schedulerName, alerts)
  }
  return named
}

/** What was given, and health without rules for the other schedulers. */
function healthOf(
  schedulers: ReadonlyMap<string, Scheduler>,
  given: SchedulerHealth | readonly SchedulerHealth[],
  clock: Clock,
): ReadonlyMap<string, SchedulerHealth> {
  const named = new Map<string, SchedulerHealth>()
  for (const health of 'ready' in given ? [given] : given) {
    const { schedulerName } = health
    if (!schedulers.has(schedulerName)) {
      throw invalid('health', `'health' has that of '${schedulerName}', which is not served.`)
    }
    named.set(schedulerName, health)
  }
  return new Map(
    [...schedulers].map(([name, scheduler]) => [
      name,
      named.get(name) ?? schedulerHealth(scheduler, { clock }),
    ]),
  )
}

function requireField(
  options: SchedulerServerOptions,
  field: keyof SchedulerServerOptions,
  remedy: string,
): void {
  if ((options as Partial<SchedulerServerOptions>)[field] === undefined) {
    throw invalid(field, `'${field}' is missing. ${remedy}`)
  }
}

function invalid(field: string, message: string): InvalidArgumentError {
  return new InvalidArgumentError(field, `${what}: ${message}`, 'ERR_INVALID_OPTION')
}
