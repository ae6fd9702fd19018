import type { Trigger } from '../../../../triggers/trigger.ts'
import { type TriggerAction, triggerActions } from '../../../trigger-state.ts'
import {
  boundRows,
  type Columns,
  clearQuery,
  deleteQuery,
  insertQuery,
  isRow,
  type KeyQuery,
  type RowsQuery,
  updateQuery,
  upsertQuery,
  withScheduler,
} from '../../kernel/row-set.ts'
import type { SqlNames } from '../../kernel/sql-names.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { type SqlQuery, sqlQuery } from '../../kernel/statement.ts'
import { jobKeyColumns, triggerKeyColumns } from '../encoding/key-rows.ts'
import { keyOrder } from './due-statements.ts'
import { stateAfter, statesBefore } from './transitions.ts'
import { wholeTriggerColumns } from './trigger-decoder.ts'
import { cronColumns, simpleColumns, simpropColumns, triggerColumns } from './trigger-rows.ts'

/** The sub-tables whose rows we write; those of `blob` are only ever deleted. */
export const subTables = ['simple', 'cron', 'simprop'] as const
export type SubTable = (typeof subTables)[number]

const subTablesByType: Readonly<Record<Trigger['type'], SubTable>> = {
  simple: 'simple',
  cron: 'cron',
  calendarInterval: 'simprop',
  dailyTimeInterval: 'simprop',
}

export function subTableOf(trigger: Trigger): SubTable {
  return subTablesByType[trigger.type]
}

/** Where the rest of a trigger of a stored type lies; everywhere it may, for a type that is not known here. */
export function subTablesOf(storedType: string): readonly (SubTable | 'blob')[] {
  switch (storedType) {
    case 'SIMPLE':
      return ['simple']
    case 'CRON':
      return ['cron']
    case 'CAL_INT':
    case 'DAILY_I':
      return ['simprop']
    case 'BLOB':
      return ['blob']
    default:
      return [...subTables, 'blob']
  }
}

/** What {@link TriggerRef} is read from. */
const refColumns = `t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_state, t.next_fire_time,
  t.calendar_name, t.trigger_type, t.misfire_instr`

/** The statements about `triggers` and its sub-tables. */
export interface TriggerStatements {
  readonly insert: RowsQuery
  readonly upsert: RowsQuery
  /** Those of the bound rows that are stored with another type. */
  readonly selectRetyped: KeyQuery
  readonly advance: KeyQuery
  /** The same, and the start time. */
  readonly reschedule: KeyQuery
  /** Writes how often simple triggers fire, and have fired. */
  readonly repeat: KeyQuery
  readonly setState: KeyQuery
  readonly setStateOfRows: SqlQuery<{
    readonly scheduler: string
    readonly rows: string
    readonly state: string
  }>
  readonly delete: KeyQuery
  readonly load: KeyQuery
  readonly loadOfJob: KeyQuery
  readonly lock: KeyQuery
  readonly tryLock: KeyQuery
  readonly lockOfJobs: KeyQuery
  readonly lockOfCalendar: SqlQuery<{ readonly scheduler: string; readonly name: string }>
  readonly apply: Readonly<Record<TriggerAction, KeyQuery>>
  readonly insertInto: Readonly<Record<SubTable, RowsQuery>>
  readonly upsertInto: Readonly<Record<SubTable, RowsQuery>>
  /** Writes how often triggers have fired. */
  readonly countIn: Readonly<Record<SubTable, KeyQuery>>
  readonly deleteFrom: Readonly<Record<SubTable | 'blob', KeyQuery>>
  /** In this order: a sub-row refers to its trigger. */
  readonly clear: Readonly<Record<SubTable | 'blob' | 'triggers', SqlQuery<{ readonly scheduler: string }>>>
}

const fireStateColumns = {
  trigger_state: 'text',
  next_fire_time: 'bigint',
  prev_fire_time: 'bigint',
  misfire_orig_fire_time: 'bigint',
} as const

