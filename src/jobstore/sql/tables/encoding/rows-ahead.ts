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

/** The statements that find and delete rows that are later than now. */
export interface RowsAheadStatements {
  readonly nthAhead: SqlQuery<{ scheduler: string; after: number; skipped: number }>
  readonly countUpTo: SqlQuery<{ scheduler: string; time: number; limit: number }>
  readonly deleteAhead: SqlQuery<{ scheduler: string; after: number; time: number; limit: number }>
}

/** `key` has the columns that name a row, besides that of the scheduler. */
export function rowsAheadStatements(
  { dialect }: SqlVocabulary,
  { table, time, key }: { readonly table: string; readonly time: string; readonly key: object },
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

/** Rows of a clock that was ahead, which are too many. */
export interface RowsAhead {
  readonly afterMs: EpochMs
  /** Null where all of them may stay, as there are few enough rows by now. */
  readonly upToMs: EpochMs | null
}

/**
 * Which rows are of a clock that was ahead and was set right since, as far as there are more rows than `maxRows`; null
 * where no row is of such a clock. As the latest, they would stay while each new row went. Reads as many rows as are to
 * be kept.
 */
export function* surplusAhead(
  { nthAhead, countUpTo }: Pick<RowsAheadStatements, 'nthAhead' | 'countUpTo'>,
  { scheduler, maxRows, nowMs }: { scheduler: string; maxRows: number; nowMs: EpochMs },
): SqlProgram<RowsAhead | null> {
  const afterMs = nowMs + aheadMaxMs
  const latest = yield* timeOfNth(nthAhead({ scheduler, after: afterMs, skipped: 0 }))
  if (latest === null) return null
  const counted = yield* first(countUpTo({ scheduler, time: afterMs, limit: maxRows }))
  const kept = maxRows - (counted === null ? 0 : integer(counted, 'row_count'))
  return { afterMs, upToMs: yield* timeOfNth(nthAhead({ scheduler, after: afterMs, skipped: kept })) }
}

/** Deletes them, `limit` at most. */
export function* pruneAhead(
  { deleteAhead }: Pick<RowsAheadStatements, 'deleteAhead'>,
  { scheduler, afterMs, upToMs }: RowsAhead & { readonly scheduler: string },
  limit: number,
): SqlProgram<number> {
  if (upToMs === null) return 0
  return yield* run(deleteAhead({ scheduler, after: afterMs, time: upToMs, limit }))
}

/** The time of the row that a statement finds by its number; null when there are no more rows than that. */
export function* timeOfNth(nth: SqlStatement): SqlProgram<EpochMs | null> {
  const row = yield* first(nth)
  return row && integer(row, 'row_time')
}
