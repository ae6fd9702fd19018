import type { TriggerFamilies } from '../../../../triggers/families/trigger-families.ts'
import type { ScheduleTable } from '../../../../triggers/trigger-family.ts'
import type { SqlRow } from '../../kernel/statement.ts'
import { anyText } from '../encoding/columns.ts'

/** How many searches in a row find triggers of one table before the next one joins that table alone. */
export const searchesUntilAlone = 20

/**
 * The table of schedules that searches for due triggers join: one alone after they have found triggers of no other for
 * a while, otherwise all. Many schedulers fire one kind for long, and the columns of the other tables, empty in each
 * row, take a tenth of a search. After a wrong guess the caller searches again, and all tables are joined for a while.
 */
export class SearchedTable {
  readonly #families: TriggerFamilies
  #alone: ScheduleTable | null = null
  #last: ScheduleTable | null = null
  #searches = 0

  constructor(families: TriggerFamilies) {
    this.#families = families
  }

  /** Null for all tables. */
  get alone(): ScheduleTable | null {
    return this.#alone
  }

  /** Takes what a search found. False where it found triggers whose table it did not join. */
  note(rows: readonly SqlRow[]): boolean {
    // A search that found nothing tells nothing.
    if (rows.length === 0) return true
    const found = this.#onlyTableOf(rows)
    const hasRead = this.#alone === null || this.#alone === found
    this.#searches = found === this.#last ? this.#searches + 1 : 1
    this.#last = found
    this.#alone = this.#searches < searchesUntilAlone ? null : found
    return hasRead
  }

  /** Null where there are several, or a type that is not known. */
  #onlyTableOf(rows: readonly SqlRow[]): ScheduleTable | null {
    let only: ScheduleTable | null = null
    for (const row of rows) {
      const table = this.#families.ofStoredType(anyText(row, 'trigger_type'))?.table ?? null
      if (table === null || (only !== null && table !== only)) return null
      only = table
    }
    return only
  }
}
