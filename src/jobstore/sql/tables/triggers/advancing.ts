import {
  boundRows,
  type Columns,
  changeRows,
  eachQuery,
  type RowSetQuery,
  setQuery,
  updateQuery,
} from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import { triggerKeyColumns } from '../encoding/key-rows.ts'

/** Writes what changes in rows of `triggers` as they are moved on. */
export interface Advance {
  readonly byKey: RowSetQuery
  /**
   * For rows that the transaction has locked and not changed, by their ids: saves looking each up by its key again.
   * Left out where the dialect neither binds sets of ids nor runs a statement for each row.
   */
  readonly byPlace?: RowSetQuery
}

/** Rows that are moved on, by how they are found. */
export interface AdvancingRows {
  readonly byKey: object[]
  readonly byPlace: object[]
}

export function* advanceRows({ byKey, byPlace }: AdvancingRows, advance: Advance): SqlProgram<void> {
  yield* changeRows(byKey, advance.byKey)
  if (advance.byPlace !== undefined) yield* changeRows(byPlace, advance.byPlace)
}

export function advanceQueries(vocabulary: SqlVocabulary, columns: Columns): Advance {
  const byPlace = advanceAtQuery(vocabulary, columns)
  return {
    byKey: updateQuery(vocabulary, vocabulary.names.triggers, triggerKeyColumns, columns),
    ...(byPlace !== undefined && { byPlace }),
  }
}

function advanceAtQuery({ dialect, names }: SqlVocabulary, columns: Columns): RowSetQuery | undefined {
  const { places, runsRowByRow } = dialect
  const settings = (prefix: string): string =>
    Object.keys(columns)
      .map((column) => `${column} = ${prefix}${column}`)
      .join(', ')
  if (places !== undefined) {
    return setQuery(
      dialect,
      `UPDATE ${names.triggers} AS t SET ${settings('r.')}
       FROM ${boundRows(dialect, { row_id: 'text', ...columns })} AS r
       WHERE ${places.hasId('t', 'r.row_id')} AND ${dialect.expectFew('r.row_id')}`,
    )
  }
  if (!runsRowByRow) return undefined
  return eachQuery(
    dialect,
    `UPDATE ${names.triggers} AS t SET ${settings(':')} WHERE ${dialect.rowId('t')} = :row_id`,
    [...Object.keys(columns), 'row_id'],
  )
}
