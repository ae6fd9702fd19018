import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import { instantMaxMs } from '../../../../triggers/invalid-trigger.ts'
import type { ExecutionTexts } from '../../../job-store.ts'
import {
  dataNeedles,
  type ExecutionCursor,
  type ExecutionDetails,
  type ExecutionOutcome,
  type ExecutionQuery,
  type ExecutionSummary,
  executionOutcomes,
  executionsScanned,
  isScan,
  type Page,
  type ShardPlace,
  wantedOutcomes,
} from '../../../queries.ts'
import { keepsOutcome, type ResolvedHistoryOptions } from '../../../record-options.ts'
import { Conditions } from '../../kernel/conditions.ts'
import {
  type NewestFirstQuery,
  type NewestFirstTable,
  newestFirstPage,
  newestFirstQuery,
} from '../../kernel/newest-first.ts'
import { insertMissingQuery, type RowsQuery, storeRows } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import {
  all,
  first,
  run,
  type SqlProgram,
  type SqlQuery,
  type SqlRow,
  sqlQuery,
} from '../../kernel/statement.ts'
import {
  anyText,
  boolean,
  instant,
  instantOrNull,
  integer,
  readable,
  textOrNull,
} from '../encoding/columns.ts'
import { jobKeyOf, triggerKeyOf } from '../encoding/key-rows.ts'
import { storable } from '../encoding/storable-text.ts'

/** An execution of the history. */
export interface HistoryEntry {
  readonly fireInstanceId: string
  readonly triggerKey: TriggerKey
  readonly jobKey: JobKey
  /** Null when the job does not exist any more. */
  readonly jobType: string | null
  readonly node: string
  readonly scheduledFireTimeMs: EpochMs
  readonly fireTimeMs: EpochMs
  readonly finishedTimeMs: EpochMs | null
  readonly attempt: number
  readonly outcome: ExecutionOutcome
  readonly errorText: string | null
  readonly recovering: boolean
  readonly acquiredTimeMs?: EpochMs | null
  readonly beganTimeMs?: EpochMs | null
  readonly manual?: boolean
  readonly triggeredBy?: string | null
  readonly previousFireInstanceId?: string | null
  readonly shard?: ShardPlace | null
  readonly texts?: ExecutionTexts | null
}

/** How many characters of an error are kept. */
const errorTextLength = 2000

const columns = {
  fire_instance_id: 'text',
  trigger_name: 'text',
  trigger_group: 'text',
  job_name: 'text',
  job_group: 'text',
  job_type: 'text',
  instance_name: 'text',
  planned_time: 'bigint',
  fired_time: 'bigint',
  finished_time: 'bigint',
  attempt: 'bigint',
  outcome: 'text',
  error_text: 'text',
  recovering: 'boolean',
  acquired_time: 'bigint',
  began_time: 'bigint',
  is_manual: 'boolean',
  triggered_by: 'text',
  previous_id: 'text',
  firing_id: 'text',
  shard_item: 'bigint',
} as const

/** Columns that only one execution is read with. */
const textColumns = { progress: 'text', result: 'text', job_data: 'text' } as const

/** Most attempts at one firing that are listed. */
const attemptsMax = 100
/** Among how many executions of a trigger they are looked for. */
const attemptsScanned = 1000

/** Rows are ordered by the time at which they fired; rows with a time that no Date can hold are left out. */
const hasPlace = `h.fired_time BETWEEN ${String(-instantMaxMs)} AND ${String(instantMaxMs)}`

/** The rows of `execution_history`: one for each firing. */
export class HistoryTable {
  readonly #vocabulary: SqlVocabulary
  readonly #options: ResolvedHistoryOptions
  readonly #statements: HistoryStatements

  constructor(vocabulary: SqlVocabulary, options: ResolvedHistoryOptions) {
    this.#vocabulary = vocabulary
    this.#options = options
    this.#statements = historyStatements(vocabulary)
  }

