import { InvalidArgumentError } from '../../core/errors.ts'
import { describeValue, refuseUnknownKeys, requireInteger } from '../../core/options.ts'
import { requireEntryUrl } from '../../core/package-files.ts'
import {
  type RecordOptions,
  type ResolvedRecordOptions,
  recordOptionNames,
  resolveRecordOptions,
} from '../record-options.ts'
import { resolveClusterOptions } from '../sql/cluster/cluster-options.ts'
import { type SqlNames, sqlNames } from '../sql/kernel/sql-names.ts'
import type { MigrateMode } from '../sql/migrations/migrate.ts'
import type { JobDataEncoding } from '../sql/tables/encoding/job-data-text.ts'
import { type JobGroupLimitsByGroup, resolveJobGroupLimits } from '../sql/tables/firings/job-group-limits.ts'
import type { PostgresConnection, PostgresPool } from './postgres-source.ts'

/** How the PostgreSQL job store connects and works. */
export interface PostgresJobStoreOptions extends RecordOptions {
  /**
   * Where the database is, as a URL; no other form of connecting may be given beside it. Default, when none is given:
   * what pg reads from the environment (`PGHOST`, `PGUSER` and so on).
   */
  readonly connectionString?: string
  /** Where the database is, as options of a pg client: host, user, password (also a function), `ssl` and so on. */
  readonly connection?: PostgresConnection
  /**
   * Your own pool, which the store uses and never closes. The store listens for its errors, so that an idle connection
   * that breaks does not end the process.
   */
  readonly pool?: PostgresPool
  /**
   * Most connections of the store at the same time, without the one for LISTEN; not with `pool`. 1 to 1,000, default
   * 10.
   */
  readonly poolSize?: number
  /** The schema of the tables. Default: the first of the connection's search path that has them. */
  readonly schema?: string
  /** What the names of the tables begin with. Default `qrtz_`. */
  readonly tablePrefix?: string
  /**
   * How nodes exclude each other: `skipLocked` claims rows one by one; `quartzLocks` takes the same lock rows as Java
   * Quartz and is for clusters that have Java nodes. Default `skipLocked`.
   */
  readonly locking?: 'skipLocked' | 'quartzLocks'
  /**
   * Wake other nodes at once by LISTEN and NOTIFY; this takes one connection of its own. Behind a transaction pooler
   * set it to false: nodes then see changes when they look, within `idleWaitMs`. Default true.
   */
  readonly listen?: boolean
  /**
   * Keep statements prepared on each connection, but not those of lists; a transaction pooler may need false. Default
   * true.
   */
  readonly preparedStatements?: boolean
  /** How long to wait for a connection, new or free. Milliseconds, 1 to 600,000, default 10,000. */
  readonly connectTimeoutMs?: number
  /**
   * How long `createScheduler` waits for a server that is away, as when both are started at the same time. After that
   * it fails with the error of the last attempt. Milliseconds, 0 to 3,600,000, default 0: it does not wait.
   */
  readonly connectWaitMs?: number
  /**
   * The longest that one statement may take, and that a transaction may stand still before the server ends it; a
   * connection that does not answer for five seconds longer counts as lost. Milliseconds, 0 to 3,600,000, where 0
   * leaves it to the server. Default 60,000.
   */
  readonly statementTimeoutMs?: number
  /**
   * The longest that an operation waits for locks of other transactions; the loop's firing and completing do not wait
   * for locks. With `quartzLocks` the operation is tried again after that, twice at most. Milliseconds, 0 to 3,600,000,
   * where 0 sets no limit. Default 10,000.
   */
  readonly lockTimeoutMs?: number
  /**
   * A wait for a lock that is longer than this is the event `lockWaitExceeded`, with the sessions that hold the lock.
   * Milliseconds, 0 to 3,600,000, where 0 reports none. Default 1,000.
   */
  readonly lockWaitWarningMs?: number
  /** How often a node checks in. Milliseconds, 100 to 60,000, default 1,500. */
  readonly checkInIntervalMs?: number
  /**
   * A node that has not checked in for this long has failed, and the others recover its work; time in which they could
   * not have seen it does not count. After the end of the session of its check-ins a sixth of this is enough, at least
   * 1,000. Milliseconds, at least twice `checkInIntervalMs`, at most 3,600,000, default 6,000 or four times
   * `checkInIntervalMs`, whichever is more.
   */
  readonly failedAfterMs?: number
  /**
   * The file that the check-in thread runs, as a `file:` URL; needed in a bundle, where the package's own file is
   * elsewhere, as in `new URL(import.meta.resolve('quartz-ts/check-in-entry'))`. When there is no such file, `start`
   * fails with ERR_ENTRY_MISSING. With null there is no thread: a node whose event loop is blocked for `failedAfterMs`
   * counts as failed. Default: the package's own.
   */
  readonly checkInEntry?: URL | string | null
  /** Who brings the tables up to date: the store when it starts, or you with `quartz-ts migrate`. Default `onStart`. */
  readonly migrate?: MigrateMode
  /**
   * How job data is written: JSON, or the text of Java's properties, strings only, which Java nodes read. Both are
   * understood on reading. Default `json`, and `properties` with `quartzLocks`.
   */
  readonly jobData?: JobDataEncoding
  /**
   * How many jobs of a group may be claimed or executing at once in the whole cluster, by job group, as in `{ reports:
   * 2 }`. All nodes should have the same limits, because each node applies its own. 1 to 10,000 each; a group that is
   * not named has no limit. Default: none is named.
   */
  readonly jobGroupLimits?: Readonly<Record<string, number>>
}

