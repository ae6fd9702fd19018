import { postgresJobStore } from '../jobstore/postgres/postgres-job-store.ts'
import type { DatabaseJobStore } from '../jobstore/sql/database-job-store.ts'
import { sqliteJobStore } from '../jobstore/sqlite/sqlite-job-store.ts'

/** Which tables of a database are meant; what is not given is the store's default. */
export interface StoreTables {
  readonly prefix?: string | undefined
  readonly schema?: string | undefined
}

/** What the help says of where jobs can be kept. */
export const storePlaces = 'a SQLite file, or the postgres:// URL of a database'

export function isPostgresUrl(place: string): boolean {
  return /^postgres(ql)?:/.test(place)
}

/** A store for a place that somebody named. Its package is loaded when it is opened: it need not be there. */
export function storeAt(place: string, { prefix, schema }: StoreTables = {}): DatabaseJobStore {
  const tables = { ...(prefix !== undefined && { tablePrefix: prefix }) }
  if (!isPostgresUrl(place)) return sqliteJobStore({ filename: place, ...tables })
  return postgresJobStore({ connectionString: place, ...tables, ...(schema !== undefined && { schema }) })
}
