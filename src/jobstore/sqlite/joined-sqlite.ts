import { statSync } from 'node:fs'
import { InvalidArgumentError, JobPersistenceError } from '../../core/errors.ts'
import { describeValue } from '../../core/options.ts'
import { withoutSecrets } from '../../core/secrets.ts'
import type { EpochMs } from '../../time/clock.ts'
import type { SqlProgram } from '../sql/kernel/statement.ts'
import type { JoinedRunner } from '../sql/sql-engine.ts'
import type { AfterTransactions } from './after-transactions.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { type FailedDatabase, sqliteFailure } from './sqlite-errors.ts'
import { runProgram } from './sqlite-runner.ts'
import { StatementCache } from './statement-cache.ts'

export interface JoinOptions extends FailedDatabase {
  /** The connection that the user gave the store, or null. */
  readonly own: SqliteDatabase | null
  readonly afterTransactions: AfterTransactions
}

/** @throws InvalidArgumentError when the handle is no open connection to the file */
export function joinSqlite(handle: object, options: JoinOptions): JoinedRunner {
  const given: Partial<SqliteDatabase> = handle
  if (
    typeof given.prepare !== 'function' ||
    typeof given.inTransaction !== 'boolean' ||
    given.open !== true
  ) {
    throw invalid(`needs an open better-sqlite3 database, got ${describeValue(handle)}`)
  }
  const database = handle as SqliteDatabase
  const { filename, own } = options
  if (database !== own && !isSameFile(database.name, filename)) {
    const [ownFile, givenFile] = [withoutSecrets(filename), withoutSecrets(database.name)]
    throw invalid(`needs a connection to the store's own file '${ownFile}', got one to '${givenFile}'`)
  }
  return new JoinedSqlite(database, options)
}

function isSameFile(one: string, other: string): boolean {
  if (one === ':memory:' || one === '') return false
  try {
    const [a, b] = [statSync(one), statSync(other)]
    return a.dev === b.dev && a.ino === b.ino
  } catch {
    return false
  }
}

function invalid(problem: string): InvalidArgumentError {
  return new InvalidArgumentError('handle', `withTransaction ${problem}.`)
}

/** Programs as savepoints of a transaction on the user's connection. */
class JoinedSqlite implements JoinedRunner {
  readonly #database: SqliteDatabase
  readonly #options: JoinOptions
  readonly #statements: StatementCache

  constructor(database: SqliteDatabase, options: JoinOptions) {
    this.#database = database
    this.#options = options
    this.#statements = new StatementCache(database)
  }

  async transact<Answer>(begin: () => SqlProgram<Answer>): Promise<Answer> {
    this.#requireTransaction()
    try {
      this.#execute('SAVEPOINT quartz_ts')
      try {
        const answer = runProgram(begin(), this.#statements)
        this.#execute('RELEASE quartz_ts')
        return answer
      } catch (error) {
        // After some errors SQLite itself has rolled back the whole transaction.
        if (this.#database.inTransaction) {
          this.#execute('ROLLBACK TO quartz_ts')
          this.#execute('RELEASE quartz_ts')
        }
        throw error
      }
    } catch (error) {
      throw sqliteFailure(error, this.#options)
    }
  }

  async read<Answer>(begin: () => SqlProgram<Answer>): Promise<Answer> {
    this.#requireTransaction()
    try {
      return runProgram(begin(), this.#statements)
    } catch (error) {
      throw sqliteFailure(error, this.#options)
    }
  }

  /** SQLite notifies no other connection. */
  *wake(earliestMs: EpochMs): SqlProgram<void> {
    this.#options.afterTransactions.note(this.#database, earliestMs)
  }

  #requireTransaction(): void {
    if (this.#database.open && this.#database.inTransaction) return
    throw new JobPersistenceError(
      'The connection given to withTransaction is in no transaction. Begin one with ' +
        "database.exec('BEGIN IMMEDIATE'), await what you schedule, and end it with COMMIT or ROLLBACK; the function " +
        'given to database.transaction() cannot await, so it has ended before anything is stored.',
      { code: 'ERR_NO_TRANSACTION' },
    )
  }

  #execute(text: string): void {
    this.#statements.get(text).run()
  }
}
