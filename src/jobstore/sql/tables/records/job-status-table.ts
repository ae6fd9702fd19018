import { compareKeys, defaultGroup, type JobKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import { KeySet } from '../../../../core/key-set.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import { aheadMaxMs, isAhead } from '../../../clock-ahead.ts'
import {
  dayOf,
  dayText,
  type JobDay,
  type JobStatus,
  type JobStatusChange,
  type JobStatusQuery,
} from '../../../job-status.ts'
import { executionOutcomes } from '../../../queries.ts'
import {
  boundRows,
  exists,
  hasKeyOf,
  isAmongFree,
  isRow,
  type KeyQuery,
  runOver,
  withScheduler,
  writeOver,
} from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import {
  all,
  run,
  type SqlProgram,
  type SqlQuery,
  type SqlRow,
  type SqlRows,
  sqlQuery,
} from '../../kernel/statement.ts'
import { instantOrNull, integer, readable, textOrNull } from '../encoding/columns.ts'
import { jobKeyColumns, jobKeyOf, jobKeyRows } from '../encoding/key-rows.ts'
import { storable } from '../encoding/storable-text.ts'

const statusColumns = {
  last_fire_id: 'text',
  last_fired_time: 'bigint',
  last_finished_time: 'bigint',
  last_outcome: 'text',
  last_success_time: 'bigint',
  last_failure_time: 'bigint',
  last_error: 'text',
  failures: 'bigint',
  changed_time: 'bigint',
} as const

const countColumns = {
  succeeded: 'bigint',
  failed: 'bigint',
  vetoed: 'bigint',
  interrupted: 'bigint',
  timed_out: 'bigint',
  lost: 'bigint',
  run_time: 'bigint',
} as const

const columnOfOutcome = {
  succeeded: 'succeeded',
  failed: 'failed',
  vetoed: 'vetoed',
  interrupted: 'interrupted',
  timedOut: 'timed_out',
  lost: 'lost',
} as const

/** The rows of `job_status` and `job_days`. */
export class JobStatusTable {
  readonly #scheduler: string
  readonly #statements: JobStatusStatements

  constructor(vocabulary: SqlVocabulary) {
    this.#scheduler = vocabulary.schedulerName
    this.#statements = jobStatusStatements(vocabulary)
  }

  /** Those of the changes whose jobs exist or have a status. */
  *known(changes: readonly JobStatusChange[]): SqlProgram<readonly JobStatusChange[]> {
    const keys = jobKeyRows(
      this.#scheduler,
      changes.map(({ jobKey }) => jobKey),
    )
    const found = yield* runOver(keys, (rows) => this.#statements.known({ rows }))
    const known = new KeySet(found.map((row) => jobKeyOf(row)))
    return changes.filter(({ jobKey }) => known.has(jobKey))
  }

  /** Adds changes, in order of keys, to the status of jobs that exist or have one. */
  *write(changes: readonly JobStatusChange[], nowMs: EpochMs): SqlProgram<void> {
    const key = ({ jobKey }: JobStatusChange): object => ({
      sched_name: this.#scheduler,
      job_name: jobKey.name,
      job_group: jobKey.group,
    })
    const statuses = changes.map((change) => ({
      ...key(change),
      last_fire_id: change.last?.fireInstanceId ?? null,
      last_fired_time: change.last?.fireTimeMs ?? null,
      last_finished_time: change.last?.finishedTimeMs ?? null,
      last_outcome: change.last?.outcome ?? null,
      last_success_time: change.lastSuccessTimeMs,
      last_failure_time: change.lastFailureTimeMs,
      last_error: change.lastErrorText === null ? null : storable(change.lastErrorText),
      failures: change.failures,
      changed_time: nowMs,
    }))
    const days = changes.flatMap((change) =>
      [...change.days].map(([day, { counts, runTimeMs }]) => ({
        ...key(change),
        day_number: day,
        ...Object.fromEntries(
          executionOutcomes.map((outcome) => [columnOfOutcome[outcome], counts[outcome]]),
        ),
        run_time: Math.round(runTimeMs),
      })),
    )
    yield* writeOver(statuses, (rows) => this.#statements.addStatus({ rows }))
    yield* writeOver(days, (rows) => this.#statements.addDays({ rows }))
  }

  /**
   * Whether these changes were written, where the answer to that is lost; null when nothing tells. An execution that is
   * written is the last one of its job until one that began later is, or any other one if it is of a clock that was
   * ahead.
   */
  *wereWritten(changes: readonly JobStatusChange[], nowMs: EpochMs): SqlProgram<boolean | null> {
    const keys = jobKeyRows(
      this.#scheduler,
      changes.map(({ jobKey }) => jobKey),
    )
    const rows = yield* runOver(keys, (some) => this.#statements.ofJobs({ rows: some, failures: 0 }))
    const stored = new KeyMap<JobKey, SqlRow>()
    for (const row of rows) stored.set(jobKeyOf(row), row)
    const missing: JobStatusChange[] = []
    for (const change of changes) {
      const row = stored.get(change.jobKey)
      if (row === undefined) {
        missing.push(change)
        continue
      }
      const isShown = isShownBy(row, change, nowMs)
      if (isShown !== null) return isShown
    }
    // Jobs that are there got no status. Where some have one, others may have been stored anew since.
    if (missing.length < changes.length) return null
    return (yield* this.known(missing)).length > 0 ? false : null
  }

  /** In order of keys. */
  *find(query: JobStatusQuery, limit: number, nowMs: EpochMs): SqlProgram<readonly JobStatus[]> {
    const { days = 0 } = query
    const rows =
      query.jobKeys === undefined ? yield* this.#page(query, limit) : yield* this.#ofJobs(query, limit)
    const keys = rows.map((row) => jobKeyOf(row))
    const daysOf = days === 0 ? null : yield* this.#days(keys, dayOf(nowMs) - days)
    return rows.map((row, index) => {
      const key = keys[index] ?? jobKeyOf(row)
      return statusOf(row, key, daysOf?.get(key) ?? [])
    })
  }

  /** The group DEFAULT comes first. */
  *#page(
    { after, minConsecutiveFailures = 0 }: JobStatusQuery,
    limit: number,
  ): SqlProgram<readonly SqlRow[]> {
    const place = { scheduler: this.#scheduler, failures: minConsecutiveFailures }
    const isBehindDefault = after !== undefined && after.group !== defaultGroup
    const first = isBehindDefault
      ? []
      : yield* all(
          this.#statements.pageOfGroup({ ...place, group: defaultGroup, name: after?.name ?? '', limit }),
        )
    if (first.length === limit) return first
    const behind = isBehindDefault ? after : { group: '', name: '' }
    const others = yield* all(
      this.#statements.pageOfOthers({
        ...place,
        default: defaultGroup,
        group: behind.group,
        name: behind.name,
        limit: limit - first.length,
      }),
    )
    return [...first, ...others]
  }

  *#ofJobs(
    { after, minConsecutiveFailures = 0, jobKeys = [] }: JobStatusQuery,
    limit: number,
  ): SqlProgram<readonly SqlRow[]> {
    const rows = yield* runOver(jobKeyRows(this.#scheduler, jobKeys), (keys) =>
      this.#statements.ofJobs({ rows: keys, failures: minConsecutiveFailures }),
    )
    const keyed = rows.map((row) => ({ row, key: jobKeyOf(row) }))
    const behind = keyed.filter(({ key }) => after === undefined || compareKeys(key, after) > 0)
    behind.sort((a, b) => compareKeys(a.key, b.key))
    return behind.slice(0, limit).map(({ row }) => row)
  }

  *#days(keys: readonly JobKey[], afterDay: number): SqlProgram<KeyMap<JobKey, JobDay[]>> {
    const found = new KeyMap<JobKey, JobDay[]>()
    const rows = yield* runOver(jobKeyRows(this.#scheduler, keys), (keyRows) =>
      this.#statements.days({ rows: keyRows, after: afterDay }),
    )
    for (const row of rows) {
      const key = jobKeyOf(row)
      const days = found.get(key) ?? []
      days.push(jobDayOf(row))
      found.set(key, days)
    }
    return found
  }

  /** Deletes counts from before a day; about `limit` at most. */
  *pruneDays(day: number, limit: number): SqlProgram<number> {
    return yield* run(this.#statements.deleteDays({ scheduler: this.#scheduler, day, limit }))
  }

  /** Deletes statuses from before a day of jobs that are gone; about `limit` at most. Reads all statuses. */
  *pruneGone(day: number, limit: number): SqlProgram<number> {
    const values = { scheduler: this.#scheduler, before: day * 86_400_000, limit }
    return yield* run(this.#statements.deleteGone(values))
  }
}

interface Place {
  readonly [name: string]: string | number
  readonly scheduler: string
  readonly failures: number
  readonly group: string
  readonly name: string
  readonly limit: number
}

interface JobStatusStatements {
  readonly known: KeyQuery
  readonly addStatus: KeyQuery
  readonly addDays: KeyQuery
  readonly pageOfGroup: SqlQuery<Place>
  readonly pageOfOthers: SqlQuery<Place & { readonly default: string }>
  readonly ofJobs: SqlQuery<{ readonly rows: SqlRows; readonly failures: number }>
  readonly days: SqlQuery<{ readonly rows: SqlRows; readonly after: number }>
  readonly deleteDays: SqlQuery<{ scheduler: string; day: number; limit: number }>
  readonly deleteGone: SqlQuery<{ scheduler: string; before: number; limit: number }>
}

export function jobStatusStatements(vocabulary: SqlVocabulary): JobStatusStatements {
  const { dialect, names } = vocabulary
  const columns = Object.keys({ ...jobKeyColumns, ...statusColumns })
    .map((name) => `s.${name}`)
    .join(', ')
  const found = `SELECT ${columns} FROM ${names.jobStatus} AS s`
  return {
    ...additions(vocabulary),
    pageOfGroup: sqlQuery(
      dialect,
      `${found} WHERE s.sched_name = :scheduler AND s.failures >= :failures AND s.job_group = :group
         AND s.job_name > :name ORDER BY s.job_name LIMIT :limit`,
    ),
    pageOfOthers: sqlQuery(
      dialect,
      `${found} WHERE s.sched_name = :scheduler AND s.failures >= :failures AND s.job_group <> :default
         AND (s.job_group, s.job_name) > (:group, :name) ORDER BY s.job_group, s.job_name LIMIT :limit`,
    ),
    ofJobs: sqlQuery(
      dialect,
      `${found} JOIN ${boundRows(dialect, withScheduler(jobKeyColumns))} AS r ON ${isRow(dialect, 's', jobKeyColumns)}
       WHERE s.failures >= :failures`,
    ),
    days: sqlQuery(
      dialect,
      `SELECT d.job_name, d.job_group, d.day_number, ${Object.keys(countColumns)
        .map((name) => `d.${name}`)
        .join(', ')}
       FROM ${boundRows(dialect, withScheduler(jobKeyColumns))} AS r
         JOIN ${names.jobDays} AS d ON ${isRow(dialect, 'd', jobKeyColumns)} AND d.day_number > :after
       ORDER BY d.day_number DESC`,
    ),
    deleteDays: sqlQuery(
      dialect,
      `DELETE FROM ${names.jobDays} AS t WHERE ${isAmongFree(dialect, 't', 'd', {
        key: ['sched_name', 'job_group', 'job_name', 'day_number'],
        query: `FROM ${names.jobDays} AS d WHERE d.sched_name = :scheduler AND d.day_number < :day LIMIT :limit`,
      })}`,
    ),
    deleteGone: sqlQuery(
      dialect,
      `DELETE FROM ${names.jobStatus} AS t WHERE ${isAmongFree(dialect, 't', 's', {
        key: ['sched_name', 'job_group', 'job_name'],
        query: `FROM ${names.jobStatus} AS s WHERE s.sched_name = :scheduler AND s.changed_time < :before
          AND NOT ${exists(dialect, `FROM ${names.jobs} AS j WHERE ${hasKeyOf(dialect, 'j', 's', jobKeyColumns)}`)}
          LIMIT :limit`,
      })}`,
    ),
  }
}

/** The statements that add changes to what is there; the newer of two executions is the last one. */
function additions({
  dialect,
  names,
}: SqlVocabulary): Pick<JobStatusStatements, 'known' | 'addStatus' | 'addDays'> {
  const key = withScheduler(jobKeyColumns)
  const list = (columns: object, alias = ''): string =>
    Object.keys(columns)
      .map((name) => alias + name)
      .join(', ')
  // What a clock gave that was ahead is older than whatever is written: see addChange.
  const isAheadIn = (column: string): string => `t.${column} > excluded.changed_time + ${String(aheadMaxMs)}`
  const isAfter = (column: string): string =>
    `(excluded.${column} >= COALESCE(t.${column}, excluded.${column})
       OR (excluded.${column} IS NOT NULL AND ${isAheadIn(column)}))`
  const newer = isAfter('last_fired_time')
  const ofNewer = ['last_fire_id', 'last_finished_time', 'last_outcome', 'last_fired_time'].map(
    (column) => `${column} = CASE WHEN ${newer} THEN excluded.${column} ELSE t.${column} END`,
  )
  // As addChange has it: another node may have written what came later.
  const failures = `CASE WHEN ${isAfter('last_success_time')}
       THEN excluded.failures + CASE WHEN t.failures > 0 AND t.last_failure_time > excluded.last_success_time
         AND NOT ${isAheadIn('last_failure_time')} THEN 1 ELSE 0 END
       ELSE t.failures + CASE WHEN t.last_success_time IS NULL OR excluded.last_failure_time > t.last_success_time
         OR ${isAheadIn('last_success_time')} THEN excluded.failures ELSE 0 END END`
  const status = { ...key, ...statusColumns }
  const days = { ...key, day_number: 'bigint', ...countColumns } as const
  const hasStatus = exists(
    dialect,
    `FROM ${names.jobStatus} AS s WHERE ${isRow(dialect, 's', jobKeyColumns)}`,
  )
  const isStored = exists(dialect, `FROM ${names.jobs} AS j WHERE ${isRow(dialect, 'j', jobKeyColumns)}`)
  const isKnown = `(${isStored} OR ${hasStatus})`
  return {
    known: sqlQuery(
      dialect,
      `SELECT r.job_name, r.job_group FROM ${boundRows(dialect, key)} AS r WHERE ${isKnown}`,
    ),
    addStatus: sqlQuery(
      dialect,
      `INSERT INTO ${names.jobStatus} AS t (${list(status)})
       SELECT ${list(status, 'r.')} FROM ${boundRows(dialect, status)} AS r
       WHERE ${isKnown}
       ON CONFLICT (sched_name, job_group, job_name) DO UPDATE SET ${ofNewer.join(', ')},
         last_error = CASE WHEN ${isAfter('last_failure_time')} THEN excluded.last_error ELSE t.last_error END,
         last_success_time = CASE WHEN ${isAfter('last_success_time')} THEN excluded.last_success_time
           WHEN ${isAheadIn('last_success_time')} THEN COALESCE(excluded.last_failure_time, t.last_success_time)
           ELSE t.last_success_time END,
         last_failure_time = CASE WHEN ${isAfter('last_failure_time')} THEN excluded.last_failure_time
           ELSE t.last_failure_time END,
         failures = ${failures},
         changed_time = excluded.changed_time`,
    ),
    addDays: sqlQuery(
      dialect,
      `INSERT INTO ${names.jobDays} AS t (${list(days)})
       SELECT ${list(days, 'r.')} FROM ${boundRows(dialect, days)} AS r
       WHERE ${hasStatus}
       ON CONFLICT (sched_name, job_group, job_name, day_number) DO UPDATE SET
         ${Object.keys(countColumns)
           .map((column) => `${column} = t.${column} + excluded.${column}`)
           .join(', ')}`,
    ),
  }
}

/** Whether the row of a job shows that a change was added to it, or was not; null for neither. */
function isShownBy(row: SqlRow, { last }: JobStatusChange, nowMs: EpochMs): boolean | null {
  // Vetoes are counted, no more.
  if (last === null) return null
  const isLast =
    row['last_fire_id'] === last.fireInstanceId &&
    row['last_outcome'] === last.outcome &&
    readable(instantOrNull, row, 'last_finished_time', null) === last.finishedTimeMs
  if (isLast) return true
  const firedTimeMs = readable(instantOrNull, row, 'last_fired_time', null)
  if (firedTimeMs === null) return false
  return firedTimeMs < last.fireTimeMs && !isAhead(last.fireTimeMs, nowMs) ? false : null
}

function statusOf(row: SqlRow, jobKey: JobKey, days: readonly JobDay[]): JobStatus {
  return {
    jobKey,
    lastFireInstanceId: readable(textOrNull, row, 'last_fire_id', null),
    lastFireTimeMs: readable(instantOrNull, row, 'last_fired_time', null),
    lastFinishedTimeMs: readable(instantOrNull, row, 'last_finished_time', null),
    lastOutcome: executionOutcomes.find((outcome) => outcome === row['last_outcome']) ?? null,
    lastSuccessTimeMs: readable(instantOrNull, row, 'last_success_time', null),
    lastFailureTimeMs: readable(instantOrNull, row, 'last_failure_time', null),
    lastErrorText: readable(textOrNull, row, 'last_error', null),
    consecutiveFailures: readable(integer, row, 'failures', 0),
    days,
  }
}

function jobDayOf(row: SqlRow): JobDay {
  const count = (column: string): number => readable(integer, row, column, 0)
  return {
    day: dayText(count('day_number')),
    counts: {
      succeeded: count('succeeded'),
      failed: count('failed'),
      vetoed: count('vetoed'),
      interrupted: count('interrupted'),
      timedOut: count('timed_out'),
      lost: count('lost'),
    },
    runTimeMs: count('run_time'),
  }
}
