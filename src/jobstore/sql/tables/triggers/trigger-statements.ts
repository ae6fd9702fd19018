import type { ScheduleTable } from '../../../../triggers/trigger-family.ts'
import { type TriggerAction, triggerActions } from '../../../trigger-state.ts'
import {
  boundRows,
  type Columns,
  clearQuery,
  deleteQuery,
  insertQuery,
  isRow,
  type KeyQuery,
  type RowSetQuery,
  type RowsQuery,
  selectQuery,
  updateQuery,
  upsertQuery,
  withScheduler,
} from '../../kernel/row-set.ts'
import type { SqlNames } from '../../kernel/sql-names.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { type SqlQuery, sqlQuery } from '../../kernel/statement.ts'
import { jobKeyColumns, keyOrder, triggerKeyColumns } from '../encoding/key-rows.ts'
import { type Advance, advanceQueries } from './advancing.ts'
import {
  changingColumns,
  scheduleJoins,
  scheduleTableNames,
  sqlNameOf,
  storedTables,
  timesColumns,
  writtenColumns,
} from './schedule-tables.ts'
import { stateAfter, statesBefore } from './transitions.ts'
import { wholeTriggerColumns } from './trigger-decoder.ts'
import { triggerColumns } from './trigger-rows.ts'

/** The tables that hold a part of a trigger; rows of `blob_triggers` are only ever deleted. */
export type SubTable = ScheduleTable | 'blob_triggers'
export const subTables: readonly SubTable[] = [...scheduleTableNames, 'blob_triggers']

/** The columns of a `TriggerRef`. */
const refColumns = `t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_state, t.next_fire_time,
  t.calendar_name, t.trigger_type, t.misfire_instr`

/** The statements about `triggers` and its sub-tables. */
export interface TriggerStatements {
  readonly insert: RowsQuery
  readonly upsert: RowsQuery
  /** The triggers among the bound rows that are stored with another type. */
  readonly selectRetyped: KeyQuery
  readonly advance: Advance
  /** The same for triggers that stay WAITING, where it leaves indexes of states alone. */
  readonly advanceWaiting?: Advance
  /** The same, and the start time. */
  readonly reschedule: RowSetQuery
  readonly setState: RowSetQuery
  readonly setStateOfRows: SqlQuery<{
    readonly scheduler: string
    readonly rows: string
    readonly state: string
  }>
  readonly delete: RowSetQuery
  readonly load: KeyQuery
  readonly loadOfJob: KeyQuery
  readonly lock: RowSetQuery
  readonly tryLock: RowSetQuery
  /** Locks the rows of schedules, leaving out those that another transaction has locked. */
  readonly tryLockIn: Readonly<Record<ScheduleTable, RowSetQuery>>
  readonly lockOfJobs: KeyQuery
  readonly lockOfCalendar: SqlQuery<{ readonly scheduler: string; readonly name: string }>
  readonly apply: Readonly<Record<TriggerAction, KeyQuery>>
  readonly insertInto: Readonly<Record<ScheduleTable, RowsQuery>>
  readonly upsertInto: Readonly<Record<ScheduleTable, RowsQuery>>
  /** Writes the schedules of triggers, and how often they have fired. */
  readonly rewriteIn: Readonly<Record<ScheduleTable, RowSetQuery>>
  /** Writes how often triggers have fired. */
  readonly countIn: Readonly<Record<ScheduleTable, RowSetQuery>>
  readonly deleteFrom: Readonly<Record<SubTable, RowSetQuery>>
  /** In this order: a sub-row refers to its trigger. */
  readonly clear: Readonly<Record<SubTable | 'triggers', SqlQuery<{ readonly scheduler: string }>>>
}

const fireTimes = {
  next_fire_time: 'bigint',
  prev_fire_time: 'bigint',
  misfire_orig_fire_time: 'bigint',
} as const
const fireStateColumns = { trigger_state: 'text', ...fireTimes } as const

export function triggerStatements(vocabulary: SqlVocabulary): TriggerStatements {
  const { dialect, names } = vocabulary
  return {
    ...(dialect.excludesWriters === true && { advanceWaiting: advanceQueries(vocabulary, fireTimes) }),
    insert: insertQuery(vocabulary, names.triggers, triggerColumns),
    upsert: upsertQuery(vocabulary, names.triggers, triggerKeyColumns, triggerColumns),
    advance: advanceQueries(vocabulary, fireStateColumns),
    reschedule: updateQuery(vocabulary, names.triggers, triggerKeyColumns, {
      ...fireStateColumns,
      start_time: 'bigint',
    }),
    setStateOfRows: sqlQuery(
      dialect,
      `UPDATE ${names.triggers} AS t SET trigger_state = :state
       WHERE t.sched_name = :scheduler AND ${dialect.isAmongRowIds('t', 'rows')}`,
    ),
    setState: updateQuery(vocabulary, names.triggers, triggerKeyColumns, { trigger_state: 'text' }),
    delete: deleteQuery(vocabulary, names.triggers, triggerKeyColumns),
    ...readingStatements(vocabulary),
    ...lockingStatements(vocabulary),
    apply: forEach(triggerActions, (action) => applyQuery(vocabulary, action)),
    ...subTableStatements(vocabulary),
  }
}

