import { invariant } from '../../../../core/errors.ts'
import type { JobKey } from '../../../../core/key.ts'
import { KeySet } from '../../../../core/key-set.ts'
import { TriggerFamilies } from '../../../../triggers/families/trigger-families.ts'
import type { ScheduleTable } from '../../../../triggers/trigger-family.ts'
import { boundRows, chunksOf, type RowSetQuery, setQuery } from '../../kernel/row-set.ts'
import type { RowPlaces } from '../../kernel/sql-dialect.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import {
  later,
  type SqlProgram,
  type SqlQuery,
  type SqlRow,
  type SqlRows,
  sqlQuery,
} from '../../kernel/statement.ts'
import { textOrNull } from '../encoding/columns.ts'
import { jobKeyColumns, jobKeyRows, triggerKeyColumns } from '../encoding/key-rows.ts'
import type { PlainExecution } from './plain-ends.ts'
import { scheduleTableNames, sqlNameOf } from './schedule-tables.ts'

/** What a statement has ended. */
export interface LockedEnd<Execution> {
  readonly ended: readonly Execution[]
  /** The jobs among theirs that were deleted, because they are not durable and have lost their last trigger. */
  readonly deletedJobs: readonly JobKey[]
}

/**
 * Deletes what executions leave, for engines where other transactions write as well: one statement locks all rows of an
 * execution, in the state in which this node wrote them, and deletes them. An execution of which one row was changed,
 * or is locked by another session, keeps all of its rows, and is left for programs that read them.
 */
export class LockedEnds {
  readonly #scheduler: string
  readonly #instance: string
  readonly #families: TriggerFamilies
  readonly #statements: LockedEndStatements

  constructor(vocabulary: SqlVocabulary, instanceId: string) {
    this.#scheduler = vocabulary.schedulerName
    this.#instance = instanceId
    this.#families = vocabulary.triggerFamilies ?? TriggerFamilies.ofLibrary
    this.#statements = lockedEndStatements(vocabulary)
  }

  /** Deletes the rows of executions whose triggers go on; answers those whose rows were deleted. */
  *endExecutions<Execution extends PlainExecution>(
    executions: readonly Execution[],
  ): SqlProgram<readonly Execution[]> {
    const ended: Execution[] = []
    for (const chunk of chunksOf(executions)) {
      const rows = chunk.map(({ fireInstanceId, jobKey: { name, group } }) => ({
        entry_id: fireInstanceId,
        job_name: name,
        job_group: group,
      }))
      const { rows: reply } = yield this.#statements.endExecutions(this.#bound(rows))
      ended.push(...named(chunk, reply, 'ended'))
    }
    return ended
  }

