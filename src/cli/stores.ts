import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { InvalidArgumentError } from '../core/errors.ts'
import { postgresJobStore } from '../jobstore/postgres/postgres-job-store.ts'
import type { HistoryOptions } from '../jobstore/record-options.ts'
import type { DatabaseJobStore } from '../jobstore/sql/database-job-store.ts'
import type { MigrateMode } from '../jobstore/sql/migrations/migrate.ts'
import { sqliteJobStore } from '../jobstore/sqlite/sqlite-job-store.ts'
import { UsageError } from './command.ts'

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
 *
 * @throws UsageError for the URL of another database, and for names that tables cannot have
 */
export function storeAt(
  place: string,
  { prefix, schema, history }: StoreTables = {},
  migrate: MigrateMode = 'onStart',
): DatabaseJobStore {
  const options = {
    migrate,
    ...(prefix !== undefined && { tablePrefix: prefix }),
    ...(history !== undefined && { history }),
  }
  if (schema !== undefined && !isPostgresUrl(place)) throw new UsageError('--schema is for PostgreSQL only.')
  try {
    return isPostgresUrl(place)
      ? postgresJobStore({ connectionString: place, ...options, ...(schema !== undefined && { schema }) })
      : sqliteJobStore({ filename: sqliteFileOf(place), ...options })
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    const option = { tablePrefix: '--prefix', schema: '--schema' }[error.field] ?? '--store'
    throw new UsageError(`${option}: ${error.message}`, { cause: error })
  }
}

/** `sqlite:jobs.db` is the file `jobs.db`, and so is `jobs.db`. @throws UsageError for the URL of another database */
export function sqliteFileOf(place: string): string {
  if (place.startsWith('sqlite:')) return requireFileName(place.slice('sqlite:'.length))
  const scheme = /^([a-z][a-z\d+.-]+):\/\//i.exec(place)?.[1]
  if (scheme === undefined) return requireFileName(place)
  throw new UsageError(`A store is ${storePlaces}; '${scheme}' is neither.`)
}

function requireFileName(file: string): string {
  if (file === '') throw new UsageError(`A store is ${storePlaces}; the name of the file is missing.`)
  return file
}

/** Deletes an empty file that {@link keepPrivate} has made and no store has written. */
export function removeUnused(place: string): void {
  const file = sqliteFileOf(place)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.isFile() === true && found.size === 0) rmSync(file, { force: true })
}

/**
 * A new file is for this user alone: what is kept in it may hold what others should not read.
 *
 * @throws UsageError where no file can be of this name
 */
export function keepPrivate(place: string): void {
  if (isPostgresUrl(place)) return
  const file = sqliteFileOf(place)
  if (file === ':memory:') return
  try {
    closeSync(openSync(file, 'a', 0o600))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'EISDIR') throw new UsageError(`'${file}' is a folder. Name a file in it.`)
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new UsageError(`The folder of '${file}' does not exist. Create it, or name another file.`)
    }
    // The store says in better words what is wrong with the file.
  }
}

/** A command that looks at data does not make an empty file of a name that was misspelt. @throws UsageError */
export function requireStoreFile(place: string): void {
  if (isPostgresUrl(place)) return
  const file = sqliteFileOf(place)
  const found = statSync(file, { throwIfNoEntry: false })
  const isThere = found?.isFile() === true
  if (isThere && found.size > 0) return
  // A command that was to make the store may have failed when it had begun.
  const what = isThere ? `Nothing is in the file '${file}'` : `There is no file '${file}'`
  throw new UsageError(`${what}. 'quartz-ts migrate --store' makes ${isThere ? 'a store of it' : 'one'}.`)
}
