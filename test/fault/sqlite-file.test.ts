import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { expect, test } from 'vitest'
import { TriggerKey } from '../../src/core/key.ts'
import type { SqliteJobStoreOptions } from '../../src/jobstore/sqlite/sqlite-options.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'

/** What stops a database from being written, and lets it be again. */
interface Trouble {
  readonly name: string
  readonly begin: (database: Database.Database, filename: string) => () => void
}

const troubles: readonly Trouble[] = [
  {
    name: 'the disk is full',
    begin: (database) => {
      database.exec('CREATE TABLE filler (data blob)')
      const pages = database.pragma('page_count', { simple: true }) as number
      database.pragma(`max_page_count = ${pages}`)
      // Whatever is free in the file goes.
      try {
        for (;;) database.exec('INSERT INTO filler VALUES (randomblob(500))')
      } catch {
        // Full.
      }
      return () => {
        database.pragma('max_page_count = 1000000')
      }
    },
  },
  {
    name: 'another connection keeps it locked',
    begin: (_, filename) => {
      const other = new Database(filename)
      other.exec('BEGIN IMMEDIATE')
      return () => {
        other.exec('ROLLBACK')
        other.close()
      }
    },
  },
  {
    name: 'it may only be read',
    begin: (database) => {
      database.pragma('query_only = 1')
      return () => {
        database.pragma('query_only = 0')
      }
    },
  },
]

test.each(troubles)('while $name nothing is lost, and all goes on when that is over', async ({ begin }) => {
  const filename = join(temporaryFolder(), 'jobs.db')
  // SQLite itself would wait for locks without a word, and all with it.
  const database = new Database(filename, { timeout: 0 })
  database.pragma('journal_mode = WAL')
  const options: SqliteJobStoreOptions = { database, busyTimeoutMs: 0 }
  const { scheduler, clock, ran, job, once } = await schedulerFixture({
    jobStore: sqliteJobStore(options),
  })
  try {
    await scheduler.scheduleJob(job('due'), once('due', 5000))
    await scheduler.start()
    const end = begin(database, filename)
    const large = job('large', (builder) => builder.usingJobData({ text: 'x'.repeat(100_000) }))
    await expect(scheduler.scheduleJob(large, once('large', 6000))).rejects.toMatchObject({
      name: 'JobPersistenceError',
      code: 'ERR_DATABASE_UNAVAILABLE',
    })
    await clock.advance(10_000)
    end()
    await clock.advance(60_000)
    expect(ran).toEqual(['due'])
    expect(await scheduler.getTriggerState(new TriggerKey('due'))).toBe('NONE')
    expect(database.prepare('SELECT count(*) AS n FROM qrtz_fired_triggers').get()).toEqual({ n: 0 })
    await scheduler.scheduleJob(large, once('large', 1000))
    await clock.advance(2000)
    expect(ran).toEqual(['due', 'large'])
  } finally {
    await scheduler.shutdown()
    database.close()
  }
})
