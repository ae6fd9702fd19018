import { JobPersistenceError } from '../../core/errors.ts'
import type { IdGenerator } from '../../core/ids.ts'
import type { Clock } from '../../time/clock.ts'
import type { SqlRunner } from '../sql/kernel/sql-runner.ts'
import type {
  RunsAtOnce,
  SqlProgram,
  SqlReply,
  SqlRow,
  SqlStatement,
  SqlValue,
} from '../sql/kernel/statement.ts'
import { FullDisk } from './full-disk.ts'
import { LockedFile } from './locked-file.ts'
import { blockedAtOnceMs, type SqliteDatabase, type SqliteSettings } from './sqlite-database.ts'
import { loadSqliteDriver } from './sqlite-driver.ts'
import {
  type FailedDatabase,
  inOwnTransaction,
  isBusy,
  needsNewConnection,
  sqliteFailure,
} from './sqlite-errors.ts'
import { type CachedStatement, StatementCache } from './statement-cache.ts'

/** How a runner gets its connection. */
export interface SqliteSource extends FailedDatabase {
  /** Opens a connection; called again, with false, when one is to be replaced. */
  connect(create: boolean): SqliteDatabase
  /** Whether the runner closes the connection. */
  readonly isOwned: boolean
}

export interface SqliteRunnerOptions {
  readonly clock: Clock
  readonly ids: IdGenerator
  /** How long an operation waits for the locks of other connections. Milliseconds. */
  readonly busyTimeoutMs: number
}

interface Connection {
  readonly database: SqliteDatabase
  readonly statements: StatementCache
}

/**
 * Opens a database file, or one in memory, on a connection of its own.
 *
 * @throws JobPersistenceError ERR_DRIVER_MISSING, ERR_DATABASE, ERR_DATABASE_UNAVAILABLE
 */
export async function openSqlite(
  settings: SqliteSettings & FailedDatabase,
  options: SqliteRunnerOptions,
): Promise<SqliteRunner> {
  const driver = await loadSqliteDriver(settings.driver)
  const connect = (create: boolean): SqliteDatabase => driver.open(settings, create)
  const { filename, names } = settings
  const source = { filename, connect, isOwned: true, ...(names !== undefined && { names }) }
  const runner = new SqliteRunner(source, options)
  await runner.open()
  return runner
}

/**
 * Runs programs on one connection. A transaction is immediate and runs synchronously from begin to commit: no lock is
 * held across an `await`, and the event loop is blocked for that time, so programs are short.
 */
export class SqliteRunner implements SqlRunner {
  readonly #source: SqliteSource
  readonly #options: SqliteRunnerOptions
  readonly #underWay = new Set<Promise<unknown>>()
  #connection: Connection | null = null
  readonly #locked: LockedFile
  readonly #fullDisk: FullDisk
  #connections = 0
  #isClosed = false

  constructor(source: SqliteSource, options: SqliteRunnerOptions) {
    this.#source = source
    this.#options = options
    this.#fullDisk = new FullDisk(options.clock, source)
    this.#locked = new LockedFile(options)
  }

  /** How many connections it has opened so far; an error may make it take another one. */
  get connections(): number {
    return this.#connections
  }

  isCutOff(): boolean {
    return this.#locked.isCutOff
  }

  /** Opens the connection. @throws JobPersistenceError ERR_DATABASE, ERR_DATABASE_UNAVAILABLE */
  async open(): Promise<void> {
    await this.#patiently(() => this.#connect())
  }

