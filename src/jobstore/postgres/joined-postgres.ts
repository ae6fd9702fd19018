import type pg from 'pg'
import { InvalidArgumentError, JobPersistenceError } from '../../core/errors.ts'
import { describeValue } from '../../core/options.ts'
import type { EpochMs } from '../../time/clock.ts'
import { EncodingTries } from '../sql/kernel/poor-encoding.ts'
import type { TransactionLock, TransactionOptions } from '../sql/kernel/sql-runner.ts'
import { later, type SqlProgram, type SqlStatement } from '../sql/kernel/statement.ts'
import type { JoinedRunner } from '../sql/sql-engine.ts'
import { isWorthEscapes } from './lacking-character.ts'
import type { LockingStrategy } from './locking.ts'
import type { PostgresConnections } from './postgres-connections.ts'
import { DatabaseFailure } from './postgres-errors.ts'
import type { PostgresSession } from './postgres-session.ts'
import { PreparedStatements } from './prepared-statements.ts'
import { StatementSender } from './statement-sender.ts'
import { writeWakeMessage } from './wake-message.ts'

export interface JoinedPostgresOptions {
  readonly client: pg.PoolClient
  readonly connections: PostgresConnections
  readonly locking: LockingStrategy
  /** Null when nodes do not listen. */
  readonly wakeChannel: string | null
}

/** By shape, because the user's client may come from another copy of pg. @throws InvalidArgumentError */
export function requireClient(handle: object): pg.PoolClient {
  const given: Partial<pg.PoolClient> & { readonly totalCount?: unknown } = handle
  if (given.totalCount !== undefined) {
    throw new InvalidArgumentError(
      'handle',
      'withTransaction got a pool, each query of which may go to another connection. Take a client of it by ' +
        'pool.connect(), and begin the transaction there.',
    )
  }
  if (typeof given.query === 'function' && typeof given.on === 'function') return handle as pg.PoolClient
  throw new InvalidArgumentError(
    'handle',
    `withTransaction needs a client of the package pg, got ${describeValue(handle)}.`,
  )
}

/** Where a client keeps what runs on it last. On the client, because stores of several schedulers may share it. */
const turns = Symbol.for('quartz-ts.turns')

interface Turns {
  last: Promise<unknown>
}

const rollback = 'ROLLBACK TO SAVEPOINT quartz_ts; RELEASE SAVEPOINT quartz_ts'

/** Programs as savepoints of a transaction on the user's client, one after the other. */
export class JoinedPostgres implements JoinedRunner {
  readonly #options: JoinedPostgresOptions
  /** Unnamed: prepared statements would stay on the user's connection. */
  readonly #statements = new PreparedStatements(false)
  readonly #turns: Turns

  constructor(options: JoinedPostgresOptions) {
    this.#options = options
    const client: pg.PoolClient & { [turns]?: Turns | undefined } = options.client
    this.#turns = client[turns] ?? { last: Promise.resolve() }
    client[turns] = this.#turns
  }

