import type { SqlRow } from '../sql/kernel/statement.ts'
import type { SqliteDatabase, SqliteStatement } from './sqlite-database.ts'

/** Far more than the library has statements; a bound in case texts differ by a list of values. */
const statementsMax = 500

/** Prepared statements of one connection, by text; the least recently used one is dropped first. */
export class StatementCache {
  readonly #database: SqliteDatabase
  readonly #prepared = new Map<string, CachedStatement>()

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  get(text: string): CachedStatement {
    const known = this.#prepared.get(text)
    if (known !== undefined) {
      // Most often the last one is used again, so this is cheap.
      this.#prepared.delete(text)
      this.#prepared.set(text, known)
      return known
    }
    const statement = new CachedStatement(this.#database.prepare(text))
    this.#prepared.set(text, statement)
    if (this.#prepared.size > statementsMax) {
      const [oldest] = this.#prepared.keys()
      if (oldest !== undefined) this.#prepared.delete(oldest)
    }
    return statement
  }
}

/**
 * A prepared statement. Its rows are copies of an empty one: the driver would name each column of each row anew, which
 * takes half of the time of a search.
 */
export class CachedStatement {
  /** Whether it returns rows. */
  readonly reader: boolean
  readonly #statement: SqliteStatement
  /** Null where the driver makes the rows. */
  readonly #columns: readonly string[] | null
  readonly #empty: SqlRow

  constructor(statement: SqliteStatement) {
    // A user's connection may give integers as bigint.
    statement.safeIntegers(false)
    this.#statement = statement
    this.reader = statement.reader
    this.#columns = listedColumns(statement)
    this.#empty = Object.fromEntries((this.#columns ?? []).map((name) => [name, null]))
  }

  /** Answers how many rows it changed. */
  run(values: readonly unknown[] = []): number {
    return this.#statement.run(...values).changes
  }

  rows(values: readonly unknown[]): readonly SqlRow[] {
    const found = this.#statement.all(...values)
    const columns = this.#columns
    if (columns === null) return found as SqlRow[]
    return (found as (readonly unknown[])[]).map((fields) => {
      const row: Record<string, unknown> = { ...this.#empty }
      for (let index = 0; index < columns.length; index++) {
        const value = fields[index]
        // Most columns of a search are empty: each trigger has a row in one of the tables of the families.
        if (value !== null) row[columns[index] as string] = value
      }
      return row
    })
  }
}

/** Has rows come as lists, if the driver can; answers the names of their columns. */
function listedColumns(statement: SqliteStatement): readonly string[] | null {
  if (!statement.reader || statement.raw === undefined || statement.columns === undefined) return null
  statement.raw(true)
  return statement.columns().map(({ name }) => name)
}
