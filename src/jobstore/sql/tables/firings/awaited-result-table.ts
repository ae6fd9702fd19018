import type { JobKey } from '../../../../core/key.ts'
import { isObject } from '../../../../core/options.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import { TriggerFamilies } from '../../../../triggers/families/trigger-families.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import {
  type AwaitedResult,
  awaitedResultsAtOnce,
  type LateFiring,
  lateFiringsMax,
  lateFiringsMaxAgeMs,
} from '../../../awaited-results.ts'
import {
  boundRows,
  changeRows,
  deleteNamed,
  deleteQuery,
  exists,
  isRow,
  type KeyQuery,
  type RowSetQuery,
  runOver,
  withScheduler,
  writeOver,
} from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import {
  all,
  first,
  run,
  type SqlProgram,
  type SqlQuery,
  type SqlRow,
  type SqlRows,
  sqlQuery,
} from '../../kernel/statement.ts'
import { brokenRow, brokenValue } from '../encoding/broken-row.ts'
import { anyText, instant, instantOrNull, text } from '../encoding/columns.ts'
import { jobKeyColumns, jobKeyOf, jobKeyRows } from '../encoding/key-rows.ts'
import { storableJson } from '../encoding/storable-text.ts'

/** A row without its job, which is read from the table of jobs. */
export type AwaitedRow = Omit<AwaitedResult, 'bundle'> & {
  readonly fireInstanceId: string
  readonly jobKey: JobKey
  readonly jobType: string
  readonly trigger: Trigger
  readonly acquiredTimeMs: EpochMs | null
  readonly fireTimeMs: EpochMs
  readonly scheduledFireTimeMs: EpochMs
  readonly previousFireTimeMs: EpochMs | null
}

export interface LoadedAwaitedRows {
  readonly found: readonly AwaitedRow[]
  readonly broken: readonly { readonly reference: string; readonly error: Error }[]
}

const referenceColumn = { reference: 'text' } as const
const firingColumn = { fire_id: 'text' } as const
const columns = {
  reference: 'text',
  fire_id: 'text',
  ...jobKeyColumns,
  deadline: 'bigint',
  details: 'text',
} as const

/**
 * The rows of `awaited_results`: executions in flight that go on elsewhere. A row is stored under a lock on that of its
 * firing, and means nothing once that is gone. A row with a negative deadline is left of a firing that ended by it.
 */
export class AwaitedResultTable {
  readonly #scheduler: string
  readonly #instance: string
  readonly #families: TriggerFamilies
  readonly #statements: AwaitedResultStatements

  constructor(vocabulary: SqlVocabulary, instanceId: string) {
    this.#scheduler = vocabulary.schedulerName
    this.#instance = instanceId
    this.#families = vocabulary.triggerFamilies ?? TriggerFamilies.ofLibrary
    this.#statements = awaitedResultStatements(vocabulary)
  }

