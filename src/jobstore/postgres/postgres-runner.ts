import { JobPersistenceError } from '../../core/errors.ts'
import type { IdGenerator } from '../../core/ids.ts'
import { Lanes } from '../../core/lanes.ts'
import type { Clock } from '../../time/clock.ts'
import { InterruptibleSleep } from '../../time/interruptible-sleep.ts'
import { EncodingTries } from '../sql/kernel/poor-encoding.ts'
import { RowsLockedError, type SqlRunner, type TransactionOptions } from '../sql/kernel/sql-runner.ts'
import type { SqlProgram, SqlReply, SqlStatement } from '../sql/kernel/statement.ts'
import { endTransaction, inquireCommit, type TransactionNumber } from './commit-doubt.ts'
import { isUntranslatable, isWorthEscapes, withoutLacking } from './lacking-character.ts'
import { isGivenUp, type LockAttempt, LockPatience } from './lock-patience.ts'
import type { LockingStrategy } from './locking.ts'
import type { PipelinedStatement } from './pipeline.ts'
import type { PostgresConnections } from './postgres-connections.ts'
import { cancelledFault, DatabaseFailure } from './postgres-errors.ts'
import type { PostgresSession } from './postgres-session.ts'
import {
  PostgresTransaction,
  statementLimits,
  type TransactionSettings,
  transactionOpening,
} from './postgres-transaction.ts'
import type { PreparedStatements } from './prepared-statements.ts'
import { backoffMs, TransactionRetry } from './transaction-retry.ts'

export interface PostgresRunnerOptions {
  readonly connections: PostgresConnections
  readonly locking: LockingStrategy
  readonly statements: PreparedStatements
  readonly clock: Clock
  readonly ids: IdGenerator
  /** 0: the server's own limit; then no answer counts as too late. */
  readonly statementTimeoutMs: number
  /** The longest wait for locks; 0: no limit but the server's. */
  readonly lockTimeoutMs: number
}

/** How one attempt at a transaction ended, unless the program itself threw. */
type Attempt<Answer> =
  | { readonly kind: 'committed'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly failure: DatabaseFailure; readonly number: TransactionNumber | null }
  | {
      readonly kind: 'doubt'
      readonly failure: DatabaseFailure
      readonly number: TransactionNumber
      readonly answer: Answer
    }

const boundedDoubtMs = 30_000
/** How often a caller that is not patient has what was written looked for. */
const boundedLooks = 5
/** The SQLSTATE of a lock that could not be had in time. */
const lockNotAvailable = '55P03'
/** The SQLSTATE of a statement that took too long or was cancelled. */
const queryCanceled = '57014'
/** Where statements have no limit of ours, one that is cancelled later than this met the server's. */
const unlimitedStatementMs = 5000

const asOthers: LockAttempt = { lockTimeoutMs: null }
/** How many connections at a time run transactions again that could not get a lock. */
const comingBackShare = 1 / 3
/** How many at a time read for callers: readers that all wait for a lock must leave connections to what fires. */
const readersShare = 2 / 3

/** The server itself ends a statement in time; an answer later than this counts as lost. */
const answerGraceMs = 5000

type Lacking = 'timelines' | 'startTime'

/** What may be missing, because the server is only compatible with PostgreSQL or the user lacks the right. */
const lackings: readonly { readonly what: Lacking; readonly functions: readonly string[] }[] = [
  { what: 'timelines', functions: ['pg_walfile_name', 'pg_current_wal_lsn'] },
  { what: 'startTime', functions: ['pg_postmaster_start_time'] },
]

/** Runs programs on PostgreSQL, each step a round trip, on connections of a pool. */
export class PostgresRunner implements SqlRunner {
  readonly #options: PostgresRunnerOptions
  readonly #sleep: InterruptibleSleep
  readonly #settings: TransactionSettings
  readonly #openings = new Map<number, SqlStatement>()
  readonly #answerWithinMs: number | null
  readonly #open: () => Promise<PostgresSession>
  readonly #comingBack: Lanes
  readonly #readers: Lanes
  readonly #readLimits: PipelinedStatement | null
  /** What the server cannot report, as its errors have said. */
  #lacking: ReadonlySet<Lacking> = new Set()
  #activeCount = 0
  #onIdle: (() => void) | null = null
  #closing: Promise<void> | null = null

  constructor(options: PostgresRunnerOptions) {
    this.#options = options
    this.#sleep = new InterruptibleSleep(options.clock)
    const { connections, locking, statements, statementTimeoutMs } = options
    this.#settings = { locking, statements }
    const answerWithinMs = statementTimeoutMs === 0 ? null : statementTimeoutMs + answerGraceMs
    this.#answerWithinMs = answerWithinMs
    this.#open = () => connections.open(answerWithinMs)
    this.#comingBack = new Lanes(Math.max(1, Math.floor(connections.size * comingBackShare)))
    this.#readers = new Lanes(Math.max(1, Math.floor(connections.size * readersShare)))
    const limits = statementLimits(options)
    this.#readLimits = limits && statements.named(limits)
  }

