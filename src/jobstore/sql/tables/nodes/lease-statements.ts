import type { EpochMs } from '../../../../time/clock.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { type SqlQuery, sqlQuery } from '../../kernel/statement.ts'

/** One start of one scheduler. */
export type LeaseHolder = { readonly scheduler: string; readonly bootId: string }

export interface LeaseStatements {
  /** The rows of others. */
  readonly holders: SqlQuery<LeaseHolder>
  readonly releaseOthers: SqlQuery<LeaseHolder>
  readonly hold: SqlQuery<
    LeaseHolder & { instanceId: string; nowMs: EpochMs; checkinIntervalMs: number; nodeInfo: string }
  >
  readonly checkIn: SqlQuery<LeaseHolder & { nowMs: EpochMs }>
  /** Answers a row while the lease is held. */
  readonly prove: SqlQuery<LeaseHolder>
  readonly release: SqlQuery<LeaseHolder>
}

/**
 * About the row of `scheduler_state` whose holder alone may fire, where one process at a time works on a database.
 */
export function leaseStatements({ dialect, names }: SqlVocabulary): LeaseStatements {
  const table = names.schedulerState
  const own = 'sched_name = :scheduler AND boot_id = :bootId'
  return {
    holders: sqlQuery(
      dialect,
      `SELECT instance_name, boot_id, last_checkin_time, node_info FROM ${table}
        WHERE sched_name = :scheduler AND boot_id <> :bootId ORDER BY last_checkin_time DESC`,
    ),
    releaseOthers: sqlQuery(
      dialect,
      `DELETE FROM ${table} WHERE sched_name = :scheduler AND (boot_id IS NULL OR boot_id <> :bootId)`,
    ),
    hold: sqlQuery(
      dialect,
      `INSERT INTO ${table} (sched_name, instance_name, last_checkin_time, checkin_interval, boot_id, node_info)
        VALUES (:scheduler, :instanceId, :nowMs, :checkinIntervalMs, :bootId, :nodeInfo)
        ON CONFLICT (sched_name, instance_name) DO UPDATE SET last_checkin_time = excluded.last_checkin_time`,
    ),
    checkIn: sqlQuery(dialect, `UPDATE ${table} SET last_checkin_time = :nowMs WHERE ${own}`),
    prove: sqlQuery(dialect, `SELECT 1 AS held FROM ${table} WHERE ${own}`),
    release: sqlQuery(dialect, `DELETE FROM ${table} WHERE ${own}`),
  }
}
