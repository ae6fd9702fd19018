import type { TransactionLock } from '../sql/kernel/sql-runner.ts'
import type { SqlProgram, SqlReply, SqlStatement } from '../sql/kernel/statement.ts'
import { serverStartedExpression, type TransactionNumber, timelineExpression } from './commit-doubt.ts'
import type { LockingStrategy } from './locking.ts'
import { DatabaseFailure } from './postgres-errors.ts'
import type { PostgresSession } from './postgres-session.ts'
import type { PreparedStatements } from './prepared-statements.ts'
import { StatementSender } from './statement-sender.ts'

export interface TransactionSettings {
  readonly locking: LockingStrategy
  readonly statements: PreparedStatements
}

/** Limits of 0 are the server's own. */
interface TimeLimits {
  readonly lockTimeoutMs: number
  readonly statementTimeoutMs: number
}

type Settings = Readonly<Record<string, string>>

function timeLimits({ lockTimeoutMs, statementTimeoutMs }: TimeLimits): Settings {
  return {
    ...(lockTimeoutMs > 0 && { lock_timeout: String(lockTimeoutMs) }),
    ...(statementTimeoutMs > 0 && { statement_timeout: String(statementTimeoutMs) }),
  }
}

/** One list of expressions for all settings, each for this transaction only. */
function setForTransaction(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => setting(name, value))
    .join(', ')
}

function setting(name: string, value: string): string {
  return `set_config('${name}', '${value}', true)`
}

/**
 * Statements and idle times have their own limits then; that of the whole transaction would end sessions. Servers
 * before PostgreSQL 17 do not know the setting and would refuse it, so they are asked in the same statement.
 */
const noTransactionTimeout = `CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
      THEN ${setting('transaction_timeout', '0')} END`

interface OpeningLimits extends TimeLimits {
  /** Whether the server can report its timeline. */
  readonly hasTimelines: boolean
  /** Whether it can report when it was started. */
  readonly hasStartTime: boolean
}

/** The settings of these limits and others, for the transaction. */
function setLimits(limits: TimeLimits, others: Settings = {}): string {
  const set = setForTransaction({ ...others, ...timeLimits(limits) })
  return limits.statementTimeoutMs > 0 ? `${set}, ${noTransactionTimeout}` : set
}

/** The statement after the BEGIN of a transaction. */
export function transactionOpening(limits: OpeningLimits): SqlStatement {
  const { statementTimeoutMs, hasTimelines, hasStartTime } = limits
  const set = setLimits(limits, {
    // Statements name rows by their keys. A plan that was made while a table was empty, also for a foreign key check,
    // would go on reading the whole table after it has grown.
    enable_seqscan: 'off',
    // A plan that was made while few triggers were stored would gather and sort all that are due, for the first of
    // them, after there are many. Without it the index of what is due is read in its order.
    enable_bitmapscan: 'off',
    // Otherwise each connection plans each statement five more times, which takes longer than to run it, and comes to
    // the same plan: seqscans are off, and no plan knows how many rows there are in the text that names them.
    plan_cache_mode: 'force_generic_plan',
    ...(statementTimeoutMs > 0 && {
      // Ends the locks of a node that died while the server takes its connection for open.
      idle_in_transaction_session_timeout: String(statementTimeoutMs),
    }),
  })
  const timeline = hasTimelines ? timelineExpression : 'NULL'
  const serverStarted = hasStartTime ? serverStartedExpression : 'NULL'
  return statementOf(
    `SELECT CAST(pg_current_xact_id() AS text) AS xid, ${timeline} AS timeline,
      CAST(extract(epoch FROM now()) AS text) AS began, CAST(${serverStarted} AS text) AS server_started,
      pg_backend_pid() AS pid, ${set}`,
  )
}

/**
 * Sent together with one statement that is no transaction of its own: the two are one then, and the limits end with it.
 * A client that gives up and closes its socket would leave a statement that waits for a lock to the server, for as long
 * as the lock is held. Null where the server's own limits count.
 */
export function statementLimits(limits: TimeLimits): SqlStatement | null {
  const set = setLimits(limits)
  return set === '' ? null : statementOf(`SELECT ${set}`)
}

export const begin: SqlStatement = statementOf(
  // Whatever the defaults of the user or the database are: guards and SKIP LOCKED must see the newest rows.
  'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE',
)
export const commit: SqlStatement = statementOf('COMMIT')
const commitWithoutDisk = statementOf("SELECT set_config('synchronous_commit', 'off', true)")

/** See `TransactionOptions`. */
interface CommitManner {
  readonly mayBeLost: boolean
  readonly goesAtOnce: boolean
}

/** One transaction on one connection. */
export class PostgresTransaction {
  readonly #session: PostgresSession
  readonly #settings: TransactionSettings
  readonly #opening: SqlStatement
  readonly #sender: StatementSender
  #number: TransactionNumber | null = null

  /** `opening` is the statement after the BEGIN. */
  constructor(session: PostgresSession, settings: TransactionSettings, opening: SqlStatement) {
    this.#session = session
    this.#settings = settings
    this.#opening = opening
    this.#sender = new StatementSender(session, settings.statements, (replies) => {
      if (this.#number === null) this.#note(replies[1])
    })
  }

  /** The transaction number, once the server has begun the transaction. */
  get number(): TransactionNumber | null {
    return this.#number
  }

  /** Runs a program from the BEGIN up to, but without, the COMMIT; at its end some statements may be unsent. */
  async run<Answer>(program: SqlProgram<Answer>, lock: TransactionLock): Promise<Answer> {
    await this.#begin(lock)
    return this.#sender.run(program)
  }

  async commit({ mayBeLost, goesAtOnce }: CommitManner): Promise<void> {
    await this.#sender.arrived()
    // If the answer to the COMMIT is lost, the server can be asked only about a transaction with a number.
    if (this.#number === null && !goesAtOnce) await this.#sender.flush()
    if (mayBeLost) this.#sender.add(commitWithoutDisk)
    await this.#sender.ask(commit)
  }

  async #begin(lock: TransactionLock): Promise<void> {
    const { locking } = this.#settings
    const locks = locking.take(lock)
    const opening = [begin, this.#opening, ...locks.map(statementOf)]
    this.#sender.add(...opening)
    if (locking.prepare !== null) await this.#takeLockRows(locking.prepare, opening, locks.length)
  }

  /** Makes lock rows that are missing. */
  async #takeLockRows(prepare: string, opening: readonly SqlStatement[], lockCount: number): Promise<void> {
    const { locking } = this.#settings
    for (let attempt = 1; ; attempt++) {
      const replies = await this.#sender.flush()
      if (locking.isTaken(replies.slice(replies.length - lockCount))) return
      // Twice at most, unless another session deletes the rows again and again.
      if (attempt > 2) throw new DatabaseFailure(new Error('lock rows vanish as soon as they are made'))
      await this.#session.query({ text: 'ROLLBACK' })
      await this.#session.query({ text: prepare })
      this.#number = null
      this.#sender.add(...opening)
    }
  }

  #note(reply: SqlReply | undefined): void {
    const { xid, pid, timeline, began, server_started: serverStarted } = reply?.rows[0] ?? {}
    if (typeof pid === 'number') this.#session.processId = pid
    if (typeof xid !== 'string' || typeof began !== 'string') return
    const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
    this.#number = { xid, timeline: textOf(timeline), began, serverStarted: textOf(serverStarted) }
  }
}

function statementOf(text: string): SqlStatement {
  return { text, values: [] }
}
