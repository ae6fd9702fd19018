import { invariant } from '../../core/errors.ts'
import type { SqlDialect } from '../sql/kernel/sql-dialect.ts'
import type { SqlValue } from '../sql/kernel/statement.ts'
import type { SchemaDialect } from '../sql/migrations/schema-dialect.ts'

// Unquoted names are folded to lower case, keys of JSON objects are not.
const columnPattern = /^[a-z_][a-z0-9_]*$/

/** What `trim()` of JavaScript takes off: the inside of a class of a regular expression, in a text with escapes. */
const whiteSpace =
  String.raw`\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029` +
  String.raw`\\u202f\\u205f\\u3000\\ufeff`

/** PostgreSQL's dialect, for every version from 14 on. */
export const postgresDialect: SqlDialect = {
  placeholder: (position) => `$${String(position)}`,
  reusesParameters: true,
  runsRowByRow: false,
  rowSet(parameter, columns) {
    const list = Object.entries(columns).map(([name, type]) => {
      invariant(columnPattern.test(name), `column '${name}' of a row set is written in lower case`)
      return `${name} ${type}`
    })
    // The list of columns needs an alias directly before it, so the caller's alias needs a subquery, which the planner
    // removes. json is faster than jsonb when it is read once.
    return `(SELECT * FROM json_to_recordset(CAST(:${parameter} AS json)) AS r(${list.join(', ')}))`
  },
  // OFFSET keeps it apart from the rows that are looked up by it, as a set would be: the planner must not take another
  // index because it knows the values.
  oneRow: (columns) => {
    const list = columns.map(({ name, type, parameter }) => `CAST(:${parameter} AS ${type}) AS ${name}`)
    return `(SELECT ${list.join(', ')} OFFSET 0)`
  },
  columnSets: {
    of(columns) {
      const arrays = Object.entries(columns).map(([name, type]) => `CAST(:${name} AS ${type}[])`)
      return `(SELECT * FROM unnest(${arrays.join(', ')}) AS r (${Object.keys(columns).join(', ')}))`
    },
    textOf: (values) => `{${values.map(arrayElement).join(',')}}`,
  },
  // NO KEY: rows that only refer to the locked one by a foreign key may still be inserted. The planner estimates that a
  // comparison with an unknown value holds for one row of 200.
  expectFew: (column) => `${column} = ${column} || ''`,
  // After ANALYZE has seen a table with deleted rows alone, the planner expects one row there, whatever is stored until
  // the next ANALYZE, and then reading an index whole costs it no more than looking into it. It reads an index whole
  // only for its order, which serves to merge; and by this comparison it cannot merge. See docs/decisions/0027.
  lookedUp: (column, value) => `${column} = ANY(ARRAY[${value}])`,
  // Of two indexes that cost it the same, the one that holds this condition as well costs less than to check it.
  fromKey: (columns, values) => `(${columns.join(', ')}) >= (${values.join(', ')})`,
  deletesUsing: true,
  apart: 'OFFSET 0',
  carriesColumns: true,
  // A row that was changed since the statement began is locked in its newest version, which the statement does not see:
  // it is left out.
  isAmongLocked: (alias, locked, query) => `${alias}.ctid = ANY(ARRAY(SELECT ${locked}.ctid ${query}))`,
  places: {
    of: (alias) => `${alias}.ctid`,
    isAmong: (alias, query) => `${alias}.ctid = ANY(ARRAY(${query}))`,
    hasId: (alias, rowId) => `${alias}.ctid = CAST(${rowId} AS tid)`,
    // The last transaction that locked or changed the row; where several hold it, a number that stands for them.
    isLockedHere: (alias) => `${alias}.xmax = CAST(pg_current_xact_id() AS xid)`,
    // Behind a savepoint, as in a user's transaction, rows have a number of their own, which is younger.
    isWrittenHere: (alias) => `age(${alias}.xmin) <= age(CAST(pg_current_xact_id() AS xid))`,
  },
  rowId: (alias) => `CAST(${alias}.ctid AS text)`,
  isAmongRowIds: (alias, parameter) =>
    `${alias}.ctid = ANY(ARRAY(
       SELECT CAST(id AS tid) FROM json_array_elements_text(CAST(:${parameter} AS json)) AS id))`,
  isText: () => 'true',
  // Looks each key up in the index, also while the planner takes the table for empty.
  isAmongTexts: (column, parameter) =>
    `${column} = ANY(ARRAY(SELECT json_array_elements_text(CAST(:${parameter} AS json))))`,
  forUpdate: (alias) => `FOR NO KEY UPDATE OF ${alias}`,
  forShare: (alias) => `FOR SHARE OF ${alias}`,
  forUpdateSkipLocked: (alias) => `FOR NO KEY UPDATE OF ${alias} SKIP LOCKED`,
  // When a row was changed since the statement began, the server locks its newest version, and looks at the conditions
  // again with that and with what it has read of the other tables. OFFSET keeps the subquery apart, so that it holds
  // what was read. Of a bare comparison the planner expects that it holds for one row of 200, and then it reads and
  // sorts all rows.
  lockedAsFound: (alias) => ({
    join: `CROSS JOIN LATERAL (SELECT ${alias}.ctid AS id OFFSET 0) AS found`,
    condition: `COALESCE(found.id = ${alias}.ctid, false)`,
  }),
  findsExecutionsBy: 'name',
  keyCollation: ' COLLATE "C"',
  textToBytes: (expression) => `convert_to(${expression}, 'UTF8')`,
  // Not LIKE, because a name may hold its wildcards.
  startsWith: (column, operand) => `starts_with(${column}, CAST(${operand} AS text))`,
  endsWith: (column, operand) =>
    `right(${column}, length(CAST(${operand} AS text))) = CAST(${operand} AS text)`,
  contains: (column, operand) => `strpos(${column}, CAST(${operand} AS text)) > 0`,
  // In the collation "C" lower() changes A to Z alone, whatever the database's language.
  containsAnyCase: (column, pattern) => `lower(${column} COLLATE "C") LIKE ${pattern}`,
  // trim() of SQL knows one character, U+0020.
  isBlank: (column) => `${column} !~ E'[^${whiteSpace}]'`,
  beginsWithBytes: (column, hex) => `encode(substr(${column}, 1, ${hex.length / 2}), 'hex') = '${hex}'`,
  // clock_timestamp, because now() is the time of the begin of the transaction, before any wait for a lock.
  nowMs: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)',
  types: { bytes: 'bytea', bigint: 'bigint', boolean: 'boolean' },
}

