import { rowsOf } from './bound-rows.ts'
import type { RowSetType, SqlDialect } from './sql-dialect.ts'
import type { SqlVocabulary } from './sql-vocabulary.ts'
import {
  all,
  later,
  type PendingReply,
  rowByRowQuery,
  type SqlProgram,
  type SqlQuery,
  type SqlRow,
  type SqlRows,
  type SqlStatement,
  type SqlValue,
  sqlQuery,
} from './statement.ts'

/** The type of a column of bound rows: bytes are bound as text. */
export type ColumnType = RowSetType | 'bytes'
export type Columns = Readonly<Record<string, ColumnType>>

interface BoundTypes {
  readonly text: string
  readonly bytes: string
  readonly bigint: number
  readonly boolean: boolean
}

/** A row as it is bound, in JSON. */
export type RowOf<Shape extends Columns> = {
  readonly [Column in keyof Shape]: BoundTypes[Shape[Column]] | null
}

/** A statement about many rows of one scheduler. */
export type SetQuery = SqlQuery<{ readonly scheduler: string; readonly rows: SqlRows }>
/** A statement that stores rows. */
export interface RowsQuery {
  (scheduler: string, rows: readonly object[]): SqlStatement
  /** The text with its parameters by name, for people. */
  readonly namedText: string
}
/** A statement about rows that name their scheduler themselves. */
export type KeyQuery = SqlQuery<{ readonly rows: SqlRows }>
/** The same, made of the rows: an engine that runs rows one by one needs no text of them. */
export interface RowSetQuery {
  (rows: readonly object[]): SqlStatement
  /** The text with its parameters by name, for people. */
  readonly namedText: string
}

/** How many rows one statement gets, so that its bound text stays small. */
export const rowsPerStatement = 5000

/**
 * How many rows an engine that runs rows one by one stores at once: with more, a row takes SQLite no less time. They
 * are about 500 parameters at most, of 32,766 that it allows.
 */
const rowsAtOnce = 16

/** A table expression over the rows bound as `:rows`; alias it `r`. */
export function boundRows(dialect: SqlDialect, columns: Columns): string {
  return rowsOf(dialect, columnTypes(columns))
}

/** The types of columns as they are bound. */
function columnTypes(columns: Columns): Readonly<Record<string, RowSetType>> {
  const types = Object.entries(columns).map(([column, type]): [string, RowSetType] => {
    return [column, type === 'bytes' ? 'text' : type]
  })
  return Object.fromEntries(types)
}

/**
 * Key columns of bound rows that name their scheduler themselves. With one value for all, a planner without statistics
 * expects few rows of the scheduler and reads all of them instead of the named ones.
 */
export function withScheduler<Key extends Columns>(key: Key): Key & { readonly sched_name: 'text' } {
  return { ...key, sched_name: 'text' }
}

/**
 * The condition that a row of a table is one that a bound row `r` names. `first`: the first column of the index of
 * these columns, where it is not the primary key.
 */
export function isRow(dialect: SqlDialect, alias: string, key: Columns, first?: string): string {
  const conditions = [hasKeyOf(dialect, alias, 'r', key, first), dialect.expectFew('r.sched_name')]
  // In the order of the index: groups come before names.
  const columns = Object.keys(key).toReversed()
  if (dialect.fromKey !== undefined && first === undefined && columns.length > 1) {
    const of = (table: string): string[] => columns.map((column) => `${table}.${column}`)
    conditions.push(dialect.fromKey(of(alias), of('r')))
  }
  return conditions.join(' AND ')
}

/** The condition that a row of a table has the key that another row names, see {@link isRow}. */
export function hasKeyOf(
  dialect: SqlDialect,
  alias: string,
  other: string,
  key: Columns,
  first?: string,
): string {
  return ['sched_name', ...Object.keys(key)]
    .map((column) => {
      const columns = [`${alias}.${column}`, `${other}.${column}`] as const
      return column === 'sched_name' || column === first ? lookedUp(dialect, ...columns) : columns.join(' = ')
    })
    .join(' AND ')
}

/**
 * The condition that a row is among those of its table that a query answers, to delete or change them. It is given from
 * FROM on, and run once. `other` stands for its rows, and `key` has the columns of the primary key. Rows that another
 * transaction holds are left out, so that one of them does not hold up all others.
 */