  async transact<Answer>(begin: () => SqlProgram<Answer>): Promise<Answer> {
    return this.#patiently((blockedMs) => this.#attempt('BEGIN IMMEDIATE', blockedMs, begin), {
      writes: true,
    })
  }

  async read<Answer>(begin: () => SqlProgram<Answer>): Promise<Answer> {
    // Deferred: the statements see one state, and no lock is taken.
    return this.#patiently((blockedMs) => this.#attempt('BEGIN', blockedMs, begin))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#underWay)
    this.#disconnect()
  }

  /** From now on an operation that meets a lock of another connection fails at once. */
  cutOff(): void {
    this.#isClosed = true
    this.#locked.cutOff()
  }

  /** Tries again while another connection has a lock, up to the time limit. */
  async #patiently<Answer>(
    attempt: (blockedMs: number) => Answer,
    { writes }: { readonly writes: boolean } = { writes: false },
  ): Promise<Answer> {
    if (this.#isClosed) throw wasShutDown()
    const trying = this.#tryUntilFree(attempt, writes)
    this.#underWay.add(trying)
    try {
      return await trying
    } finally {
      this.#underWay.delete(trying)
    }
  }

  async #tryUntilFree<Answer>(attempt: (blockedMs: number) => Answer, writes: boolean): Promise<Answer> {
    const { clock, busyTimeoutMs } = this.#options
    const startedMs = clock.elapsedMs()
    let blockedMs = this.#locked.isWaitedFor ? 0 : blockedAtOnceMs
    let hasWritten = false
    try {
      for (;;) {
        let leftMs: number
        try {
          const answer = attempt(blockedMs)
          hasWritten = writes
          return answer
        } catch (error) {
          if (needsNewConnection(error)) this.#disconnect()
          leftMs = startedMs + busyTimeoutMs - clock.elapsedMs()
          if (!isBusy(error) || leftMs <= 0 || this.isCutOff()) throw sqliteFailure(error, this.#source)
        }
        await this.#locked.wait(leftMs)
        if (this.isCutOff()) throw wasShutDown()
        blockedMs = 0
      }
    } finally {
      this.#locked.operationEnded(hasWritten)
    }
  }

  /** SQLite itself waits for a lock for up to `blockedMs`, whatever the timeout of the connection is. */
  #attempt<Answer>(
    opening: 'BEGIN' | 'BEGIN IMMEDIATE',
    blockedMs: number,
    begin: () => SqlProgram<Answer>,
  ): Answer {
    const { database } = this.#connect()
    const theirs = this.#source.isOwned
      ? blockedAtOnceMs
      : Number(database.pragma('busy_timeout', { simple: true }))
    const isShorter = theirs > blockedMs
    const atCommitMs = isShorter && opening === 'BEGIN IMMEDIATE' ? Math.min(theirs, blockedAtOnceMs) : null
    const transaction = (): Answer => this.#between(opening, begin, atCommitMs)
    if (!isShorter) return this.#fullDisk.withRoom(database, transaction)
    database.pragma(`busy_timeout = ${blockedMs}`)
    try {
      return this.#fullDisk.withRoom(database, transaction)
    } finally {
      // It is closed where a rollback has failed.
      if (this.#connection?.database === database) database.pragma(`busy_timeout = ${theirs}`)
    }
  }

  /**
   * `atCommitMs`: how long the COMMIT waits. Without WAL it waits for those that read, and no other one begins to read
   * meanwhile: beside two that read in turn, there is no instant without a reader.
   */
  #between<Answer>(
    opening: 'BEGIN' | 'BEGIN IMMEDIATE',
    begin: () => SqlProgram<Answer>,
    atCommitMs: number | null,
  ): Answer {
    const { database, statements } = this.#connect()
    if (database.inTransaction) {
      throw Object.assign(new Error('the connection is in a transaction of its owner'), {
        code: inOwnTransaction,
      })
    }
    statements.get(opening).run()
    try {
      const answer = runProgram(begin(), statements)
      if (atCommitMs !== null) database.pragma(`busy_timeout = ${atCommitMs}`)
      statements.get('COMMIT').run()
      return answer
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  /** Rolls back, unless SQLite itself has after an error; no transaction stays open. */
  #rollBack(): void {
    if (this.#connection?.database.inTransaction !== true) return
    try {
      this.#connection.statements.get('ROLLBACK').run()
    } catch {
      // The caller gets the first error. Closing the connection ends the transaction.
      this.#disconnect()
    }
  }

  #connect(): Connection {
    if (this.#connection === null) {
      const database = this.#source.connect(this.#connections === 0)
      this.#connections++
      this.#connection = { database, statements: new StatementCache(database) }
    }
    return this.#connection
  }

  #disconnect(): void {
    const { filename, isOwned } = this.#source
    const connection = this.#connection
    // A database in memory is lost with its connection, and the user's connection is not closed here.
    const isKept = !isOwned || (filename === ':memory:' && !this.#isClosed)
    if (connection === null || isKept) return
    this.#connection = null
    connection.database.close()
  }
}

export function wasShutDown(): JobPersistenceError {
  return new JobPersistenceError('The job store was shut down.', { code: 'ERR_SCHEDULER_SHUTDOWN' })
}

/** Runs a program synchronously from its beginning to its end. */
export function runProgram<Answer>(program: SqlProgram<Answer>, statements: StatementCache): Answer {
  let step = program.next()
  while (step.done !== true) step = program.next(execute(step.value, statements))
  return step.value
}

function execute(step: SqlStatement, statements: StatementCache): SqlReply {
  const reply = replyTo(step, statements)
  step.pending?.settle(reply)
  return reply
}

function replyTo(step: SqlStatement, statements: StatementCache): SqlReply {
  const { text, values, each, atOnce } = step
  const statement = statements.get(text)
  if (each !== undefined) {
    return atOnce === undefined
      ? replyToEach(statement, each)
      : replyToAll(statement, each, atOnce, statements)
  }
  const bound = values.map(toSqlite)
  if (!statement.reader) return { rows: [], changes: statement.run(bound) }
  const rows = statement.rows(bound)
  return { rows, changes: rows.length }
}

function replyToEach(statement: CachedStatement, each: readonly (readonly SqlValue[])[]): SqlReply {
  if (!statement.reader) {
    const changesOfEach = each.map((row) => statement.run(row.map(toColumn)))
    return { rows: [], changes: changesOfEach.reduce((sum, changes) => sum + changes, 0), changesOfEach }
  }
  const rows: SqlRow[] = []
  for (const row of each) rows.push(...statement.rows(row.map(toColumn)))
  return { rows, changes: rows.length }
}

/** Runs as many as it can at once, and the others one by one. */
function replyToAll(
  statement: CachedStatement,
  each: readonly (readonly SqlValue[])[],
  { runs, text }: RunsAtOnce,
  statements: StatementCache,
): SqlReply {
  const wholeUntil = each.length - (each.length % runs)
  let changes = 0
  for (let from = 0; from < wholeUntil; from += runs) {
    const values: (string | number | null)[] = []
    for (let place = from; place < from + runs; place++) {
      for (const value of each[place] as readonly SqlValue[]) values.push(toColumn(value))
    }
    changes += statements.get(text).run(values)
  }
  for (const row of each.slice(wholeUntil)) changes += statement.run(row.map(toColumn))
  return { rows: [], changes }
}

/** The driver takes no booleans. Numbers that go into columns become whole there, which costs less than a bigint. */
function toColumn(value: SqlValue): string | number | null {
  return typeof value === 'boolean' ? Number(value) : value
}

/** The driver takes no booleans, and would bind every number as floating point. */
function toSqlite(value: SqlValue): string | number | bigint | null {
  if (typeof value === 'boolean') return value ? 1n : 0n
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value
}
