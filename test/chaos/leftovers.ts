import Database from 'better-sqlite3'
import type { TestDatabase } from '../support/postgres-database.ts'

type Query = (text: string) => Promise<readonly Record<string, unknown>[]>

/** Reads the file of a SQLite store, also while a node has it open. */
export function sqliteQuery(filename: string): Query {
  return async (text) => {
    const database = new Database(filename, { readonly: true })
    try {
      return database.prepare<[], Record<string, unknown>>(text).all()
    } finally {
      database.close()
    }
  }
}

export function postgresQuery(database: TestDatabase): Query {
  return (text) => database.query(text)
}

const counted = {
  // With doNothing (2) a misfire can leave a trigger without a fire time: it stays, complete, as in Quartz.
  'triggers that still wait': `qrtz_triggers t WHERE NOT (t.trigger_state = 'COMPLETE' AND t.misfire_instr = 2)`,
  'firings in flight': 'qrtz_fired_triggers f',
}

const withoutTrigger = (table: string): string =>
  `${table} x WHERE NOT EXISTS (SELECT 1 FROM qrtz_triggers t WHERE t.sched_name = x.sched_name
     AND t.trigger_name = x.trigger_name AND t.trigger_group = x.trigger_group)`

const orphans = {
  'jobs without triggers': `qrtz_job_details j WHERE NOT j.is_durable AND NOT EXISTS (SELECT 1 FROM qrtz_triggers t
     WHERE t.sched_name = j.sched_name AND t.job_name = j.job_name AND t.job_group = j.job_group)`,
  'triggers without a job': `qrtz_triggers t WHERE NOT EXISTS (SELECT 1 FROM qrtz_job_details j
     WHERE t.sched_name = j.sched_name AND t.job_name = j.job_name AND t.job_group = j.job_group)`,
  'simple triggers without a trigger': withoutTrigger('qrtz_simple_triggers'),
  'cron triggers without a trigger': withoutTrigger('qrtz_cron_triggers'),
  'other triggers without a trigger': withoutTrigger('qrtz_simprop_triggers'),
}

/** How much there is left to do: triggers of finite schedules go away when they have fired, and so do firings. */
export async function backlog(query: Query): Promise<Record<string, number>> {
  return counts(query, counted)
}

/** Rows that should not be there once everything was done. */
export async function leftovers(query: Query): Promise<Record<string, number>> {
  return counts(query, { ...counted, ...orphans })
}

async function counts(query: Query, what: Readonly<Record<string, string>>): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const [name, from] of Object.entries(what)) {
    const [row] = await query(`SELECT COUNT(*) AS count FROM ${from}`)
    if (Number(row?.['count']) > 0) found[name] = Number(row?.['count'])
  }
  return found
}
