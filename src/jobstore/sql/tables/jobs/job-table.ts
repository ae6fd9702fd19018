import type { JobDataMap } from '../../../../core/job-data-map.ts'
import type { JobKey } from '../../../../core/key.ts'
import { KeyMap, lastOfEach } from '../../../../core/key-map.ts'
import type { JobDetail } from '../../../../jobs/job-detail.ts'
import type { JobDataAndPlan } from '../../../planned-data.ts'
import {
  boundRows,
  changeRows,
  chunksOf,
  clearQuery,
  deleteNamed,
  eachQuery,
  hasKeyOf,
  insertQuery,
  isNamed,
  isRow,
  type KeyQuery,
  type RowSetQuery,
  type RowsQuery,
  readRows,
  runOver,
  type SetQuery,
  selectQuery,
  setQuery,
  storeRows,
  updateQuery,
  upsertQuery,
  withScheduler,
} from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import {
  later,
  type PendingReply,
  type SqlProgram,
  type SqlQuery,
  type SqlRow,
  sqlQuery,
} from '../../kernel/statement.ts'
import { brokenRow } from '../encoding/broken-row.ts'
import { anyText, boolean, readable, textOrNull } from '../encoding/columns.ts'
import {
  type JobDataEncoding,
  jobDataText,
  jsonBegin,
  type WrittenJobData,
} from '../encoding/job-data-text.ts'
import { asLookedUp, jobKeyColumns, jobKeyOf, jobKeyRows } from '../encoding/key-rows.ts'
import { jobColumns, jobDataAndPlanOf, jobOf, jobRow } from './job-rows.ts'
import { OrphanDeletion } from './orphan-deletion.ts'

/** A row of `job_details` without its data. */
export interface JobRef {
  readonly key: JobKey
  readonly jobType: string
  readonly durable: boolean
  readonly nonConcurrent: boolean
  readonly requestsRecovery: boolean
  /** As {@link nodeAffinityText} writes it. */
  readonly nodeAffinity: string | null
  /** How its data are written; null when it has none. */
  readonly dataEncoding: JobDataEncoding | null
  /** Absent unless it was asked for, and can be read. */
  readonly stored?: JobDataAndPlan
}

export interface LoadedJobs {
  readonly found: KeyMap<JobKey, JobDetail>
  /** Unreadable rows, such as rows with data that Java serialized. */
  readonly broken: KeyMap<JobKey, Error>
}

export interface JobDataEntry {
  readonly key: JobKey
  readonly data: JobDataMap
  /** The encoding of the stored data; new data are written in the same. */
  readonly encoding?: JobDataEncoding | null
}

export interface RefusedJobData {
  readonly key: JobKey
  readonly error: unknown
}

/** The rows of `job_details`. */
export class JobTable {
  readonly #vocabulary: SqlVocabulary
  readonly #schedulerName: string
  #encoding: WrittenJobData
  readonly #statements: JobStatements
  /** False where a transaction excludes other writers anyway. */
  readonly #hasRowLocks: boolean

  constructor(vocabulary: SqlVocabulary, encoding: JobDataEncoding) {
    this.#vocabulary = vocabulary
    this.#schedulerName = vocabulary.schedulerName
    this.#encoding = encoding
    this.#statements = jobStatements(vocabulary)
    this.#hasRowLocks = vocabulary.dialect.forUpdate('j') !== ''
  }

  /** From now on nothing with data can be stored, see {@link WrittenJobData}. */
  refuseData(): void {
    this.#encoding = 'none'
  }

