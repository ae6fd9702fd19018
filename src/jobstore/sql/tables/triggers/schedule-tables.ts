import { int32Max } from '../../../../triggers/invalid-trigger.ts'
import { type ScheduleTable, scheduleTables } from '../../../../triggers/trigger-family.ts'
import { type Columns, hasKeyOf } from '../../kernel/row-set.ts'
import type { SqlNames } from '../../kernel/sql-names.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { triggerKeyColumns } from '../encoding/key-rows.ts'

/**
 * The tables of the trigger families, as the store uses them: how it joins them, and the column that it writes itself.
 */
export interface StoredTable {
  readonly name: (names: SqlNames) => string
  readonly alias: string
  /** Counts how often the trigger has fired. */
  readonly times: string
  readonly timesMax: number
}

export const storedTables: Readonly<Record<ScheduleTable, StoredTable>> = {
  simple_triggers: {
    name: ({ simpleTriggers }) => simpleTriggers,
    alias: 's',
    times: 'times_triggered',
    // Java cannot read more. Only triggers without an end come so far.
    timesMax: int32Max,
  },
  cron_triggers: {
    name: ({ cronTriggers }) => cronTriggers,
    alias: 'c',
    times: 'times_triggered',
    timesMax: Number.MAX_SAFE_INTEGER,
  },
  simprop_triggers: {
    name: ({ simpropTriggers }) => simpropTriggers,
    alias: 'p',
    times: 'int_prop_2',
    timesMax: int32Max,
  },
}

/** The tables that this library writes, in the order in which they are written. */
export const scheduleTableNames: readonly ScheduleTable[] = [
  'simple_triggers',
  'cron_triggers',
  'simprop_triggers',
]

export function sqlNameOf(names: SqlNames, table: ScheduleTable): string {
  return storedTables[table].name(names)
}

/** The column that counts firings. */
export function timesColumns(table: ScheduleTable): Columns {
  return { [storedTables[table].times]: 'bigint' }
}

/** The columns that a misfire may change. */
export function changingColumns(table: ScheduleTable): Columns {
  return { ...scheduleTables[table], ...timesColumns(table) }
}

/** All columns that this library writes. */
export function writtenColumns(table: ScheduleTable): Columns {
  return { ...triggerKeyColumns, ...changingColumns(table) }
}

/** The columns of these tables that `scheduleOf` reads. */
export function scheduleSelection(tables: readonly ScheduleTable[]): string {
  return tables
    .flatMap((table) => {
      const { alias } = storedTables[table]
      return selectedColumns(table).map((column) => `${alias}.${column} AS ${alias}_${column}`)
    })
    .join(', ')
}

/** The tables joined to the rows of `triggers AS t` that have a row there. Default: all. */
export function scheduleJoins(
  { dialect, names }: SqlVocabulary,
  tables: readonly ScheduleTable[] = scheduleTableNames,
): string {
  return tables
    .map((table) => {
      const { alias } = storedTables[table]
      return `LEFT JOIN ${sqlNameOf(names, table)} AS ${alias} ON ${hasKeyOf(dialect, alias, 't', triggerKeyColumns)}`
    })
    .join(' ')
}

/** The selected columns of a table. */
export function selectedColumns(table: ScheduleTable): readonly string[] {
  // The name is NULL only when there is no row.
  return ['trigger_name', ...Object.keys(scheduleTables[table]), storedTables[table].times]
}
