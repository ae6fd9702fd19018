import type { EpochMs } from '../../../../time/clock.ts'
import { instantMaxMs } from '../../../../triggers/invalid-trigger.ts'
import {
  dataNeedles,
  type ExecutionCursor,
  type ExecutionDetails,
  type ExecutionOutcome,
  type ExecutionQuery,
  type ExecutionSummary,
  executionsScanned,
  isScan,
  type Page,
  wantedOutcomes,
} from '../../../queries.ts'
import { keepsOutcome, type ResolvedHistoryOptions } from '../../../record-options.ts'
import type { Bounds } from '../../kernel/bounds.ts'
import { Conditions } from '../../kernel/conditions.ts'
import {
  type NewestFirstQuery,
  type NewestFirstTable,
  newestFirstPage,
  newestFirstQuery,
} from '../../kernel/newest-first.ts'
import { insertMissingQuery, isAmongFree, type RowsQuery, storeRows } from '../../kernel/row-set.ts'
import type { SqlDialect } from '../../kernel/sql-dialect.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { all, first, run, type SqlProgram, type SqlQuery, sqlQuery } from '../../kernel/statement.ts'
import { anyText, readable, textOrNull } from '../encoding/columns.ts'
import { RowsAhead, type TimedRows } from '../encoding/rows-ahead.ts'
import {
  columns,
  cursorOf,
  type HistoryEntry,
  isPlain,
  logColumns,
  plainColumns,
  plainConstants,
  plainRowOf,
  rowOf,
  summaryOf,
  textColumns,
} from './history-rows.ts'

/** Most attempts at one firing that are listed. */
const attemptsMax = 100
/** Among how many executions of a trigger they are looked for. */
const attemptsScanned = 1000
/** Among how many executions, of all outcomes, one transaction looks for those with one outcome. */
const outcomesRead = 5000
/** By how much a clock may have been set back before a retry, which then fires before the planned instant. */
const setBackMaxMs = 3_600_000

/** Before every execution that has a place. */
const firstPlace: ExecutionCursor = { fireTimeMs: -instantMaxMs, fireInstanceId: '' }

/** Rows are ordered by the time at which they fired; rows with a time that no Date can hold are left out. */
const hasPlace = `h.fired_time BETWEEN ${String(-instantMaxMs)} AND ${String(instantMaxMs)}`

/** Which executions with an outcome are deleted; `after`: behind which place. */
export interface OutcomeBounds {
  readonly outcome: ExecutionOutcome
  readonly beforeMs: EpochMs
  readonly after: ExecutionCursor | null
}

/** How far executions with an outcome are deleted: up to a place, null for none, and whether that is the end. */
export interface OutcomePassed {
  readonly place: ExecutionCursor | null
  readonly isAll: boolean
}

/** The rows of `execution_history`: one for each firing. */
export class HistoryTable {
  readonly ahead: RowsAhead
  readonly #vocabulary: SqlVocabulary
  readonly #options: ResolvedHistoryOptions
  readonly #statements: HistoryStatements

  constructor(vocabulary: SqlVocabulary, options: ResolvedHistoryOptions) {
    this.#vocabulary = vocabulary
    this.#options = options
    this.ahead = new RowsAhead(vocabulary, historyRows(vocabulary))
    this.#statements = historyStatements(vocabulary)
  }

