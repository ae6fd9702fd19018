import type { TransactionOptions } from '../kernel/sql-runner.ts'
import type { SqlProgram } from '../kernel/statement.ts'
import type { SqlSession, SqlTransaction } from './sql-session.ts'

export interface SqlOperation<Answer = unknown> extends TransactionOptions<Answer> {
  /**
   * Whose loop need not be told that something may fire earlier: `nobody` is told what the scheduler's own loop did
   * by firing, `peers` what it gives up.
   */
  readonly tells?: 'everybody' | 'peers' | 'nobody'
}

/** How everything above the programs runs them. */
export interface SqlTransactor {
  readonly session: SqlSession
  run<Answer>(
    program: (tx: SqlTransaction) => SqlProgram<Answer>,
    operation: SqlOperation<Answer>,
  ): Promise<Answer>
  read<Answer>(program: (session: SqlSession) => SqlProgram<Answer>): Promise<Answer>
}
