import Database from 'better-sqlite3'
import { seededIds } from '../../src/core/ids.ts'
import { migrate } from '../../src/jobstore/sql/migrations/migrate.ts'
import { SqliteRunner } from '../../src/jobstore/sqlite/sqlite-runner.ts'
import { SimClock } from './sim-clock.ts'
import type { Aftermath } from './sim-cluster-judge.ts'
import { calendarNames, counterJobName } from './sim-cluster-operations.ts'
import { sqliteWords } from './sqlite.ts'
import { noStrayRows, rowsOfJunk, rowsOfUnknownTypes } from './stray-rows.ts'

let template: Buffer | null = null

/** An empty schema, made once. */
export async function emptyDatabase(): Promise<Database.Database> {
  if (template === null) {
    const database = new Database(':memory:')
    const clock = new SimClock(0)
    await migrate(runnerOf(database, clock, 1), sqliteWords, 0)
    template = database.serialize()
    database.close()
  }
  return new Database(template)
}

export function runnerOf(database: Database.Database, clock: SimClock, seed: number): SqliteRunner {
  const source = { filename: ':memory:', connect: () => database, isOwned: false }
  return new SqliteRunner(source, { clock, ids: seededIds(seed), busyTimeoutMs: 1000 })
}

/** Job types that no node has. */
const strayTypes = 100

/** Due triggers that no node can do anything with. */
export function addStrays(database: Database.Database, dueMs: number): void {
  const [{ schedulerName } = { schedulerName: '' }] = database
    .prepare<[], { schedulerName: string }>(
      'SELECT DISTINCT sched_name AS schedulerName FROM qrtz_job_details',
    )
    .all()
  const strays = { schedulerName, dueMs }
  for (const row of rowsOfUnknownTypes(strayTypes, strays)) database.exec(row)
  for (const row of rowsOfJunk('plain', strays, (hex) => `x'${hex}'`)) database.exec(row)
}

export function removeStrays(database: Database.Database): void {
  for (const row of noStrayRows) database.exec(row)
}

function found(database: Database.Database, query: string, message: string): string[] {
  return database
    .prepare<[], { what: string }>(query)
    .all()
    .map(({ what }) => `${what} ${message}`)
}

/** One that its misfire policy ended, or a new calendar, is complete and stays, as in Quartz. */
const unfinished = `FROM qrtz_triggers
  WHERE NOT (trigger_state = 'COMPLETE' AND COALESCE(calendar_name, '') = '${calendarNames.changing}')`

export function hasUnfinished(database: Database.Database): boolean {
  return database.prepare(`SELECT 1 ${unfinished}`).get() !== undefined
}

/** What is still there when all plans are over. */
export function leftProblems(database: Database.Database): string[] {
  return [
    ...found(
      database,
      `SELECT job_name AS what FROM qrtz_job_details WHERE NOT is_durable`,
      'has lost its last trigger and is still there',
    ),
    ...found(database, `SELECT trigger_name || ' ' || trigger_state AS what ${unfinished}`, 'is left'),
    ...found(
      database,
      `SELECT entry_id || ' ' || state AS what FROM qrtz_fired_triggers`,
      'is in flight for ever',
    ),
  ]
}

/** What the store itself says of executions that were lost, and of the runs of the job that counts. */
export function writtenDown(database: Database.Database): Pick<Aftermath, 'lost' | 'counted'> {
  const lost = database
    .prepare<[], { id: string }>(
      `SELECT fire_instance_id AS id FROM qrtz_execution_history WHERE outcome = 'lost'`,
    )
    .all()
  const counter = database
    .prepare<[], { data: Buffer | null }>(
      `SELECT job_data AS data FROM qrtz_job_details WHERE job_name = '${counterJobName}'`,
    )
    .get()
  const json = counter?.data?.toString() ?? '{}'
  return {
    lost: new Set(lost.map(({ id }) => id)),
    counted: (JSON.parse(json) as { count?: number }).count ?? 0,
  }
}

/** What is not as it must be between any two transactions. */
export function stateProblems(database: Database.Database): string[] {
  const ofJob = 'f.job_name = t.job_name AND f.job_group = t.job_group'
  const ofTrigger = 'f.trigger_name = t.trigger_name AND f.trigger_group = t.trigger_group'
  const executing = `EXISTS (SELECT 1 FROM qrtz_fired_triggers f WHERE ${ofJob} AND f.state = 'EXECUTING')`
  const claimed = `EXISTS (SELECT 1 FROM qrtz_fired_triggers f WHERE ${ofTrigger} AND f.state = 'ACQUIRED')`
  const triggers = (condition: string): string =>
    `SELECT t.trigger_name || ' ' || t.trigger_state AS what FROM qrtz_triggers t JOIN qrtz_job_details j
        ON j.job_name = t.job_name AND j.job_group = t.job_group WHERE ${condition}`
  const isFree = `t.trigger_state IN ('WAITING', 'ACQUIRED')`
  return [
    ...found(database, triggers(`j.is_nonconcurrent AND ${isFree} AND ${executing}`), 'while its job runs'),
    ...found(
      database,
      triggers(`t.trigger_state IN ('BLOCKED', 'PAUSED_BLOCKED') AND NOT ${executing}`),
      'by nobody',
    ),
    ...found(database, triggers(`(t.trigger_state = 'ACQUIRED') <> ${claimed}`), 'unlike its claim'),
  ]
}

/** Which of the nodes that are up are not in the cluster, and who else is. */
export function memberProblems(database: Database.Database, live: readonly string[]): string[] {
  const members = database
    .prepare<[], { id: string }>('SELECT instance_name AS id FROM qrtz_scheduler_state')
    .all()
    .map(({ id }) => id)
  return [
    ...members.filter((id) => !live.includes(id)).map((id) => `node ${id} is dead and was not recovered`),
    ...live.filter((id) => !members.includes(id)).map((id) => `node ${id} is up and not in the cluster`),
  ]
}