/** Halves of surrogate pairs, which would be stored as another character. */
const halves = /\p{Surrogate}/u
const escaped = /["\\]/

function arrayElement(value: SqlValue): string {
  if (value === null) return 'NULL'
  if (typeof value !== 'string') return String(value)
  invariant(!halves.test(value), 'a bound text was checked for halves of surrogate pairs')
  return escaped.test(value) ? `"${value.replaceAll(/["\\]/g, '\\$&')}"` : `"${value}"`
}

export const postgresSchema: SchemaDialect = {
  // Not IF NOT EXISTS, which needs the right to create schemas even when the schema exists.
  createSchema: (schema) =>
    `DO $$ BEGIN IF to_regnamespace('${schema}') IS NULL THEN CREATE SCHEMA ${schema}; END IF; END $$`,
  indexesOf: (tables) =>
    `SELECT t.place, lower(c.relname) AS name,
       (SELECT string_agg(lower(a.attname), ',') FROM pg_attribute a
        WHERE a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)) AS columns
     FROM ${placed(tables)} JOIN pg_index i ON i.indrelid = t.id JOIN pg_class c ON c.oid = i.indexrelid`,
  columnsOf: (tables) =>
    `SELECT t.place, lower(a.attname) AS name FROM ${placed(tables)}
     JOIN pg_attribute a ON a.attrelid = t.id AND a.attnum > 0 AND NOT a.attisdropped`,
}

/** The tables that statements find, also by the search path. */
function placed(tables: readonly string[]): string {
  const rows = tables.map((table, place) => `(${place}, to_regclass('${table}'))`)
  return `(VALUES ${rows.join(', ')}) AS t (place, id)`
}
