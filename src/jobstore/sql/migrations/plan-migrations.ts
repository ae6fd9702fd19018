import { JobPersistenceError } from '../../../core/errors.ts'
import type { SqlDialect } from '../kernel/sql-dialect.ts'
import type { SqlNames } from '../kernel/sql-names.ts'
import { indexesOf1, tablesOf1 } from './migration-1.ts'
import { columnsOf2, indexesOf2, tablesOf2 } from './migration-2.ts'
import type { SchemaDialect } from './schema-dialect.ts'
import {
  addColumn,
  createIndex,
  createTable,
  type Index,
  indexesFor,
  indexName,
  type Table,
} from './schema-tables.ts'

/** The names and the dialect of a schema. */
export interface SchemaVocabulary {
  readonly dialect: SqlDialect
  readonly schema: SchemaDialect
  readonly names: SqlNames
}

/** The present state of a database. */
export interface SchemaState {
  /** The migrations that were applied. */
  readonly versions: readonly { readonly version: number; readonly breaking: boolean }[]
  /** The columns of those tables that exist. */
  readonly columns: ReadonlyMap<keyof SqlNames, ReadonlySet<string>>
  /** The indexes of those tables. */
  readonly indexes: ReadonlyMap<keyof SqlNames, readonly StoredIndex[]>
}

export interface StoredIndex {
  readonly name: string
  /** Sorted; without expressions. */
  readonly columns: readonly string[]
}

/** One step of the schema. Steps only go forward, and a released step is never changed. */
interface Migration {
  readonly version: number
  /** Whether code that does not know this step must not use a database that has it. */
  readonly breaking: boolean
  readonly changes: (vocabulary: SchemaVocabulary, state: SchemaState) => readonly SchemaChange[]
}

/** One statement of a step. */
export interface SchemaChange {
  readonly kind: 'table' | 'column' | 'index'
  readonly table: keyof SqlNames
  readonly statement: string
}

export interface PlannedMigration {
  readonly version: number
  readonly breaking: boolean
  readonly changes: readonly SchemaChange[]
}

const migrations: readonly Migration[] = [
  { version: 1, breaking: true, changes: createOrAdopt },
  { version: 2, breaking: false, changes: addTablesOf2 },
]

/** The tables of the newest schema, with the columns that later steps have added. */
export const newestTables: readonly Table[] = [
  ...tablesOf1.map((table) => {
    const later = columnsOf2[table.name]
    return later === undefined ? table : { ...table, additions: { ...table.additions, ...later } }
  }),
  ...tablesOf2,
]

export const newestIndexes: readonly Index[] = [...indexesOf1, ...indexesOf2]

/** The newest version that this code knows. */
export const newestSchemaVersion: number = Math.max(...migrations.map(({ version }) => version))

/** An empty database. */
export const emptySchema: SchemaState = { versions: [], columns: new Map(), indexes: new Map() }

/** A database in which only the script of Quartz itself was run. */
export const schemaOfQuartz: SchemaState = {
  versions: [],
  indexes: new Map(),
  columns: new Map(
    tablesOf1
      .filter(({ name }) => name !== 'pausedJobGroups' && name !== 'history')
      .map(({ name, columns }) => [name, new Set(Object.keys(columns))]),
  ),
}

/** What a script is printed for without a look at a database. */
export const knownSchemas: Readonly<Record<'empty' | 'quartz', SchemaState>> = {
  empty: emptySchema,
  quartz: schemaOfQuartz,
}

/** The tables whose columns must be known to make a plan. */
export const tablesToInspect: readonly (keyof SqlNames)[] = newestTables.map(({ name }) => name)

/**
 * The missing steps of a database, in order.
 *
 * @throws JobPersistenceError ERR_SCHEMA_TOO_OLD for a table that lacks columns of Quartz, whose values cannot be made
 * up
 */
export function planMigrations(
  vocabulary: SchemaVocabulary,
  state: SchemaState,
): readonly PlannedMigration[] {
  const applied = new Set(state.versions.map(({ version }) => version))
  // Before anything is changed, also by a step that makes other tables.
  for (const { name, columns } of newestTables) {
    requireColumns(vocabulary.names[name], Object.keys(columns), state.columns.get(name))
  }
  return migrations
    .filter(({ version }) => !applied.has(version))
    .map(({ version, breaking, changes }) => ({ version, breaking, changes: changes(vocabulary, state) }))
}

