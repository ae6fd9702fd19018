import { KeySet } from '../../../core/key-set.ts'
import { SignalBuffer } from '../../signal-buffer.ts'
import { CommitNotes } from '../kernel/commit-notes.ts'
import type { SqlRunner } from '../kernel/sql-runner.ts'
import type { SqlProgram } from '../kernel/statement.ts'
import type { OrphanDeletion } from '../tables/jobs/orphan-deletion.ts'
import { FireOffers } from './fire-offers.ts'
import type { SqlSession, SqlTransaction } from './sql-session.ts'
import type { SqlOperation, SqlPeers, SqlTransactor } from './sql-transactor.ts'
import { timed } from './timed-program.ts'

/**
 * Runs programs as transactions. After the commit it sends the transaction's signals to the scheduler, and wakes other
 * nodes.
 */
export class SqlTransactions implements SqlTransactor {
  readonly session: SqlSession
  readonly #runner: SqlRunner
  readonly #peers: SqlPeers

  constructor(session: SqlSession, runner: SqlRunner, peers: SqlPeers) {
    this.session = session
    this.#runner = runner
    this.#peers = peers
  }

  async run<Answer>(
    program: (tx: SqlTransaction) => SqlProgram<Answer>,
    operation: SqlOperation<Answer>,
  ): Promise<Answer> {
    const { mayBeLost, wasCommitted, withoutFired, ...options } = operation
    const peers = operation.isChange === true ? this.#peers : {}
    const { answer, tx } = await this.#runner.transact<Done<Answer>>(
      this.#measured(() => attempt(this.session, program, peers)),
      {
        ...options,
        mayBeLost: (done) => mayBeLost?.(done.answer) === true,
        ...(typeof wasCommitted === 'function'
          ? { wasCommitted: (done) => wasCommitted(done.answer) }
          : wasCommitted !== undefined && { wasCommitted }),
      },
    )
    tx.notes.apply()
    const { earliestTriggerMs } = tx.offers
    if (earliestTriggerMs !== null) this.session.searchMemory.passed.takeBack(earliestTriggerMs, tx.nowMs)
    if (tx.offers.roomyGroups.size > 0 && operation.tells !== 'none') await this.#noteRooms(tx.offers)
    for (const deletion of tx.deletions) if (!deletion.isAnswered) await this.#lookForDeleted(deletion)
    this.#tell(tx, operation)
    const isAnsweredInTime = tx.timesRecovered === this.session.nodeHealth.timesRecovered
    return isAnsweredInTime ? answer : (withoutFired?.(answer) ?? answer)
  }

  read<Answer>(program: (session: SqlSession) => SqlProgram<Answer>): Promise<Answer> {
    return this.#runner.read(this.#measured(() => program(this.session)))
  }

  /**
   * Looks who waits for the room that a transaction has left in limited groups. Before the commit it would miss a
   * trigger that is stored just then, and the search that is woken for that trigger may still find the group full.
   */
  async #noteRooms(offers: FireOffers): Promise<void> {
    const { groupLimits, context } = this.session
    if (groupLimits === null) return
    const nowMs = context.clock.now()
    try {
      offers.noteRoom(await this.read(() => groupLimits.earliestOf(offers.roomyGroups, nowMs)))
    } catch {
      // The transaction is done, so this is no failure of it. The searches that this wakes find out themselves.
      offers.noteRoom(nowMs)
    }
  }

  /**
   * Looks which jobs a transaction has deleted, where that was lost with the answer to its COMMIT. Those that are gone
   * were deleted by it, or by another one since: they are told of either way. One that was stored anew is not.
   */
  async #lookForDeleted(deletion: OrphanDeletion): Promise<void> {
    try {
      const left = new KeySet(await this.read(({ jobs }) => jobs.existing(deletion.keys)))
      deletion.noteGone(deletion.keys.filter((key) => !left.has(key)))
    } catch {
      // The transaction is done, so this is no failure of it. Listeners are not told of its deletions, no more.
    }
  }

  /** What begins a program that tells the probe of its statements and of being run again; without a probe the same. */
  #measured<Answer>(begin: () => SqlProgram<Answer>): () => SqlProgram<Answer> {
    const { clock, probe } = this.session.context
    if (probe === undefined) return begin
    let attempts = 0
    return () => {
      if (attempts++ > 0) probe.transactionRepeated()
      return timed(begin(), clock, probe)
    }
  }

  #tell(
    tx: SqlTransaction,
    { tells = 'all', isChange = false }: Pick<SqlOperation, 'tells' | 'isChange'>,
  ): void {
    const { earliestMs } = tx.offers
    if (earliestMs !== null && tells !== 'none') {
      if (tells === 'all') tx.signals.add('schedulingChanged', earliestMs)
      this.#peers.wakePeers(earliestMs)
    } else if (isChange) {
      this.#peers.tellChange?.()
    }
    tx.signals.flush(this.session.context.signaler)
  }
}

interface Done<Answer> {
  readonly answer: Answer
  readonly tx: SqlTransaction
}

/** Each attempt has its own signals and notes: only those of the committed one are applied. */
function* attempt<Answer>(
  session: SqlSession,
  program: (tx: SqlTransaction) => SqlProgram<Answer>,
  peers: Pick<SqlPeers, 'requireMayChange'>,
): SqlProgram<Done<Answer>> {
  const tx = beginTransaction(session)
  if (peers.requireMayChange !== undefined) yield* peers.requireMayChange(tx)
  return { answer: yield* program(tx), tx }
}

export function beginTransaction(session: SqlSession): SqlTransaction {
  return {
    session,
    signals: new SignalBuffer(),
    offers: new FireOffers(),
    notes: new CommitNotes(),
    deletions: [],
    nowMs: session.context.clock.now(),
    timesRecovered: session.nodeHealth.timesRecovered,
  }
}