  transact<Answer>(begin: () => SqlProgram<Answer>, options: TransactionOptions<Answer>): Promise<Answer> {
    return this.#work(async () => {
      const retry = new TransactionRetry(() => this.#options.ids.random())
      const patience = isGivenUp(this.#options.locking) ? this.#newPatience(options) : null
      const encoding = new EncodingTries()
      // What leads others could not get a lock before.
      let isBack = options.hasWaitedMs !== undefined
      for (;;) {
        const attempt = (): Promise<Attempt<Answer>> =>
          this.#attempt(
            encoding.begin(begin()),
            options,
            patience?.next({ isCrowded: this.#comingBack.isCrowded }) ?? asOthers,
          )
        const lacking = this.#lacking
        const end = await (isBack ? this.#comingBack.run(attempt) : attempt())
        if (end.kind === 'committed') return end.answer
        if (end.kind === 'doubt') {
          if (await this.#isCommitted(end, options)) return end.answer
        } else if (end.number !== null && end.failure.isSilent) {
          await endTransaction(this.#open, end.number)
        } else if (this.#lacks(end.failure, lacking) || isWorthEscapes(end.failure, encoding)) continue
        if (patience !== null && end.failure.sqlState === lockNotAvailable) {
          await this.#pauseForLock(patience, end.failure, options)
          isBack = true
        } else await this.#pause(retry, end.failure)
      }
    })
  }

  /**
   * Whether a transaction failed because of what the next one does without. `known`: what was known to be lacking when
   * it began. Others that began with it fail in the same way.
   */
  #lacks({ message }: DatabaseFailure, known: ReadonlySet<Lacking>): boolean {
    const found = lackings.find(({ functions }) => functions.some((name) => message.includes(name)))
    if (found === undefined || known.has(found.what)) return false
    this.#lacking = new Set([...this.#lacking, found.what])
    this.#openings.clear()
    return true
  }

  #newPatience({ hasWaitedMs }: Pick<TransactionOptions, 'hasWaitedMs'>): LockPatience {
    const { clock, connections, ids, lockTimeoutMs } = this.#options
    return new LockPatience({
      slow: connections.slow,
      lockTimeoutMs,
      hasWaitedMs,
      elapsedMs: () => clock.elapsedMs(),
      random: () => ids.random(),
    })
  }

  /** @throws RowsLockedError @throws JobPersistenceError when the time is over */
  async #pauseForLock(
    patience: LockPatience,
    failure: DatabaseFailure,
    { whenLocked, hasWaitedMs }: Pick<TransactionOptions, 'whenLocked' | 'hasWaitedMs'>,
  ): Promise<void> {
    const error = failure.toPersistenceError()
    const pauseMs = whenLocked === 'passOver' ? null : patience.pauseMs()
    if (pauseMs === null && (whenLocked === 'passOver' || hasWaitedMs !== undefined)) {
      throw new RowsLockedError(error.message, { code: error.code, cause: error.cause })
    }
    if (pauseMs === null || !(await this.#sleep.sleep(pauseMs))) throw error
  }

  read<Answer>(begin: () => SqlProgram<Answer>): Promise<Answer> {
    return this.#work(async () => {
      const retry = new TransactionRetry(() => this.#options.ids.random())
      const program = begin()
      let step = program.next()
      while (step.done !== true) {
        const reply = await this.#readInTurn(step.value, retry)
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

  /** Begins no further try; operations under way end when their connections are cut. */
  cutOff(): void {
    this.#sleep.end()
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
    { lockTimeoutMs, slow }: LockAttempt,
  ): Promise<Attempt<Answer>> {
    let session: PostgresSession | null = null
    let transaction: PostgresTransaction | null = null
    let computed: { readonly answer: Answer } | null = null
    const startedMs = this.#options.clock.elapsedMs()
    try {
      session = await this.#options.connections.open(this.#answerWithinMs, slow)
      transaction = new PostgresTransaction(session, this.#settings, this.#opening(lockTimeoutMs))
      const answer = await transaction.run(program, options.lock)
      computed = { answer }
      // Attempts that wait for locks are looked at seldom, but a COMMIT may wait for a standby.
      session.slow = this.#options.connections.slow
      await transaction.commit({
        mayBeLost: options.mayBeLost?.(answer) === true,
        goesAtOnce: options.goesAtOnce === true,
      })
      session.release()
      return { kind: 'committed', answer }
    } catch (error) {
      const thrown = error instanceof DatabaseFailure ? error : null
      const failure = lockTimeoutMs === null ? thrown : this.#cancelled(thrown, startedMs)
      // Only what the server itself says of a COMMIT tells that it was refused.
      const isLost =
        failure?.fault.dropsConnection === true || (computed !== null && failure?.sqlState === '')
      if (isLost) session?.discard()
      else await abandon(session)
      if (failure === null) throw error
      const number = transaction?.number ?? null
      if (number !== null && computed !== null && isLost) {
        return { kind: 'doubt', failure, number, ...computed }
      }
      return { kind: 'failed', failure, number }
    }
  }

  /**
   * A lock that is had in the very moment in which the wait for it ends leaves its cancellation behind, and the server
   * ends the next wait of the transaction with that, as if a user had asked for it. Then the transaction is run again.
   */
  #cancelled(failure: DatabaseFailure | null, startedMs: number): DatabaseFailure | null {
    if (failure?.sqlState !== queryCanceled) return failure
    const tookMs = this.#options.clock.elapsedMs() - startedMs
    const isTooSlow = tookMs >= (this.#options.statementTimeoutMs || unlimitedStatementMs)
    return isTooSlow ? failure : new DatabaseFailure(failure.cause, cancelledFault)
  }

  #opening(lockTimeoutMs: number | null): SqlStatement {
    const limits = {
      ...this.#options,
      hasTimelines: !this.#lacking.has('timelines'),
      hasStartTime: !this.#lacking.has('startTime'),
      ...(lockTimeoutMs !== null && { lockTimeoutMs }),
    }
    const opening = this.#openings.get(limits.lockTimeoutMs) ?? transactionOpening(limits)
    this.#openings.set(limits.lockTimeoutMs, opening)
    return opening
  }

  async #readOne(statement: SqlStatement, retry: TransactionRetry): Promise<SqlReply> {
    const { clock, statements } = this.#options
    let query = statements.named(statement)
    let lackingTries = 0
    const startedMs = clock.elapsedMs()
    const isOver = (): boolean =>
      this.#answerWithinMs !== null && clock.elapsedMs() - startedMs >= this.#answerWithinMs
    for (;;) {
      let session: PostgresSession | null = null
      try {
        session = await this.#open()
        const reply = await session.read(query, this.#readLimits)
        session.release()
        return reply
      } catch (error) {
        const failure = error instanceof DatabaseFailure ? error : new DatabaseFailure(error)
        if (failure.fault.dropsConnection) session?.discard()
        else session?.release()
        const values = isUntranslatable(failure) ? withoutLacking(statement.values, lackingTries++) : null
        if (values !== null) {
          query = { ...query, values }
          continue
        }
        // A reader that has waited so long is told.
        if (failure.sqlState === lockNotAvailable || isOver()) throw failure.toPersistenceError()
        await this.#pause(retry, failure)
      }
    }
  }

  /** Runs a statement of a reader when one of the connections is free that readers may have at a time. */
  async #readInTurn(statement: SqlStatement, retry: TransactionRetry): Promise<SqlReply> {
    const { clock, connections } = this.#options
    const { connectTimeoutMs, size } = connections
    return this.#readers.run(
      () => this.#readOne(statement, retry),
      (giveUp) => {
        const timer = clock.setTimer(connectTimeoutMs, () => {
          giveUp(DatabaseFailure.noConnection(connectTimeoutMs, size).toPersistenceError())
        })
        return () => {
          timer.cancel()
        }
      },
    )
  }

  /** Returns when it is time to try again. @throws JobPersistenceError when there is nothing to try */
  async #pause(retry: TransactionRetry, failure: DatabaseFailure): Promise<void> {
    const delayMs = retry.delayAfter(failure.fault)
    if (delayMs === null || !(await this.#sleep.sleep(delayMs))) throw failure.toPersistenceError()
  }

  /** Whether a transaction in doubt was committed. @throws JobPersistenceError ERR_COMMIT_UNKNOWN */
  async #isCommitted<Answer>(
    { number, failure, answer }: Extract<Attempt<Answer>, { readonly kind: 'doubt' }>,
    options: TransactionOptions<Answer>,
  ): Promise<boolean> {
    const outcome = await inquireCommit({
      number,
      open: this.#open,
      clock: this.#options.clock,
      sleep: this.#sleep,
      giveUpAfterMs: options.onDoubt === 'patient' ? null : boundedDoubtMs,
    })
    const isCommitted = outcome === 'elsewhere' ? await this.#looksCommitted(answer, options) : null
    if (isCommitted !== null) return isCommitted
    if (outcome === 'committed' || outcome === 'aborted') return outcome === 'committed'
    const why =
      outcome === 'elsewhere'
        ? 'since then the server has crashed, or a standby has taken over, so that it cannot tell whether it was'
        : `the database could not be asked since whether it was; in PostgreSQL: SELECT pg_xact_status('${number.xid}')`
    throw new JobPersistenceError(
      `The connection broke while a transaction was committed (${failure.message}), and ${why}. Look whether the ` +
        'change is there before making it again.',
      { cause: failure.cause, code: 'ERR_COMMIT_UNKNOWN' },
    )
  }

  /** Whether what the transaction wrote is there; null where that cannot be told. */
  async #looksCommitted<Answer>(
    answer: Answer,
    { onDoubt, wasCommitted }: TransactionOptions<Answer>,
  ): Promise<boolean | null> {
    if (wasCommitted === undefined) return null
    if (wasCommitted === 'runAgain') return false
    for (let attempt = 1; attempt <= boundedLooks || onDoubt === 'patient'; attempt++) {
      // In a transaction that may write, which a standby refuses: one that lags would not show it yet.
      const look = await this.#attempt(wasCommitted(answer), { lock: 'none' }, asOthers)
      if (look.kind === 'committed') return look.answer
      if (!(await this.#sleep.sleep(backoffMs(25, attempt)))) return null
    }
    return null
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
