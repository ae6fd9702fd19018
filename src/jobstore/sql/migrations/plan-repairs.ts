import {
  isMade,
  newestIndexes,
  newestTables,
  requireColumns,
  type SchemaState,
  type SchemaVocabulary,
} from './plan-migrations.ts'
import {
  addColumn,
  createIndex,
  createTable,
  dropIndex,
  type Index,
  indexesFor,
  indexName,
  type Table,
} from './schema-tables.ts'

/** A part of the newest schema that a database lacks. */
export interface SchemaRepair {
  readonly what: string
  readonly statements: readonly string[]
  /** Whether statements fail without it; without an index they are only slow. */
  readonly isVital: boolean
}

/**
 * The missing parts of a database to which all steps were applied: tables may have been made anew by the script of
 * Quartz, or restored in part.
 *
 * @throws JobPersistenceError ERR_SCHEMA_TOO_OLD for a table that lacks columns of Quartz, whose values cannot be made
 * up
 */
export function planRepairs(vocabulary: SchemaVocabulary, state: SchemaState): readonly SchemaRepair[] {
  return [
    ...newestTables.flatMap((table) => repairsOf(vocabulary, table, state)),
    ...indexesFor(vocabulary.dialect, newestIndexes)
      .map((index) => ({
        what: `index '${indexName(vocabulary.names, index)}'`,
        statements: repairsOfIndex(vocabulary, index, state),
        isVital: false,
      }))
      .filter(({ statements }) => statements.length > 0),
  ]
}

function repairsOf({ dialect, names }: SchemaVocabulary, table: Table, state: SchemaState): SchemaRepair[] {
  const name = names[table.name]
  const existing = state.columns.get(table.name)
  if (existing === undefined) {
    return [{ what: `table '${name}'`, statements: [createTable(dialect, names, table)], isVital: true }]
  }
  requireColumns(name, Object.keys(table.columns), existing)
  return Object.entries(table.additions ?? {})
    .filter(([column]) => !existing.has(column))
    .map(([column, type]) => ({
      what: `column '${name}.${column}'`,
      statements: [addColumn(dialect, name, column, type)],
      isVital: true,
    }))
}

/** Makes a missing index, and drops the one in whose place it came: each write to the table would keep up both. */
function repairsOfIndex(vocabulary: SchemaVocabulary, index: Index, state: SchemaState): string[] {
  const { dialect, names } = vocabulary
  const { table, replaces } = index
  const former = replaces === undefined ? null : { table, name: replaces }
  return [
    ...(former !== null && isMade(names, former, state) ? [dropIndex(names, former)] : []),
    ...(hasIndex(vocabulary, index, state) ? [] : [createIndex(dialect, names, index)]),
  ]
}

/**
 * Quartz's own script has other names for some indexes, and an order of columns that serves as well. An index in whose
 * place another one came has the same columns, and does not serve.
 */
function hasIndex({ dialect, names }: SchemaVocabulary, index: Index, state: SchemaState): boolean {
  if (isMade(names, index, state)) return true
  if (index.replaces !== undefined) return false
  const wanted = index.columns(dialect).toSorted().join()
  return state.indexes.get(index.table)?.some(({ columns }) => columns.join() === wanted) === true
}
