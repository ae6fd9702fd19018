import type { RowSetType, SqlDialect } from './sql-dialect.ts'

/** The types of the columns of bound rows, by their names. */
type ColumnTypes = Readonly<Record<string, RowSetType>>

/** Stands in a text for the rows that the statement is about, until it is known how many they are. */
const openRows = /<<([^>]*)>>/g
/** Begins the names of parameters that are columns of the one row. */
const prefix = 'one_'

/** A table expression over the rows of a statement, which are bound as `rows`; put an alias behind it. */
export function rowsOf(dialect: SqlDialect, columns: ColumnTypes): string {
  if (dialect.oneRow === undefined) return dialect.rowSet('rows', columns)
  const list = Object.entries(columns).map(([name, type]) => `${name} ${type}`)
  return `<<${list.join(', ')}>>`
}

/** The text for any number of rows, bound as one JSON text under `:rows`. */
export function textForMany(dialect: SqlDialect, text: string): string {
  return text.replace(openRows, (_, list: string) => dialect.rowSet('rows', columnsIn(list)))
}

/**
 * The text for one row, whose columns are bound by themselves: a server reads no JSON for it. Null where the statement
 * is about no rows, or the dialect makes no difference.
 */
export function textForOne(dialect: SqlDialect, text: string): string | null {
  const { oneRow } = dialect
  if (oneRow === undefined || text.search(openRows) < 0) return null
  return text.replace(openRows, (_, list: string) => {
    const columns = Object.entries(columnsIn(list))
    return oneRow(columns.map(([name, type]) => ({ name, type, parameter: `${prefix}${name}` })))
  })
}

/** The column of the one row that a parameter stands for; null for a parameter of the statement. */
export function columnOf(parameter: string): string | null {
  return parameter.startsWith(prefix) ? parameter.slice(prefix.length) : null
}

function columnsIn(list: string): ColumnTypes {
  const columns = list.split(', ').map((column) => column.split(' ') as [string, RowSetType])
  return Object.fromEntries(columns)
}
