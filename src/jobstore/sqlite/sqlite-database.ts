/** The part of a better-sqlite3 database that is used; a connection of that package fits as it is. */
export interface SqliteDatabase {
  readonly name: string
  readonly open: boolean
  readonly memory: boolean
  readonly inTransaction: boolean
  prepare(source: string): SqliteStatement
  pragma(source: string, options?: { readonly simple?: boolean }): unknown
  close(): unknown
}

/** The part of a better-sqlite3 statement that is used. */
export interface SqliteStatement {
  /** Whether it returns rows. */
  readonly reader: boolean
  safeIntegers(on?: boolean): unknown
  /** Gives rows as lists of values; absent where the driver cannot. */
  raw?(on?: boolean): unknown
  columns?(): readonly { readonly name: string }[]
  all(...values: readonly unknown[]): unknown[]
  run(...values: readonly unknown[]): { readonly changes: number }
}

/** How the store sets up a connection of its own. */
export interface SqliteSettings {
  /** A path, or `:memory:`. */
  readonly filename: string
  readonly synchronous: 'normal' | 'full'
  /** Default: better-sqlite3 where it can be loaded, else `node:sqlite`. */
  readonly driver?: SqliteDriverName | null
}

export type SqliteDriverName = 'better-sqlite3' | 'node:sqlite'

/** Opens connections. */
export interface SqliteDriver {
  /** Opens and sets up; without `create`, a file that is missing is an error. */
  open(settings: SqliteSettings, create: boolean): SqliteDatabase
}

/**
 * The longest that SQLite itself waits for a lock of another process, because that blocks the event loop. For longer
 * waits the runner tries again without blocking it.
 */
export const blockedAtOnceMs = 10
