import type { EpochMs } from '../../../../time/clock.ts'
import { instantMaxMs } from '../../../../triggers/invalid-trigger.ts'
import { aheadMaxMs } from '../../../clock-ahead.ts'
import { isAmongFree } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import {
  first,
  run,
  type SqlProgram,
  type SqlQuery,
  type SqlStatement,
  sqlQuery,
} from '../../kernel/statement.ts'
import { integer } from './columns.ts'

/** Where a table has the time of a row, and the columns that name one, besides that of the scheduler. */
export interface TimedRows {
  readonly table: string
  readonly time: string
  readonly key: object
}

/** The statements that find and delete rows that are later than now. */
interface RowsAheadStatements {
  readonly nthAhead: SqlQuery<{ scheduler: string; after: number; skipped: number }>
  readonly countUpTo: SqlQuery<{ scheduler: string; time: number; limit: number }>
  readonly deleteAhead: SqlQuery<{ scheduler: string; after: number; time: number; limit: number }>
}

export function rowsAheadStatements(
  { dialect }: SqlVocabulary,
  { table, time, key }: TimedRows,
): RowsAheadStatements {
  return {
    nthAhead: sqlQuery(
      dialect,
      `SELECT o.${time} AS row_time FROM ${table} AS o WHERE o.sched_name = :scheduler
         AND o.${time} > :after AND o.${time} <= ${String(instantMaxMs)}
       ORDER BY o.${time} DESC LIMIT 1 OFFSET :skipped`,
    ),
    countUpTo: sqlQuery(
      dialect,
      `SELECT COUNT(*) AS row_count FROM (SELECT 1 FROM ${table} AS o
         WHERE o.sched_name = :scheduler AND o.${time} <= :time LIMIT :limit) AS c`,
    ),
    deleteAhead: sqlQuery(
      dialect,
      `DELETE FROM ${table} AS t WHERE ${isAmongFree(dialect, 't', 'o', {
        key: ['sched_name', ...Object.keys(key)],
        query: `FROM ${table} AS o WHERE o.sched_name = :scheduler AND o.${time} > :after AND o.${time} <= :time
          ORDER BY o.${time} LIMIT :limit`,
      })}`,
    ),
  }
}

/** Which rows of a clock that was ahead are too many. */
export interface SurplusAhead {
  readonly afterMs: EpochMs
  /** Null where all of them may stay, as there are few enough rows by now. */
  readonly upToMs: EpochMs | null
}

/** The rows of a table that are of a clock that was ahead and was set right since. */
export class RowsAhead {
  readonly #scheduler: string
  readonly #statements: RowsAheadStatements

  constructor(vocabulary: SqlVocabulary, rows: TimedRows) {
    this.#scheduler = vocabulary.schedulerName
    this.#statements = rowsAheadStatements(vocabulary, rows)
  }

  /**
   * Those of them that are too many where the table may have `maxRows`; null where no row is of such a clock. As the
   * latest, they would stay while each new row went. Reads as many rows as are to be kept.
   */
  *surplus(maxRows: number, nowMs: EpochMs): SqlProgram<SurplusAhead | null> {
    const { countUpTo } = this.#statements
    const afterMs = nowMs + aheadMaxMs
    const latest = yield* this.#timeOfNth(afterMs, 0)
    if (latest === null) return null
    const counted = yield* first(countUpTo({ scheduler: this.#scheduler, time: afterMs, limit: maxRows }))
    const kept = maxRows - (counted === null ? 0 : integer(counted, 'row_count'))
    return { afterMs, upToMs: yield* this.#timeOfNth(afterMs, kept) }
  }

  /** Deletes those that are too many, `limit` at most. */
  *prune({ afterMs, upToMs }: SurplusAhead, limit: number): SqlProgram<number> {
    const { deleteAhead } = this.#statements
    if (upToMs === null) return 0
    return yield* run(deleteAhead({ scheduler: this.#scheduler, after: afterMs, time: upToMs, limit }))
  }

  #timeOfNth(after: EpochMs, skipped: number): SqlProgram<EpochMs | null> {
    return timeOfNth(this.#statements.nthAhead({ scheduler: this.#scheduler, after, skipped }))
  }
}

/** The time of the row that a statement finds by its number; null when there are no more rows than that. */
export function* timeOfNth(nth: SqlStatement): SqlProgram<EpochMs | null> {
  const row = yield* first(nth)
  return row && integer(row, 'row_time')
}