/** The options with every default filled in; frozen. */
export interface ResolvedPostgresOptions
  extends Required<
    Omit<
      PostgresJobStoreOptions,
      | keyof RecordOptions
      | 'connectionString'
      | 'connection'
      | 'pool'
      | 'schema'
      | 'tablePrefix'
      | 'jobGroupLimits'
      | 'checkInEntry'
    >
  > {
  /** Null for no thread, undefined for the package's own file. */
  readonly checkInEntry: URL | null | undefined
  readonly source: PostgresPool | PostgresConnection
  readonly names: SqlNames
  readonly records: ResolvedRecordOptions
  readonly jobGroupLimits: JobGroupLimitsByGroup
}

const what = 'postgresJobStore'
const known: readonly (keyof PostgresJobStoreOptions)[] = [
  'connectionString',
  'connection',
  'pool',
  'poolSize',
  'schema',
  'tablePrefix',
  'locking',
  'listen',
  'preparedStatements',
  'connectTimeoutMs',
  'connectWaitMs',
  'statementTimeoutMs',
  'lockTimeoutMs',
  'lockWaitWarningMs',
  'checkInIntervalMs',
  'failedAfterMs',
  'checkInEntry',
  'migrate',
  'jobData',
  ...recordOptionNames,
  'jobGroupLimits',
]

/**
 * Fills in defaults and refuses values out of bounds.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION naming the option and what it may be
 */
export function resolvePostgresOptions(options: PostgresJobStoreOptions): ResolvedPostgresOptions {
  refuseUnknownKeys(what, options, known)
  const { schema, tablePrefix } = options
  return Object.freeze({
    source: sourceOf(options),
    names: sqlNames(what, {
      ...(tablePrefix === undefined ? {} : { prefix: tablePrefix }),
      ...(schema === undefined ? {} : { schema }),
    }),
    poolSize: requireInteger(what, 'poolSize', options.poolSize ?? 10, { min: 1, max: 1000 }),
    locking: oneOf('locking', options.locking ?? 'skipLocked', ['skipLocked', 'quartzLocks']),
    listen: flag('listen', options.listen ?? true),
    preparedStatements: flag('preparedStatements', options.preparedStatements ?? true),
    connectTimeoutMs: requireInteger(what, 'connectTimeoutMs', options.connectTimeoutMs ?? 10_000, {
      min: 1,
      max: 600_000,
    }),
    connectWaitMs: timeLimit('connectWaitMs', options.connectWaitMs ?? 0),
    statementTimeoutMs: timeLimit('statementTimeoutMs', options.statementTimeoutMs ?? 60_000),
    lockTimeoutMs: timeLimit('lockTimeoutMs', options.lockTimeoutMs ?? 10_000),
    lockWaitWarningMs: timeLimit('lockWaitWarningMs', options.lockWaitWarningMs ?? 1000),
    ...resolveClusterOptions(what, options),
    checkInEntry: entryOf(options.checkInEntry),
    migrate: oneOf('migrate', options.migrate ?? 'onStart', ['onStart', 'never']),
    jobData: oneOf(
      'jobData',
      options.jobData ?? (options.locking === 'quartzLocks' ? 'properties' : 'json'),
      ['json', 'properties'],
    ),
    records: resolveRecordOptions(what, options),
    jobGroupLimits: resolveJobGroupLimits(what, options.jobGroupLimits),
  })
}

