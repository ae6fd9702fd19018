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
  type Index,
  indexesFor,
  indexName,
  type Table,
} from './schema-tables.ts'

/** A part of the newest schema that a database lacks. */
export interface SchemaRepair {
  readonly what: string
  readonly statement: string
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
      .filter((index) => !hasIndex(vocabulary, index, state))
      .map((index) => ({
        what: `index '${indexName(vocabulary.names, index)}'`,
        statement: createIndex(vocabulary.dialect, vocabulary.names, index),
        isVital: false,
      })),
  ]
}

function repairsOf({ dialect, names }: SchemaVocabulary, table: Table, state: SchemaState): SchemaRepair[] {
  const name = names[table.name]
  const existing = state.columns.get(table.name)
  if (existing === undefined) {
    return [{ what: `table '${name}'`, statement: createTable(dialect, names, table), isVital: true }]
  }
  requireColumns(name, Object.keys(table.columns), existing)
  return Object.entries(table.additions ?? {})
    .filter(([column]) => !existing.has(column))
    .map(([column, type]) => ({
      what: `column '${name}.${column}'`,
      statement: addColumn(dialect, name, column, type),
      isVital: true,
    }))
}

/** Quartz's own script has other names for some indexes, and an order of columns that serves as well. */
function hasIndex({ dialect, names }: SchemaVocabulary, index: Index, state: SchemaState): boolean {
  if (isMade(names, index, state)) return true
  const wanted = index.columns(dialect).toSorted().join()
  return state.indexes.get(index.table)?.some(({ columns }) => columns.join() === wanted) === true
}
