import type { Page } from '../../queries.ts'
import type { Conditions } from './conditions.ts'
import type { SqlVocabulary } from './sql-vocabulary.ts'
import {
  all,
  composed,
  first,
  type SqlProgram,
  type SqlQuery,
  type SqlRow,
  type SqlValue,
  sqlQuery,
} from './statement.ts'

/** A table that is listed by the time of its rows, the newest first; among rows of one time the greatest id first. */
export interface NewestFirstTable {
  readonly table: string
  readonly alias: string
  readonly time: string
  readonly id: string
  /** Its columns that a page holds, by name. */
  readonly columns: object
  /** On how many rows a page tries conditions that no index serves. */
  readonly scannedMax: number
}

type Values = Readonly<Record<string, SqlValue>>

export interface NewestFirstQuery {
  readonly query: SqlQuery<Values>
  /** The last row on which conditions are tried. */
  readonly place: SqlQuery<Values>
  /** Those of the conditions. */
  readonly values: Values
  /** On how many rows conditions are tried; null when an index serves them all. */
  readonly scanned: number | null
}

/** The rows for which an index's conditions hold, and those that are tried row by row; null when there are none. */
export function newestFirstQuery(
  { dialect }: SqlVocabulary,
  { table, alias, time, id, columns, scannedMax }: NewestFirstTable,
  { indexed, tried }: { readonly indexed: Conditions; readonly tried: Conditions | null },
): NewestFirstQuery {
  const inOrder = `ORDER BY ${alias}.${time} DESC, ${alias}.${id} DESC`
  const served = `${table} AS ${alias} WHERE ${indexed.text} ${inOrder}`
  const rows =
    tried === null
      ? served
      : `(SELECT * FROM ${served} LIMIT :scanned) AS ${alias} WHERE ${tried.text} ${inOrder}`
  const shown = Object.keys(columns).map((column) => `${alias}.${column}`)
  return {
    query: composed(sqlQuery(dialect, `SELECT ${shown.join(', ')} FROM ${rows} LIMIT :limit`)),
    place: composed(
      sqlQuery(dialect, `SELECT ${alias}.${time}, ${alias}.${id} FROM ${served} LIMIT 1 OFFSET :skipped`),
    ),
    values: { ...indexed.values, ...tried?.values },
    scanned: tried === null ? null : scannedMax,
  }
}

/** A page of at most `size` rows; behind rows that were tried in vain, the next page goes on. */
export function* newestFirstPage<Item, Cursor>(
  { query, place, values, scanned }: NewestFirstQuery,
  { scheduler, size }: { readonly scheduler: string; readonly size: number },
  { itemOf, cursorOf }: { itemOf: (row: SqlRow) => Item; cursorOf: (row: SqlRow) => Cursor },
): SqlProgram<Page<Item, Cursor>> {
  const given = { scheduler, ...values }
  const found = yield* all(query({ ...given, scanned, limit: size + 1 }))
  const shown = found.slice(0, size)
  const items = shown.map(itemOf)
  const last = shown.at(-1)
  if (found.length > size && last !== undefined) return { items, next: cursorOf(last) }
  if (scanned === null) return { items, next: null }
  const lastTried = yield* first(place({ ...given, skipped: scanned - 1 }))
  return { items, next: lastTried && cursorOf(lastTried) }
}
