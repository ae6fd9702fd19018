import type { TriggerKey } from '../../../core/key.ts'
import { KeyMap } from '../../../core/key-map.ts'
import type { SqlVocabulary } from '../kernel/sql-vocabulary.ts'
import { all, type SqlProgram, type SqlStatement, sqlQuery } from '../kernel/statement.ts'
import { settleJobs } from '../programs/steps/settling.ts'
import type { SqlTransaction } from '../session/sql-session.ts'
import { jobKeyOf, triggerKeyOf } from '../tables/encoding/key-rows.ts'

/** Most triggers and jobs of one transaction, so that it stays short. */
const mostAtOnce = 500

/**
 * Sets triggers free that are ACQUIRED without a claim or BLOCKED without an execution: nobody works on them, and
 * nobody ever would. We leave none behind, a claim and its trigger change together; Java does, when it recovers a node
 * that is still at work. Answers how many triggers and jobs were found.
 */
export function* freeStuckTriggers(tx: SqlTransaction): SqlProgram<boolean> {
  const { triggers, firedTriggers } = tx.session
  const jobs = (yield* all(blockedByNobody(tx.session))).map(jobKeyOf)
  // Jobs before triggers, as everywhere.
  yield* settleJobs(tx, jobs)
  const suspects = (yield* all(unclaimed(tx.session))).map(triggerKeyOf)
  if (suspects.length === 0) return jobs.length === mostAtOnce
  const refs = yield* triggers.lock(suspects)
  // Again with the rows locked: somebody may have claimed them since the first look.
  const claimed = new KeyMap<TriggerKey, true>()
  for (const { triggerKey, state } of yield* firedTriggers.ofTriggers(suspects)) {
    if (state === 'ACQUIRED') claimed.set(triggerKey, true)
  }
  const stuck = refs.filter(({ key, state }) => state === 'ACQUIRED' && !claimed.has(key))
  yield* triggers.setStates(stuck.map(({ key }) => ({ key, state: 'WAITING' })))
  for (const { nextFireTimeMs } of stuck) tx.offers.note(nextFireTimeMs)
  return stuck.length === mostAtOnce || jobs.length === mostAtOnce
}

function unclaimed({ dialect, names, schedulerName }: SqlVocabulary): SqlStatement {
  const query = sqlQuery<{ scheduler: string }>(
    dialect,
    `SELECT t.trigger_name, t.trigger_group FROM ${names.triggers} t
     WHERE t.sched_name = :scheduler AND t.trigger_state = 'ACQUIRED' AND NOT EXISTS (
       SELECT 1 FROM ${names.firedTriggers} f
       WHERE f.sched_name = t.sched_name AND f.trigger_name = t.trigger_name
         AND f.trigger_group = t.trigger_group AND f.state = 'ACQUIRED')
     LIMIT ${String(mostAtOnce)}`,
  )
  return query({ scheduler: schedulerName })
}

function blockedByNobody({ dialect, names, schedulerName }: SqlVocabulary): SqlStatement {
  const query = sqlQuery<{ scheduler: string }>(
    dialect,
    `SELECT DISTINCT t.job_name, t.job_group FROM ${names.triggers} t
     WHERE t.sched_name = :scheduler AND t.trigger_state IN ('BLOCKED', 'PAUSED_BLOCKED') AND NOT EXISTS (
       SELECT 1 FROM ${names.firedTriggers} f
       WHERE f.sched_name = t.sched_name AND f.job_name = t.job_name AND f.job_group = t.job_group
         AND f.state = 'EXECUTING')
     LIMIT ${String(mostAtOnce)}`,
  )
  return query({ scheduler: schedulerName })
}
