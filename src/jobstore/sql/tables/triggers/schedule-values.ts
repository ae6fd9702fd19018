import { describeValue } from '../../../../core/options.ts'
import { int32Max, invalidTrigger } from '../../../../triggers/invalid-trigger.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import {
  type ScheduleTable,
  scheduleTables,
  type TriggerFamily,
} from '../../../../triggers/trigger-family.ts'
import { columnWidths, requireFits } from '../encoding/limits.ts'
import { storedTables } from './schedule-tables.ts'

type Bound = string | number | boolean | null

const widths: Readonly<Record<string, number>> = {
  cron_expression: columnWidths.cronExpression,
  time_zone_id: columnWidths.timeZone,
  str_prop_1: columnWidths.property,
  str_prop_2: columnWidths.property,
  str_prop_3: columnWidths.property,
}

/** The value for a column that its family leaves out: the one that Java writes. */
const emptyValues = { text: null, bigint: 0, boolean: false } as const
type ColumnKind = keyof typeof emptyValues

/**
 * The values for the columns of families.
 *
 * @throws InvalidArgumentError for values that do not fit their columns
 */
export function scheduleValues(family: TriggerFamily, trigger: Trigger): Readonly<Record<string, Bound>> {
  const values: Readonly<Record<string, unknown>> = family.toColumns(trigger)
  const fields: Readonly<Record<string, string | undefined>> = family.columns
  const kinds: Readonly<Record<string, ColumnKind>> = scheduleTables[family.table]
  const bound: Record<string, Bound> = {}
  for (const [column, kind] of Object.entries(kinds)) {
    const value = values[column] ?? emptyValues[kind]
    bound[column] = requireStorable(trigger, { column, kind, field: fields[column] ?? column }, value)
  }
  const stray = Object.keys(values).find((column) => !(column in kinds))
  if (stray === undefined) return bound
  throw unstorable(trigger, stray, `'${stray}' is no column that families fill in '${family.table}'.`)
}

interface Place {
  readonly column: string
  readonly kind: ColumnKind
  /** The owner of the value, for messages. */
  readonly field: string
}

function requireStorable(trigger: Trigger, { column, kind, field }: Place, value: unknown): Bound {
  const max = column === 'int_prop_1' ? int32Max : Number.MAX_SAFE_INTEGER
  switch (kind) {
    case 'text': {
      if (typeof value !== 'string' && value !== null) break
      const owner = { kind: 'Trigger', identity: trigger.key }
      requireFits(owner, field, value, widths[column] ?? columnWidths.timeZone)
      return value
    }
    case 'bigint':
      if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= max) return value
      break
    case 'boolean':
      if (typeof value === 'boolean') return value
  }
  const wanted = { text: 'text', bigint: `a whole number up to ${max}`, boolean: 'true or false' }[kind]
  throw unstorable(
    trigger,
    field,
    `'${field}' must be ${wanted} for '${column}', got ${describeValue(value)}.`,
  )
}

function unstorable(trigger: Trigger, field: string, problem: string): Error {
  return invalidTrigger(`Trigger '${trigger.key.toString()}'`, field, problem)
}

/** The value for the column that counts firings. */
export function timesValue(trigger: Trigger, table: ScheduleTable): Readonly<Record<string, number>> {
  const { times, timesMax } = storedTables[table]
  return { [times]: Math.min(trigger.timesTriggered, timesMax) }
}
