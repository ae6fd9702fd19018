import { postgresJobStore } from '../jobstore/postgres/postgres-job-store.ts'
import type { DatabaseJobStore } from '../jobstore/sql/database-job-store.ts'
import type { HistoryOptions } from '../jobstore/sql/tables/history/history-options.ts'
import { sqliteJobStore } from '../jobstore/sqlite/sqlite-job-store.ts'

/** Names of the tables in a database, and what it remembers; what is not given is the store's default. */
export interface StoreTables {
  readonly prefix?: string | undefined
  readonly schema?: string | undefined
  readonly history?: HistoryOptions
}

/** The help's text about where jobs can be kept. */
export const storePlaces = 'a SQLite file, or the postgres:// URL of a database'

export function isPostgresUrl(place: string): boolean {
  return /^postgres(ql)?:/.test(place)
}

/**
 * A store for a place that the user named. Its package is loaded when the store is opened, so it need not be installed
 * before.
 */
export function storeAt(place: string, { prefix, schema, history }: StoreTables = {}): DatabaseJobStore {
  const tables = {
    ...(prefix !== undefined && { tablePrefix: prefix }),
    ...(history !== undefined && { history }),
  }
  if (!isPostgresUrl(place)) return sqliteJobStore({ filename: place, ...tables })
  return postgresJobStore({ connectionString: place, ...tables, ...(schema !== undefined && { schema }) })
}
