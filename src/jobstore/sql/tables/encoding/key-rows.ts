import {
  compareKeys,
  defaultGroup,
  type JobKey,
  storedJobKey,
  storedTriggerKey,
  type TriggerKey,
} from '../../../../core/key.ts'
import { describeValue } from '../../../../core/options.ts'
import { type Columns, type RowOf, rowsPerStatement, type withScheduler } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import type { SqlRow } from '../../kernel/statement.ts'
import { brokenValue } from './broken-row.ts'
import { anyText, text } from './columns.ts'
import { columnWidths, fits } from './limits.ts'

export const triggerKeyColumns = { trigger_name: 'text', trigger_group: 'text' } as const
export const jobKeyColumns = { job_name: 'text', job_group: 'text' } as const

/** Rows of keys; keys that no row can have are left out. */
export function triggerKeyRows(
  schedulerName: string,
  keys: readonly TriggerKey[],
): RowOf<WithScheduler<typeof triggerKeyColumns>>[] {
  return storable(keys).map(({ name, group }) => ({
    sched_name: schedulerName,
    trigger_name: name,
    trigger_group: group,
  }))
}

export function jobKeyRows(
  schedulerName: string,
  keys: readonly JobKey[],
): RowOf<WithScheduler<typeof jobKeyColumns>>[] {
  return storable(keys).map(({ name, group }) => ({
    sched_name: schedulerName,
    job_name: name,
    job_group: group,
  }))
}

/** Keys in their order, where a statement looks them up one by one; elsewhere the statement says the order. */
export function asLookedUp<Key extends JobKey | TriggerKey>(
  { dialect }: Pick<SqlVocabulary, 'dialect'>,
  keys: readonly Key[],
): readonly Key[] {
  return dialect.runsRowByRow && keys.length > 1 ? keys.toSorted(compareKeys) : keys
}

type WithScheduler<Key extends Columns> = ReturnType<typeof withScheduler<Key>>

function storable<Key extends JobKey | TriggerKey>(keys: readonly Key[]): readonly Key[] {
  const found = keys.filter(({ name, group }) => {
    return fits(name, columnWidths.keyPart) && fits(group, columnWidths.keyPart)
  })
  // Rows are locked in the order of keys that a statement has, also those of several statements.
  return found.length > rowsPerStatement ? found.sort(compareStoredKeys) : found
}

/** The key in a row, unchecked: {@link requireUsableKeys} refuses keys that this library cannot use. */
export function triggerKeyOf(row: SqlRow): TriggerKey {
  return storedTriggerKey(anyText(row, 'trigger_name'), anyText(row, 'trigger_group'))
}

export function jobKeyOf(row: SqlRow): JobKey {
  return storedJobKey(anyText(row, 'job_name'), anyText(row, 'job_group'))
}

/** @throws JobPersistenceError ERR_BROKEN_ROW for columns of a key that are blank or unusable for a look-up */
export function requireUsableKeys(row: SqlRow, ...columns: readonly Columns[]): void {
  for (const key of columns) {
    for (const column in key) {
      const part = text(row, column)
      if (part.trim() !== '' && fits(part, columnWidths.keyPart)) continue
      const problem = part.trim() === '' ? 'is blank' : `is ${describeValue(part)}, which no key can hold`
      throw brokenValue(`'${column}' ${problem}. Correct or delete the row`)
    }
  }
}

/** The order of keys of triggers `t`. */
export function keyOrder({ dialect: { keyCollation } }: Pick<SqlVocabulary, 'dialect'>): string {
  return `(t.trigger_group <> 'DEFAULT'), t.trigger_group ${keyCollation}, t.trigger_name ${keyCollation}`
}

/** Order of keys as {@link keyOrder} has it: by code point, where `compareKeys` goes by UTF-16 code unit. */
export function compareStoredKeys(a: JobKey | TriggerKey, b: JobKey | TriggerKey): number {
  if (a.group === b.group) return compareCodePoints(a.name, b.name)
  if (a.group === defaultGroup) return -1
  return b.group === defaultGroup ? 1 : compareCodePoints(a.group, b.group)
}

function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const [unitOfA, unitOfB] = [a.charCodeAt(index), b.charCodeAt(index)]
    if (unitOfA !== unitOfB) return rankOf(unitOfA) - rankOf(unitOfB)
  }
  return a.length - b.length
}

/** Surrogates stand for code points behind U+FFFF, so they come behind all other code units. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
