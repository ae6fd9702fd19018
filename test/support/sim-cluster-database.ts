import Database from 'better-sqlite3'
import { seededIds } from '../../src/core/ids.ts'
import { migrate } from '../../src/jobstore/sql/migrations/migrate.ts'
import { SqliteRunner } from '../../src/jobstore/sqlite/sqlite-runner.ts'
import { SimClock } from './sim-clock.ts'
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

/** What is not as it must be between any two transactions. */
export function stateProblems(database: Database.Database): string[] {
  const found = (query: string, message: string): string[] =>
    database
      .prepare<[], { what: string }>(query)
      .all()
      .map(({ what }) => `${what} ${message}`)
  const ofJob = 'f.job_name = t.job_name AND f.job_group = t.job_group'
  const ofTrigger = 'f.trigger_name = t.trigger_name AND f.trigger_group = t.trigger_group'
  const executing = `EXISTS (SELECT 1 FROM qrtz_fired_triggers f WHERE ${ofJob} AND f.state = 'EXECUTING')`
  const claimed = `EXISTS (SELECT 1 FROM qrtz_fired_triggers f WHERE ${ofTrigger} AND f.state = 'ACQUIRED')`
  const triggers = (condition: string): string =>
    `SELECT t.trigger_name || ' ' || t.trigger_state AS what FROM qrtz_triggers t JOIN qrtz_job_details j
        ON j.job_name = t.job_name AND j.job_group = t.job_group WHERE ${condition}`
  const isFree = `t.trigger_state IN ('WAITING', 'ACQUIRED')`
  return [
    ...found(triggers(`j.is_nonconcurrent AND ${isFree} AND ${executing}`), 'while its job runs'),
    ...found(triggers(`t.trigger_state IN ('BLOCKED', 'PAUSED_BLOCKED') AND NOT ${executing}`), 'by nobody'),
    ...found(triggers(`(t.trigger_state = 'ACQUIRED') <> ${claimed}`), 'unlike its claim'),
  ]
}
