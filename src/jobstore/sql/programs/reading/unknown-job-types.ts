import type { EpochMs } from '../../../../time/clock.ts'
import { type UnknownJobType, unknownJobTypeLimits } from '../../../queries.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { all, type SqlProgram, type SqlQuery, type SqlRow, sqlQuery } from '../../kernel/statement.ts'
import type { SqlSession } from '../../session/sql-session.ts'
import { integer, text } from '../../tables/encoding/columns.ts'
import { jobKeyOf, triggerKeyOf } from '../../tables/encoding/key-rows.ts'

type ListedType = Omit<UnknownJobType, 'first'> & { readonly first: UnknownJobType['first'][number][] }

/** Finds the job types among the triggers that are due, and names those that this node has no code for. */
export function* queryUnknownJobTypes(session: SqlSession): SqlProgram<readonly UnknownJobType[]> {
  const { context, schedulerName } = session
  const query = dueByJobType(session)
  const rows = yield* all(query({ scheduler: schedulerName, untilMs: context.clock.now() }))
  const found = new Map<string, ListedType>()
  for (const row of rows) {
    const jobType = text(row, 'job_class_name')
    if (context.knowsJobType(jobType)) continue
    let listed = found.get(jobType)
    if (listed === undefined) {
      if (found.size === unknownJobTypeLimits.types) continue
      listed = { jobType, waiting: integer(row, 'waiting'), first: [] }
      found.set(jobType, listed)
    }
    const keys = keysOf(row)
    if (keys !== null) listed.first.push(keys)
  }
  return [...found.values()]
}

/** Null for keys that are none, such as blank ones: the search reports such a row. */
function keysOf(row: SqlRow): UnknownJobType['first'][number] | null {
  try {
    return { triggerKey: triggerKeyOf(row), jobKey: jobKeyOf(row) }
  } catch {
    return null
  }
}

/** The first due triggers of each job type, counted; from the index on waiting triggers, as far as the limit goes. */
function dueByJobType({
  dialect,
  names,
}: SqlVocabulary): SqlQuery<{ readonly scheduler: string; readonly untilMs: EpochMs }> {
  return sqlQuery(
    dialect,
    `SELECT p.job_class_name, p.waiting, p.trigger_name, p.trigger_group, p.job_name, p.job_group
     FROM (
       SELECT j.job_class_name, d.trigger_name, d.trigger_group, d.job_name, d.job_group,
         count(*) OVER (PARTITION BY j.job_class_name) AS waiting,
         row_number() OVER (PARTITION BY j.job_class_name ORDER BY d.next_fire_time, d.trigger_name) AS place
       FROM (
         SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.next_fire_time
         FROM ${names.triggers} AS t
         WHERE t.sched_name = :scheduler AND t.trigger_state = 'WAITING' AND t.next_fire_time <= :untilMs
         ORDER BY t.next_fire_time LIMIT ${unknownJobTypeLimits.triggers}
       ) AS d
       JOIN ${names.jobs} AS j
         ON j.sched_name = :scheduler AND j.job_name = d.job_name AND j.job_group = d.job_group
     ) AS p
     WHERE p.place <= ${unknownJobTypeLimits.triggersOfType}
     ORDER BY p.job_class_name, p.place`,
  )
}
