import type { TriggerKey } from '../../core/key.ts'
import { KeyMap } from '../../core/key-map.ts'
import type { SqlTransaction } from './sql-session.ts'
import type { SqlProgram } from './statement.ts'

export interface FaultyTrigger {
  readonly key: TriggerKey
  readonly error: unknown
}

/**
 * Takes locked triggers out of service that cannot be read or computed; the others go on, also those that Java nodes
 * can run.
 */
export function* putInError(tx: SqlTransaction, faulty: readonly FaultyTrigger[]): SqlProgram<void> {
  if (faulty.length === 0) return
  const { session, signals } = tx
  const ofJava = yield* triggersOfJava(tx, faulty)
  const ours = faulty.filter(({ key }) => !ofJava.has(key))
  yield* session.triggers.setStates(ours.map(({ key }) => ({ key, state: 'ERROR' })))
  for (const { key, error } of ours) {
    signals.triggerInError(key, error instanceof Error ? error.message : String(error))
    signals.storeError(`Trigger '${key.toString()}' is in the ERROR state.`, error)
  }
}

function* triggersOfJava(
  { session }: SqlTransaction,
  faulty: readonly FaultyTrigger[],
): SqlProgram<KeyMap<TriggerKey, true>> {
  if (session.triggersOfJava === null) return new KeyMap()
  return yield* session.triggersOfJava.among(faulty.map(({ key }) => key))
}