function readingStatements(
  vocabulary: SqlVocabulary,
): Pick<TriggerStatements, 'selectRetyped' | 'load' | 'loadOfJob'> {
  const { dialect, names } = vocabulary
  const typedKey = { ...withScheduler(triggerKeyColumns), trigger_type: 'text' } as const
  return {
    selectRetyped: sqlQuery(
      dialect,
      `SELECT t.trigger_name, t.trigger_group, t.trigger_type
       FROM ${boundRows(dialect, typedKey)} AS r CROSS JOIN ${names.triggers} AS t
       WHERE ${isRow(dialect, 't', triggerKeyColumns)} AND t.trigger_type <> r.trigger_type`,
    ),
    load: sqlQuery(dialect, wholeTriggers(vocabulary, triggerKeyColumns)),
    loadOfJob: sqlQuery(
      dialect,
      `${wholeTriggers(vocabulary, jobKeyColumns)} ORDER BY ${keyOrder(vocabulary)}`,
    ),
  }
}

/** The join begins with the few bound rows: SQLite keeps the order of a CROSS JOIN. */
function wholeTriggers(vocabulary: SqlVocabulary, key: Columns): string {
  const { dialect, names } = vocabulary
  return `SELECT ${wholeTriggerColumns()}
    FROM ${boundRows(dialect, withScheduler(key))} AS r CROSS JOIN ${names.triggers} AS t
    ${scheduleJoins(vocabulary)}
    WHERE ${key === jobKeyColumns ? isRow(dialect, 't', jobKeyColumns, 'job_name') : isRow(dialect, 't', key)}`
}

function lockingStatements(
  vocabulary: SqlVocabulary,
): Pick<TriggerStatements, 'lock' | 'tryLock' | 'tryLockIn' | 'lockOfJobs' | 'lockOfCalendar'> {
  const { dialect, names } = vocabulary
  const order = `ORDER BY ${keyOrder(vocabulary)}`
  const place = { table: names.triggers, alias: 't', key: triggerKeyColumns }
  const refs = (locking: string): RowSetQuery =>
    selectQuery(vocabulary, place, { selected: refColumns, order, locking })
  return {
    lock: refs(dialect.forUpdate('t')),
    tryLock: refs(dialect.forUpdateSkipLocked('t')),
    tryLockIn: forEach(scheduleTableNames, (table) => {
      const { alias } = storedTables[table]
      return selectQuery(
        vocabulary,
        { table: sqlNameOf(names, table), alias, key: triggerKeyColumns },
        {
          selected: `${alias}.trigger_name, ${alias}.trigger_group`,
          order: '',
          locking: dialect.forUpdateSkipLocked(alias),
        },
      )
    }),
    lockOfJobs: sqlQuery(
      dialect,
      `SELECT ${refColumns}
       FROM ${boundRows(dialect, withScheduler(jobKeyColumns))} AS r CROSS JOIN ${names.triggers} AS t
       WHERE ${isRow(dialect, 't', jobKeyColumns, 'job_name')} ${order} ${dialect.forUpdate('t')}`,
    ),
    lockOfCalendar: sqlQuery(
      dialect,
      `SELECT ${refColumns} FROM ${names.triggers} AS t
       WHERE t.sched_name = :scheduler AND t.calendar_name = :name ${order} ${dialect.forUpdate('t')}`,
    ),
  }
}

function applyQuery({ dialect, names }: SqlVocabulary, action: TriggerAction): KeyQuery {
  return sqlQuery(
    dialect,
    `UPDATE ${names.triggers} AS t SET trigger_state = ${stateAfter(action, 't.trigger_state')}
     FROM ${boundRows(dialect, withScheduler(jobKeyColumns))} AS r
     WHERE ${isRow(dialect, 't', jobKeyColumns, 'job_name')} AND t.trigger_state IN (${statesBefore(action)})
     RETURNING trigger_state, next_fire_time`,
  )
}

function subTableStatements(
  vocabulary: SqlVocabulary,
): Pick<TriggerStatements, 'insertInto' | 'upsertInto' | 'rewriteIn' | 'countIn' | 'deleteFrom' | 'clear'> {
  const { names } = vocabulary
  const key = triggerKeyColumns
  return {
    insertInto: forEach(scheduleTableNames, (table) => {
      return insertQuery(vocabulary, sqlNameOf(names, table), writtenColumns(table))
    }),
    upsertInto: forEach(scheduleTableNames, (table) => {
      return upsertQuery(vocabulary, sqlNameOf(names, table), key, writtenColumns(table))
    }),
    rewriteIn: forEach(scheduleTableNames, (table) => {
      return updateQuery(vocabulary, sqlNameOf(names, table), key, changingColumns(table))
    }),
    countIn: forEach(scheduleTableNames, (table) => {
      return updateQuery(vocabulary, sqlNameOf(names, table), key, timesColumns(table))
    }),
    deleteFrom: forEach(subTables, (table) => deleteQuery(vocabulary, nameOf(names, table), key)),
    clear: forEach([...subTables, 'triggers'], (table) => {
      return clearQuery(vocabulary, table === 'triggers' ? names.triggers : nameOf(names, table))
    }),
  }
}

function nameOf(names: SqlNames, table: SubTable): string {
  return table === 'blob_triggers' ? names.blobTriggers : sqlNameOf(names, table)
}

function forEach<Name extends string, Query>(
  all: readonly Name[],
  make: (name: Name) => Query,
): Readonly<Record<Name, Query>> {
  return Object.fromEntries(all.map((name) => [name, make(name)])) as Record<Name, Query>
}