  /** Stores rows of executions of this scheduler instance; answers the firings that were stored, by reference. */
  *insert(results: readonly AwaitedResult[]): SqlProgram<ReadonlyMap<string, string>> {
    const rows = results.map((result) => this.#encoded(result))
    const own = { scheduler: this.#scheduler, instance: this.#instance }
    const stored = yield* runOver(rows, (some) => this.#statements.insert({ ...own, rows: some }))
    return firingsByReference(stored)
  }

  /** The firings that have these references, by reference. */
  *firingsOf(references: readonly string[]): SqlProgram<ReadonlyMap<string, string>> {
    const found = yield* runOver(this.#references(references), (rows) => this.#statements.firingsOf({ rows }))
    return firingsByReference(found)
  }

  /** Those of executions in flight. */
  *find(references: readonly string[]): SqlProgram<LoadedAwaitedRows> {
    return this.#decode(
      yield* runOver(this.#references(references), (rows) => this.#statements.find({ rows })),
    )
  }

  *ofJob(jobKey: JobKey): SqlProgram<LoadedAwaitedRows> {
    const keyRows = jobKeyRows(this.#scheduler, [jobKey])
    return this.#decode(yield* runOver(keyRows, (rows) => this.#statements.ofJob({ rows })))
  }

  *ofFiring(fireInstanceId: string): SqlProgram<LoadedAwaitedRows> {
    const firings = this.#firings([fireInstanceId])
    return this.#decode(yield* runOver(firings, (rows) => this.#statements.ofFiring({ rows })))
  }

  *inFlight(skip: number): SqlProgram<LoadedAwaitedRows> {
    return this.#decode(yield* all(this.#statements.inFlight({ scheduler: this.#scheduler, skip })))
  }

  *overdue(nowMs: EpochMs, skip: number): SqlProgram<LoadedAwaitedRows> {
    const own = { scheduler: this.#scheduler, now: nowMs }
    return this.#decode(yield* all(this.#statements.overdue({ ...own, skip })))
  }

  /** The earliest deadline after this instant; null when there is none. */
  *nextDeadlineMs(nowMs: EpochMs): SqlProgram<EpochMs | null> {
    const row = yield* first(this.#statements.nextDeadline({ scheduler: this.#scheduler, now: nowMs }))
    return row === null ? null : instantOrNull(row, 'deadline')
  }

  /** Deletes rows that are overdue and whose firings are gone, and what is left of too many or too old ones. */
  *deleteOrphans(nowMs: EpochMs): SqlProgram<number> {
    const scheduler = this.#scheduler
    const oldest = -(nowMs - lateFiringsMaxAgeMs)
    const orphans = yield* run(this.#statements.deleteOrphans({ scheduler, now: nowMs }))
    return orphans + (yield* run(this.#statements.deleteOldLate({ scheduler, oldest })))
  }

  /** Leaves of these firings, which end by their deadlines, what a late result needs. */
  *keepLate(fireInstanceIds: readonly string[]): SqlProgram<void> {
    yield* writeOver(this.#firings(fireInstanceIds), (rows) => this.#statements.keepLate({ rows }))
  }

  /** Deletes, and answers, what is left of firings that ended by their deadlines. */
  *takeLate(references: readonly string[]): SqlProgram<readonly LateFiring[]> {
    const taken = yield* runOver(this.#references(references), (rows) => this.#statements.takeLate({ rows }))
    return taken.map((row) => ({
      reference: anyText(row, 'reference'),
      fireInstanceId: anyText(row, 'fire_id'),
    }))
  }

  /** Those of these firings that have such a row. */
  *among(fireInstanceIds: readonly string[]): SqlProgram<ReadonlySet<string>> {
    const found = yield* runOver(this.#firings(fireInstanceIds), (rows) => this.#statements.among({ rows }))
    return new Set(found.map((row) => anyText(row, 'fire_id')))
  }

  *delete(fireInstanceIds: readonly string[]): SqlProgram<void> {
    yield* changeRows(this.#firings(fireInstanceIds), this.#statements.delete)
  }

  #references(references: readonly string[]): object[] {
    return references.map((reference) => ({ sched_name: this.#scheduler, reference }))
  }

  #firings(fireInstanceIds: readonly string[]): object[] {
    return fireInstanceIds.map((id) => ({ sched_name: this.#scheduler, fire_id: id }))
  }

  #encoded(result: AwaitedResult): object {
    const { reference, deadlineMs, note, retriesOnTimeout, beganTimeMs, dataText, bundle } = result
    const { fireInstanceId, jobDetail, trigger, acquiredTimeMs = null } = bundle
    const { fireTimeMs, scheduledFireTimeMs, previousFireTimeMs } = bundle
    return {
      reference,
      fire_id: fireInstanceId,
      job_name: jobDetail.key.name,
      job_group: jobDetail.key.group,
      deadline: deadlineMs,
      details: storableJson({
        jobType: jobDetail.jobType,
        trigger: this.#families.toJSON(trigger),
        note,
        retriesOnTimeout,
        beganTimeMs,
        acquiredTimeMs,
        fireTimeMs,
        scheduledFireTimeMs,
        previousFireTimeMs,
        dataText,
      }),
    }
  }

  #decode(rows: readonly SqlRow[]): LoadedAwaitedRows {
    const found: AwaitedRow[] = []
    const broken: { reference: string; error: Error }[] = []
    for (const row of rows) {
      const reference = anyText(row, 'reference')
      try {
        const { trigger, ...details } = detailsOf(text(row, 'details'))
        found.push({
          ...details,
          reference,
          fireInstanceId: anyText(row, 'fire_id'),
          jobKey: jobKeyOf(row),
          deadlineMs: instant(row, 'deadline'),
          trigger: this.#families.fromJSON(trigger),
        })
      } catch (error) {
        broken.push({ reference, error: brokenRow('Firing', reference, error) })
      }
    }
    return { found, broken }
  }
}

function firingsByReference(rows: readonly SqlRow[]): ReadonlyMap<string, string> {
  return new Map(rows.map((row) => [anyText(row, 'reference'), anyText(row, 'fire_id')]))
}

type Details = Omit<AwaitedRow, 'reference' | 'fireInstanceId' | 'jobKey' | 'deadlineMs' | 'trigger'> & {
  readonly trigger: unknown
}

/** @throws JobPersistenceError ERR_BROKEN_ROW, SyntaxError */
function detailsOf(json: string): Details {
  const value: unknown = JSON.parse(json)
  if (isObject(value) && 'trigger' in value && 'fireTimeMs' in value) return value as Details
  throw brokenValue("'details' does not describe a firing. Delete the row")
}

interface AwaitedResultStatements {
  readonly insert: SqlQuery<{ scheduler: string; instance: string; rows: SqlRows }>
  readonly firingsOf: KeyQuery
  readonly find: KeyQuery
  readonly ofJob: KeyQuery
  readonly ofFiring: KeyQuery
  readonly among: KeyQuery
  readonly inFlight: SqlQuery<{ scheduler: string; skip: number }>
  readonly overdue: SqlQuery<{ scheduler: string; now: EpochMs; skip: number }>
  readonly nextDeadline: SqlQuery<{ scheduler: string; now: EpochMs }>
  readonly deleteOrphans: SqlQuery<{ scheduler: string; now: EpochMs }>
  readonly deleteOldLate: SqlQuery<{ scheduler: string; oldest: number }>
  readonly keepLate: KeyQuery
  readonly takeLate: KeyQuery
  readonly delete: RowSetQuery
}

export function awaitedResultStatements(vocabulary: SqlVocabulary): AwaitedResultStatements {
  const { dialect, names } = vocabulary
  const awaited = names.awaitedResults
  const own = Object.keys(columns)
  const shown = `SELECT ${own.map((name) => `a.${name}`).join(', ')}`
  const isInFlight = exists(
    dialect,
    `FROM ${names.firedTriggers} AS f
     WHERE f.sched_name = a.sched_name AND f.entry_id = a.fire_id AND f.state = 'EXECUTING'`,
  )
  const of = (key: Readonly<Record<string, 'text'>>, selected: string, first?: string): string =>
    `${selected} FROM ${boundRows(dialect, withScheduler(key))} AS r CROSS JOIN ${awaited} AS a
     WHERE ${isRow(dialect, 'a', key, first)}`
  return {
    // Waits for a session that has locked the firing: a recovery, after which it is not this node's any more.
    insert: sqlQuery(
      dialect,
      `INSERT INTO ${awaited} (sched_name, ${own.join(', ')})
       SELECT f.sched_name, ${own.map((name) => `r.${name}`).join(', ')}
       FROM ${boundRows(dialect, columns)} AS r CROSS JOIN ${names.firedTriggers} AS f
       WHERE f.sched_name = :scheduler AND f.entry_id = r.fire_id AND f.instance_name = :instance
         AND f.state = 'EXECUTING' ORDER BY f.entry_id ${dialect.forUpdate('f')}
       ON CONFLICT DO NOTHING RETURNING reference, fire_id`,
    ),
    firingsOf: sqlQuery(dialect, of(referenceColumn, 'SELECT a.reference, a.fire_id')),
    find: sqlQuery(dialect, `${of(referenceColumn, shown)} AND ${isInFlight}`),
    ofJob: sqlQuery(
      dialect,
      `${of(jobKeyColumns, shown, 'job_name')} AND ${isInFlight} LIMIT ${awaitedResultsAtOnce}`,
    ),
    ofFiring: sqlQuery(dialect, `${of(firingColumn, shown, 'fire_id')} AND ${isInFlight}`),
    // The deadline is in no index of firings: PostgreSQL may read an index whole where it has all that is asked for.
    among: sqlQuery(dialect, of(firingColumn, 'SELECT a.fire_id, a.deadline', 'fire_id')),
    inFlight: sqlQuery(
      dialect,
      `${shown} FROM ${awaited} AS a WHERE a.sched_name = :scheduler AND ${isInFlight}
       ORDER BY a.deadline, a.fire_id LIMIT ${awaitedResultsAtOnce} OFFSET :skip`,
    ),
    overdue: sqlQuery(
      dialect,
      `${shown} FROM ${awaited} AS a WHERE a.sched_name = :scheduler AND a.deadline BETWEEN 0 AND :now AND ${isInFlight}
       ORDER BY a.deadline, a.fire_id LIMIT ${awaitedResultsAtOnce} OFFSET :skip`,
    ),
    nextDeadline: sqlQuery(
      dialect,
      `SELECT MIN(a.deadline) AS deadline FROM ${awaited} AS a
       WHERE a.sched_name = :scheduler AND a.deadline > :now`,
    ),
    deleteOrphans: sqlQuery(
      dialect,
      `DELETE FROM ${awaited} AS a
       WHERE a.sched_name = :scheduler AND a.deadline BETWEEN 0 AND :now AND NOT ${isInFlight}`,
    ),
    ...lateStatements(vocabulary),
    delete: deleteQuery(vocabulary, awaited, firingColumn, 'fire_id'),
  }
}

function lateStatements({
  dialect,
  names,
}: SqlVocabulary): Pick<AwaitedResultStatements, 'keepLate' | 'takeLate' | 'deleteOldLate'> {
  const awaited = names.awaitedResults
  return {
    // Apart from the orphans: with OR, PostgreSQL could not go by the index on the deadline.
    deleteOldLate: sqlQuery(
      dialect,
      `DELETE FROM ${awaited} AS a WHERE a.sched_name = :scheduler AND a.deadline < 0
         AND (a.deadline > :oldest OR a.deadline > (
           SELECT k.deadline FROM ${awaited} AS k WHERE k.sched_name = :scheduler AND k.deadline < 0
           ORDER BY k.deadline LIMIT 1 OFFSET ${lateFiringsMax}))`,
    ),
    // The sums keep the index of the deadlines out of it, which would be read for each of the rows.
    keepLate: sqlQuery(
      dialect,
      `UPDATE ${awaited} AS a SET deadline = -a.deadline, details = NULL
       FROM ${boundRows(dialect, withScheduler(firingColumn))} AS r
       WHERE ${isRow(dialect, 'a', firingColumn, 'fire_id')} AND a.deadline + 0 > 0`,
    ),
    takeLate: sqlQuery(
      dialect,
      deleteNamed(dialect, { table: awaited, alias: 'a', key: referenceColumn }, 'a.deadline + 0 < 0', [
        'reference',
        'fire_id',
      ]),
    ),
  }
}
