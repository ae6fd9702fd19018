import type { DatabaseJobStore } from '../sql/database-job-store.ts'
import { SqlJobStore } from '../sql/sql-job-store.ts'
import { postgresEngine } from './postgres-engine.ts'
import { type PostgresJobStoreOptions, resolvePostgresOptions } from './postgres-options.ts'

/**
 * Keeps jobs and triggers in PostgreSQL 14 or later, through the package pg. Any number of schedulers of the same name
 * share them: each due trigger is fired by one of them.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION
 */
export function postgresJobStore(options: PostgresJobStoreOptions = {}): DatabaseJobStore {
  return new SqlJobStore(postgresEngine(resolvePostgresOptions(options)))
}
