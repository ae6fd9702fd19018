import { describeValue } from '../../../../core/options.ts'
import { TimeZone } from '../../../../time/zone.ts'
import type { ScheduleRow, ScheduleTable } from '../../../../triggers/trigger-family.ts'
import type { SqlRow } from '../../kernel/statement.ts'
import type { BoundedCache } from '../encoding/bounded-cache.ts'
import { brokenValue } from '../encoding/broken-row.ts'
import { boolean, integer, integerOrNull, text, textOrNull } from '../encoding/columns.ts'
import { selectedColumns, storedTables } from './schedule-tables.ts'

/** The row of a table in a result of `scheduleSelection`, or null when there is none. */
export function scheduleOf(row: SqlRow, table: ScheduleTable): SqlRow | null {
  const { name, columns } = selections[table]
  const named = row[name]
  if (named === null || named === undefined) return null
  const own: Record<string, unknown> = {}
  for (const [column, selected] of columns) own[column] = row[selected]
  return own
}

/** The columns of a table, with their names in a result. */
interface Selection {
  readonly name: string
  readonly columns: readonly (readonly [column: string, selected: string])[]
}

const selections: Readonly<Record<ScheduleTable, Selection>> = {
  simple_triggers: selectionOf('simple_triggers'),
  cron_triggers: selectionOf('cron_triggers'),
  simprop_triggers: selectionOf('simprop_triggers'),
}

function selectionOf(table: ScheduleTable): Selection {
  const { alias } = storedTables[table]
  const columns = selectedColumns(table).map((column) => [column, `${alias}_${column}`] as const)
  return { name: `${alias}_trigger_name`, columns }
}

/** How often a trigger has fired. */
export function timesOf(schedule: SqlRow, table: ScheduleTable): number {
  return integerOrNull(schedule, storedTables[table].times) ?? 0
}

/** A row of one table for the family that reads it. */
export class StoredSchedule implements ScheduleRow {
  readonly #row: SqlRow
  readonly #shared: BoundedCache<unknown>

  /** @param shared what triggers of the family have in common, by the family's own keys */
  constructor(row: SqlRow, shared: BoundedCache<unknown>) {
    this.#row = row
    this.#shared = shared
  }

  text(column: string): string {
    return text(this.#row, column)
  }

  textOrNull(column: string): string | null {
    return textOrNull(this.#row, column)
  }

  integer(column: string): number {
    return integer(this.#row, column)
  }

  boolean(column: string): boolean {
    return boolean(this.#row, column)
  }

  zone(column: string): TimeZone {
    const name = this.textOrNull(column)
    return name === null ? TimeZone.system() : TimeZone.of(name)
  }

  oneOf<Word extends string>(column: string, known: readonly Word[]): Word {
    const value = this.text(column)
    const word = known.find((each) => each === value)
    if (word !== undefined) return word
    throw this.broken(column, `is none of ${known.map((each) => `'${each}'`).join(', ')}`)
  }

  shared<Value>(key: string, make: () => Value): Value {
    const known = this.#shared.get(key) as Value | undefined
    if (known !== undefined) return known
    const made = make()
    this.#shared.set(key, made)
    return made
  }

  broken(column: string, problem: string): Error {
    return brokenValue(`'${column}' is ${describeValue(this.#row[column])}, which ${problem}. Correct it`)
  }
}
