import type { DatabaseJobStore } from '../sql/database-job-store.ts'
import { SqlJobStore } from '../sql/sql-job-store.ts'
import { sqliteEngine } from './sqlite-engine.ts'
import { resolveSqliteOptions, type SqliteJobStoreOptions } from './sqlite-options.ts'

/**
 * Keeps jobs and triggers in a SQLite file, through the package better-sqlite3. One scheduler of a name fires from a
 * file at a time, and takes up after a crash what the one before it left; other processes may schedule on the file.
 *
 * A transaction holds up the event loop for as long as it takes, as better-sqlite3 runs in it.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION
 */
export function sqliteJobStore(options: SqliteJobStoreOptions): DatabaseJobStore {
  return new SqlJobStore(sqliteEngine(resolveSqliteOptions(options)))
}