export function isAmongFree(
  dialect: SqlDialect,
  alias: string,
  other: string,
  { key, query }: { readonly key: readonly string[]; readonly query: string },
): string {
  const { places } = dialect
  const free = `${query} ${dialect.forUpdateSkipLocked(other)}`
  if (places !== undefined) return places.isAmong(alias, `SELECT ${places.of(other)} ${free}`)
  const columns = (of: string): string => key.map((column) => `${of}.${column}`).join(', ')
  return `(${columns(alias)}) IN (SELECT ${columns(other)} ${free})`
}

/** Whether there is a row; the subquery is given from FROM on, and is run once for each row around it. */
export function exists({ apart = '' }: SqlDialect, query: string): string {
  return `EXISTS (SELECT 1 ${query} ${apart})`
}

/** The condition that the first column of an index has the value of another row. */
export function lookedUp(dialect: SqlDialect, column: string, value: string): string {
  return dialect.lookedUp?.(column, value) ?? `${column} = ${value}`
}

/** Stores rows. */
export function insertQuery(vocabulary: SqlVocabulary, table: string, columns: Columns): RowsQuery {
  return insertion(vocabulary, table, columns, '')
}

/**
 * Stores rows of new keys, and leaves existing ones as they are. `constants`: expressions of columns that are the same
 * in all rows, and are not bound.
 */
export function insertMissingQuery(
  vocabulary: SqlVocabulary,
  table: string,
  columns: Columns,
  constants: Readonly<Record<string, string>> = {},
): RowsQuery {
  return insertion(vocabulary, table, columns, 'ON CONFLICT DO NOTHING', constants)
}

/** Stores rows over those of the same key; columns that are not named keep their values. */
export function upsertQuery(
  vocabulary: SqlVocabulary,
  table: string,
  key: Columns,
  columns: Columns,
): RowsQuery {
  const changed = Object.keys(columns).filter((column) => !(column in key))
  return insertion(
    vocabulary,
    table,
    columns,
    `ON CONFLICT (sched_name, ${Object.keys(key).join(', ')})
     DO UPDATE SET ${changed.map((column) => `${column} = excluded.${column}`).join(', ')}`,
  )
}

function insertion(
  { dialect }: SqlVocabulary,
  table: string,
  columns: Columns,
  onConflict: string,
  constants: Readonly<Record<string, string>> = {},
): RowsQuery {
  const names = Object.keys(columns)
  const into = `INSERT INTO ${table} (${['sched_name', ...names, ...Object.keys(constants)].join(', ')})`
  const same = Object.values(constants)
  const values = Object.entries(columns).map(([name, type]) => {
    return type === 'bytes' ? dialect.textToBytes(`:${name}`) : `:${name}`
  })
  const rowText = `(${[':scheduler', ...values, ...same].join(', ')})`
  const text = `${into} VALUES ${rowText} ${onConflict}`
  const valuesOf = (scheduler: string, row: object): readonly SqlValue[] => {
    const given = row as Readonly<Record<string, SqlValue | undefined>>
    return [scheduler, ...names.map((name) => given[name] ?? null)]
  }
  if (dialect.runsRowByRow) {
    const atOnce = `${into} VALUES ${Array(rowsAtOnce).fill(rowText).join(', ')} ${onConflict}`
    const each = rowByRowQuery(dialect, text, { runs: rowsAtOnce, text: atOnce })
    const ofRows = (scheduler: string, rows: readonly object[]): SqlStatement =>
      each(rows.map((given) => valuesOf(scheduler, given)))
    return Object.assign(ofRows, { namedText: each.namedText })
  }
  const each = rowByRowQuery(dialect, text)
  const { columnSets } = dialect
  const selected = Object.entries(columns).map(([name, type]) => valueOf(dialect, name, type))
  const bound = columnSets?.of(columnTypes(columns)) ?? boundRows(dialect, columns)
  const all: SqlQuery<Readonly<Record<string, SqlValue | SqlRows>>> = sqlQuery(
    dialect,
    `${into} SELECT ${[':scheduler', ...selected, ...same].join(', ')} FROM ${bound} AS r WHERE true ${onConflict}`,
  )
  const ofRows = (scheduler: string, rows: readonly object[]): SqlStatement => {
    const [row] = rows
    // Reading a set of one row would take the server longer than storing it.
    if (row !== undefined && rows.length === 1) return each.ofOne(valuesOf(scheduler, row))
    if (columnSets === undefined) return all({ scheduler, rows })
    const values: Record<string, SqlValue | SqlRows> = { scheduler }
    for (const name of names) {
      values[name] = columnSets.textOf(
        (rows as readonly Readonly<Record<string, SqlValue | undefined>>[]).map((row) => row[name] ?? null),
      )
    }
    return all(values)
  }
  return Object.assign(ofRows, { namedText: all.namedText })
}