/** The statements before the first migration: they make the table of applied migrations. */
export function versionTable({ dialect, schema, names }: SchemaVocabulary): readonly string[] {
  const { types } = dialect
  const createSchema = names.schema === '' ? null : schema.createSchema(names.schema.slice(0, -1))
  const create =
    `CREATE TABLE IF NOT EXISTS ${names.schemaVersion} (version integer NOT NULL PRIMARY KEY, ` +
    `breaking ${types.boolean} NOT NULL, applied_time ${types.bigint} NOT NULL)`
  return createSchema === null ? [create] : [createSchema, create]
}

/** Makes missing tables and columns. Tables that Quartz's own script made are kept with their rows. */
function createOrAdopt(vocabulary: SchemaVocabulary, state: SchemaState): readonly SchemaChange[] {
  const tables = tablesOf1.flatMap((table) =>
    state.columns.has(table.name)
      ? newColumns(vocabulary, state, table.name, table.additions)
      : [newTable(vocabulary, table)],
  )
  const indexes = indexesOf1.filter(({ table, ownTablesOnly }) => !ownTablesOnly || !state.columns.has(table))
  return [...tables, ...newIndexes(vocabulary, state, indexes)]
}

/** Makes the tables and columns of the second step. */
function addTablesOf2(vocabulary: SchemaVocabulary, state: SchemaState): readonly SchemaChange[] {
  return [
    ...tablesOf2.map((table) => newTable(vocabulary, table)),
    ...tablesOf1.flatMap(({ name }) => newColumns(vocabulary, state, name, columnsOf2[name])),
    ...newIndexes(vocabulary, state, indexesFor(vocabulary.dialect, indexesOf2)),
  ]
}

function newTable({ dialect, names }: SchemaVocabulary, table: Table): SchemaChange {
  return { kind: 'table', table: table.name, statement: createTable(dialect, names, table) }
}

function newColumns(
  { dialect, names }: SchemaVocabulary,
  { columns }: SchemaState,
  table: keyof SqlNames,
  added: Table['additions'] = {},
): readonly SchemaChange[] {
  return Object.entries(added)
    .filter(([name]) => columns.get(table)?.has(name) !== true)
    .map(([name, type]) => ({
      kind: 'column',
      table,
      statement: addColumn(dialect, names[table], name, type),
    }))
}

/** Without those that are there: the statement would lock the table before it finds that there is nothing to do. */
function newIndexes(
  { dialect, names }: SchemaVocabulary,
  state: SchemaState,
  indexes: readonly Index[],
): readonly SchemaChange[] {
  return indexes
    .filter((index) => !isMade(names, index, state))
    .map((index) => ({
      kind: 'index',
      table: index.table,
      statement: createIndex(dialect, names, index),
    }))
}

/** Whether a table has an index of this name. */
export function isMade(
  names: SqlNames,
  index: Pick<Index, 'name' | 'table'>,
  { indexes }: SchemaState,
): boolean {
  const made = indexName(names, index).toLowerCase()
  return indexes.get(index.table)?.some(({ name }) => name === made) === true
}

/** @throws JobPersistenceError ERR_SCHEMA_TOO_OLD where a table is not the one of its name, or not all of it */
export function requireColumns(
  name: string,
  columns: readonly string[],
  existing: ReadonlySet<string> | undefined,
): void {
  if (existing === undefined) return
  const lost = columns.filter((column) => !existing.has(column))
  if (lost.length > 0) throw unknownTable(name, lost)
}

function unknownTable(name: string, columns: readonly string[]): JobPersistenceError {
  const list = columns.map((column) => `'${column}'`).join(', ')
  return new JobPersistenceError(
    `The table '${name}' lacks ${list}, which every table of this name has: it is not one of Quartz's, or part of it ` +
      'was dropped. Restore it, or drop it when nothing in it is needed and migrate again; or use another tablePrefix.',
    { code: 'ERR_SCHEMA_TOO_OLD' },
  )
}
