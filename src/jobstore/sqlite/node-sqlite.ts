import { existsSync } from 'node:fs'
import type { SqliteDatabase, SqliteStatement } from './sqlite-database.ts'

/** The part of `node:sqlite` that is used; declared here, because older types of Node.js do not know the module. */
export interface NodeSqlite {
  readonly DatabaseSync: new (filename: string) => NodeDatabase
}

interface NodeDatabase {
  readonly isOpen: boolean
  readonly isTransaction: boolean
  prepare(source: string): NodeStatement
  close(): void
}

interface NodeStatement {
  columns(): readonly unknown[]
  setReadBigInts(on: boolean): void
  all(...values: readonly unknown[]): unknown[]
  run(...values: readonly unknown[]): { readonly changes: number | bigint }
}

/** Loads `node:sqlite`; null where Node.js has none, or one that cannot say whether a transaction is open. */
export async function loadNodeSqlite(): Promise<NodeSqlite | null> {
  // Not a literal: bundlers and compilers of an older Node.js do not know the module.
  const specifier: string = 'node:sqlite'
  const loaded = (await import(/* webpackIgnore: true */ specifier).catch(() => null)) as NodeSqlite | null
  if (loaded === null) return null
  const database = new loaded.DatabaseSync(':memory:')
  const isFit = 'isTransaction' in database && 'columns' in database.prepare('PRAGMA user_version')
  database.close()
  return isFit ? loaded : null
}

/** SQLite's names of its primary result codes, as better-sqlite3 gives them. */
const codeNames: Readonly<Record<number, string>> = {
  1: 'SQLITE_ERROR',
  3: 'SQLITE_PERM',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  7: 'SQLITE_NOMEM',
  8: 'SQLITE_READONLY',
  9: 'SQLITE_INTERRUPT',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  15: 'SQLITE_PROTOCOL',
  17: 'SQLITE_SCHEMA',
  19: 'SQLITE_CONSTRAINT',
  20: 'SQLITE_MISMATCH',
  23: 'SQLITE_AUTH',
  26: 'SQLITE_NOTADB',
}

/** Runs a call of `node:sqlite`; an error gets the code that better-sqlite3 gives it. */
function named<Answer>(call: () => Answer): Answer {
  try {
    return call()
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && typeof error.errcode === 'number') {
      // The low byte is the primary code of an extended one.
      const code = codeNames[error.errcode & 0xff] ?? `SQLITE_${error.errcode}`
      throw Object.assign(error, { code })
    }
    throw error
  }
}

/** A connection of `node:sqlite` in the form of one of better-sqlite3. */
export class NodeSqliteDatabase implements SqliteDatabase {
  readonly name: string
  readonly #database: NodeDatabase

  constructor({ DatabaseSync }: NodeSqlite, filename: string, { fileMustExist }: { fileMustExist: boolean }) {
    this.name = filename
    if (fileMustExist && !existsSync(filename)) {
      throw Object.assign(new Error('unable to open database file'), { code: 'SQLITE_CANTOPEN' })
    }
    this.#database = named(() => new DatabaseSync(filename))
  }

  get open(): boolean {
    return this.#database.isOpen
  }
  get memory(): boolean {
    return this.name === ':memory:'
  }
  get inTransaction(): boolean {
    return this.#database.isTransaction
  }

  prepare(source: string): SqliteStatement {
    return new NodeSqliteStatement(named(() => this.#database.prepare(source)))
  }

  pragma(source: string, { simple = false }: { readonly simple?: boolean } = {}): unknown {
    const rows = named(() => this.#database.prepare(`PRAGMA ${source}`).all()) as object[]
    return simple ? (Object.values(rows[0] ?? {})[0] as unknown) : rows
  }

  close(): void {
    if (!this.open) return
    named(() => {
      this.#database.close()
    })
  }
}

class NodeSqliteStatement implements SqliteStatement {
  readonly reader: boolean
  readonly #statement: NodeStatement
  #isSafe = false

  constructor(statement: NodeStatement) {
    this.#statement = statement
    this.reader = statement.columns().length > 0
    // As numbers `node:sqlite` refuses the whole result when one of them is too large.
    statement.setReadBigInts(true)
  }

  safeIntegers(on = true): void {
    this.#isSafe = on
  }

  all(...values: readonly unknown[]): unknown[] {
    const rows = named(() => this.#statement.all(...values)) as Record<string, unknown>[]
    for (const row of rows) this.#give(row)
    return rows
  }

  run(...values: readonly unknown[]): { readonly changes: number } {
    return { changes: Number(named(() => this.#statement.run(...values)).changes) }
  }

  /** Turns what `node:sqlite` reads into what better-sqlite3 does. */
  #give(row: Record<string, unknown>): void {
    for (const name in row) {
      const value = row[name]
      if (typeof value === 'bigint' && !this.#isSafe) row[name] = Number(value)
      else if (value instanceof Uint8Array) {
        row[name] = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      }
    }
  }
}
