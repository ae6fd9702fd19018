import { statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { seededIds } from '../../../src/core/ids.ts'
import { all, run, type SqlStatement } from '../../../src/jobstore/sql/kernel/statement.ts'
import { loadNodeSqlite } from '../../../src/jobstore/sqlite/node-sqlite.ts'
import type { SqliteDatabase, SqliteDriverName } from '../../../src/jobstore/sqlite/sqlite-database.ts'
import { loadSqliteDriver } from '../../../src/jobstore/sqlite/sqlite-driver.ts'
import { SqliteRunner } from '../../../src/jobstore/sqlite/sqlite-runner.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { temporaryFolder } from '../../support/sqlite.ts'

// What a disk shows that is really small is in test/integration/sqlite-full-disk.test.ts.

const sql = (text: string): SqlStatement => ({ text, values: [] })
const small = 'INSERT INTO t VALUES (1, NULL)'
/** More than the limit of pages allows, which SQLite answers as it answers a full disk. */
const large = 'INSERT INTO t VALUES (2, zeroblob(400000))'
const isFull = {
  code: 'ERR_DATABASE_UNAVAILABLE',
  message: expect.stringContaining('the disk is full') as string,
}

interface Rig {
  readonly clock: ManualClock
  readonly write: (text: string) => Promise<unknown>
  readonly count: () => Promise<unknown>
  readonly logBytes: () => number
}

/** A runner on a database that may have 20 pages. */
async function rig(database: SqliteDatabase, isOwned: boolean): Promise<Rig> {
  const { name: filename } = database
  const clock = new ManualClock()
  database.pragma('journal_mode = WAL')
  database.prepare('CREATE TABLE t (n integer, b blob)').run()
  database.pragma('max_page_count = 20')
  const options = { clock, ids: seededIds(1), busyTimeoutMs: 0 }
  const runner = new SqliteRunner({ filename, connect: () => database, isOwned }, options)
  onTestFinished(async () => {
    await runner.close()
    if (database.open) database.close()
  })
  return {
    clock,
    write: (text) => runner.transact(() => run(sql(text))),
    count: async () => (await runner.read(() => all(sql('SELECT count(*) AS n FROM t'))))[0]?.['n'],
    logBytes: () => statSync(`${filename}-wal`).size,
  }
}

async function ownRig(name: SqliteDriverName | null): Promise<Rig> {
  const filename = join(temporaryFolder(), 'jobs.db')
  const driver = await loadSqliteDriver(name)
  return rig(driver.open({ filename, synchronous: 'normal' }, true), true)
}

/** The log is emptied once, the error stays what it is, and the log is left alone for a second. */
async function emptiesOnce({ clock, write, count, logBytes }: Rig): Promise<void> {
  await write(small)
  expect(logBytes()).toBeGreaterThan(0)
  await expect(write(large)).rejects.toMatchObject(isFull)
  expect(logBytes()).toBe(0)
  await write(small)
  const grown = logBytes()
  await expect(write(large)).rejects.toMatchObject(isFull)
  expect(logBytes()).toBe(grown)
  await clock.advance(1_000)
  await expect(write(large)).rejects.toMatchObject(isFull)
  expect(logBytes()).toBe(0)
  expect(await count()).toBe(2)
}

test('a transaction that a full disk refuses has the log emptied, once a second where that does not help', async () => {
  await emptiesOnce(await ownRig(null))
})

const testOnNode = test.skipIf((await loadNodeSqlite()) === null) // reason: Node.js has the module from 22.16 on

testOnNode('so it is with node:sqlite', async () => {
  await emptiesOnce(await ownRig('node:sqlite'))
})

test('a transaction that has room then is run again', async () => {
  const database: SqliteDatabase = new Database(join(temporaryFolder(), 'jobs.db'))
  const { write, count, clock } = await rig(database, true)
  await expect(write(large)).rejects.toMatchObject(isFull)
  await clock.advance(1_000)
  const pragma = database.pragma.bind(database)
  // The limit does not count the log, as a disk does, so it is raised where the log goes.
  database.pragma = (source, options) => {
    if (source.startsWith('wal_checkpoint')) pragma('max_page_count = 1000')
    return pragma(source, options)
  }
  await write(small)
  await write(large)
  expect(await count()).toBe(2)
})

test('a log that a reader keeps stays, and the error stays what it is', async () => {
  const database = new Database(join(temporaryFolder(), 'jobs.db'), { timeout: 0 })
  const { write, logBytes, clock } = await rig(database, true)
  await write(small)
  const reader = new Database(database.name)
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM t').all()
  const grown = logBytes()
  await expect(write(large)).rejects.toMatchObject(isFull)
  expect(logBytes()).toBe(grown)
  reader.close()
  await clock.advance(1_000)
  await expect(write(large)).rejects.toMatchObject(isFull)
  expect(logBytes()).toBe(0)
})

test("the log of the user's connection is emptied, unless the user has that left to another program", async () => {
  const database = new Database(join(temporaryFolder(), 'jobs.db'), { timeout: 1234 })
  const { write, logBytes, clock } = await rig(database, false)
  database.pragma('wal_autocheckpoint = 0')
  const grown = logBytes()
  await expect(write(large)).rejects.toMatchObject(isFull)
  expect(logBytes()).toBe(grown)
  database.pragma('wal_autocheckpoint = 1000')
  await clock.advance(1_000)
  await expect(write(large)).rejects.toMatchObject(isFull)
  expect(logBytes()).toBe(0)
  expect(database.pragma('busy_timeout', { simple: true })).toBe(1234)
})
