import type { SqlDialect } from '../sql/kernel/sql-dialect.ts'
import type { SchemaDialect } from '../sql/migrations/schema-dialect.ts'

/** SQLite's dialect. LIKE ignores the case of A to Z in SQLite. */
export const sqliteDialect: SqlDialect = {
  placeholder: () => '?',
  reusesParameters: false,
  // Reading a wide row from JSON costs more than storing it.
  runsRowByRow: true,
  // Each transaction that writes is an immediate one.
  excludesWriters: true,
  rowSet(parameter, columns) {
    // Values keep the type that they have in JSON (a boolean reads as 0 or 1), so no types are given.
    const list = Object.keys(columns).map((name) => `value ->> '${name}' AS ${name}`)
    return `(SELECT ${list.join(', ')} FROM json_each(:${parameter}))`
  },
  // SQLite keeps the order of a CROSS JOIN, so the plan does not depend on statistics.
  expectFew: () => 'true',
  isAmongLocked: (alias, locked, query) => `${alias}.rowid IN (SELECT ${locked}.rowid ${query})`,
  rowId: (alias) => `${alias}.rowid`,
  isAmongRowIds: (alias, parameter) => `${alias}.rowid IN (SELECT value FROM json_each(:${parameter}))`,
  isText: (column) => `typeof(${column}) = 'text'`,
  isAmongTexts: (column, parameter) => `${column} IN (SELECT value FROM json_each(:${parameter}))`,
  // An immediate transaction excludes every other writer.
  forUpdate: () => '',
  forShare: () => '',
  forUpdateSkipLocked: () => '',
  lockedAsFound: () => ({ join: '', condition: 'true' }),
  findsExecutionsBy: 'time',
  keyedTable: ' WITHOUT ROWID',
  // Text is compared byte by byte, which in UTF-8 is by code point.
  keyCollation: '',
  textToBytes: (expression) => `CAST(${expression} AS BLOB)`,
  startsWith: (column, operand) => `substr(${column}, 1, length(${operand})) = ${operand}`,
  // A start of -0 would be the whole text.
  endsWith: (column, operand) => `(${operand} = '' OR substr(${column}, -length(${operand})) = ${operand})`,
  contains: (column, operand) => `instr(${column}, ${operand}) > 0`,
  containsAnyCase: (column, pattern) => `${column} LIKE ${pattern} ESCAPE '\\'`,
  beginsWithBytes: (column, hex) => `lower(hex(substr(${column}, 1, ${hex.length / 2}))) = '${hex}'`,
  nowMs: null,
  types: { bytes: 'blob', bigint: 'bigint', boolean: 'boolean' },
}

export const sqliteSchema: SchemaDialect = {
  createSchema: () => null,
  indexesOf: (tables) =>
    `SELECT t.place, lower(l.name) AS name,
       (SELECT group_concat(lower(i.name)) FROM pragma_index_info(l.name) AS i) AS columns
     FROM ${placed(tables)} JOIN pragma_index_list(t.name) AS l`,
  columnsOf: (tables) =>
    `SELECT t.place, lower(c.name) AS name FROM ${placed(tables)} JOIN pragma_table_info(t.name) AS c`,
}

function placed(tables: readonly string[]): string {
  const rows = tables.map((table, place) => `SELECT ${place} AS place, '${table}' AS name`)
  return `(${rows.join(' UNION ALL ')}) AS t`
}
