import type { TriggerKey } from '../../core/key.ts'
import type { SqlTransaction } from './sql-session.ts'
import type { SqlProgram } from './statement.ts'

export interface FaultyTrigger {
  readonly key: TriggerKey
  readonly error: unknown
}

/** Takes locked triggers out of service that cannot be read or computed; the others go on. */
export function* putInError(tx: SqlTransaction, faulty: readonly FaultyTrigger[]): SqlProgram<void> {
  if (faulty.length === 0) return
  const { session, signals } = tx
  yield* session.triggers.setStates(faulty.map(({ key }) => ({ key, state: 'ERROR' })))
  for (const { key, error } of faulty) {
    signals.triggerInError(key, error instanceof Error ? error.message : String(error))
    signals.storeError(`Trigger '${key.toString()}' is in the ERROR state.`, error)
  }
}