  /** Whether executions with this outcome are kept. */
  keeps(outcome: ExecutionOutcome): boolean {
    return keepsOutcome(this.#options, outcome)
  }

  /** Stores the executions that are to be kept; existing rows stay as they are. */
  *insert(entries: readonly HistoryEntry[]): SqlProgram<void> {
    const scheduler = this.#vocabulary.schedulerName
    const plain: object[] = []
    const others: object[] = []
    for (const entry of entries) {
      if (!this.keeps(entry.outcome)) continue
      if (isPlain(entry)) plain.push(plainRowOf(entry))
      else others.push(rowOf(entry))
    }
    yield* storeRows(scheduler, plain, this.#statements.insertPlain)
    yield* storeRows(scheduler, others, this.#statements.insert)
  }

  /** The place of the newest execution beyond `maxRows`; null when there are no more. Reads all of those. */
  *surplus(maxRows: number): SqlProgram<ExecutionCursor | null> {
    const values = { scheduler: this.#vocabulary.schedulerName, skipped: maxRows }
    const nth = yield* first(this.#statements.nth(values))
    return nth && cursorOf(nth)
  }

  /** Deletes executions within bounds, by when they began; about `limit` at most. */
  *prune({ beforeMs, surplus }: Bounds<ExecutionCursor>, limit: number): SqlProgram<number> {
    const scheduler = this.#vocabulary.schedulerName
    // Before every id of that instant.
    const oldest: ExecutionCursor = { fireTimeMs: beforeMs, fireInstanceId: '' }
    const last = surplus !== null && surplus.fireTimeMs >= beforeMs ? surplus : oldest
    const { fireTimeMs: time, fireInstanceId: id } = last
    if (this.#vocabulary.dialect.excludesWriters !== true) {
      return yield* run(this.#statements.deleteFree({ scheduler, time, id, limit }))
    }
    // No row is held, and a range is deleted in less time than rows one by one.
    const nth = yield* first(this.#statements.nthBefore({ scheduler, before: time, skipped: limit - 1 }))
    const end = nth === null ? last : cursorOf(nth)
    const values = { scheduler, time: end.fireTimeMs, id: end.fireInstanceId }
    return yield* run(this.#statements.deleteUpTo(values))
  }

  /**
   * Deletes executions with an outcome that began before an instant, `limit` at most, among some thousand behind a
   * place; null for the first ones. No index has the outcomes, so that all between are read.
   */
  *pruneOutcome(
    { outcome, beforeMs, after }: OutcomeBounds,
    limit: number,
  ): SqlProgram<{ readonly deleted: number; readonly passed: OutcomePassed }> {
    const scheduler = this.#vocabulary.schedulerName
    const { fireTimeMs: afterMs, fireInstanceId: afterId } = after ?? firstPlace
    const nth = yield* first(
      this.#statements.nthAfter({ scheduler, afterMs, afterId, before: beforeMs, skipped: outcomesRead - 1 }),
    )
    // Before every id of that instant.
    const last = nth === null ? { fireTimeMs: beforeMs, fireInstanceId: '' } : cursorOf(nth)
    const { fireTimeMs: time, fireInstanceId: id } = last
    const values = { scheduler, outcome, afterMs, afterId, time, id, limit }
    const deleted = yield* run(this.#statements.deleteOutcome(values))
    if (deleted >= limit) return { deleted, passed: { place: after, isAll: false } }
    return { deleted, passed: { place: last, isAll: nth === null } }
  }

  /** Deletes the log lines of executions that ended before an instant, of `limit` at most; answers of how many. */
  *dropLogLines(beforeMs: EpochMs, limit: number): SqlProgram<number> {
    const scheduler = this.#vocabulary.schedulerName
    return yield* run(this.#statements.dropLogLines({ scheduler, before: beforeMs, limit }))
  }

  /** Those that began last first. */
  *find(query: ExecutionQuery, size: number): SqlProgram<Page<ExecutionSummary, ExecutionCursor>> {
    const given = { scheduler: this.#vocabulary.schedulerName, size }
    const read = { itemOf: summaryOf, cursorOf }
    return yield* newestFirstPage(executionsQuery(this.#vocabulary, query), given, read)
  }

  /** One execution with all attempts at the same firing; null when it is not kept. */
  *get(fireInstanceId: string): SqlProgram<ExecutionDetails | null> {
    const scheduler = this.#vocabulary.schedulerName
    const row = yield* first(this.#statements.get({ scheduler, id: fireInstanceId }))
    if (row === null) return null
    const summary = summaryOf(row)
    const attempts = yield* all(
      this.#statements.attempts({
        scheduler,
        trigger: anyText(row, 'trigger_name'),
        triggerGroup: anyText(row, 'trigger_group'),
        planned: summary.scheduledFireTimeMs,
        earliest: summary.scheduledFireTimeMs - setBackMaxMs,
        scanned: attemptsScanned,
        limit: attemptsMax,
      }),
    )
    return {
      ...summary,
      progressText: readable(textOrNull, row, 'progress', null),
      resultText: readable(textOrNull, row, 'result', null),
      dataText: readable(textOrNull, row, 'job_data', null),
      attempts: attempts.map(summaryOf),
    }
  }
}

type After = { readonly afterMs: number; readonly afterId: string }

interface HistoryStatements {
  readonly insert: RowsQuery
  readonly insertPlain: RowsQuery
  readonly dropLogLines: SqlQuery<{ scheduler: string; before: number; limit: number }>
  readonly nth: SqlQuery<{ scheduler: string; skipped: number }>
  readonly nthBefore: SqlQuery<{ scheduler: string; before: number; skipped: number }>
  readonly deleteUpTo: SqlQuery<{ scheduler: string; time: number; id: string }>
  readonly deleteFree: SqlQuery<{ scheduler: string; time: number; id: string; limit: number }>
  readonly nthAfter: SqlQuery<{ scheduler: string; before: number; skipped: number } & After>
  readonly deleteOutcome: SqlQuery<
    { scheduler: string; outcome: string; time: number; id: string; limit: number } & After
  >
  readonly get: SqlQuery<{ scheduler: string; id: string }>
  readonly attempts: SqlQuery<{
    scheduler: string
    trigger: string
    triggerGroup: string
    planned: number
    earliest: number
    scanned: number
    limit: number
  }>
}

const byFireTime = { time: 'fired_time', key: { fire_instance_id: 'text' } } as const

/** Its rows by their time. */
export function historyRows({ names }: SqlVocabulary): TimedRows {
  return { table: names.history, ...byFireTime }
}

export function historyStatements(vocabulary: SqlVocabulary): HistoryStatements {
  const { dialect, names } = vocabulary
  const place = `SELECT h.fired_time, h.fire_instance_id FROM ${names.history} AS h
    WHERE h.sched_name = :scheduler AND ${hasPlace}`
  const among = (further: string): string =>
    isAmongFree(dialect, 't', 'h', {
      key: ['sched_name', 'fire_instance_id'],
      query: `FROM ${names.history} AS h WHERE h.sched_name = :scheduler ${further} LIMIT :limit`,
    })
  const ofTrigger = `SELECT ${list(columns)} FROM ${names.history} AS h
    WHERE ${ofScheduler(dialect)} AND ${isNamed('trigger')}`
  return {
    insert: insertMissingQuery(vocabulary, names.history, { ...columns, ...textColumns, ...logColumns }),
    insertPlain: insertMissingQuery(vocabulary, names.history, plainColumns, plainConstants),
    dropLogLines: sqlQuery(
      dialect,
      `UPDATE ${names.history} AS t SET log_lines = NULL WHERE ${among(`
        AND h.log_lines IS NOT NULL AND h.finished_time < :before ORDER BY h.finished_time`)}`,
    ),
    nth: sqlQuery(
      dialect,
      `${place} ORDER BY h.fired_time DESC, h.fire_instance_id DESC LIMIT 1 OFFSET :skipped`,
    ),
    nthBefore: sqlQuery(
      dialect,
      `${place} AND h.fired_time < :before ORDER BY h.fired_time, h.fire_instance_id LIMIT 1 OFFSET :skipped`,
    ),
    nthAfter: sqlQuery(
      dialect,
      `SELECT h.fired_time, h.fire_instance_id FROM ${names.history} AS h WHERE h.sched_name = :scheduler
         AND (h.fired_time, h.fire_instance_id) > (:afterMs, :afterId) AND h.fired_time < :before
       ORDER BY h.fired_time, h.fire_instance_id LIMIT 1 OFFSET :skipped`,
    ),
    deleteUpTo: sqlQuery(
      dialect,
      `DELETE FROM ${names.history} WHERE sched_name = :scheduler
         AND (fired_time, fire_instance_id) <= (:time, :id)`,
    ),
    deleteFree: sqlQuery(
      dialect,
      `DELETE FROM ${names.history} AS t WHERE ${among(`
        AND (h.fired_time, h.fire_instance_id) <= (:time, :id) ORDER BY h.fired_time, h.fire_instance_id`)}`,
    ),
    deleteOutcome: sqlQuery(
      dialect,
      `DELETE FROM ${names.history} AS t WHERE ${among(`
        AND (h.fired_time, h.fire_instance_id) > (:afterMs, :afterId)
        AND (h.fired_time, h.fire_instance_id) <= (:time, :id) AND h.outcome = :outcome
        ORDER BY h.fired_time, h.fire_instance_id`)}`,
    ),
    get: sqlQuery(
      dialect,
      `SELECT ${list({ ...columns, ...textColumns })} FROM ${names.history} AS h
       WHERE h.sched_name = :scheduler AND h.fire_instance_id = :id LIMIT 1`,
    ),
    attempts: sqlQuery(
      dialect,
      // Those before the planned instant apart: of a trigger that fires often, they would fill the limit.
      `SELECT ${list(columns)} FROM (
         SELECT * FROM (${ofTrigger} AND h.fired_time >= :planned
           ORDER BY h.fired_time, h.fire_instance_id LIMIT :scanned) AS a
         UNION ALL
         SELECT * FROM (${ofTrigger} AND h.fired_time >= :earliest AND h.fired_time < :planned
           ORDER BY h.fired_time DESC, h.fire_instance_id DESC LIMIT :scanned) AS b) AS h
       WHERE h.planned_time = :planned ORDER BY h.attempt LIMIT :limit`,
    ),
  }
}

const list = (shown: object): string =>
  Object.keys(shown)
    .map((name) => `h.${name}`)
    .join(', ')

/** The executions of a query, those that began last first. */
export function executionsQuery(vocabulary: SqlVocabulary, query: ExecutionQuery): NewestFirstQuery {
  const { jobKey, triggerKey, firingId } = query
  const { dialect } = vocabulary
  const isOfOne = jobKey !== undefined || triggerKey !== undefined
  const indexed = new Conditions(isOfOne ? ofScheduler(dialect) : 'h.sched_name = :scheduler')
  addPlaces(indexed, query)
  indexed.add(isNamed('job'), { job: jobKey?.name, jobGroup: jobKey?.group })
  indexed.add(isNamed('trigger'), { trigger: triggerKey?.name, triggerGroup: triggerKey?.group })
  indexed.add('h.firing_id = :firing', { firing: firingId })
  const outcomes = wantedOutcomes(query)
  if (outcomes !== null && !outcomes.includes('succeeded')) indexed.add(`h.outcome <> 'succeeded'`, {})
  const table: NewestFirstTable = {
    table: vocabulary.names.history,
    alias: 'h',
    time: 'fired_time',
    id: 'fire_instance_id',
    columns,
    scannedMax: executionsScanned,
  }
  const tried = isScan(query) ? triedConditions(vocabulary.dialect, query) : null
  return newestFirstQuery(vocabulary, table, { indexed, tried })
}

/** The condition that an execution is of the job or the trigger that `:job` and `:jobGroup`, or so, name. */
function isNamed(kind: 'job' | 'trigger'): string {
  return `h.${kind}_name = :${kind} AND h.${kind}_group = :${kind}Group`
}

/**
 * The condition for executions of one job or trigger. In its plain form SQLite, which has no statistics, would take the
 * index of all executions of the scheduler, which lacks the names.
 */
function ofScheduler({ findsExecutionsBy }: SqlDialect): string {
  return findsExecutionsBy === 'name' ? 'h.sched_name = :scheduler' : `h.sched_name || '' = :scheduler`
}

/**
 * One bound on each side. With two, SQLite may begin at the wrong one, and expects so few rows that it leaves the index
 * of the job or the trigger alone.
 */
function addPlaces(indexed: Conditions, { from, to, after }: ExecutionQuery): void {
  indexed.add('h.fired_time >= :fromMs', {
    fromMs: Math.max(-instantMaxMs, from?.getTime() ?? -instantMaxMs),
  })
  const toMs = to?.getTime() ?? instantMaxMs + 1
  if (after === undefined || after.fireTimeMs >= toMs) {
    indexed.add('h.fired_time < :toMs', { toMs })
    return
  }
  indexed.add('(h.fired_time, h.fire_instance_id) < (:afterMs, :afterId)', {
    afterMs: after.fireTimeMs,
    afterId: after.fireInstanceId,
  })
}

function triedConditions(dialect: SqlVocabulary['dialect'], query: ExecutionQuery): Conditions {
  const { data, errorContains, jobGroup, laterThanMs, manual, node, tookLongerThanMs } = query
  const tried = new Conditions('h.sched_name = :scheduler')
  tried.add('h.job_group = :group', { group: jobGroup })
  tried.add('h.instance_name = :node', { node })
  tried.addOneOf('h.outcome', 'outcome', wantedOutcomes(query))
  tried.add('h.fired_time - h.planned_time > :later', { later: laterThanMs })
  const ranLonger = `h.outcome <> 'vetoed' AND h.finished_time - COALESCE(h.began_time, h.fired_time) > :took`
  tried.add(ranLonger, { took: tookLongerThanMs })
  tried.add(dialect.contains('h.error_text', ':error'), { error: errorContains })
  if (manual !== undefined) tried.add(`COALESCE(h.is_manual, false) = :manual`, { manual })
  if (data !== undefined) {
    const needles = dataNeedles(data)
    const names = needles.map((_, index) => dialect.contains('h.job_data', `:data${String(index)}`))
    const values = Object.fromEntries(needles.map((needle, index) => [`data${String(index)}`, needle]))
    tried.add(`(${names.join(' OR ')})`, values)
  }
  return tried
}
