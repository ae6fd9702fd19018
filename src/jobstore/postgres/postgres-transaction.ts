import type { TransactionLock } from '../sql/kernel/sql-runner.ts'
import { noReply, type SqlProgram, type SqlReply, type SqlStatement } from '../sql/kernel/statement.ts'
import { type TransactionNumber, timelineExpression } from './commit-doubt.ts'
import type { LockingStrategy } from './locking.ts'
import { DatabaseFailure } from './postgres-errors.ts'
import type { PostgresSession } from './postgres-session.ts'
import type { PreparedStatements } from './prepared-statements.ts'

export interface TransactionSettings {
  readonly locking: LockingStrategy
  readonly statements: PreparedStatements
}

/** What a transaction begins with, behind its BEGIN. Limits of 0 are the server's own. */
export function transactionOpening(limits: {
  readonly lockTimeoutMs: number
  readonly statementTimeoutMs: number
  /** Whether the server can say on which timeline it is. */
  readonly hasTimelines: boolean
}): SqlStatement {
  const { lockTimeoutMs, statementTimeoutMs, hasTimelines } = limits
  const settings: Readonly<Record<string, string>> = {
    // Rows are named by their keys. A plan made while a table was empty, the server's own checks of foreign keys
    // included, would go on reading it whole when it has grown.
    enable_seqscan: 'off',
    ...(lockTimeoutMs > 0 && { lock_timeout: String(lockTimeoutMs) }),
    ...(statementTimeoutMs > 0 && {
      statement_timeout: String(statementTimeoutMs),
      // The locks of a node that is gone, with a connection that the server believes in, end as well.
      idle_in_transaction_session_timeout: String(statementTimeoutMs),
    }),
  }
  // One statement for all, each for this transaction only.
  const set = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`)
  const timeline = hasTimelines ? timelineExpression : 'NULL'
  return statementOf(
    `SELECT CAST(pg_current_xact_id() AS text) AS xid, ${timeline} AS timeline, pg_backend_pid() AS pid,
      ${set.join(', ')}`,
  )
}

const begin = statementOf(
  // Whatever the defaults of the user or the database are: guards and SKIP LOCKED want to see the newest rows.
  'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE',
)
const commit = statementOf('COMMIT')
const commitWithoutDisk = statementOf("SELECT set_config('synchronous_commit', 'off', true)")

/** How many characters of values may wait to be sent: what is answered together is answered within one time limit. */
const unsentMax = 1_000_000

/**
 * One transaction on one connection. What nobody waits for travels with the next statement that somebody does, or
 * with the COMMIT: a round trip costs more than most statements.
 */
export class PostgresTransaction {
  readonly #session: PostgresSession
  readonly #settings: TransactionSettings
  readonly #opening: SqlStatement
  #unsent: SqlStatement[] = []
  #unsentSize = 0
  #number: TransactionNumber | null = null

  /** `opening` is what it begins with, behind its BEGIN. */
  constructor(session: PostgresSession, settings: TransactionSettings, opening: SqlStatement) {
    this.#session = session
    this.#settings = settings
    this.#opening = opening
  }

  /** Its number, once the server has begun it. */
  get number(): TransactionNumber | null {
    return this.#number
  }

  /** Runs a program from the BEGIN on, up to but without the COMMIT; statements may be unsent at its end. */
  async run<Answer>(program: SqlProgram<Answer>, lock: TransactionLock): Promise<Answer> {
    await this.#begin(lock)
    let step = program.next()
    while (step.done !== true) {
      const statement = step.value
      if (statement.pending === undefined) step = program.next(await this.#ask(statement))
      else {
        await this.#putOff(statement)
        step = program.next(noReply)
      }
    }
    return step.value
  }

  async commit({ mayBeLost }: { readonly mayBeLost: boolean }): Promise<void> {
    // Only a transaction with a number can be asked after, should the answer to the COMMIT be lost.
    if (this.#number === null) await this.#flush()
    if (mayBeLost) this.#unsent.push(commitWithoutDisk)
    await this.#ask(commit)
  }

  async #begin(lock: TransactionLock): Promise<void> {
    const { locking } = this.#settings
    const locks = locking.take(lock)
    this.#unsent = [begin, this.#opening, ...locks.map(statementOf)]
    if (locking.prepare !== null) await this.#takeLockRows(locking.prepare, locks.length)
  }

  /** Rows can be locked only when they are there. */
  async #takeLockRows(prepare: string, lockCount: number): Promise<void> {
    const { locking } = this.#settings
    const opening = this.#unsent
    for (let attempt = 1; ; attempt++) {
      const replies = await this.#flush()
      if (locking.isTaken(replies.slice(replies.length - lockCount))) return
      // Twice at most, unless somebody deletes the rows again and again.
      if (attempt > 2) throw new DatabaseFailure(new Error('lock rows vanish as soon as they are made'))
      await this.#session.query({ text: 'ROLLBACK' })
      await this.#session.query({ text: prepare })
      this.#number = null
      this.#unsent = opening
    }
  }

  async #putOff(statement: SqlStatement): Promise<void> {
    this.#unsent.push(statement)
    this.#unsentSize += sizeOf(statement)
    if (this.#unsentSize > unsentMax) await this.#flush()
  }

  async #ask(statement: SqlStatement): Promise<SqlReply> {
    this.#unsent.push(statement)
    return (await this.#flush()).at(-1) ?? noReply
  }

  async #flush(): Promise<readonly SqlReply[]> {
    const sent = this.#unsent
    this.#unsent = []
    this.#unsentSize = 0
    const { statements } = this.#settings
    const replies = await this.#session.pipeline(sent.map((statement) => statements.named(statement)))
    for (const [index, { pending }] of sent.entries()) pending?.settle(replies[index] ?? noReply)
    if (this.#number === null) this.#note(replies[1])
    return replies
  }

  #note(reply: SqlReply | undefined): void {
    const { xid, pid, timeline } = reply?.rows[0] ?? {}
    if (typeof pid === 'number') this.#session.processId = pid
    const counted = typeof timeline === 'string' ? timeline : null
    this.#number = typeof xid === 'string' ? { xid, timeline: counted } : null
  }
}

function sizeOf({ values }: SqlStatement): number {
  return values.reduce<number>((size, value) => size + (typeof value === 'string' ? value.length : 0), 0)
}

function statementOf(text: string): SqlStatement {
  return { text, values: [] }
}
