import { compareKeys, JobKey, TriggerKey } from '../../core/key.ts'
import { text } from './columns.ts'
import { columnWidths, fits } from './limits.ts'
import { type Columns, type RowOf, rowsPerStatement, type withScheduler } from './row-set.ts'
import type { SqlRow } from './statement.ts'

export const triggerKeyColumns = { trigger_name: 'text', trigger_group: 'text' } as const
export const jobKeyColumns = { job_name: 'text', job_group: 'text' } as const

/** Rows of keys; those that no row can have are left out. */
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

type WithScheduler<Key extends Columns> = ReturnType<typeof withScheduler<Key>>

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
