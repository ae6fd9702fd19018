import type { SqlRunner } from '../../src/jobstore/sql/kernel/sql-runner.ts'
import type { SqlEngine } from '../../src/jobstore/sql/sql-engine.ts'

/** An engine whose transactions are run by another one, which has that of the engine to pass them on. */
export function withTransactions(
  engine: SqlEngine,
  wrap: (inner: SqlRunner) => SqlRunner['transact'],
): SqlEngine {
  return {
    ...engine,
    async connect(session) {
      const connection = await engine.connect(session)
      const { runner } = connection
      return {
        ...connection,
        runner: {
          transact: wrap(runner),
          read: (program) => runner.read(program),
          close: () => runner.close(),
        },
      }
    },
  }
}
