import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import { instantMaxMs } from '../../../../triggers/invalid-trigger.ts'
import {
  type ExecutionCursor,
  type ExecutionOutcome,
  type ExecutionQuery,
  type ExecutionSummary,
  executionOutcomes,
} from '../../../queries.ts'
import { insertMissingQuery, type RowsQuery, storeRows } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import {
  all,
  first,
  run,
  type SqlProgram,
  type SqlQuery,
  type SqlRow,
  type SqlValue,
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
import type { ResolvedHistoryOptions } from './history-options.ts'

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
} as const

/** Rows are ordered by the time at which they fired; rows with a time that no Date can hold are left out. */
const hasPlace = `h.fired_time BETWEEN ${String(-instantMaxMs)} AND ${String(instantMaxMs)}`
/** The same behind a place. Without the upper bound, which SQLite would begin at instead of the place. */
const hasPlaceBefore = `h.fired_time >= ${String(-instantMaxMs)}`

/** The rows of `execution_history`: at most one for each trigger, planned instant and attempt. */
export class HistoryTable {
  readonly #vocabulary: SqlVocabulary
  readonly #record: ResolvedHistoryOptions['record']
  readonly #statements: HistoryStatements

  constructor(vocabulary: SqlVocabulary, { record }: ResolvedHistoryOptions) {
    this.#vocabulary = vocabulary
    this.#record = record
    this.#statements = historyStatements(vocabulary)
  }

  /** Whether executions with this outcome are kept. */
  keeps(outcome: ExecutionOutcome): boolean {
    if (this.#record !== 'failures') return this.#record === 'all'
    return outcome !== 'succeeded' && outcome !== 'vetoed'
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
    return cursorOf(yield* first(this.#statements.nth(values)))
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
    const end = cursorOf(nth) ?? last
    const values = { scheduler, time: end.fireTimeMs, id: end.fireInstanceId }
    return yield* run(this.#statements.deleteUpTo(values))
  }

  /** Those that began last first. */
  *find(query: ExecutionQuery, limit: number): SqlProgram<readonly ExecutionSummary[]> {
    const { query: select, values } = executionsQuery(this.#vocabulary, query)
    const given = { scheduler: this.#vocabulary.schedulerName, limit, ...values }
    return (yield* all(select(given))).map(summaryOf)
  }
}

interface HistoryStatements {
  readonly insert: RowsQuery
  readonly nth: SqlQuery<{ scheduler: string; skipped: number }>
  readonly nthBefore: SqlQuery<{ scheduler: string; before: number; skipped: number }>
  readonly deleteUpTo: SqlQuery<{ scheduler: string; time: number; id: string }>
}

export function historyStatements(vocabulary: SqlVocabulary): HistoryStatements {
  const { dialect, names } = vocabulary
  const place = `SELECT h.fired_time, h.fire_instance_id FROM ${names.history} AS h
    WHERE h.sched_name = :scheduler AND ${hasPlace}`
  return {
    insert: insertMissingQuery(vocabulary, names.history, columns),
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
  }
}

/** The executions of a query, those that began last first; the values are those of its conditions. */
export function executionsQuery(
  { dialect, names }: SqlVocabulary,
  { jobKey, triggerKey, node, outcome, from, to, after }: ExecutionQuery,
): {
  readonly query: SqlQuery<Readonly<Record<string, SqlValue>>>
  readonly values: Readonly<Record<string, SqlValue>>
} {
  const conditions = ['h.sched_name = :scheduler', after === undefined ? hasPlace : hasPlaceBefore]
  const values: Record<string, SqlValue> = {}
  const add = (condition: string, given: Readonly<Record<string, SqlValue | undefined>>): void => {
    const bound: Record<string, SqlValue> = {}
    for (const [name, value] of Object.entries(given)) {
      if (value === undefined) return
      bound[name] = value
    }
    conditions.push(condition)
    Object.assign(values, bound)
  }
  add('h.job_name = :job AND h.job_group = :jobGroup', { job: jobKey?.name, jobGroup: jobKey?.group })
  add('h.trigger_name = :trigger AND h.trigger_group = :triggerGroup', {
    trigger: triggerKey?.name,
    triggerGroup: triggerKey?.group,
  })
  add('h.instance_name = :node', { node })
  add('h.outcome = :outcome', { outcome })
  add('h.fired_time >= :fromMs', { fromMs: from?.getTime() })
  add('h.fired_time < :toMs', { toMs: to?.getTime() })
  add('(h.fired_time, h.fire_instance_id) < (:afterMs, :afterId)', {
    afterMs: after?.fireTimeMs,
    afterId: after?.fireInstanceId,
  })
  const query = sqlQuery(
    dialect,
    `SELECT ${Object.keys(columns).join(', ')} FROM ${names.history} AS h WHERE ${conditions.join(' AND ')}
       ORDER BY h.fired_time DESC, h.fire_instance_id DESC LIMIT :limit`,
  )
  return { query, values }
}

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
    error_text: entry.errorText === null ? null : storable(entry.errorText),
    recovering: entry.recovering,
  }
}

/** The beginning of a text, without characters that no text column can hold. */
function storable(text: string): string {
  return text.slice(0, errorTextLength).replace(/[\0\p{Surrogate}]/gu, '\uFFFD')
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
  }
}

function cursorOf(row: SqlRow | null): ExecutionCursor | null {
  if (row === null) return null
  return { fireTimeMs: instant(row, 'fired_time'), fireInstanceId: anyText(row, 'fire_instance_id') }
}