  /**
   * The same for executions of triggers that have fired for the last time. Their triggers are deleted too, and their
   * jobs if they are not durable and have no other trigger. Executions of jobs that request recovery are left.
   */
  *endLast<Execution extends PlainExecution>(
    executions: readonly Execution[],
  ): SqlProgram<LockedEnd<Execution>> {
    if (executions.length === 0) return { ended: [], deletedJobs: [] }
    // By a statement of its own, because storing a trigger locks its job: the next statement sees all that is stored.
    // Those that are durable stay in any case, and callers of many processes may be adding triggers to them.
    for (const rows of chunksOf(jobKeyRows(this.#scheduler, jobsOf(executions)))) {
      yield* later(this.#statements.lockJobs(rows))
    }
    const ended: Execution[] = []
    const deletedJobs: JobKey[] = []
    for (const table of scheduleTableNames) {
      const ofTable = executions.filter(({ trigger }) => this.#families.of(trigger).table === table)
      for (const chunk of chunksOf(ofTable)) {
        const { rows } = yield this.#statements.endLast[table](this.#bound(this.#lastRows(chunk)))
        ended.push(...named(chunk, rows, 'ended'))
        deletedJobs.push(...jobsOf(named(chunk, rows, 'jobs_deleted')))
      }
    }
    return { ended, deletedJobs }
  }

  #lastRows(executions: readonly PlainExecution[]): object[] {
    return executions.map(({ fireInstanceId, trigger, jobKey: { name, group } }) => ({
      entry_id: fireInstanceId,
      trigger_name: trigger.key.name,
      trigger_group: trigger.key.group,
      trigger_type: this.#families.of(trigger).storedType,
      job_name: name,
      job_group: group,
    }))
  }

  #bound(rows: SqlRows): EndParameters {
    return { scheduler: this.#scheduler, instance: this.#instance, rows }
  }
}

function jobsOf(executions: readonly PlainExecution[]): JobKey[] {
  return new KeySet(executions.map(({ jobKey }) => jobKey)).keys()
}

/** The executions that a column of the only row of a reply names; one that is there twice has ended once. */
function named<Execution extends PlainExecution>(
  executions: readonly Execution[],
  [row = {}]: readonly SqlRow[],
  column: string,
): readonly Execution[] {
  const list = textOrNull(row, column)
  const ids: unknown = list === null ? [] : JSON.parse(list)
  invariant(Array.isArray(ids), 'the reply lists fire instance ids')
  const left = new Set<unknown>(ids)
  return executions.filter(({ fireInstanceId }) => left.delete(fireInstanceId))
}

type EndParameters = { readonly scheduler: string; readonly instance: string; readonly rows: SqlRows }

interface LockedEndStatements {
  readonly lockJobs: RowSetQuery
  readonly endExecutions: SqlQuery<EndParameters>
  readonly endLast: Readonly<Record<ScheduleTable, SqlQuery<EndParameters>>>
}

const executionColumns = { entry_id: 'text', ...jobKeyColumns } as const
const lastColumns = { ...executionColumns, ...triggerKeyColumns, trigger_type: 'text' } as const

/**
 * Lists are answered as texts, because drivers differ in whether they parse json. Each row is looked up by a subquery
 * that the planner cannot join in another way: it would read a table whole of which it believes that it is empty, once
 * for each execution.
 */
export function lockedEndStatements(vocabulary: SqlVocabulary): LockedEndStatements {
  const { dialect, names } = vocabulary
  return {
    lockJobs: setQuery(
      dialect,
      `SELECT count(*) AS locked FROM ${boundRows(dialect, { ...jobKeyColumns, sched_name: 'text' })} AS r
       CROSS JOIN LATERAL (SELECT 1 FROM ${names.jobs} AS j
         WHERE j.sched_name = r.sched_name AND j.job_name = r.job_name AND j.job_group = r.job_group
           AND NOT j.is_durable
         ${dialect.forUpdateSkipLocked('j')}) AS j`,
    ),
    endExecutions: sqlQuery(
      dialect,
      `WITH e AS MATERIALIZED (SELECT * FROM ${boundRows(dialect, executionColumns)} AS r),
       l AS MATERIALIZED (SELECT e.entry_id, f.id AS fired_id FROM e ${lockedFiring(vocabulary)}),
       firings AS (${deletion(vocabulary, names.firedTriggers, 'fired_id')})
       SELECT CAST(json_agg(l.entry_id) AS text) AS ended FROM l`,
    ),
    endLast: {
      simple_triggers: sqlQuery(dialect, endLastText(vocabulary, 'simple_triggers')),
      cron_triggers: sqlQuery(dialect, endLastText(vocabulary, 'cron_triggers')),
      simprop_triggers: sqlQuery(dialect, endLastText(vocabulary, 'simprop_triggers')),
    },
  }
}

function endLastText(vocabulary: SqlVocabulary, table: ScheduleTable): string {
  const { dialect, names } = vocabulary
  const places = placesOf(vocabulary)
  const subTable = sqlNameOf(names, table)
  const loseTheirLast = `SELECT l.job_id FROM l WHERE NOT l.is_durable AND NOT EXISTS (
    SELECT 1 FROM ${names.triggers} AS o
    WHERE o.job_name = l.job_name AND o.job_group = l.job_group AND o.sched_name || '' = :scheduler
      AND ${places.of('o')} NOT IN (SELECT l.trigger_id FROM l) OFFSET 0)`
  return `WITH e AS MATERIALIZED (SELECT * FROM ${boundRows(dialect, lastColumns)} AS r),
    l AS MATERIALIZED (
      SELECT e.entry_id, e.job_name, e.job_group, j.id AS job_id, j.is_durable, t.id AS trigger_id, s.id AS sub_id,
        f.id AS fired_id
      FROM e CROSS JOIN LATERAL (SELECT ${places.of('j')} AS id, j.is_durable FROM ${names.jobs} AS j
        WHERE j.sched_name = :scheduler AND j.job_name = e.job_name AND j.job_group = e.job_group
          AND NOT j.requests_recovery AND (j.is_durable OR ${places.isLockedHere('j')}) OFFSET 0) AS j
      ${lockedTrigger(vocabulary)}
      CROSS JOIN LATERAL (SELECT ${places.of('s')} AS id FROM ${subTable} AS s
        WHERE ${isOfTrigger('s')} OFFSET 0) AS s
      ${lockedFiring(vocabulary)}),
    firings AS (${deletion(vocabulary, names.firedTriggers, 'fired_id')}),
    subs AS (${deletion(vocabulary, subTable, 'sub_id')}),
    triggers AS (${deletion(vocabulary, names.triggers, 'trigger_id')}),
    jobs AS (DELETE FROM ${names.jobs} AS d WHERE ${places.isAmong('d', loseTheirLast)}
      RETURNING ${places.of('d')} AS id)
    SELECT (SELECT CAST(json_agg(l.entry_id) AS text) FROM l) AS ended,
      (SELECT CAST(json_agg(l.entry_id) AS text) FROM l WHERE l.job_id IN (SELECT jobs.id FROM jobs)) AS jobs_deleted`
}

function isOfTrigger(alias: string): string {
  return `${alias}.sched_name = :scheduler AND ${alias}.trigger_name = e.trigger_name
    AND ${alias}.trigger_group = e.trigger_group`
}

/** The trigger `t` of the execution `e`, if it has fired for the last time. */
function lockedTrigger(vocabulary: SqlVocabulary): string {
  return lockedRow(vocabulary, 't', {
    table: vocabulary.names.triggers,
    condition: `${isOfTrigger('t')} AND t.job_name = e.job_name AND t.job_group = e.job_group
      AND t.trigger_type = e.trigger_type AND t.trigger_state = 'COMPLETE' AND t.next_fire_time IS NULL`,
  })
}

/** The row `f` of the execution `e`, if it is this node's. */
function lockedFiring(vocabulary: SqlVocabulary): string {
  return lockedRow(vocabulary, 'f', {
    table: vocabulary.names.firedTriggers,
    condition: `f.sched_name = :scheduler AND f.entry_id = e.entry_id AND f.instance_name = :instance
      AND f.state = 'EXECUTING' AND NOT f.is_nonconcurrent
      AND f.job_name = e.job_name AND f.job_group = e.job_group`,
  })
}

/** A join with a row that belongs to the execution `e`, and that no other session has locked. */
function lockedRow(
  vocabulary: SqlVocabulary,
  alias: string,
  { table, condition }: { readonly table: string; readonly condition: string },
): string {
  const { dialect } = vocabulary
  const asFound = dialect.lockedAsFound(alias)
  return `CROSS JOIN LATERAL (SELECT ${placesOf(vocabulary).of(alias)} AS id FROM ${table} AS ${alias} ${asFound.join}
    WHERE ${condition} AND ${asFound.condition} ${dialect.forUpdateSkipLocked(alias)}) AS ${alias}`
}

function deletion(vocabulary: SqlVocabulary, table: string, column: string): string {
  return `DELETE FROM ${table} AS d WHERE ${placesOf(vocabulary).isAmong('d', `SELECT l.${column} FROM l`)}`
}

function placesOf({ dialect: { places } }: SqlVocabulary): RowPlaces {
  invariant(places !== undefined, 'an engine where other transactions write as well knows places of rows')
  return places
}
