import type { SqlDialect } from '../kernel/sql-dialect.ts'
import type { SqlNames } from '../kernel/sql-names.ts'

/** A column's type and whether it may be NULL, in an engine's SQL. */
export type ColumnType = (dialect: SqlDialect) => string

/** Text that is part of a key: compared by code point, whatever the database's language. */
export const keyText =
  (length: number): ColumnType =>
  ({ keyCollation }) =>
    `varchar(${length})${keyCollation} NOT NULL`
export const keyTextOrNull =
  (length: number): ColumnType =>
  ({ keyCollation }) =>
    `varchar(${length})${keyCollation}`
export const text =
  (length: number): ColumnType =>
  () =>
    `varchar(${length}) NOT NULL`
export const textOrNull =
  (length: number): ColumnType =>
  () =>
    `varchar(${length})`
export const longTextOrNull: ColumnType = () => 'text'
export const bigint: ColumnType = ({ types }) => `${types.bigint} NOT NULL`
export const bigintOrNull: ColumnType = ({ types }) => types.bigint
export const boolean: ColumnType = ({ types }) => `${types.boolean} NOT NULL`
export const booleanOrNull: ColumnType = ({ types }) => types.boolean
export const bytes: ColumnType = ({ types }) => `${types.bytes} NOT NULL`
export const bytesOrNull: ColumnType = ({ types }) => types.bytes
export const integer: ColumnType = () => 'integer NOT NULL'
export const integerOrNull: ColumnType = () => 'integer'
export const smallintOrNull: ColumnType = () => 'smallint'
export const decimalOrNull: ColumnType = () => 'numeric(13,4)'

export interface Table {
  readonly name: keyof SqlNames
  readonly columns: Readonly<Record<string, ColumnType>>
  /** Columns that Quartz does not have; they are added to tables of Quartz's own script. */
  readonly additions?: Readonly<Record<string, ColumnType>>
  readonly primaryKey: readonly string[]
  /** Its rows are short and are found by their key alone. */
  readonly isKeyed?: boolean
}

export interface Index {
  /** The name after `idx_` and the tables' prefix. */
  readonly name: string
  /** The name of the index in whose place it came, which is dropped: it has the same columns and another condition. */
  readonly replaces?: string
  readonly table: keyof SqlNames
  readonly columns: (dialect: SqlDialect) => readonly string[]
  /**
   * The scheduler's name, where the other columns find few rows. While statistics say that a table is nearly empty,
   * PostgreSQL would take an index that has it for one that finds rows by their keys. It is no part of the key there.
   */
  readonly carried?: 'sched_name'
  readonly where?: string
  /** Not made where Quartz's own script made the table, because one of its indexes serves. */
  readonly ownTablesOnly: boolean
  /** For engines of this kind alone. */
  readonly findsExecutionsBy?: SqlDialect['findsExecutionsBy']
}

/** Those of the indexes that an engine needs. */
export function indexesFor(dialect: SqlDialect, indexes: readonly Index[]): readonly Index[] {
  return indexes.filter(
    ({ findsExecutionsBy: kind }) => kind === undefined || kind === dialect.findsExecutionsBy,
  )
}

export function createTable(dialect: SqlDialect, names: SqlNames, table: Table): string {
  const columns = Object.entries({ ...table.columns, ...table.additions })
  const parts = columns.map(([name, type]) => `${name} ${type(dialect)}`)
  parts.push(`PRIMARY KEY (${table.primaryKey.join(', ')})`)
  const storage = table.isKeyed === true ? (dialect.keyedTable ?? '') : ''
  return `CREATE TABLE IF NOT EXISTS ${names[table.name]} (\n  ${parts.join(',\n  ')}\n)${storage}`
}

export function addColumn(dialect: SqlDialect, table: string, name: string, type: ColumnType): string {
  return `ALTER TABLE ${table} ADD COLUMN ${name} ${type(dialect)}`
}

export function indexName({ prefix }: SqlNames, { name }: Pick<Index, 'name'>): string {
  return `idx_${prefix}${name}`
}

export function dropIndex(names: SqlNames, index: Pick<Index, 'name'>): string {
  return `DROP INDEX IF EXISTS ${names.schema}${indexName(names, index)}`
}

export function createIndex(dialect: SqlDialect, names: SqlNames, index: Index): string {
  const where = index.where === undefined ? '' : ` WHERE ${index.where}`
  const { carried } = index
  const isApart = carried !== undefined && dialect.carriesColumns === true
  const columns = index.columns(dialect).filter((column) => !isApart || column !== carried)
  const included = isApart ? ` INCLUDE (${carried})` : ''
  return (
    `CREATE INDEX IF NOT EXISTS ${indexName(names, index)} ` +
    `ON ${names[index.table]} (${columns.join(', ')})${included}${where}`
  )
}
