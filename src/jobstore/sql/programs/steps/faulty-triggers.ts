import { JobPersistenceError } from '../../../../core/errors.ts'
import type { TriggerKey } from '../../../../core/key.ts'
import { KeySet } from '../../../../core/key-set.ts'
import type { SqlProgram, SqlValue } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { FiredRow } from '../../tables/firings/fired-rows.ts'
import type { TriggerOfJava } from '../../tables/triggers/triggers-of-java.ts'

export interface FaultyTrigger {
  readonly key: TriggerKey
  readonly error: unknown
}

/** A locked row that cannot be read; it may not be found by its key. */
export interface FaultyRow extends FaultyTrigger {
  readonly rowId: SqlValue
}

/**
 * Puts locked triggers that cannot be read or computed into the ERROR state, except those that Java nodes can run,
 * which it answers.
 */
export function* putInError(
  tx: SqlTransaction,
  faulty: readonly FaultyTrigger[],
): SqlProgram<KeySet<TriggerKey>> {
  if (faulty.length === 0) return new KeySet()
  const { session, signals } = tx
  const ofJava = yield* triggersOfJava(tx, faulty)
  const ours = faulty.filter(({ key }) => !ofJava.has(key))
  yield* session.triggers.setStates(ours.map(({ key }) => ({ key, state: 'ERROR' })))
  tellErrors(signals, ours)
  return ofJava
}

/** The same for rows that a search for due triggers has locked, which leaves out those of Java itself. */
export function* putRowsInError(
  { session, signals }: SqlTransaction,
  rows: readonly FaultyRow[],
): SqlProgram<void> {
  if (rows.length === 0) return
  yield* session.triggers.setStatesOfRows(
    rows.map(({ rowId }) => rowId),
    'ERROR',
  )
  tellErrors(signals, rows)
}

function tellErrors(signals: SqlTransaction['signals'], faulty: readonly FaultyTrigger[]): void {
  for (const { key, error } of faulty) {
    signals.add('triggerInError', key, error instanceof Error ? error.message : String(error))
    signals.add('storeError', `Trigger '${key.toString()}' is in the ERROR state.`, error)
  }
}

/** Reports firings that could not be read and were ended or are claimed anew. */
export function tellFaultyFirings({ signals }: SqlTransaction, rows: readonly FiredRow[]): void {
  for (const { fault } of rows) {
    if (fault !== undefined) signals.add('storeError', `${fault.message} Its row was deleted.`, fault)
  }
}

/** Reports triggers that are left to Java nodes. */
export function tellLeftToJava(
  { signals }: Pick<SqlTransaction, 'signals'>,
  left: readonly TriggerOfJava[],
): void {
  for (const { key, reason } of left) {
    const message = `Trigger '${key.toString()}' is left to Java nodes: ${reason}.`
    signals.add('storeError', message, new JobPersistenceError(message, { code: 'ERR_BROKEN_ROW' }))
  }
}

function* triggersOfJava(
  tx: SqlTransaction,
  faulty: readonly FaultyTrigger[],
): SqlProgram<KeySet<TriggerKey>> {
  const { session } = tx
  if (session.triggersOfJava === null) return new KeySet()
  const left = yield* session.triggersOfJava.among(faulty.map(({ key }) => key))
  const unread = yield* session.triggersOfJava.unreadAmong(faulty, tx.notes)
  tellLeftToJava(tx, unread.fresh)
  for (const key of unread.keys) left.add(key)
  return left
}
