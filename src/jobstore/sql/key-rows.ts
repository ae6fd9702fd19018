import { compareKeys, JobKey, TriggerKey } from '../../core/key.ts'
import { text } from './columns.ts'
import { columnWidths, fits } from './limits.ts'
import { type RowOf, rowsPerStatement } from './row-set.ts'
import type { SqlRow } from './statement.ts'

export const triggerKeyColumns = { trigger_name: 'text', trigger_group: 'text' } as const
export const jobKeyColumns = { job_name: 'text', job_group: 'text' } as const

/** Rows of keys; those that no row can have are left out. */
export function triggerKeyRows(keys: readonly TriggerKey[]): RowOf<typeof triggerKeyColumns>[] {
  return storable(keys).map(({ name, group }) => ({ trigger_name: name, trigger_group: group }))
}

export function jobKeyRows(keys: readonly JobKey[]): RowOf<typeof jobKeyColumns>[] {
  return storable(keys).map(({ name, group }) => ({ job_name: name, job_group: group }))
}

function storable<Key extends JobKey | TriggerKey>(keys: readonly Key[]): readonly Key[] {
  const found = keys.filter(({ name, group }) => {
    return fits(name, columnWidths.keyPart) && fits(group, columnWidths.keyPart)
  })
  // Rows are locked in order of keys, also those of several statements.
  return found.length > rowsPerStatement ? found.sort(compareKeys) : found
}

export function triggerKeyOf(row: SqlRow): TriggerKey {
  return new TriggerKey(text(row, 'trigger_name'), text(row, 'trigger_group'))
}

export function jobKeyOf(row: SqlRow): JobKey {
  return new JobKey(text(row, 'job_name'), text(row, 'job_group'))
}