function sourceOf({
  connectionString,
  connection,
  pool,
  poolSize,
}: PostgresJobStoreOptions): PostgresPool | PostgresConnection {
  const given = Object.entries({ connectionString, connection, pool }).filter(
    ([, value]) => value !== undefined,
  )
  const [first, second] = given
  if (first !== undefined && second !== undefined) {
    throw invalid(second[0], `'${first[0]}' and '${second[0]}' both say how to connect; give one of them.`)
  }
  if (pool !== undefined) {
    if (poolSize !== undefined)
      throw invalid('poolSize', "'poolSize' is that of your own pool; set it there.")
    return requirePool(pool)
  }
  if (connectionString !== undefined) return { connectionString: requirePostgresUrl(connectionString) }
  if (connection === undefined) return {}
  if (typeof connection === 'object' && (connection as object | null) !== null) return connection
  throw invalid(
    'connection',
    `'connection' must be options of a pg client, got ${describeValue(connection)}.`,
  )
}

/**
 * A text that pg reads as an address: a URL of PostgreSQL, or the path of a socket. pg takes any other text for a host
 * name.
 */
function requirePostgresUrl(given: unknown): string {
  const form = 'a URL of PostgreSQL, as in postgres://user@host/database'
  if (typeof given !== 'string' || given === '') {
    throw invalid('connectionString', `'connectionString' must be ${form}; got ${describeValue(given)}.`)
  }
  if (/^(postgres(ql)?:\/\/|socket:|\/)/i.test(given)) return given
  const scheme = /^([a-z][a-z0-9+.-]{0,30}):\/\//i.exec(given)?.[1]
  throw invalid(
    'connectionString',
    scheme === undefined
      ? `'connectionString' is no URL; it must be ${form}. Host, user and database one by one go into 'connection'.`
      : `'connectionString' begins with '${scheme}://', but this store is for PostgreSQL: it must be ${form}.`,
  )
}

function requirePool(pool: PostgresPool): PostgresPool {
  const candidate = pool as (Partial<PostgresPool> & { readonly query?: unknown }) | null
  if (typeof candidate?.connect !== 'function' || typeof candidate.query !== 'function') {
    throw invalid('pool', `'pool' must be a pool of the package pg, got ${describeValue(pool)}.`)
  }
  if ((pool.options as { binary?: boolean } | undefined)?.binary === true) {
    throw invalid(
      'pool',
      "'pool' reads results in binary form, which the store does not; leave out its 'binary'.",
    )
  }
  return pool
}

function entryOf(given: PostgresJobStoreOptions['checkInEntry']): URL | null | undefined {
  return given === null || given === undefined ? given : requireEntryUrl(what, 'checkInEntry', given)
}

function timeLimit(field: keyof PostgresJobStoreOptions, value: number): number {
  return requireInteger(what, field, value, { min: 0, max: 3_600_000 })
}

function flag(field: keyof PostgresJobStoreOptions, value: boolean): boolean {
  if (typeof value === 'boolean') return value
  throw invalid(field, `'${field}' must be true or false, got ${describeValue(value)}.`)
}

function oneOf<Value extends string>(
  field: keyof PostgresJobStoreOptions,
  value: Value,
  allowed: readonly Value[],
): Value {
  if (allowed.includes(value)) return value
  const list = allowed.map((each) => `'${each}'`).join(' or ')
  throw invalid(field, `'${field}' must be ${list}, got ${describeValue(value)}.`)
}

// The messages do not contain the connection, because it has a password.
function invalid(field: string, message: string): InvalidArgumentError {
  return new InvalidArgumentError(field, `${what}: ${message}`, 'ERR_INVALID_OPTION')
}
