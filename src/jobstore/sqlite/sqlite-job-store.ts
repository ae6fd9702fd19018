import type { DatabaseJobStore } from '../sql/database-job-store.ts'
import { SqlJobStore } from '../sql/sql-job-store.ts'
import { sqliteEngine } from './sqlite-engine.ts'
import { resolveSqliteOptions, type SqliteJobStoreOptions } from './sqlite-options.ts'

/**
 * Keeps jobs and triggers in a SQLite file, through the package better-sqlite3 or `node:sqlite`. One scheduler of a
 * name fires from a file at a time, and recovers after a crash the work of the one before it; other processes may
 * schedule on the file.
 *
 * A transaction blocks the event loop for as long as it takes, because both are synchronous.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION
 */
export function sqliteJobStore(options: SqliteJobStoreOptions): DatabaseJobStore {
  return new SqlJobStore(sqliteEngine(resolveSqliteOptions(options)))
}
