import type { SqliteDatabase, SqliteStatement } from './sqlite-database.ts'

/** Far more than the library has statements; a bound in case texts differ by a list of values. */
const statementsMax = 500

/** Prepared statements of one connection, by text; the least recently used one is dropped first. */
export class StatementCache {
  readonly #database: SqliteDatabase
  readonly #prepared = new Map<string, SqliteStatement>()

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  get(text: string): SqliteStatement {
    const known = this.#prepared.get(text)
    if (known !== undefined) {
      // Most often the last one is used again, so this is cheap.
      this.#prepared.delete(text)
      this.#prepared.set(text, known)
      return known
    }
    const statement = this.#database.prepare(text)
    // A user's connection may give integers as bigint.
    statement.safeIntegers(false)
    this.#prepared.set(text, statement)
    if (this.#prepared.size > statementsMax) {
      const [oldest] = this.#prepared.keys()
      if (oldest !== undefined) this.#prepared.delete(oldest)
    }
    return statement
  }
}
