import { checkMethods, checkOneOf, checkOptions, checkString, checkWhole } from '../../core/arguments.ts'
import { timerDelayMaxMs } from '../../time/clock.ts'
import { type RecordOptions, resolveRecordOptions } from '../record-options.ts'
import { recoverAtStart } from './cluster/recovery.ts'
import type { DatabaseJobStore } from './database-job-store.ts'
import type { SqlDialect } from './kernel/sql-dialect.ts'
import { sqlNames } from './kernel/sql-names.ts'
import type { SqlRunner } from './kernel/sql-runner.ts'
import { type MigrateMode, migrateAtStart, requireSchema } from './migrations/migrate.ts'
import type { SchemaDialect } from './migrations/schema-dialect.ts'
import type { SqlEngine } from './sql-engine.ts'
import { SqlJobStore } from './sql-job-store.ts'
import type { JobDataEncoding } from './tables/encoding/job-data-text.ts'
import { resolveJobGroupLimits } from './tables/firings/job-group-limits.ts'

/** A connection, or a pool of them, on which the store runs its programs. */
export interface SqlDatabaseRunner extends SqlRunner {
  /**
   * Gives up at once what is under way, and asks the database nothing more: a shutdown that waited for as long as it
   * may calls it before `close`. Left out where nothing is ever under way between two turns of the event loop.
   */
  cutOff?(): void
}

/** A SQL database as `sqlJobStore` needs it: what it says differently, and how to reach it. */
export interface SqlDatabase {
  /** Of the store, for people. */
  readonly name: string
  /** Whether jobs and triggers survive the process. */
  readonly persistent: boolean
  readonly dialect: SqlDialect
  readonly schema: SchemaDialect
  /**
   * The longest that a call waits for locks of others while the database is well, such as a busy timeout: a shutdown
   * waits for longer than that. Milliseconds, 0 to 2,147,483,647. Default 0.
   */
  readonly longestLockWaitMs?: number
  /** Opens a connection, which the store closes: one for each scheduler, and one for each call of `migrate`. */
  connect(): Promise<SqlDatabaseRunner>
}

/** What `sqlJobStore` takes beside the database. */
export interface SqlJobStoreOptions extends RecordOptions {
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

const what = 'sqlJobStore'

const checkDatabase = checkMethods('a SqlDatabase', ['connect'])

/** Its fields are checked further down, where they are read. */
const optionChecks = {
  tablePrefix: checkString,
  migrate: checkOneOf(['onStart', 'never']),
  jobData: checkOneOf(['json', 'properties']),
  history: () => {},
  jobStatus: () => {},
  executionLog: () => {},
  misfires: () => {},
  audit: () => {},
  jobGroupLimits: () => {},
}

/**
 * Keeps jobs and triggers in a SQL database of your own, with the tables, statements and algorithms of the stores for
 * SQLite and PostgreSQL. One scheduler of a name may work on the database at a time, which nothing checks: what it
 * finds claimed or running when it starts belongs to an earlier run, and is recovered.
 *
 * @throws InvalidArgumentError ERR_INVALID_ARGUMENT, ERR_INVALID_OPTION
 */
export function sqlJobStore(database: SqlDatabase, options: SqlJobStoreOptions = {}): DatabaseJobStore {
  checkDatabase(what, 'database', database)
  if (database.longestLockWaitMs !== undefined) {
    checkWhole(0, timerDelayMaxMs)(what, 'longestLockWaitMs', database.longestLockWaitMs)
  }
  checkOptions(what, options, optionChecks)
  return new SqlJobStore(engineOf(database, options))
}

function engineOf(database: SqlDatabase, options: SqlJobStoreOptions): SqlEngine {
  const { name, persistent, dialect, schema, longestLockWaitMs = 0 } = database
  const names = sqlNames(what, options.tablePrefix === undefined ? {} : { prefix: options.tablePrefix })
  const vocabulary = { dialect, schema, names }
  return {
    name,
    capabilities: { persistent, clustered: false, sharedTransactions: false, longestLockWaitMs },
    ...vocabulary,
    encoding: options.jobData ?? 'json',
    records: resolveRecordOptions(what, options),
    jobGroupLimits: resolveJobGroupLimits(what, options.jobGroupLimits),
    async onSchema(work) {
      const runner = await database.connect()
      try {
        return await work(runner)
      } finally {
        await runner.close()
      }
    },
    async connect({ context }) {
      const runner = await database.connect()
      try {
        if (options.migrate === 'never') await requireSchema(runner, vocabulary)
        else await migrateAtStart(runner, vocabulary, context)
      } catch (error) {
        await runner.close()
        throw error
      }
      return {
        runner,
        start: (transactor) => transactor.run(recoverAtStart, { lock: 'cluster' }),
        // There are none.
        wakePeers: () => {},
        cutOff: () => runner.cutOff?.(),
        close: () => runner.close(),
      }
    },
  }
}
