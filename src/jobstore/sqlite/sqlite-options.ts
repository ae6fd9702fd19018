import { InvalidArgumentError } from '../../core/errors.ts'
import { describeValue, refuseUnknownKeys, requireInteger } from '../../core/options.ts'
import {
  type RecordOptions,
  type ResolvedRecordOptions,
  recordOptionNames,
  resolveRecordOptions,
} from '../record-options.ts'
import { type SqlNames, sqlNames } from '../sql/kernel/sql-names.ts'
import type { MigrateMode } from '../sql/migrations/migrate.ts'
import type { JobDataEncoding } from '../sql/tables/encoding/job-data-text.ts'
import { type JobGroupLimitsByGroup, resolveJobGroupLimits } from '../sql/tables/firings/job-group-limits.ts'
import type { SqliteDatabase, SqliteDriverName } from './sqlite-database.ts'

/** Options of `sqliteJobStore`: either `filename` or `database`. */
export interface SqliteJobStoreOptions extends RecordOptions {
  /** The file, made when it is missing, or `:memory:`, which is lost with the process. */
  readonly filename?: string
  /**
   * An open better-sqlite3 connection to use instead of one of the store's own. It stays open after shutdown, and its
   * settings stay as they are: turn on WAL yourself. Only its `timeout` is shorter while the store uses it, because
   * SQLite's wait blocks the event loop.
   */
  readonly database?: SqliteDatabase
  /**
   * What opens the file: the package better-sqlite3, or `node:sqlite`, which Node.js has from 22.16 on, with nothing to
   * install. Not with `database`. Default: better-sqlite3 where it is installed and built for this Node.js, else
   * `node:sqlite`.
   */
  readonly driver?: 'better-sqlite3' | 'node:sqlite'
  /**
   * When a commit is on the disk. `normal`: after a power cut or a crash of the operating system the last transactions
   * may be missing, the file is whole, and a crash of the process alone loses nothing. `full`: nothing is missing, at
   * the price of one disk flush per transaction. Default `normal`; not with `database`.
   */
  readonly synchronous?: 'normal' | 'full'
  /**
   * How long an operation waits while another connection writes before it fails with ERR_DATABASE_UNAVAILABLE.
   * Milliseconds, 0 to 600,000, default 5,000.
   */
  readonly busyTimeoutMs?: number
  /** What the names of the tables begin with: letters, digits and underscores. Default `qrtz_`. */
  readonly tablePrefix?: string
  /**
   * `onStart` makes and updates the tables; with `never` a schema that is too old is refused with ERR_SCHEMA_TOO_OLD.
   * Default `onStart`.
   */
  readonly migrate?: MigrateMode
  /** How job data is written: as JSON, or as `properties`, which hold strings only. Default `json`. */
  readonly jobData?: JobDataEncoding
  /**
   * How many jobs of a group may be claimed or executing at once, by job group, as in `{ reports: 2 }`. 1 to 10,000
   * each; a group that is not named has no limit. Default: none is named.
   */
  readonly jobGroupLimits?: Readonly<Record<string, number>>
}

/** The options with every default filled in; frozen. */
export interface ResolvedSqliteOptions {
  readonly filename: string
  /** The user's connection, or null when the store opens one. */
  readonly database: SqliteDatabase | null
  /** Null when none was named. */
  readonly driver: SqliteDriverName | null
  readonly synchronous: 'normal' | 'full'
  readonly busyTimeoutMs: number
  readonly names: SqlNames
  readonly migrate: MigrateMode
  readonly jobData: JobDataEncoding
  readonly records: ResolvedRecordOptions
  readonly jobGroupLimits: JobGroupLimitsByGroup
}

const what = 'sqliteJobStore'

/** Fills in the defaults. @throws InvalidArgumentError ERR_INVALID_OPTION */
export function resolveSqliteOptions(options: SqliteJobStoreOptions): ResolvedSqliteOptions {
  refuseUnknownKeys(what, options, [
    'filename',
    'database',
    'driver',
    'synchronous',
    'busyTimeoutMs',
    'tablePrefix',
    'migrate',
    'jobData',
    ...recordOptionNames,
    'jobGroupLimits',
  ])
  const { filename, database, synchronous, busyTimeoutMs = 5_000, tablePrefix } = options
  if ((filename === undefined) === (database === undefined)) {
    throw invalid('filename', `needs either 'filename' or 'database'`)
  }
  if (database !== undefined && synchronous !== undefined) {
    throw invalid('synchronous', `'synchronous' is up to the given database: set it there`)
  }
  if (database !== undefined && options.driver !== undefined) {
    throw invalid('driver', `'driver' is that of the given database: leave it out`)
  }
  return Object.freeze({
    filename: database === undefined ? requireFilename(filename) : requireDatabase(database).name,
    database: database ?? null,
    driver:
      options.driver === undefined
        ? null
        : requireOneOf('driver', options.driver, ['better-sqlite3', 'node:sqlite']),
    synchronous: requireOneOf('synchronous', synchronous ?? 'normal', ['normal', 'full']),
    busyTimeoutMs: requireInteger(what, 'busyTimeoutMs', busyTimeoutMs, { min: 0, max: 600_000 }),
    names: sqlNames(what, tablePrefix === undefined ? {} : { prefix: tablePrefix }),
    migrate: requireOneOf('migrate', options.migrate ?? 'onStart', ['onStart', 'never']),
    jobData: requireOneOf('jobData', options.jobData ?? 'json', ['json', 'properties']),
    records: resolveRecordOptions(what, options),
    jobGroupLimits: resolveJobGroupLimits(what, options.jobGroupLimits),
  })
}

function requireFilename(filename: unknown): string {
  if (typeof filename === 'string' && filename.trim() !== '' && !filename.includes('\0')) return filename
  throw invalid('filename', `'filename' must be a path or ':memory:', got ${describeValue(filename)}`)
}

function requireDatabase(database: SqliteDatabase): SqliteDatabase {
  const given: Partial<SqliteDatabase> = database
  if (typeof given.prepare !== 'function' || typeof given.pragma !== 'function' || given.open !== true) {
    throw invalid('database', `'database' must be an open better-sqlite3 database`)
  }
  return database
}

function requireOneOf<Value extends string>(field: string, value: Value, known: readonly Value[]): Value {
  if (known.includes(value)) return value
  throw invalid(field, `'${field}' must be one of ${known.join(', ')}, got ${describeValue(value)}`)
}

function invalid(field: string, problem: string): InvalidArgumentError {
  return new InvalidArgumentError(field, `${what}: ${problem}.`, 'ERR_INVALID_OPTION')
}