export function triggerStatements(vocabulary: SqlVocabulary): TriggerStatements {
  const { dialect, names } = vocabulary
  return {
    insert: insertQuery(vocabulary, names.triggers, triggerColumns),
    upsert: upsertQuery(vocabulary, names.triggers, triggerKeyColumns, triggerColumns),
    advance: updateQuery(vocabulary, names.triggers, triggerKeyColumns, fireStateColumns),
    reschedule: updateQuery(vocabulary, names.triggers, triggerKeyColumns, {
      ...fireStateColumns,
      start_time: 'bigint',
    }),
    repeat: updateQuery(vocabulary, names.simpleTriggers, triggerKeyColumns, {
      repeat_count: 'bigint',
      times_triggered: 'bigint',
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
function wholeTriggers({ dialect, names }: SqlVocabulary, key: Columns): string {
  const subTable = (table: string, alias: string): string => `LEFT JOIN ${table} AS ${alias}
    ON ${alias}.sched_name = t.sched_name AND ${alias}.trigger_name = t.trigger_name
    AND ${alias}.trigger_group = t.trigger_group`
  return `SELECT ${wholeTriggerColumns}
    FROM ${boundRows(dialect, withScheduler(key))} AS r CROSS JOIN ${names.triggers} AS t
    ${subTable(names.simpleTriggers, 's')} ${subTable(names.cronTriggers, 'c')}
    ${subTable(names.simpropTriggers, 'p')}
    WHERE ${isRow(dialect, 't', key)}`
}

function lockingStatements(
  vocabulary: SqlVocabulary,
): Pick<TriggerStatements, 'lock' | 'tryLock' | 'lockOfJobs' | 'lockOfCalendar'> {
  const { dialect, names } = vocabulary
  const order = `ORDER BY ${keyOrder(vocabulary)}`
  const refs = (key: Columns): string => `SELECT ${refColumns}
    FROM ${boundRows(dialect, withScheduler(key))} AS r CROSS JOIN ${names.triggers} AS t
    WHERE ${isRow(dialect, 't', key)} ${order}`
  const lock = (key: Columns): string => `${refs(key)} ${dialect.forUpdate('t')}`
  return {
    lock: sqlQuery(dialect, lock(triggerKeyColumns)),
    tryLock: sqlQuery(dialect, `${refs(triggerKeyColumns)} ${dialect.forUpdateSkipLocked('t')}`),
    lockOfJobs: sqlQuery(dialect, lock(jobKeyColumns)),
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
     WHERE ${isRow(dialect, 't', jobKeyColumns)} AND t.trigger_state IN (${statesBefore(action)})
     RETURNING trigger_state, next_fire_time`,
  )
}

function subTableStatements(
  vocabulary: SqlVocabulary,
): Pick<TriggerStatements, 'insertInto' | 'upsertInto' | 'countIn' | 'deleteFrom' | 'clear'> {
  const { names } = vocabulary
  const key = triggerKeyColumns
  return {
    insertInto: forEach(subTables, (table) => {
      return insertQuery(vocabulary, tableName(names, table), subTableColumns[table])
    }),
    upsertInto: forEach(subTables, (table) => {
      return upsertQuery(vocabulary, tableName(names, table), key, subTableColumns[table])
    }),
    countIn: forEach(subTables, (table) => {
      const column = table === 'simprop' ? 'int_prop_2' : 'times_triggered'
      return updateQuery(vocabulary, tableName(names, table), key, { [column]: 'bigint' })
    }),
    deleteFrom: forEach([...subTables, 'blob'], (table) => {
      return deleteQuery(vocabulary, tableName(names, table), key)
    }),
    clear: forEach([...subTables, 'blob', 'triggers'], (table) => {
      return clearQuery(vocabulary, table === 'triggers' ? names.triggers : tableName(names, table))
    }),
  }
}

const subTableColumns = { simple: simpleColumns, cron: cronColumns, simprop: simpropColumns } as const

function tableName(names: SqlNames, table: SubTable | 'blob'): string {
  switch (table) {
    case 'simple':
      return names.simpleTriggers
    case 'cron':
      return names.cronTriggers
    case 'simprop':
      return names.simpropTriggers
    case 'blob':
      return names.blobTriggers
  }
}

function forEach<Name extends string, Query>(
  all: readonly Name[],
  make: (name: Name) => Query,
): Readonly<Record<Name, Query>> {
  return Object.fromEntries(all.map((name) => [name, make(name)])) as Record<Name, Query>
}
