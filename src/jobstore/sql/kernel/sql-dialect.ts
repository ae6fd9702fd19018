/** The type of a column in a set of rows that is bound as one JSON text. */
export type RowSetType = 'text' | 'bigint' | 'boolean'

/** A column of a row that is bound by itself as `:parameter`. */
export interface BoundColumn {
  readonly name: string
  readonly type: RowSetType
  readonly parameter: string
}

/** Where rows are, for statements that go back to rows which their transaction has locked. */
export interface RowPlaces {
  /** The place of the version of a row that the statement sees. */
  of(alias: string): string
  /** Whether row `alias` is in one of the places that a query answers; it is run once. */
  isAmong(alias: string, query: string): string
  /** Whether row `alias` is the one with this row id, which is an expression for a text. */
  hasId(alias: string, rowId: string): string
  /** Whether an earlier statement of this transaction, and no other transaction, has locked the row. */
  isLockedHere(alias: string): string
  /**
   * Whether this transaction has written the version of the row that the statement sees. It may also hold where another
   * one has that began later.
   */
  isWrittenHere(alias: string): string
}

/** Sets of rows that are bound column by column: an engine reads them in half the time that it takes to read JSON. */
export interface ColumnSets {
  /**
   * A table expression over columns of as many values each, which are bound as one text under the name of the column;
   * put an alias behind it.
   */
  of(columns: Readonly<Record<string, RowSetType>>): string
  /** The text to bind for the values of a column. */
  textOf(values: readonly (string | number | boolean | null)[]): string
}

/**
 * The differences of the engines' SQL, and nothing else: algorithms and statements exist once, in `jobstore/sql`. They
 * choose a strategy by capabilities, never by an engine's name.
 */
export interface SqlDialect {
  /** The placeholder of the n-th value, from 1. */
  placeholder(position: number): string
  /** Whether one run of a statement for each row stores rows faster than one statement for all. */
  readonly runsRowByRow: boolean
  /**
   * Whether a transaction excludes all other writers, so that no row need be locked before it is changed. Default:
   * false. Only where statements run row by row and replies have `changesOfEach`.
   */
  readonly excludesWriters?: boolean
  /** Whether one placeholder may stand for the same value in several places. */
  readonly reusesParameters: boolean
  /**
   * A table expression over the JSON array of objects that is bound as `:parameter`, with the given columns; put an
   * alias behind it.
   */
  rowSet(parameter: string, columns: Readonly<Record<string, RowSetType>>): string
  /**
   * A table expression over one row, each column of which is bound by itself as `:parameter`; put an alias behind it.
   * For engines that read a set of one row slowly. Left out: such a row is bound as a set.
   */
  readonly oneRow?: (columns: readonly BoundColumn[]) => string
  /** How rows to be stored are bound. Left out where statements run row by row. Default: as {@link rowSet}. */
  readonly columnSets?: ColumnSets
  /**
   * A condition on a column of bound rows that always holds. It makes a planner that estimates row counts expect few
   * rows, so that it looks each row up in an index instead of reading the other table whole: its statistics of that
   * table may be from when it was empty.
   */
  expectFew(column: string): string
  /**
   * The condition that the first column of an index has the value of another row. Left out: `column = value`. It is for
   * planners that go through an index whole, once for each of the other rows, where their statistics are from when the
   * table was empty.
   */
  readonly lookedUp?: (column: string, value: string) => string
  /**
   * A condition that is true for the row with these columns of its key, in the order of the index, and for others. It
   * is for planners that see no difference between the index of the whole key and one with its first column alone.
   * Left out: no condition.
   */
  readonly fromKey?: (columns: readonly string[], values: readonly string[]) => string
  /**
   * What ends a subquery that must be run for each row of the statement around it, for planners that would join it
   * instead. Left out: nothing.
   */
  readonly apart?: string
  /** Whether a DELETE may name other rows behind USING. Default: false, and the rows are compared by IN. */
  readonly deletesUsing?: boolean
  /**
   * Whether an index can carry columns that are no part of its key (`INCLUDE`). Default: false, and they are columns of
   * its key.
   */
  readonly carriesColumns?: boolean
  /**
   * Whether row `alias` is one of the rows `locked` of the same table that a query locks, which is given from FROM on
   * and run once. The query comes from the same statement, so the rows are where it found them.
   */
  isAmongLocked(alias: string, locked: string, query: string): string
  /** Left out where a transaction excludes all other writers. */
  readonly places?: RowPlaces
  /** An id of a row within the transaction that has it locked, independent of its columns: a text or a number. */
  rowId(alias: string): string
  /** Whether the row is one of those whose ids are in the JSON array that is bound as `:parameter`. */
  isAmongRowIds(alias: string, parameter: string): string
  /** Whether a text column holds a text, where it may hold other types as well. */
  isText(column: string): string
  /** Whether a column holds one of the texts of the JSON array that is bound as `:parameter`. */
  isAmongTexts(column: string, parameter: string): string
  /**
   * The end of a `SELECT` whose rows are changed later in the transaction: `FOR NO KEY UPDATE OF alias`, or nothing
   * where a transaction excludes other writers anyway.
   */
  forUpdate(alias: string): string
  /** The end of a `SELECT` whose rows no other transaction changes until this one ends; several may hold one so. */
  forShare(alias: string): string
  /** As `forUpdate`, leaving out rows that another transaction holds. */
  forUpdateSkipLocked(alias: string): string
  /**
   * For a `SELECT` that locks a row and reads others beside it, where the locked row may be a newer version than the
   * one that was found: a join that keeps what was found, and the condition that it is what was locked, so that the
   * rows beside it belong to it. An empty join and `true` where no other transaction can come between.
   */
  lockedAsFound(alias: string): { readonly join: string; readonly condition: string }
  /**
   * How the executions of one job or one trigger are found. `name`: by indexes that begin with the names. `time`: by
   * one index of all executions in the order of time, with the names in it. It grows at its end, for engines whose
   * commits write whole pages: a batch of executions would change a page of the others for each name.
   */
  readonly findsExecutionsBy: 'name' | 'time'
  /** Follows a column in ORDER BY, in comparisons for paging and in indexes, to compare by code point. */
  readonly keyCollation: string
  /** An expression that turns a text into the bytes of a data column. */
  textToBytes(expression: string): string
  /** Case-sensitive predicates on text. `operand` is an expression. */
  startsWith(column: string, operand: string): string
  endsWith(column: string, operand: string): string
  contains(column: string, operand: string): string
  /**
   * Whether a text holds another in any case of the letters A to Z. `pattern` is an expression for the other text
   * between two `%`, with its own `%`, `_` and backslashes behind backslashes and its letters A to Z in lower case.
   */
  containsAnyCase(column: string, pattern: string): string
  /** Whether a text is all white space, as in JavaScript. For engines on whose tables Java nodes may work. */
  isBlank?(column: string): string
  /** Whether the bytes of a column begin with these, written as hexadecimal digits in lower case. */
  beginsWithBytes(column: string, hex: string): string
  /** The database's own time as milliseconds since the epoch, when the statement runs; null: use the node's clock. */
  readonly nowMs: string | null
  /**
   * Follows the columns in CREATE TABLE where a table has short rows that are found by its key alone, for engines that
   * can keep such rows in the index of the key. Default: nothing.
   */
  readonly keyedTable?: string
  /** Names of column types in migrations. */
  readonly types: { readonly bytes: string; readonly bigint: string; readonly boolean: string }
}
