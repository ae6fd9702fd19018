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

/**
 * Deletes rows of a clock that was ahead and was set right since, as far as there are more rows than `maxRows`; `limit`
 * at most, and null where no row is of such a clock. As the latest, they would stay while each new row went. Reads as
 * many rows as are to be kept.
 */
export function* pruneAhead(
  { nthAhead, countUpTo, deleteAhead }: RowsAheadStatements,
  { scheduler, maxRows, nowMs }: { scheduler: string; maxRows: number; nowMs: EpochMs },
  limit: number,
): SqlProgram<number | null> {
  const after = nowMs + aheadMaxMs
  const latest = yield* timeOf(nthAhead({ scheduler, after, skipped: 0 }))
  if (latest === null) return null
  const counted = yield* first(countUpTo({ scheduler, time: after, limit: maxRows }))
  const kept = maxRows - (counted === null ? 0 : integer(counted, 'row_count'))
  const time = yield* timeOf(nthAhead({ scheduler, after, skipped: kept }))
  return time === null ? 0 : yield* run(deleteAhead({ scheduler, after, time, limit }))
}

function* timeOf(nthAhead: SqlStatement): SqlProgram<EpochMs | null> {
  const row = yield* first(nthAhead)
  return row && integer(row, 'row_time')
}
