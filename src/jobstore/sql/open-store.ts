import type { JobStoreContext } from '../job-store.ts'
import { openSession } from './open-session.ts'
import { PauseEnder } from './pause-ender.ts'
import { ScheduleWriter } from './programs/scheduling/schedule-writer.ts'
import { RecordPruner } from './record-pruner.ts'
import { SqlTransactions } from './session/sql-transactions.ts'
import type { SqlConnection, SqlEngine } from './sql-engine.ts'
import { watchedSignaler } from './watched-signaler.ts'

/** The parts that exist between `initialize` and `shutdown`. */
export interface OpenStore {
  readonly connection: SqlConnection
  readonly transactions: SqlTransactions
  readonly scheduleWriter: ScheduleWriter
  readonly pruner: RecordPruner
  readonly pauseEnder: PauseEnder
}

export async function openStore(engine: SqlEngine, context: JobStoreContext): Promise<OpenStore> {
  const session = openSession(engine, context)
  const { passed } = session.searchMemory
  const signaler = watchedSignaler(context.signaler, (candidateMs) => {
    passed.takeBack(candidateMs, context.clock.now())
  })
  const connection = await engine.connect({ ...session, context: { ...context, signaler } })
  const transactions = new SqlTransactions(session, connection.runner, connection)
  return {
    connection,
    transactions,
    scheduleWriter: new ScheduleWriter(transactions, {
      mayExpectNew: engine.storesBeforeLooks === true,
      lockTimeoutMs: engine.capabilities.longestLockWaitMs ?? 0,
    }),
    pruner: new RecordPruner(transactions, engine.records),
    pauseEnder: new PauseEnder(transactions, engine.sharedWithJava === true),
  }
}