  /**
   * Stores rows of new keys. The rows of many are made a part at a time, while the engine stores the part before.
   *
   * @throws InvalidArgumentError for values that do not fit their columns, before the statement of their part is sent
   */
  *insert(jobs: readonly JobDetail[]): SqlProgram<void> {
    for (const some of chunksOf(jobs)) {
      yield* storeRows(this.#schedulerName, this.#rows(some), this.#statements.insert)
    }
  }

  /** @throws InvalidArgumentError for a job whose values do not fit the columns */
  requireStorable(job: JobDetail): void {
    this.#rows([job])
  }

  /** Stores whole rows over those of the same key. */
  *put(jobs: readonly JobDetail[]): SqlProgram<void> {
    // One statement cannot write the same row twice.
    const unique = lastOfEach(jobs, ({ key }) => key)
    yield* storeRows(this.#schedulerName, this.#rows(unique), this.#statements.upsert)
  }

  *load(keys: readonly JobKey[]): SqlProgram<LoadedJobs> {
    const found = new KeyMap<JobKey, JobDetail>()
    const broken = new KeyMap<JobKey, Error>()
    for (const row of yield* this.#over(jobKeyRows(this.#schedulerName, keys), this.#statements.load)) {
      const key = jobKeyOf(row)
      try {
        found.set(key, jobOf(key, row))
      } catch (error) {
        broken.set(key, brokenRow('Job', key, error))
      }
    }
    return { found, broken }
  }

  /** Locks and answers existing rows, in order of keys. */
  *lock(keys: readonly JobKey[]): SqlProgram<readonly JobRef[]> {
    return (yield* this.#named(keys, this.#statements.lock)).map(refOf)
  }

  /**
   * The same for transactions that only add triggers, which may hold a job beside each other; not one whose executions
   * lock it to fire or to end, passing over it while another transaction holds it.
   */
  *lockToAdd(keys: readonly JobKey[]): SqlProgram<readonly JobRef[]> {
    if (this.#hasRowLocks) {
      yield* changeRows(jobKeyRows(this.#schedulerName, keys), this.#statements.lockLockedByExecutions)
    }
    return (yield* this.#named(keys, this.#statements.lockShared)).map(refOf)
  }

  /** As `lock`, leaving out rows that another transaction holds. */
  *tryLock(keys: readonly JobKey[]): SqlProgram<readonly JobRef[]> {
    return (yield* this.#named(keys, this.#statements.tryLock)).map(refOf)
  }

  /** The same, with what is stored in them. */
  *tryLockWithData(keys: readonly JobKey[]): SqlProgram<readonly JobRef[]> {
    return (yield* this.#named(keys, this.#statements.tryLockWithData)).map(refWithDataOf)
  }

  *#named(keys: readonly JobKey[], query: RowSetQuery): SqlProgram<readonly SqlRow[]> {
    return yield* readRows(jobKeyRows(this.#schedulerName, asLookedUp(this.#vocabulary, keys)), query)
  }

  /** Which of the keys have a row. */
  *existing(keys: readonly JobKey[]): SqlProgram<readonly JobKey[]> {
    return (yield* this.#over(jobKeyRows(this.#schedulerName, keys), this.#statements.find)).map(jobKeyOf)
  }

  /** Writes the data of jobs, the last entry of a key counts; answers what the encoding cannot hold. */
  *writeData(entries: readonly JobDataEntry[]): SqlProgram<readonly RefusedJobData[]> {
    const rows = new KeyMap<JobKey, object>()
    const refused: RefusedJobData[] = []
    for (const { key, data, encoding } of entries) {
      try {
        const text = jobDataText(encoding ?? this.#encoding, { kind: 'Job', identity: key }, data)
        const row = { sched_name: this.#schedulerName, job_name: key.name, job_group: key.group }
        rows.set(key, { ...row, job_data: text })
      } catch (error) {
        refused.push({ key, error })
      }
    }
    yield* changeRows(rows.values(), this.#statements.writeData)
    return refused
  }

  /** Deletes the jobs among the keys that are not durable and have no trigger left. */
  *deleteOrphans(keys: readonly JobKey[]): SqlProgram<OrphanDeletion> {
    const replies: PendingReply[] = []
    const rows = jobKeyRows(this.#schedulerName, keys)
    for (const some of chunksOf(rows)) replies.push(yield* later(this.#statements.deleteOrphans(some)))
    return new OrphanDeletion(keys, replies)
  }

  /** Deletes rows that have no trigger left. */
  *delete(keys: readonly JobKey[]): SqlProgram<void> {
    yield* changeRows(jobKeyRows(this.#schedulerName, keys), this.#statements.delete)
  }

  /** Deletes all rows; their triggers are gone. */
  *clear(): SqlProgram<void> {
    yield* later(this.#statements.clear({ scheduler: this.#schedulerName }))
  }

  #rows(jobs: readonly JobDetail[]): object[] {
    return jobs.map((job) => jobRow(job, this.#encoding))
  }

  #over(rows: readonly object[], query: SetQuery): SqlProgram<readonly SqlRow[]> {
    const scheduler = this.#schedulerName
    return runOver(rows, (some) => query({ scheduler, rows: some }))
  }
}

function refWithDataOf(row: SqlRow): JobRef {
  const ref = refOf(row)
  try {
    return { ...ref, stored: jobDataAndPlanOf(row) }
  } catch {
    // The job was readable when it fired: what was written over it is no data of this library.
    return ref
  }
}

/** Unreadable flags count as the safest value: the job is not deleted, not run concurrently, not recovered. */
function refOf(row: SqlRow): JobRef {
  return {
    key: jobKeyOf(row),
    jobType: anyText(row, 'job_class_name'),
    durable: readable(boolean, row, 'is_durable', true),
    nonConcurrent: readable(boolean, row, 'is_nonconcurrent', true),
    requestsRecovery: readable(boolean, row, 'requests_recovery', false),
    nodeAffinity: readable(textOrNull, row, 'node_affinity', null),
    dataEncoding: encodingOf(row),
  }
}

function encodingOf(row: SqlRow): JobDataEncoding | null {
  const isJson = row['data_is_json']
  if (isJson === null || isJson === undefined) return null
  return readable(boolean, row, 'data_is_json', false) ? 'json' : 'properties'
}

interface JobStatements {
  readonly insert: RowsQuery
  readonly upsert: RowsQuery
  readonly load: KeyQuery
  readonly lock: RowSetQuery
  readonly lockShared: RowSetQuery
  readonly lockLockedByExecutions: RowSetQuery
  readonly tryLock: RowSetQuery
  readonly tryLockWithData: RowSetQuery
  readonly find: KeyQuery
  readonly writeData: RowSetQuery
  readonly deleteOrphans: RowSetQuery
  readonly delete: RowSetQuery
  readonly clear: SqlQuery<{ readonly scheduler: string }>
}

export function jobStatements(vocabulary: SqlVocabulary): JobStatements {
  const { dialect, names } = vocabulary
  const { jobs } = names
  const keys = boundRows(dialect, withScheduler(jobKeyColumns))
  const wanted = `FROM ${keys} AS r CROSS JOIN ${jobs} AS j WHERE ${isRow(dialect, 'j', jobKeyColumns)}`
  const place = { table: jobs, alias: 'j', key: jobKeyColumns }
  const selected = `j.job_name, j.job_group, j.job_class_name, j.is_durable, j.is_nonconcurrent, j.requests_recovery,
    j.node_affinity,
    CASE WHEN length(j.job_data) > 0 THEN ${dialect.beginsWithBytes('j.job_data', jsonBegin)} END AS data_is_json`
  const order = `ORDER BY (j.job_group <> 'DEFAULT'), j.job_group ${dialect.keyCollation},
    j.job_name ${dialect.keyCollation}`
  const refs = (locking: string, further = ''): RowSetQuery =>
    selectQuery(vocabulary, place, { selected: `${selected}${further}`, order, locking })
  return {
    insert: insertQuery(vocabulary, jobs, jobColumns),
    upsert: upsertQuery(vocabulary, jobs, jobKeyColumns, jobColumns),
    load: sqlQuery(
      dialect,
      `SELECT j.job_name, j.job_group, j.description, j.job_class_name, j.is_durable, j.is_nonconcurrent,
         j.is_update_data, j.requests_recovery, j.job_data, j.timeout_ms, j.retry_policy,
         j.node_affinity, j.sharding, j.job_plan ${wanted}`,
    ),
    lock: refs(dialect.forUpdate('j')),
    lockShared: refs(dialect.forShare('j')),
    lockLockedByExecutions: setQuery(
      dialect,
      `SELECT 1 AS locked ${wanted}
         AND (NOT j.is_durable OR j.is_nonconcurrent OR j.is_update_data OR j.requests_recovery)
       ${order} ${dialect.forUpdate('j')}`,
    ),
    tryLock: refs(dialect.forUpdateSkipLocked('j')),
    tryLockWithData: refs(dialect.forUpdateSkipLocked('j'), ', j.job_data, j.job_plan'),
    find: sqlQuery(dialect, `SELECT j.job_name, j.job_group ${wanted}`),
    writeData: updateQuery(vocabulary, jobs, jobKeyColumns, { job_data: 'bytes' }),
    deleteOrphans: deleteIdle(vocabulary, 'NOT j.is_durable', ['job_name', 'job_group']),
    delete: deleteIdle(vocabulary, 'true', []),
    clear: clearQuery(vocabulary, jobs),
  }
}

/** Deletes jobs that have no trigger left. */
function deleteIdle(
  { dialect, names }: SqlVocabulary,
  condition: string,
  returned: readonly string[],
): RowSetQuery {
  const { jobs, triggers } = names
  if (dialect.runsRowByRow) {
    const ofJob = Object.keys(withScheduler(jobKeyColumns)).map((column) => `t.${column} = j.${column}`)
    const idle = `NOT EXISTS (SELECT 1 FROM ${triggers} AS t WHERE ${ofJob.join(' AND ')})`
    return eachQuery(
      dialect,
      `DELETE FROM ${jobs} AS j WHERE ${isNamed(jobKeyColumns, 'j.')} AND ${idle} AND ${condition}
       ${returned.length === 0 ? '' : `RETURNING ${returned.join(', ')}`}`,
      Object.keys(withScheduler(jobKeyColumns)),
    )
  }
  const idle = `NOT EXISTS (
    SELECT 1 FROM ${triggers} AS t WHERE ${hasKeyOf(dialect, 't', 'j', jobKeyColumns, 'job_name')})`
  const place = { table: jobs, alias: 'j', key: jobKeyColumns }
  return setQuery(dialect, deleteNamed(dialect, place, `${idle} AND ${condition}`, returned))
}
