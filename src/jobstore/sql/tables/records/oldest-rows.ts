import type { EpochMs } from '../../../../time/clock.ts'
import type { Bounds } from '../../kernel/bounds.ts'
import { isAmongFree } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { type SqlQuery, sqlQuery } from '../../kernel/statement.ts'
import type { TimedRows } from '../encoding/rows-ahead.ts'

/** The statements that find and delete the oldest rows of a table, by their time alone. */
export interface OldestRowsStatements {
  readonly nth: SqlQuery<{ scheduler: string; skipped: number }>
  readonly deleteBefore: SqlQuery<{ scheduler: string; before: number; limit: number }>
}

export function oldestRowsStatements(
  { dialect }: SqlVocabulary,
  { table, time, key }: TimedRows,
): OldestRowsStatements {
  return {
    nth: sqlQuery(
      dialect,
      `SELECT o.${time} AS row_time FROM ${table} AS o WHERE o.sched_name = :scheduler
       ORDER BY o.${time} DESC LIMIT 1 OFFSET :skipped`,
    ),
    deleteBefore: sqlQuery(
      dialect,
      `DELETE FROM ${table} AS t WHERE ${isAmongFree(dialect, 't', 'o', {
        key: ['sched_name', ...Object.keys(key)],
        query: `FROM ${table} AS o WHERE o.sched_name = :scheduler AND o.${time} < :before
          ORDER BY o.${time} LIMIT :limit`,
      })}`,
    ),
  }
}

/** The instant before which rows are deleted. */
export function endOf({ beforeMs, surplus }: Bounds<EpochMs>): EpochMs {
  return surplus === null ? beforeMs : Math.max(beforeMs, surplus + 1)
}
