import { type JobKey, storedJobKey, storedTriggerKey, type TriggerKey } from '../../../../core/key.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import type { Pause, PauseNote, PauseScope, PauseTarget } from '../../../pauses.ts'
import { saysSomething } from '../../../pauses.ts'
import { escapedForEncoding } from '../../kernel/poor-encoding.ts'
import {
  boundRows,
  changeRows,
  clearQuery,
  deleteQuery,
  insertMissingQuery,
  isRow,
  type KeyQuery,
  type RowSetQuery,
  type RowsQuery,
  runOver,
  storeRows,
  upsertQuery,
  withScheduler,
  writeOver,
} from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import {
  all,
  later,
  run,
  type SqlProgram,
  type SqlQuery,
  type SqlRow,
  sqlQuery,
} from '../../kernel/statement.ts'
import { anyText, instantOrNull, readable, text, textOrNull } from '../encoding/columns.ts'
import { columnWidths, fits } from '../encoding/limits.ts'
import { allGroupsPaused } from '../groups/paused-group-table.ts'
import { statesBefore } from './transitions.ts'
import { scopeConditions, scopeValues, type TriggerScope } from './trigger-scopes.ts'

/** A pause that ends by itself. */
export interface TimedPause {
  readonly target: PauseTarget
  readonly untilMs: EpochMs
}

/** What is known of pauses. It holds while what it is about is paused, as the tables of Quartz say. */
export class PauseTable {
  readonly #statements: PauseStatements
  readonly #vocabulary: SqlVocabulary

  constructor(vocabulary: SqlVocabulary) {
    this.#vocabulary = vocabulary
    this.#statements = pauseStatements(vocabulary)
  }

