import type { EpochMs } from '../../../time/clock.ts'
import type { TransactionOptions } from '../kernel/sql-runner.ts'
import type { SqlProgram } from '../kernel/statement.ts'
import type { SqlSession, SqlTransaction } from './sql-session.ts'

export interface SqlOperation<Answer = unknown> extends TransactionOptions<Answer> {
  /**
   * Which loops are woken when a trigger may fire earlier: `none` after the scheduler's own loop has fired, `peers`
   * after it has released claims.
   */
  readonly tells?: 'all' | 'peers' | 'none'
  /** Other nodes are told that it has changed jobs, triggers or calendars. Default false. */
  readonly isChange?: boolean
  /** The answer without what the transaction has fired, where other nodes had recovered that before it was answered. */
  readonly withoutFired?: (answer: Answer) => Answer
}

/** How programs are run. */
export interface SqlTransactor {
  readonly session: SqlSession
  run<Answer>(
    program: (tx: SqlTransaction) => SqlProgram<Answer>,
    operation: SqlOperation<Answer>,
  ): Promise<Answer>
  read<Answer>(program: (session: SqlSession) => SqlProgram<Answer>): Promise<Answer>
}

/** The other nodes: whether they allow a change, and how they are told of a transaction after its commit. */
export interface SqlPeers {
  requireMayChange?(tx: SqlTransaction): SqlProgram<void>
  /** A trigger may fire at this instant. */
  wakePeers(earliestMs: EpochMs): void
  /** Something has changed, and no trigger fires earlier. */
  tellChange?(): void
}
