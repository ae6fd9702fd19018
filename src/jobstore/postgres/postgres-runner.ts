import { JobPersistenceError } from '../../core/errors.ts'
import type { IdGenerator } from '../../core/ids.ts'
import type { Clock } from '../../time/clock.ts'
import type { SqlRunner, TransactionOptions } from '../sql/sql-runner.ts'
import { noReply, type SqlProgram, type SqlReply, type SqlStatement } from '../sql/statement.ts'
import { endTransaction, inquireCommit } from './commit-doubt.ts'
import { InterruptibleSleep } from './interruptible-sleep.ts'
import type { LockingStrategy } from './locking.ts'
import type { PostgresConnections } from './postgres-connections.ts'
import { DatabaseFailure } from './postgres-errors.ts'
import type { PostgresSession } from './postgres-session.ts'
import { PostgresTransaction, type TransactionSettings, transactionOpening } from './postgres-transaction.ts'
import type { PreparedStatements } from './prepared-statements.ts'
import { TransactionRetry } from './transaction-retry.ts'

export interface PostgresRunnerOptions {
  readonly connections: PostgresConnections
  readonly locking: LockingStrategy
  readonly statements: PreparedStatements
  readonly clock: Clock
  readonly ids: IdGenerator
  /** 0: the server's own; then no answer is ever too late. */
  readonly statementTimeoutMs: number
  /** 0: the server's own. */
  readonly lockTimeoutMs: number
}

/** How one attempt at a transaction ended, unless the program itself threw. */
type Attempt<Answer> =
  | { readonly kind: 'committed'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly failure: DatabaseFailure; readonly xid: string | null }
  | {
      readonly kind: 'doubt'
      readonly failure: DatabaseFailure
      readonly xid: string
      readonly answer: Answer
    }

const boundedDoubtMs = 30_000

/** The server ends a statement in time and says so; what comes later than this does not come. */
const answerGraceMs = 5000

/** Runs programs on PostgreSQL, each step a round trip, on connections of a pool. */
export class PostgresRunner implements SqlRunner {
  readonly #options: PostgresRunnerOptions
  readonly #sleep: InterruptibleSleep
  readonly #settings: TransactionSettings
  readonly #open: () => Promise<PostgresSession>
  #activeCount = 0
  #onIdle: (() => void) | null = null
  #closing: Promise<void> | null = null

  constructor(options: PostgresRunnerOptions) {
    this.#options = options
    this.#sleep = new InterruptibleSleep(options.clock)
    const { locking, statements, statementTimeoutMs } = options
    this.#settings = { locking, statements, opening: transactionOpening(options) }
    const answerWithinMs = statementTimeoutMs === 0 ? null : statementTimeoutMs + answerGraceMs
    this.#open = () => options.connections.open(answerWithinMs)
  }

  transact<Answer>(begin: () => SqlProgram<Answer>, options: TransactionOptions<Answer>): Promise<Answer> {
    return this.#work(async () => {
      const retry = new TransactionRetry(() => this.#options.ids.random())
      for (;;) {
        const end = await this.#attempt(begin(), options)
        if (end.kind === 'committed') return end.answer
        if (end.kind === 'doubt') {
          if (await this.#isCommitted(end, options.onDoubt)) return end.answer
        } else if (end.xid !== null && end.failure.isSilent) {
          await endTransaction(this.#open, end.xid)
        }
        await this.#pause(retry, end.failure)
      }
    })
  }

  read<Answer>(begin: () => SqlProgram<Answer>): Promise<Answer> {
    return this.#work(async () => {
      const retry = new TransactionRetry(() => this.#options.ids.random())
      const program = begin()
      let step = program.next()
      while (step.done !== true) {
        const reply = await this.#readOne(step.value, retry)
        step.value.pending?.settle(reply)
        step = program.next(reply)
      }
      return step.value
    })
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#sleep.end()
    if (this.#activeCount > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
    }
    await this.#options.connections.close()
  }

  async #work<Answer>(task: () => Promise<Answer>): Promise<Answer> {
    if (this.#sleep.isOver) {
      throw new JobPersistenceError('The job store was shut down.', { code: 'ERR_SCHEDULER_SHUTDOWN' })
    }
    this.#activeCount++
    try {
      return await task()
    } finally {
      this.#activeCount--
      if (this.#activeCount === 0) this.#onIdle?.()
    }
  }

  async #attempt<Answer>(
    program: SqlProgram<Answer>,
    options: TransactionOptions<Answer>,
  ): Promise<Attempt<Answer>> {
    let session: PostgresSession | null = null
    let transaction: PostgresTransaction | null = null
    let computed: { readonly answer: Answer } | null = null
    try {
      session = await this.#open()
      transaction = new PostgresTransaction(session, this.#settings)
      const answer = await transaction.run(program, options.lock)
      computed = { answer }
      await transaction.commit({ mayBeLost: options.mayBeLost?.(answer) === true })
      session.release()
      return { kind: 'committed', answer }
    } catch (error) {
      const failure = error instanceof DatabaseFailure ? error : null
      if (failure?.fault.dropsConnection === true) session?.discard()
      else await abandon(session)
      if (failure === null) throw error
      const xid = transaction?.xid ?? null
      if (xid !== null && computed !== null && failure.fault.dropsConnection) {
        return { kind: 'doubt', failure, xid, ...computed }
      }
      return { kind: 'failed', failure, xid }
    }
  }

  async #readOne(statement: SqlStatement, retry: TransactionRetry): Promise<SqlReply> {
    const query = this.#options.statements.named(statement)
    for (;;) {
      let session: PostgresSession | null = null
      try {
        session = await this.#open()
        const [reply = noReply] = await session.pipeline([query])
        session.release()
        return reply
      } catch (error) {
        const failure = error instanceof DatabaseFailure ? error : new DatabaseFailure(error)
        if (failure.fault.dropsConnection) session?.discard()
        else session?.release()
        await this.#pause(retry, failure)
      }
    }
  }

  /** Returns when it is time to try again. @throws JobPersistenceError when there is nothing to try */
  async #pause(retry: TransactionRetry, failure: DatabaseFailure): Promise<void> {
    const delayMs = retry.delayAfter(failure.fault)
    if (delayMs === null || !(await this.#sleep.sleep(delayMs))) throw failure.toPersistenceError()
  }

  /** Whether a transaction in doubt was committed. @throws JobPersistenceError ERR_COMMIT_UNKNOWN */
  async #isCommitted(
    { xid, failure }: { readonly xid: string; readonly failure: DatabaseFailure },
    onDoubt: TransactionOptions['onDoubt'] = 'bounded',
  ): Promise<boolean> {
    const outcome = await inquireCommit({
      xid,
      open: this.#open,
      clock: this.#options.clock,
      sleep: this.#sleep,
      giveUpAfterMs: onDoubt === 'patient' ? null : boundedDoubtMs,
    })
    if (outcome !== 'unknown') return outcome === 'committed'
    throw new JobPersistenceError(
      `The connection broke while a transaction was committed (${failure.message}), and the database could not be ` +
        `asked since whether it was. Look whether the change is there before making it again; in PostgreSQL: ` +
        `SELECT pg_xact_status('${xid}').`,
      { cause: failure.cause, code: 'ERR_COMMIT_UNKNOWN' },
    )
  }
}

/** Rolls back and gives the connection back, or closes it when that fails. */
async function abandon(session: PostgresSession | null): Promise<void> {
  try {
    await session?.query({ text: 'ROLLBACK' })
    session?.release()
  } catch {
    session?.discard()
  }
}
