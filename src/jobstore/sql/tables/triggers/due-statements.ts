import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import type { ScheduleTable } from '../../../../triggers/trigger-family.ts'
import { hasKeyOf } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { type SqlQuery, type SqlRow, type SqlStatement, sqlQuery } from '../../kernel/statement.ts'
import { instantOrNull, readable } from '../encoding/columns.ts'
import { jobKeyColumns, keyOrder, triggerKeyColumns } from '../encoding/key-rows.ts'
import { claimsOfPeers } from '../firings/fired-trigger-table.ts'
import { jobBesideTriggerColumns } from '../jobs/job-rows.ts'
import { isLeftToOthers, quotedNode, runsHere } from '../jobs/node-affinity.ts'
import { scheduleJoins, scheduleTableNames } from './schedule-tables.ts'
import { wholeTriggerColumns } from './trigger-decoder.ts'
import { isOfJava } from './triggers-of-java.ts'
import { isUnread, type UnreadValue } from './unread-schedules.ts'

/** The waiting triggers of a search. */
export interface DueRequest {
  /** Only triggers that are due after this instant. Default: all. */
  readonly afterMs?: EpochMs | null
  readonly untilMs: EpochMs
  readonly limit: number
  /** Triggers of jobs of these types are left to other nodes. */
  readonly unknownJobTypes: readonly string[]
  /** The instance id of this node, to leave out jobs that other nodes are to run; null while there are none. */
  readonly node?: string | null
  /**
   * Triggers that were due by then are not left to the nodes that they prefer; used with `node`. Default: all are left.
   */
  readonly ownersUntilMs?: EpochMs
  /** Jobs of these groups may not start now. */
  readonly fullGroups?: readonly string[]
  /** Nor may these. */
  readonly leftJobs?: readonly JobKey[]
  /** These triggers are left. */
  readonly leftTriggers?: readonly TriggerKey[]
  /** Triggers that Java wrote with these are left to Java nodes. */
  readonly unread?: readonly UnreadValue[]
}

/** Instants of what is ahead; null where there is none. */
export interface Ahead {
  /** The earliest fire time of a waiting trigger, also of one that another transaction has locked. */
  readonly waitingMs: EpochMs | null
  /** When the first claim of another node can be fired: when it is due, or when it was made, if that is later. */
  readonly claimedMs: EpochMs | null
  /** The earliest fire time of a waiting trigger that is left to the nodes that it prefers. */
  readonly ownedMs: EpochMs | null
  /** The earliest fire time, after now, of a waiting trigger of a full group. */
  readonly limitedMs: EpochMs | null
}

/** A request for what is ahead. */
export interface AheadRequest extends Omit<DueRequest, 'limit'> {
  readonly nowMs: EpochMs
}

/** Reads the row of a `look`. */
export function aheadOf(row: SqlRow): Ahead {
  const instant = (column: string): EpochMs | null => readable(instantOrNull, row, column, null)
  return {
    waitingMs: instant('waiting_time'),
    claimedMs: instant('claimed_time'),
    ownedMs: instant('owned_time'),
    limitedMs: instant('limited_time'),
  }
}

/**
 * What a statement does with due triggers. `lock` locks them, leaving out those that another transaction has locked.
 * `types` answers their job types. `look` answers what is {@link Ahead}: in one statement, because a trigger may change
 * from one kind to another between two.
 */
export type DuePurpose = 'lock' | 'types' | 'look'

export type DueParameters = Readonly<Record<string, string | number>>

/** The parameters that a request may have, each with its condition. */
export const dueConditions = ['afterMs', 'types', 'node', 'groups', 'jobs', 'triggers', 'unread'] as const

