import type { EpochMs } from '../../time/clock.ts'
import { SignalBuffer } from '../signal-buffer.ts'
import { FireOffers } from './fire-offers.ts'
import type { SqlRunner } from './sql-runner.ts'
import type { SqlSession, SqlTransaction } from './sql-session.ts'
import type { SqlOperation, SqlTransactor } from './sql-transactor.ts'
import type { SqlProgram } from './statement.ts'

/** Runs programs as transactions, and tells the scheduler and its peers what a transaction did once it is committed. */
export class SqlTransactions implements SqlTransactor {
  readonly session: SqlSession
  readonly #runner: SqlRunner
  readonly #wakePeers: (earliestMs: EpochMs) => void

  constructor(session: SqlSession, runner: SqlRunner, wakePeers: (earliestMs: EpochMs) => void) {
    this.session = session
    this.#runner = runner
    this.#wakePeers = wakePeers
  }

  async run<Answer>(
    program: (tx: SqlTransaction) => SqlProgram<Answer>,
    operation: SqlOperation,
  ): Promise<Answer> {
    const { session } = this
    let tx = beginTransaction(session)
    const answer = await this.#runner.transact(() => {
      // A fresh one for each attempt: only what the committed one noted is told.
      tx = beginTransaction(session)
      return program(tx)
    }, operation)
    this.#tell(tx, operation.tells ?? 'everybody')
    return answer
  }

  read<Answer>(program: (session: SqlSession) => SqlProgram<Answer>): Promise<Answer> {
    return this.#runner.read(() => program(this.session))
  }

  #tell(tx: SqlTransaction, tells: 'everybody' | 'peers' | 'nobody'): void {
    const { earliestMs } = tx.offers
    if (earliestMs !== null && tells !== 'nobody') {
      if (tells === 'everybody') tx.signals.schedulingChanged(earliestMs)
      this.#wakePeers(earliestMs)
    }
    tx.signals.flush(this.session.context.signaler)
  }
}

export function beginTransaction(session: SqlSession): SqlTransaction {
  return {
    session,
    signals: new SignalBuffer(),
    offers: new FireOffers(),
    nowMs: session.context.clock.now(),
  }
}