/** Changes columns of the rows that bound rows name. */
export function updateQuery(
  { dialect }: SqlVocabulary,
  table: string,
  key: Columns,
  changes: Columns,
): RowSetQuery {
  if (dialect.runsRowByRow) {
    const settings = Object.entries(changes).map(([column, type]) => {
      return `${column} = ${type === 'bytes' ? dialect.textToBytes(`:${column}`) : `:${column}`}`
    })
    const columns = [...Object.keys(changes), ...Object.keys(withScheduler(key))]
    return eachQuery(dialect, `UPDATE ${table} SET ${settings.join(', ')} WHERE ${isNamed(key)}`, columns)
  }
  const settings = Object.entries(changes).map(
    ([column, type]) => `${column} = ${valueOf(dialect, column, type)}`,
  )
  return setQuery(
    dialect,
    `UPDATE ${table} AS t SET ${settings.join(', ')}
     FROM ${boundRows(dialect, { ...withScheduler(key), ...changes })} AS r WHERE ${isRow(dialect, 't', key)}`,
  )
}

/** Deletes the rows that bound rows name. */
export function deleteQuery(
  { dialect }: SqlVocabulary,
  table: string,
  key: Columns,
  first?: string,
): RowSetQuery {
  return dialect.runsRowByRow
    ? eachQuery(dialect, `DELETE FROM ${table} WHERE ${isNamed(key)}`, Object.keys(withScheduler(key)))
    : setQuery(dialect, deleteNamed(dialect, { table, alias: 't', key, first }, 'true'))
}

/** The text that deletes the rows that bound rows name, of those for which a condition holds. */
export function deleteNamed(
  dialect: SqlDialect,
  { table, alias, key, first }: KeyedTable,
  condition: string,
  returned: readonly string[] = [],
): string {
  const isUsing = dialect.deletesUsing === true
  // Bound rows have columns of the same names; SQLite knows no alias behind RETURNING.
  const columns = returned.map((column) => (isUsing ? `${alias}.${column}` : column)).join(', ')
  const named = isUsing
    ? `USING ${boundRows(dialect, withScheduler(key))} AS r WHERE ${isRow(dialect, alias, key, first)}`
    : `WHERE ${isAmongRows(dialect, key)}`
  const returning = columns === '' ? '' : `RETURNING ${columns}`
  return `DELETE FROM ${table} AS ${alias} ${named} AND ${condition} ${returning}`
}

interface KeyedTable {
  readonly table: string
  readonly alias: string
  readonly key: Columns
  /** See {@link isRow}. */
  readonly first?: string | undefined
}

/** The rows of a table that bound rows name; one by one they are looked up in the order in which they are named. */
export function selectQuery(
  { dialect }: SqlVocabulary,
  { table, alias, key, first }: KeyedTable,
  {
    selected,
    order,
    locking,
  }: { readonly selected: string; readonly order: string; readonly locking: string },
): RowSetQuery {
  if (dialect.runsRowByRow) {
    const text = `SELECT ${selected} FROM ${table} AS ${alias} WHERE ${isNamed(key, `${alias}.`)} ${locking}`
    return eachQuery(dialect, text, Object.keys(withScheduler(key)))
  }
  return setQuery(
    dialect,
    `SELECT ${selected} FROM ${boundRows(dialect, withScheduler(key))} AS r CROSS JOIN ${table} AS ${alias}
     WHERE ${isRow(dialect, alias, key, first)} ${order} ${locking}`,
  )
}

/** The condition that a row is the one that the parameters of a statement for each row name. */
export function isNamed(key: Columns, prefix: string = ''): string {
  return Object.keys(withScheduler(key))
    .map((column) => `${prefix}${column} = :${column}`)
    .join(' AND ')
}