/** The statements about triggers that are due, each with the conditions that its request asks for. */
export class DueStatements {
  readonly #vocabulary: SqlVocabulary
  readonly #queries: Readonly<Record<DuePurpose, Map<number, SqlQuery<DueParameters>>>> = {
    lock: new Map(),
    types: new Map(),
    look: new Map(),
  }

  constructor(vocabulary: SqlVocabulary) {
    this.#vocabulary = vocabulary
  }

  /** `instance` is this node, whose own claims are left out. */
  look({ nowMs, ...request }: AheadRequest, instance: string): SqlStatement {
    return this.#of('look', { ...request, limit: 1 }, { instance, nowMs }, scheduleTableNames)
  }

  /** `tables` are those that a `lock` joins. */
  of(
    purpose: Exclude<DuePurpose, 'look'>,
    request: DueRequest,
    tables: readonly ScheduleTable[] = scheduleTableNames,
  ): SqlStatement {
    return this.#of(purpose, request, {}, tables)
  }

  #of(
    purpose: DuePurpose,
    request: DueRequest,
    others: DueParameters,
    tables: readonly ScheduleTable[],
  ): SqlStatement {
    const { afterMs = null, untilMs, limit, unknownJobTypes, node = null } = request
    const { fullGroups = [], leftJobs = [], leftTriggers = [], unread = [] } = request
    const values: Record<string, string | number> = {
      scheduler: this.#vocabulary.schedulerName,
      untilMs,
      limit,
      ...others,
    }
    if (afterMs !== null) values['afterMs'] = afterMs
    if (unknownJobTypes.length > 0) {
      values['types'] = JSON.stringify(unknownJobTypes.map((jobType) => ({ job_type: jobType })))
    }
    if (node !== null) {
      values['node'] = quotedNode(node)
      values['ownersUntilMs'] = request.ownersUntilMs ?? 0
    }
    if (fullGroups.length > 0) {
      values['groups'] = JSON.stringify(fullGroups.map((group) => ({ job_group: group })))
    }
    if (leftJobs.length > 0) {
      values['jobs'] = JSON.stringify(
        leftJobs.map(({ name, group }) => ({ job_name: name, job_group: group })),
      )
    }
    if (leftTriggers.length > 0) {
      values['triggers'] = JSON.stringify(
        leftTriggers.map(({ name, group }) => ({ trigger_name: name, trigger_group: group })),
      )
    }
    if (unread.length > 0) values['unread'] = JSON.stringify(unread)
    return this.#query(purpose, Object.keys(values), tables)(values)
  }

  #query(
    purpose: DuePurpose,
    parameters: readonly string[],
    tables: readonly ScheduleTable[],
  ): SqlQuery<DueParameters> {
    const queries = this.#queries[purpose]
    // One bit for each condition that there is, and one for each table.
    const conditions = bitsOf(dueConditions, parameters)
    const shape = conditions | (bitsOf(scheduleTableNames, tables) << dueConditions.length)
    const known = queries.get(shape)
    if (known !== undefined) return known
    const query = dueQuery(this.#vocabulary, purpose, parameters, tables)
    queries.set(shape, query)
    return query
  }
}

function bitsOf(all: readonly string[], chosen: readonly string[]): number {
  return all.reduce((bits, each, index) => (chosen.includes(each) ? bits | (1 << index) : bits), 0)
}

/** One of the statements, with the conditions of those of its parameters that have one. */
export function dueQuery(
  vocabulary: SqlVocabulary,
  purpose: DuePurpose,
  parameters: readonly string[],
  tables: readonly ScheduleTable[] = scheduleTableNames,
): SqlQuery<DueParameters> {
  return sqlQuery(vocabulary.dialect, textOf(vocabulary, purpose, parameters, tables))
}

function conditionsOf(
  vocabulary: SqlVocabulary,
  parameters: readonly string[],
  node = runsHere(vocabulary),
): string {
  const { dialect } = vocabulary
  const conditions: Readonly<Record<string, string>> = {
    types: `AND j.job_class_name NOT IN (
      SELECT r.job_type FROM ${dialect.rowSet('types', { job_type: 'text' })} AS r)`,
    node,
    groups: `AND t.job_group NOT IN ${groupRowsOf(vocabulary)}`,
    jobs: `AND (t.job_name, t.job_group) NOT IN (
      SELECT l.job_name, l.job_group FROM ${dialect.rowSet('jobs', jobKeyColumns)} AS l)`,
    triggers: `AND (t.trigger_name, t.trigger_group) NOT IN (
      SELECT l.trigger_name, l.trigger_group FROM ${dialect.rowSet('triggers', triggerKeyColumns)} AS l)`,
    unread: `AND NOT ${isUnread(vocabulary)}`,
  }
  return parameters.map((parameter) => conditions[parameter] ?? '').join(' ')
}

/** Triggers of full groups that are not due yet: those that are due wait for an end, which wakes the nodes. */
function ofFullGroups(vocabulary: SqlVocabulary, parameters: readonly string[]): string {
  const others = parameters.filter((parameter) => parameter !== 'groups')
  // The empty text keeps the planner on the index for acquiring, which begins at the present.
  return `AND t.next_fire_time > :nowMs AND (t.job_group || '') IN ${groupRowsOf(vocabulary)}
    ${conditionsOf(vocabulary, others)}`
}

