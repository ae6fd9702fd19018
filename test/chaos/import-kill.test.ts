import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { CronScheduleBuilder, HolidayCalendar, JobBuilder, TriggerBuilder } from 'quartz-ts'
import { postgresJobStore } from 'quartz-ts/postgres'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { filledScheduler, serverFixture } from '../support/server-fixture.ts'
import { projectRoot } from '../support/source-files.ts'
import { postgresQuery, sqliteQuery } from './leftovers.ts'

const main = join(projectRoot, 'dist/cli/main.js')
const killer = fileURLToPath(new URL('./kill-at-statement.mjs', import.meta.url))
const definitions = 200

type Query = ReturnType<typeof sqliteQuery>
/** The process ends when it has sent these texts in order, or right before the last of them. */
interface KillAt {
  readonly texts: readonly string[]
  readonly when: 'before' | 'after'
}

let folder = ''
let file = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quartz-ts-import-'))
  file = join(folder, 'jobs.json')
  const served = await filledScheduler()
  await served.clear()
  await served.addCalendar(
    'holidays',
    new HolidayCalendar({ timeZone: 'UTC', excludedDates: ['2026-12-25'] }),
  )
  for (let index = 0; index < definitions; index++) {
    const job = JobBuilder.newJob('echo').withIdentity(`job ${index}`, 'imported').build()
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity(`trigger ${index}`, 'imported')
      .modifiedByCalendar('holidays')
      .withSchedule(CronScheduleBuilder.cronSchedule('0 0 7 1 1 ? 2199'))
    await served.scheduleJob(job, trigger.build())
  }
  await using fixture = await serverFixture({ served })
  await writeFile(file, (await fixture.ask('GET /definitions')).text)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

function importInto(store: string, killAt?: KillAt): ChildProcess {
  const child = spawn(
    process.execPath,
    ['--import', killer, main, 'import', file, '--yes', '--store', store],
    {
      env: { ...process.env, ...(killAt && { QUARTZ_TS_TEST_KILL_AT: JSON.stringify(killAt) }) },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return child
}

async function ended(child: ChildProcess): Promise<unknown> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return signal ?? code
}

async function stored(query: Query): Promise<readonly number[]> {
  const tables = ['qrtz_calendars', 'qrtz_job_details', 'qrtz_triggers', 'qrtz_cron_triggers']
  const counts = tables.map((table) => `(SELECT COUNT(*) FROM ${table}) AS ${table}`)
  const [row = {}] = await query(`SELECT ${counts.join(', ')}`)
  return tables.map((table) => Number(row[table]))
}

const none = [0, 0, 0, 0]
const all = [1, definitions, definitions, definitions]

/** Whatever was there before: the import is done again, and then all is there once. */
async function completes(store: string, query: Query): Promise<void> {
  expect(await ended(importInto(store))).toBe(0)
  expect(await stored(query)).toEqual(all)
}

const points: readonly (readonly [string, KillAt, readonly number[]])[] = [
  ['after the calendars', { texts: ['INSERT INTO qrtz_calendars'], when: 'after' }, none],
  ['after the jobs', { texts: ['INSERT INTO qrtz_job_details'], when: 'after' }, none],
  ['after the triggers', { texts: ['INSERT INTO qrtz_triggers'], when: 'after' }, none],
  ['before the commit', { texts: ['INSERT INTO qrtz_triggers', 'COMMIT'], when: 'before' }, none],
]

describe('an import into SQLite that is killed', () => {
  test.each([
    ...points,
    ['after the commit', { texts: ['INSERT INTO qrtz_triggers', 'COMMIT'], when: 'after' }, all] as const,
  ])('%s is whole or not there, and is completed by the next one', async (name, killAt, expected) => {
    const store = join(folder, `${name}.db`)
    await sqliteJobStore({ filename: store }).migrate()
    expect(await ended(importInto(store, killAt))).toBe('SIGKILL')
    expect(await stored(sqliteQuery(store))).toEqual(expected)
    await completes(store, sqliteQuery(store))
  })
})

describe('an import into PostgreSQL that is killed', () => {
  async function migrated(): Promise<TestDatabase> {
    const database = await freshDatabase()
    onTestFinished(() => database[Symbol.asyncDispose]())
    await postgresJobStore({ connectionString: database.connectionString }).migrate()
    return database
  }

  async function sessionsEnd(database: TestDatabase): Promise<void> {
    const others = `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
    await vi.waitFor(
      async () => {
        expect(await database.query(others)).toEqual([])
      },
      { timeout: 20_000 },
    )
  }

  test('before the commit is not there, and is completed by the next one', async () => {
    const database = await migrated()
    const [, killAt] = points.at(-1) ?? expect.fail()
    expect(await ended(importInto(database.connectionString, killAt))).toBe('SIGKILL')
    await sessionsEnd(database)
    expect(await stored(postgresQuery(database))).toEqual(none)
    await completes(database.connectionString, postgresQuery(database))
  })

  test('while its transaction waits in the server is whole or not there', async () => {
    const database = await migrated()
    const blocker = new pg.Client(database.connectionString)
    await blocker.connect()
    onTestFinished(() => blocker.end())
    // A row of the last trigger, not committed: what the import has written by then it keeps until this one ends.
    await blocker.query(`BEGIN; SET LOCAL session_replication_role = replica;
      INSERT INTO qrtz_triggers (sched_name, trigger_name, trigger_group, job_name, job_group, trigger_state,
        trigger_type, start_time)
      VALUES ('QuartzScheduler', 'trigger ${definitions - 1}', 'imported', 'job', 'imported', 'WAITING', 'CRON', 0)`)
    const child = importInto(database.connectionString)
    const waiting = `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%qrtz_triggers%'`
    await vi.waitFor(
      async () => {
        expect(await database.query(waiting)).toHaveLength(1)
      },
      { timeout: 60_000, interval: 20 },
    )
    child.kill('SIGKILL')
    expect(await ended(child)).toBe('SIGKILL')
    await blocker.query('ROLLBACK')
    await blocker.end()
    await sessionsEnd(database)
    expect([none, all]).toContainEqual(await stored(postgresQuery(database)))
    await completes(database.connectionString, postgresQuery(database))
  })
})
