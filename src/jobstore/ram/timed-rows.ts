import { BTreeEx } from 'sorted-btree/extended/index.js'
import type { EpochMs } from '../../time/clock.ts'
import type { Page } from '../queries.ts'

/**
 * Rows later than now by more than this are of a clock that was ahead and was set back. They would never become old,
 * and where there are too many rows, each new one would go in their place.
 */
export const aheadMaxMs = 3_600_000

interface TimedRowsOptions<Cursor> {
  readonly maxAgeMs: number
  readonly maxRows: number
  readonly timeOf: (cursor: Cursor) => EpochMs
  /** Of a row, which has more than its cursor. */
  readonly cursorOf: (row: Cursor) => Cursor
}

interface TimedQuery<Cursor> {
  readonly after?: Cursor
  readonly from?: Date
  readonly to?: Date
}

/** Rows in the order of their times and ids, of which the newest are kept. */
export class TimedRows<Cursor extends { readonly id: string }, Row extends Cursor> {
  readonly #options: TimedRowsOptions<Cursor>
  readonly #rows: BTreeEx<Cursor, Row>

  constructor(options: TimedRowsOptions<Cursor>) {
    const { timeOf } = options
    this.#options = options
    this.#rows = new BTreeEx<Cursor, Row>(undefined, (a, b) => {
      const apartMs = timeOf(a) - timeOf(b)
      if (apartMs !== 0) return apartMs
      return a.id < b.id ? -1 : Number(a.id > b.id)
    })
  }

  /** A row that is there already is replaced. */
  write(rows: readonly Row[]): void {
    const { cursorOf, maxRows } = this.#options
    for (const row of rows) this.#rows.set(cursorOf(row), row)
    this.#deleteWhile(() => this.#rows.size > maxRows)
  }

  prune(nowMs: EpochMs): void {
    const { maxAgeMs, timeOf } = this.#options
    this.#deleteWhile((oldest) => nowMs - timeOf(oldest) > maxAgeMs)
    for (;;) {
      const newest = this.#rows.maxKey()
      if (newest === undefined || timeOf(newest) - nowMs <= aheadMaxMs) return
      this.#rows.delete(newest)
    }
  }

  *newestFirst({ after, from, to }: TimedQuery<Cursor>): Generator<Row> {
    const { timeOf } = this.#options
    for (const [cursor, row] of this.#rows.entriesReversed(after, undefined, true)) {
      const timeMs = timeOf(cursor)
      if (from !== undefined && timeMs < from.getTime()) return
      if (to === undefined || timeMs < to.getTime()) yield row
    }
  }

  /** The newest first, `size` at most. */
  page(query: TimedQuery<Cursor>, size: number, accepts: (row: Row) => boolean): Page<Row, Cursor> {
    const { cursorOf } = this.#options
    const items: Row[] = []
    for (const row of this.newestFirst(query)) {
      if (!accepts(row)) continue
      const last = items.at(-1)
      if (items.length === size && last !== undefined) return { items, next: cursorOf(last) }
      items.push(row)
    }
    return { items, next: null }
  }

  #deleteWhile(isSurplus: (oldest: Cursor) => boolean): void {
    for (;;) {
      const oldest = this.#rows.minKey()
      if (oldest === undefined || !isSurplus(oldest)) return
      this.#rows.delete(oldest)
    }
  }
}