function groupRowsOf({ dialect }: SqlVocabulary): string {
  return `(SELECT g.job_group FROM ${dialect.rowSet('groups', { job_group: 'text' })} AS g)`
}

/** Whole triggers with their jobs, so that nothing is read again to fire them. */
function columnsOf(tables: readonly ScheduleTable[]): string {
  return `${wholeTriggerColumns(tables)}, ${jobBesideTriggerColumns},
  COALESCE(t.node_affinity, j.node_affinity) AS node_affinity`
}

function textOf(
  vocabulary: SqlVocabulary,
  purpose: DuePurpose,
  parameters: readonly string[],
  tables: readonly ScheduleTable[],
): string {
  // One lower bound: SQLite would begin at the first of two.
  const after = parameters.includes('afterMs') ? ':afterMs' : '0'
  const conditionFor = (node?: string): string =>
    `AND t.next_fire_time > ${after} ${conditionsOf(vocabulary, parameters, node)}`
  const condition = conditionFor()
  const timeOf = (which: string): string =>
    `(${dueText(vocabulary, { selected: 't.next_fire_time', condition: which })})`
  switch (purpose) {
    case 'lock':
      return lockText(vocabulary, condition, tables)
    case 'types':
      return `SELECT DISTINCT r.job_class_name FROM (
        ${dueText(vocabulary, { selected: 'j.job_class_name', condition })}) AS r`
    case 'look':
      return `SELECT ${timeOf(condition)} AS waiting_time,
        ${parameters.includes('groups') ? `${timeOf(ofFullGroups(vocabulary, parameters))} AS limited_time,` : ''}
        ${parameters.includes('node') ? `${timeOf(conditionFor(isLeftToOthers(vocabulary)))} AS owned_time,` : ''}
        (SELECT min(CASE WHEN t.next_fire_time > f.fired_time THEN t.next_fire_time ELSE f.fired_time END)
          ${claimsOfPeers(vocabulary)}) AS claimed_time`
  }
}

function lockText(vocabulary: SqlVocabulary, condition: string, tables: readonly ScheduleTable[]): string {
  const { dialect } = vocabulary
  const asFound = dialect.lockedAsFound('t')
  return dueText(vocabulary, {
    selected: `${columnsOf(tables)}, ${dialect.rowId('t')} AS row_id`,
    joins: `${scheduleJoins(vocabulary, tables)} ${asFound.join}`,
    condition: `${condition} AND ${asFound.condition}`,
    locking: dialect.forUpdateSkipLocked('t'),
  })
}

interface DueParts {
  readonly selected: string
  readonly joins?: string
  readonly condition: string
  readonly locking?: string
}

/**
 * The index for acquiring gives the order, and is partial: the condition on the state must be the same text as in the
 * index. Java writes -1 or 0 where there is no next fire time. The firings in flight are few and read once; those of
 * Java's that have not begun name a trigger and no job.
 *
 * Every trigger has a job. The outer join is for the planner of PostgreSQL: it expects an inner join to lose most rows,
 * and then sorts all due triggers.
 */
function dueText(
  vocabulary: SqlVocabulary,
  { selected, joins = '', condition, locking = '' }: DueParts,
): string {
  const { dialect, names, sharedWithJava = false } = vocabulary
  return `SELECT ${selected}
    FROM ${names.triggers} AS t LEFT JOIN ${names.jobs} AS j
      ON ${hasKeyOf(dialect, 'j', 't', jobKeyColumns)}
    ${joins}
    WHERE t.sched_name = :scheduler AND t.trigger_state = 'WAITING'
      AND t.next_fire_time <= :untilMs ${condition}
      ${sharedWithJava ? `AND NOT ${isOfJava(vocabulary)}` : ''}
      AND (NOT COALESCE(j.is_nonconcurrent, false) OR (t.job_name, t.job_group) NOT IN (
        SELECT f.job_name, f.job_group FROM ${names.firedTriggers} AS f
        WHERE f.sched_name = :scheduler AND f.job_name IS NOT NULL AND f.job_group IS NOT NULL
        UNION ALL
        SELECT a.job_name, a.job_group FROM ${names.firedTriggers} AS f CROSS JOIN ${names.triggers} AS a
        WHERE f.sched_name = :scheduler AND f.job_name IS NULL
          AND ${hasKeyOf(dialect, 'a', 'f', triggerKeyColumns)}))
    ORDER BY t.next_fire_time, t.priority DESC, ${keyOrder({ dialect })}
    LIMIT :limit ${locking}`
}