/** A statement that is run for each row, with these columns in the order in which the text names them. */
export function eachQuery(dialect: SqlDialect, text: string, columns: readonly string[]): RowSetQuery {
  const each = rowByRowQuery(dialect, text)
  const ofRows = (rows: readonly object[]): SqlStatement =>
    each(
      (rows as readonly Readonly<Record<string, SqlValue | undefined>>[]).map((row) =>
        columns.map((column) => row[column] ?? null),
      ),
    )
  return Object.assign(ofRows, { namedText: each.namedText })
}

/** A statement that is run once, for all rows. */
export function setQuery(dialect: SqlDialect, text: string): RowSetQuery {
  const all: KeyQuery = sqlQuery(dialect, text)
  const ofRows = (rows: readonly object[]): SqlStatement => all({ rows })
  return Object.assign(ofRows, { namedText: all.namedText })
}

/** Deletes all rows of a scheduler. */
export function clearQuery(
  { dialect }: SqlVocabulary,
  table: string,
): SqlQuery<{ readonly scheduler: string }> {
  return sqlQuery(dialect, `DELETE FROM ${table} WHERE sched_name = :scheduler`)
}

/** The condition that a row of a table is one of those that bound rows name. */
function isAmongRows(dialect: SqlDialect, key: Columns): string {
  const columns = Object.keys(withScheduler(key))
  return `(${columns.join(', ')}) IN (SELECT ${columns.map((column) => `r.${column}`).join(', ')}
    FROM ${boundRows(dialect, withScheduler(key))} AS r WHERE ${dialect.expectFew('r.sched_name')})`
}

function valueOf(dialect: SqlDialect, column: string, type: ColumnType): string {
  return type === 'bytes' ? dialect.textToBytes(`r.${column}`) : `r.${column}`
}

/** Writes rows by as many runs of a statement as their number needs, without waiting. */
export function* writeOver(
  rows: readonly object[],
  statement: (rows: SqlRows) => SqlStatement,
): SqlProgram<void> {
  for (const each of statementsOver(rows, statement)) yield* later(each)
}

/** Stores rows by as many statements as their number needs, without waiting. */
export function* storeRows(scheduler: string, rows: readonly object[], query: RowsQuery): SqlProgram<void> {
  for (const some of chunksOf(rows)) yield* later(query(scheduler, some))
}

/** Changes rows by as many statements as their number needs, without waiting. */
export function* changeRows(rows: readonly object[], query: RowSetQuery): SqlProgram<void> {
  for (const some of chunksOf(rows)) yield* later(query(some))
}

/** Reads rows by as many statements as their number needs. */
export function* readRows(rows: readonly object[], query: RowSetQuery): SqlProgram<readonly SqlRow[]> {
  return yield* readAll(queriesOver(rows, query))
}

/** As many rows at a time as one statement gets. */
export function* chunksOf<Row extends object>(rows: readonly Row[]): Iterable<readonly Row[]> {
  const isWhole = rows.length <= rowsPerStatement
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    yield isWhole ? rows : rows.slice(from, from + rowsPerStatement)
  }
}

/** Runs a statement over rows as often as their number needs; answers the rows that it returned. */
export function* runOver(
  rows: readonly object[],
  statement: (rows: SqlRows) => SqlStatement,
): SqlProgram<readonly SqlRow[]> {
  return yield* readAll(statementsOver(rows, statement))
}

function* queriesOver(rows: readonly object[], query: RowSetQuery): Iterable<SqlStatement> {
  for (const some of chunksOf(rows)) yield query(some)
}

/** Runs statements and answers the rows of all: while an engine runs one, the next is made. */
function* readAll(statements: Iterable<SqlStatement>): SqlProgram<readonly SqlRow[]> {
  const before: PendingReply[] = []
  let last: SqlStatement | null = null
  for (const statement of statements) {
    if (last !== null) before.push(yield* later(last))
    last = statement
  }
  if (last === null) return []
  const rows = yield* all(last)
  return before.length === 0 ? rows : [...before.map(({ reply }) => reply.rows), rows].flat()
}

/** The statements for the rows, each made when the iterator reaches it. */
function* statementsOver(
  rows: readonly object[],
  statement: (rows: SqlRows) => SqlStatement,
): Iterable<SqlStatement> {
  for (const some of chunksOf(rows)) yield statement(some)
}
