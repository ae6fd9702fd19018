import type { SqlNames } from '../sql/kernel/sql-names.ts'
import type { SqlRunner } from '../sql/kernel/sql-runner.ts'
import { first, sqlQuery } from '../sql/kernel/statement.ts'
import { anyText } from '../sql/tables/encoding/columns.ts'
import { postgresDialect } from './postgres-dialect.ts'

/**
 * A job of a scheduler whose data Java has serialized, as it does without useProperties=true, also where a job has
 * none; null when there is no such job.
 */
export async function jobOfSerializingJava(
  runner: SqlRunner,
  names: SqlNames,
  schedulerName: string,
): Promise<string | null> {
  const look = sqlQuery<{ scheduler: string }>(
    postgresDialect,
    `SELECT j.job_group || '.' || j.job_name AS job FROM ${names.jobs} AS j
     WHERE j.sched_name = :scheduler AND substring(j.job_data FROM 1 FOR 2) = '\\xaced'::bytea LIMIT 1`,
  )
  const row = await runner.read(() => first(look({ scheduler: schedulerName })))
  return row === null ? null : anyText(row, 'job')
}