  transact<Answer>(begin: () => SqlProgram<Answer>, { lock }: TransactionOptions): Promise<Answer> {
    return this.#inTurn(async (session) => {
      const encoding = new EncodingTries()
      for (let attempt = 0; ; ) {
        try {
          return await this.#inSavepoint(session, () => encoding.begin(begin()), lock)
        } catch (error) {
          if (isWorthEscapes(error, encoding)) continue
          if (!wasOvertaken(error) || attempt++ >= error.fault.retries) throw error
        }
      }
    })
  }

  async #inSavepoint<Answer>(
    session: PostgresSession,
    begin: () => SqlProgram<Answer>,
    lock: TransactionLock,
  ): Promise<Answer> {
    const sender = new StatementSender(session, this.#statements)
    sender.add(statementOf('SAVEPOINT quartz_ts'))
    try {
      await this.#lock(sender, lock)
      const answer = await sender.run(begin())
      await sender.arrived()
      await sender.ask(statementOf('RELEASE SAVEPOINT quartz_ts'))
      return answer
    } catch (error) {
      // When this fails too the transaction has failed; the first error has the reason.
      if (sender.hasSent) await session.query({ text: rollback }).catch(() => {})
      throw error
    }
  }

  read<Answer>(begin: () => SqlProgram<Answer>): Promise<Answer> {
    // With a savepoint as well, so that a statement that fails does not end the transaction.
    return this.transact(begin, { lock: 'none' })
  }

  *tellChange(): SqlProgram<void> {
    yield* this.wake(null)
  }

  *wake(earliestMs: EpochMs | null): SqlProgram<void> {
    const { wakeChannel } = this.#options
    if (wakeChannel === null) return
    // PostgreSQL sends it at the commit. Without a sender, so that this node is woken too.
    const values = [wakeChannel, writeWakeMessage({ earliestMs, from: '' })]
    yield* later({ text: 'SELECT pg_notify($1, $2)', values })
  }

  async #inTurn<Answer>(task: (session: PostgresSession) => Promise<Answer>): Promise<Answer> {
    const done = this.#turns.last.then(async () => {
      const session = this.#options.connections.borrow(this.#options.client)
      try {
        return await task(session)
      } finally {
        session.release()
      }
    })
    this.#turns.last = done.catch(() => {})
    try {
      return await done
    } catch (error) {
      throw error instanceof DatabaseFailure ? refusalOf(error) : error
    }
  }

  async #lock(sender: StatementSender, lock: TransactionLock): Promise<void> {
    const { locking, connections } = this.#options
    const locks = locking.take(lock).map(statementOf)
    sender.add(...locks)
    const { prepare } = locking
    if (prepare === null || locks.length === 0) return
    const areTaken = async (): Promise<boolean> =>
      locking.isTaken((await sender.flush()).slice(-locks.length))
    if (await areTaken()) return
    // Not in the user's transaction, because the node cannot wait for its end.
    const own = await connections.open(null)
    try {
      await own.query({ text: prepare })
    } finally {
      own.release()
    }
    sender.add(...locks)
    if (await areTaken()) return
    throw new DatabaseFailure(new Error('lock rows vanish as soon as they are made'))
  }
}

function statementOf(text: string): SqlStatement {
  return { text, values: [] }
}

/** Whether another transaction has stored or deleted the same row meanwhile, which the next attempt may see. */
function wasOvertaken(error: unknown): error is DatabaseFailure {
  return error instanceof DatabaseFailure && error.fault.reason === 'constraint'
}

function refusalOf(failure: DatabaseFailure): JobPersistenceError {
  switch (failure.sqlState) {
    case '25P01':
      return new JobPersistenceError(
        'The client given to withTransaction is in no transaction. Begin one with BEGIN on this client first.',
        { code: 'ERR_NO_TRANSACTION', cause: failure.cause },
      )
    case '25P02':
      return new JobPersistenceError(
        'The transaction given to withTransaction has failed already, by an earlier statement. End it with ROLLBACK.',
        { code: 'ERR_NO_TRANSACTION', cause: failure.cause },
      )
    case '25006':
      return new JobPersistenceError(
        'The transaction given to withTransaction only reads. Begin one that may write, on the primary server.',
        { code: 'ERR_DATABASE', cause: failure.cause },
      )
    case '42P01':
      return new JobPersistenceError(
        "The client given to withTransaction does not find the store's tables. Connect it to the same database; " +
          "where the store has no option 'schema', its search path must lead to them.",
        { code: 'ERR_DATABASE', cause: failure.cause },
      )
    case '23503':
    case '23505':
      return new JobPersistenceError(
        'Another transaction has stored or deleted the same rows meanwhile, which the one given to withTransaction ' +
          'does not see. Roll back, and run it again.',
        { code: 'ERR_DATABASE_UNAVAILABLE', cause: failure.cause },
      )
    default:
      return failure.toPersistenceError()
  }
}
