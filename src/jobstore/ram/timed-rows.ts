import { BTreeEx } from 'sorted-btree/extended/index.js'
import type { EpochMs } from '../../time/clock.ts'
import { isAhead } from '../clock-ahead.ts'
import type { Page } from '../queries.ts'

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

  /**
   * A row that is there already is replaced. Where there are too many, those of a clock that was ahead go first: as the
   * latest they would stay while each new one went.
   */
  write(rows: readonly Row[], nowMs: EpochMs): void {
    const { cursorOf, maxRows, timeOf } = this.#options
    for (const row of rows) this.#rows.set(cursorOf(row), row)
    while (this.#rows.size > maxRows) {
      const latest = this.#rows.maxKey()
      const isOfClockAhead = latest !== undefined && isAhead(timeOf(latest), nowMs)
      const surplus = isOfClockAhead ? latest : this.#rows.minKey()
      if (surplus === undefined) return
      this.#rows.delete(surplus)
    }
  }

  prune(nowMs: EpochMs): void {
    const { maxAgeMs, timeOf } = this.#options
    for (;;) {
      const oldest = this.#rows.minKey()
      if (oldest === undefined || nowMs - timeOf(oldest) <= maxAgeMs) return
      this.#rows.delete(oldest)
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
}
