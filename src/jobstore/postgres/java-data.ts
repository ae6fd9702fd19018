import type { SqlNames } from '../sql/kernel/sql-names.ts'
import type { SqlRunner } from '../sql/kernel/sql-runner.ts'
import { first, sqlQuery } from '../sql/kernel/statement.ts'
import { postgresDialect } from './postgres-dialect.ts'

/**
 * Whether Java nodes serialize the data of the jobs of a scheduler, as they do without useProperties=true, also where a
 * job has none. Looks at a part of the jobs: Java would have written all of them so.
 */
export async function javaSerializes(
  runner: SqlRunner,
  names: SqlNames,
  schedulerName: string,
): Promise<boolean> {
  const look = sqlQuery<{ scheduler: string }>(
    postgresDialect,
    `SELECT 1 AS found FROM (
       SELECT substring(j.job_data FROM 1 FOR 2) AS beginning FROM ${names.jobs} AS j
       WHERE j.sched_name = :scheduler AND j.job_data IS NOT NULL LIMIT 1000) AS d
     WHERE d.beginning = '\\xaced'::bytea LIMIT 1`,
  )
  return (await runner.read(() => first(look({ scheduler: schedulerName })))) !== null
}