  /** Whether executions with this outcome are kept. */
  keeps(outcome: ExecutionOutcome): boolean {
    return keepsOutcome(this.#options, outcome)
  }

  /** Stores the executions that are to be kept; existing rows stay as they are. */
  *insert(entries: readonly HistoryEntry[]): SqlProgram<void> {
    const scheduler = this.#vocabulary.schedulerName
    const rows = entries.filter(({ outcome }) => this.keeps(outcome)).map(rowOf)
    yield* storeRows(scheduler, rows, this.#statements.insert)
  }

  /** The place of the newest execution beyond `maxRows`; null when there are no more than that. */
  *surplus(maxRows: number): SqlProgram<ExecutionCursor | null> {
    const values = { scheduler: this.#vocabulary.schedulerName, skipped: maxRows }
    const nth = yield* first(this.#statements.nth(values))
    return nth && cursorOf(nth)
  }

  /** Deletes executions that began before an instant, or are at or before a place; about `limit` at most. */
  *prune(
    { beforeMs, surplus }: { readonly beforeMs: EpochMs; readonly surplus: ExecutionCursor | null },
    limit: number,
  ): SqlProgram<number> {
    const scheduler = this.#vocabulary.schedulerName
    // Before every id of that instant.
    const oldest: ExecutionCursor = { fireTimeMs: beforeMs, fireInstanceId: '' }
    const last = surplus !== null && surplus.fireTimeMs >= beforeMs ? surplus : oldest
    const nth = yield* first(
      this.#statements.nthBefore({ scheduler, before: last.fireTimeMs, skipped: limit - 1 }),
    )
    const end = nth === null ? last : cursorOf(nth)
    const values = { scheduler, time: end.fireTimeMs, id: end.fireInstanceId }
    return yield* run(this.#statements.deleteUpTo(values))
  }

  /** Deletes executions with an outcome that began before an instant; `limit` at most. */
  *pruneOutcome(outcome: ExecutionOutcome, beforeMs: EpochMs, limit: number): SqlProgram<number> {
    const scheduler = this.#vocabulary.schedulerName
    return yield* run(this.#statements.deleteOutcome({ scheduler, outcome, before: beforeMs, limit }))
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

interface HistoryStatements {
  readonly insert: RowsQuery
  readonly nth: SqlQuery<{ scheduler: string; skipped: number }>
  readonly nthBefore: SqlQuery<{ scheduler: string; before: number; skipped: number }>
  readonly deleteUpTo: SqlQuery<{ scheduler: string; time: number; id: string }>
  readonly deleteOutcome: SqlQuery<{ scheduler: string; outcome: string; before: number; limit: number }>
  readonly get: SqlQuery<{ scheduler: string; id: string }>
  readonly attempts: SqlQuery<{
    scheduler: string
    trigger: string
    triggerGroup: string
    planned: number
    scanned: number
    limit: number
  }>
}

export function historyStatements(vocabulary: SqlVocabulary): HistoryStatements {
  const { dialect, names } = vocabulary
  const place = `SELECT h.fired_time, h.fire_instance_id FROM ${names.history} AS h
    WHERE h.sched_name = :scheduler AND ${hasPlace}`
  return {
    insert: insertMissingQuery(vocabulary, names.history, { ...columns, ...textColumns }),
    nth: sqlQuery(
      dialect,
      `${place} ORDER BY h.fired_time DESC, h.fire_instance_id DESC LIMIT 1 OFFSET :skipped`,
    ),
    nthBefore: sqlQuery(
      dialect,
      `${place} AND h.fired_time < :before ORDER BY h.fired_time, h.fire_instance_id LIMIT 1 OFFSET :skipped`,
    ),
    deleteUpTo: sqlQuery(
      dialect,
      `DELETE FROM ${names.history} WHERE sched_name = :scheduler
         AND (fired_time, fire_instance_id) <= (:time, :id)`,
    ),
    deleteOutcome: sqlQuery(
      dialect,
      `DELETE FROM ${names.history} WHERE (sched_name, fire_instance_id) IN (
         SELECT h.sched_name, h.fire_instance_id FROM ${names.history} AS h
         WHERE h.sched_name = :scheduler AND h.outcome = :outcome AND h.fired_time < :before
         ORDER BY h.fired_time LIMIT :limit)`,
    ),
    get: sqlQuery(
      dialect,
      `SELECT ${list({ ...columns, ...textColumns })} FROM ${names.history} AS h
       WHERE h.sched_name = :scheduler AND h.fire_instance_id = :id LIMIT 1`,
    ),
    attempts: sqlQuery(
      dialect,
      // None began before its planned instant.
      `SELECT ${list(columns)} FROM (
         SELECT * FROM ${names.history} AS h
         WHERE h.sched_name = :scheduler AND h.trigger_group = :triggerGroup AND h.trigger_name = :trigger
           AND h.fired_time >= :planned ORDER BY h.fired_time, h.fire_instance_id LIMIT :scanned) AS h
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
  const indexed = new Conditions('h.sched_name = :scheduler')
  addPlaces(indexed, query)
  indexed.add('h.job_name = :job AND h.job_group = :jobGroup', { job: jobKey?.name, jobGroup: jobKey?.group })
  indexed.add('h.trigger_name = :trigger AND h.trigger_group = :triggerGroup', {
    trigger: triggerKey?.name,
    triggerGroup: triggerKey?.group,
  })
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
  tried.add('h.finished_time - COALESCE(h.began_time, h.fired_time) > :took', { took: tookLongerThanMs })
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

/** What is null is left out: a text of many rows is shorter without it. */
function rowOf(entry: HistoryEntry): object {
  return {
    fire_instance_id: entry.fireInstanceId,
    trigger_name: entry.triggerKey.name,
    trigger_group: entry.triggerKey.group,
    job_name: entry.jobKey.name,
    job_group: entry.jobKey.group,
    job_type: entry.jobType ?? '',
    instance_name: entry.node,
    planned_time: entry.scheduledFireTimeMs,
    fired_time: entry.fireTimeMs,
    finished_time: entry.finishedTimeMs,
    attempt: entry.attempt,
    outcome: entry.outcome,
    error_text: storableOrNone(entry.errorText?.slice(0, errorTextLength)),
    recovering: entry.recovering,
    acquired_time: entry.acquiredTimeMs ?? null,
    began_time: entry.beganTimeMs ?? null,
    is_manual: entry.manual ?? false,
    triggered_by: storableOrNone(entry.triggeredBy),
    previous_id: entry.previousFireInstanceId ?? undefined,
    firing_id: entry.shard?.firingId ?? undefined,
    shard_item: entry.shard?.item ?? undefined,
    progress: storableOrNone(entry.texts?.progressText),
    result: storableOrNone(entry.texts?.resultText),
    job_data: storableOrNone(entry.texts?.dataText),
  }
}

function storableOrNone(text: string | null | undefined): string | undefined {
  return text === null || text === undefined ? undefined : storable(text)
}

function summaryOf(row: SqlRow): ExecutionSummary {
  const jobType = anyText(row, 'job_type')
  return {
    fireInstanceId: anyText(row, 'fire_instance_id'),
    jobKey: jobKeyOf(row),
    jobType: jobType === '' ? null : jobType,
    triggerKey: triggerKeyOf(row),
    node: anyText(row, 'instance_name'),
    scheduledFireTimeMs: readable(instant, row, 'planned_time', 0),
    fireTimeMs: readable(instant, row, 'fired_time', 0),
    finishedTimeMs: readable(instantOrNull, row, 'finished_time', null),
    attempt: readable(integer, row, 'attempt', 1),
    recovering: readable(boolean, row, 'recovering', false),
    outcome: executionOutcomes.find((outcome) => outcome === row['outcome']) ?? 'lost',
    errorText: readable(textOrNull, row, 'error_text', null),
    acquiredTimeMs: readable(instantOrNull, row, 'acquired_time', null),
    beganTimeMs: readable(instantOrNull, row, 'began_time', null),
    manual: readable(boolean, row, 'is_manual', false),
    triggeredBy: readable(textOrNull, row, 'triggered_by', null),
    previousFireInstanceId: readable(textOrNull, row, 'previous_id', null),
    shard: shardOf(row),
  }
}

function shardOf(row: SqlRow): ShardPlace | null {
  const firingId = readable(textOrNull, row, 'firing_id', null)
  return firingId === null ? null : { firingId, item: readable(integer, row, 'shard_item', 0) }
}

function cursorOf(row: SqlRow): ExecutionCursor {
  return { fireTimeMs: instant(row, 'fired_time'), fireInstanceId: anyText(row, 'fire_instance_id') }
}