  /** Keeps what is said of pauses; what is known already stays when nothing is said. */
  *note(targets: readonly PauseTarget[], note: PauseNote, nowMs: EpochMs): SqlProgram<void> {
    const { insertMissing, upsert } = this.#statements
    const values = {
      reason: note.reason && escapedForEncoding(note.reason),
      paused_by: note.by && escapedForEncoding(note.by),
      since_time: nowMs,
      until_time: note.untilMs,
    }
    const rows = storable(targets).map((target) => ({ ...columnsOf(target), ...values }))
    yield* storeRows(this.#vocabulary.schedulerName, rows, saysSomething(note) ? upsert : insertMissing)
  }

  /** The pauses among these that are in force, each by the text of its target. */
  *load(targets: readonly PauseTarget[]): SqlProgram<ReadonlyMap<string, Pause>> {
    const found = new Map<string, Pause>()
    for (const row of yield* runOver(this.#rows(targets), (rows) => this.#statements.load({ rows }))) {
      const target = targetOf(row)
      if (target !== null) found.set(textOfTarget(target), pauseOf(row, target.scope))
    }
    return found
  }

  *forget(targets: readonly PauseTarget[]): SqlProgram<void> {
    yield* changeRows(this.#rows(targets), this.#statements.forget)
  }

  /** Forgets those among these that are not in force any more. */
  *forgetStale(targets: readonly PauseTarget[]): SqlProgram<void> {
    yield* writeOver(this.#rows(targets), (rows) => this.#statements.forgetStale({ rows }))
  }

  /** Forgets those of the triggers of a job that are not paused any more. */
  *forgetStaleOfJob({ name, group }: JobKey): SqlProgram<void> {
    const values = { scheduler: this.#vocabulary.schedulerName, name, grp: group }
    yield* later(this.#statements.forgetStaleOfJob(values))
  }

  /** Forgets all that are not in force any more. */
  *forgetAllStale(): SqlProgram<void> {
    yield* later(this.#statements.forgetAllStale({ scheduler: this.#vocabulary.schedulerName }))
  }

  /** Forgets those of the single triggers of a scope. */
  *forgetOfTriggers(scope: TriggerScope): SqlProgram<void> {
    const values = scopeValues(this.#vocabulary.schedulerName, scope)
    yield* later(this.#statements.forgetOfTriggers[scope.kind](values))
  }

  /** The groups of triggers that have a pause of their own. */
  *triggerGroups(): SqlProgram<readonly string[]> {
    const rows = yield* all(this.#statements.triggerGroups({ scheduler: this.#vocabulary.schedulerName }))
    return rows.map((row) => anyText(row, 'pause_group'))
  }

  /** Those that end by themselves, the first to end first. */
  *timed(limit: number): SqlProgram<readonly TimedPause[]> {
    const rows = yield* all(this.#statements.timed({ scheduler: this.#vocabulary.schedulerName, limit }))
    return rows.flatMap((row) => {
      const target = targetOf(row)
      const untilMs = readable(instantOrNull, row, 'until_time', null)
      return target === null || untilMs === null ? [] : [{ target, untilMs }]
    })
  }

  /** Takes a pause away that ends then; false when it was ended or changed meanwhile. */
  *end({ target, untilMs }: TimedPause): SqlProgram<boolean> {
    const { scope, group, name } = partsOf(target)
    const values = { scheduler: this.#vocabulary.schedulerName, scope, grp: group, name, untilMs }
    return (yield* run(this.#statements.end(values))) > 0
  }

  *clear(): SqlProgram<void> {
    yield* later(this.#statements.clear({ scheduler: this.#vocabulary.schedulerName }))
  }

  #rows(targets: readonly PauseTarget[]): object[] {
    const scheduler = { sched_name: this.#vocabulary.schedulerName }
    return storable(targets).map((target) => ({ ...scheduler, ...columnsOf(target) }))
  }
}

interface PauseStatements {
  readonly insertMissing: RowsQuery
  readonly upsert: RowsQuery
  readonly load: KeyQuery
  readonly forget: RowSetQuery
  readonly forgetStale: KeyQuery
  readonly forgetStaleOfJob: SqlQuery<ReturnType<typeof scopeValues>>
  readonly forgetAllStale: SqlQuery<{ scheduler: string }>
  readonly forgetOfTriggers: Readonly<Record<TriggerScope['kind'], SqlQuery<ReturnType<typeof scopeValues>>>>
  readonly triggerGroups: SqlQuery<{ scheduler: string }>
  readonly timed: SqlQuery<{ scheduler: string; limit: number }>
  readonly end: SqlQuery<{ scheduler: string; scope: string; grp: string; name: string; untilMs: number }>
  readonly clear: SqlQuery<{ scheduler: string }>
}

const keyColumns = { pause_scope: 'text', pause_group: 'text', pause_name: 'text' } as const
const columns = {
  ...keyColumns,
  reason: 'text',
  paused_by: 'text',
  since_time: 'bigint',
  until_time: 'bigint',
} as const

export function pauseStatements(vocabulary: SqlVocabulary): PauseStatements {
  const { dialect, names } = vocabulary
  const table = names.pauses
  const conditions = scopeConditions(vocabulary)
  const ofTriggersWhere = (condition: string): SqlQuery<ReturnType<typeof scopeValues>> =>
    sqlQuery(
      dialect,
      `DELETE FROM ${table} WHERE sched_name = :scheduler AND pause_scope = 'trigger'
         AND (pause_group, pause_name) IN (
           SELECT t.trigger_group, t.trigger_name FROM ${names.triggers} t
           WHERE t.sched_name = :scheduler AND ${condition})`,
    )
  const ofTriggers = (kind: TriggerScope['kind']): SqlQuery<ReturnType<typeof scopeValues>> =>
    ofTriggersWhere(conditions[kind])
  return {
    insertMissing: insertMissingQuery(vocabulary, table, columns),
    upsert: upsertQuery(vocabulary, table, keyColumns, columns),
    load: sqlQuery(
      dialect,
      `SELECT p.pause_scope, p.pause_group, p.pause_name, p.reason, p.paused_by, p.since_time, p.until_time
       FROM ${boundRows(dialect, withScheduler(keyColumns))} AS r CROSS JOIN ${table} AS p
       WHERE ${isRow(dialect, 'p', keyColumns)} AND ${isInForce(vocabulary, 'p')}`,
    ),
    forget: deleteQuery(vocabulary, table, keyColumns),
    forgetStale: sqlQuery(
      dialect,
      `DELETE FROM ${table} AS p WHERE (p.sched_name, p.pause_scope, p.pause_group, p.pause_name) IN (
         SELECT r.sched_name, r.pause_scope, r.pause_group, r.pause_name
         FROM ${boundRows(dialect, withScheduler(keyColumns))} AS r WHERE ${dialect.expectFew('r.sched_name')})
       AND NOT (${isInForce(vocabulary, 'p')})`,
    ),
    forgetStaleOfJob: ofTriggersWhere(
      `${conditions.job} AND t.trigger_state NOT IN (${statesBefore('resume')})`,
    ),
    forgetAllStale: sqlQuery(
      dialect,
      `DELETE FROM ${table} AS p WHERE p.sched_name = :scheduler AND NOT (${isInForce(vocabulary, 'p')})`,
    ),
    forgetOfTriggers: {
      all: ofTriggers('all'),
      one: ofTriggers('one'),
      job: ofTriggers('job'),
      triggerGroups: ofTriggers('triggerGroups'),
      jobGroups: ofTriggers('jobGroups'),
    },
    triggerGroups: sqlQuery(
      dialect,
      `SELECT pause_group FROM ${table} WHERE sched_name = :scheduler AND pause_scope = 'triggerGroup'`,
    ),
    timed: sqlQuery(
      dialect,
      `SELECT pause_scope, pause_group, pause_name, until_time FROM ${table}
       WHERE sched_name = :scheduler AND until_time IS NOT NULL ORDER BY until_time LIMIT :limit`,
    ),
    end: sqlQuery(
      dialect,
      `DELETE FROM ${table} WHERE sched_name = :scheduler AND pause_scope = :scope AND pause_group = :grp
         AND pause_name = :name AND until_time = :untilMs`,
    ),
    clear: clearQuery(vocabulary, table),
  }
}

/** Whether what a pause is about is paused: nodes of Java resume it without a look at these rows. */
function isInForce({ names }: SqlVocabulary, p: string): string {
  const paused = `t.trigger_state IN (${statesBefore('resume')})`
  const exists = (scope: PauseScope, table: string, condition: string): string =>
    `${p}.pause_scope = '${scope}' AND EXISTS (
       SELECT 1 FROM ${table} AS t WHERE t.sched_name = ${p}.sched_name AND ${condition})`
  const conditions = [
    exists(
      'trigger',
      names.triggers,
      `t.trigger_group = ${p}.pause_group AND t.trigger_name = ${p}.pause_name AND ${paused}`,
    ),
    exists(
      'job',
      names.triggers,
      `t.job_group = ${p}.pause_group AND t.job_name = ${p}.pause_name AND ${paused}`,
    ),
    exists('triggerGroup', names.pausedGroups, `t.trigger_group = ${p}.pause_group`),
    exists('jobGroup', names.pausedJobGroups, `t.job_group = ${p}.pause_group`),
    exists('all', names.pausedGroups, `t.trigger_group = '${allGroupsPaused}'`),
  ]
  return `(${conditions.map((each) => `(${each})`).join(' OR ')})`
}

function columnsOf(target: PauseTarget): { pause_scope: string; pause_group: string; pause_name: string } {
  const { scope, group, name } = partsOf(target)
  return { pause_scope: scope, pause_group: group, pause_name: name }
}

function partsOf(target: PauseTarget): { scope: PauseScope; group: string; name: string } {
  const { scope } = target
  switch (target.scope) {
    case 'trigger':
    case 'job':
      return { scope, group: target.key.group, name: target.key.name }
    case 'triggerGroup':
    case 'jobGroup':
      return { scope, group: target.group, name: '' }
    case 'all':
      return { scope, group: '', name: '' }
  }
}

/** What one target is in a map. */
export function textOfTarget(target: PauseTarget): string {
  const { scope, group, name } = partsOf(target)
  return JSON.stringify([scope, group, name])
}

/** No row can have a key that its columns cannot hold. */
function storable(targets: readonly PauseTarget[]): readonly PauseTarget[] {
  return targets.filter((target) => {
    const { group, name } = partsOf(target)
    return fits(group, columnWidths.keyPart) && fits(name, columnWidths.keyPart)
  })
}

/** Null for a row that is about nothing that is known. */
function targetOf(row: SqlRow): PauseTarget | null {
  const [group, name] = [anyText(row, 'pause_group'), anyText(row, 'pause_name')]
  switch (readable(text, row, 'pause_scope', '')) {
    case 'trigger': {
      const key: TriggerKey = storedTriggerKey(name, group)
      return { scope: 'trigger', key }
    }
    case 'job': {
      const key: JobKey = storedJobKey(name, group)
      return { scope: 'job', key }
    }
    case 'triggerGroup':
      return { scope: 'triggerGroup', group }
    case 'jobGroup':
      return { scope: 'jobGroup', group }
    case 'all':
      return { scope: 'all' }
    default:
      return null
  }
}

function pauseOf(row: SqlRow, scope: PauseScope): Pause {
  return {
    scope,
    reason: readable(textOrNull, row, 'reason', null),
    by: readable(textOrNull, row, 'paused_by', null),
    sinceMs: readable(instantOrNull, row, 'since_time', null) ?? 0,
    untilMs: readable(instantOrNull, row, 'until_time', null),
  }
}
