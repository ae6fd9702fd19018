import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { seededIds } from '../../../src/core/ids.ts'
import { insertMissingQuery } from '../../../src/jobstore/sql/kernel/row-set.ts'
import type { SqlRunner } from '../../../src/jobstore/sql/kernel/sql-runner.ts'
import { all, run, type SqlProgram, type SqlStatement } from '../../../src/jobstore/sql/kernel/statement.ts'
import { loadNodeSqlite } from '../../../src/jobstore/sqlite/node-sqlite.ts'
import type { SqliteDatabase, SqliteDriverName } from '../../../src/jobstore/sqlite/sqlite-database.ts'
import { openSqlite, SqliteRunner } from '../../../src/jobstore/sqlite/sqlite-runner.ts'
import { systemClock } from '../../../src/time/clock.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { locksInLoops, sqliteRunner, sqliteWords, temporaryFolder } from '../../support/sqlite.ts'

const sql = (text: string, ...values: (string | number)[]): SqlStatement => ({ text, values })
const write = async (runner: SqlRunner, ...texts: string[]): Promise<void> => {
  await runner.transact(
    function* () {
      for (const text of texts) yield* run(sql(text))
    },
    { lock: 'rows' },
  )
}
const numbers = async (runner: SqlRunner): Promise<unknown[]> =>
  (await runner.read(() => all(sql('SELECT n FROM t ORDER BY n')))).map(({ n }) => n)
const unavailable = { name: 'JobPersistenceError', code: 'ERR_DATABASE_UNAVAILABLE' }

const drivers: readonly (SqliteDriverName | null)[] =
  (await loadNodeSqlite()) === null ? [null] : [null, 'node:sqlite']

describe('a transaction', () => {
  test('answers what the program returns, with rows and numbers of changes', async () => {
    const runner = await sqliteRunner(':memory:')
    await write(runner, 'CREATE TABLE t (n integer PRIMARY KEY, b blob)')
    function* program(): SqlProgram<unknown> {
      const inserted = yield* all(sql('INSERT INTO t (n, b) VALUES (?, ?), (2, NULL) RETURNING n', 1, 'x'))
      const changes = yield* run(sql('UPDATE t SET b = NULL'))
      const returning = yield sql('DELETE FROM t WHERE n = 2 RETURNING n')
      return { inserted, changes, returning }
    }
    expect(await runner.transact(program)).toEqual({
      inserted: [{ n: 1 }, { n: 2 }],
      changes: 2,
      returning: { rows: [{ n: 2 }], changes: 1 },
    })
  })

  test('stores many rows at once, and those that are left one by one', async () => {
    const runner = await sqliteRunner(':memory:')
    await write(
      runner,
      'CREATE TABLE t (sched_name text, n integer, flag boolean, PRIMARY KEY (sched_name, n))',
    )
    const insert = insertMissingQuery({ ...sqliteWords, schedulerName: 'S' }, 't', {
      n: 'bigint',
      flag: 'boolean',
    })
    const rows = Array.from({ length: 37 }, (_, n) => ({ n, flag: n % 2 === 0 }))
    const stored = (some: readonly object[]): Promise<number> => runner.transact(() => run(insert('S', some)))
    expect(await stored(rows.slice(5, 8))).toBe(3)
    expect(await stored(rows)).toBe(34)
    expect(insert('S', rows).atOnce).toMatchObject({
      runs: 16,
      text: expect.stringMatching(/(\(\?, \?, \?\)(, )?){16}/) as string,
    })
    expect(await numbers(runner)).toEqual(rows.map(({ n }) => n))
    const even = await runner.read(() => all(sql('SELECT n FROM t WHERE flag = 1 ORDER BY n')))
    expect(even.map(({ n }) => n)).toEqual(rows.filter(({ flag }) => flag).map(({ n }) => n))
  })

  test('is undone whole by an error of the program or of a statement, which the caller gets', async () => {
    const runner = await sqliteRunner(':memory:')
    await write(runner, 'CREATE TABLE t (n integer PRIMARY KEY)')
    const failure = new Error('of the program')
    const failing = runner.transact(function* () {
      yield* run(sql('INSERT INTO t VALUES (1)'))
      throw failure
    })
    await expect(failing).rejects.toBe(failure)
    const broken = write(runner, 'INSERT INTO t VALUES (2)', 'INSERT INTO t VALUES (2)')
    await expect(broken).rejects.toMatchObject({
      code: 'ERR_DATABASE',
      cause: expect.objectContaining({
        code: expect.stringMatching(/^SQLITE_CONSTRAINT/) as string,
      }) as object,
    })
    expect(await numbers(runner)).toEqual([])
    await write(runner, 'INSERT INTO t VALUES (3)')
    expect(await numbers(runner)).toEqual([3])
  })

  test('of which the commit fails leaves nothing open', async () => {
    const runner = await sqliteRunner(join(temporaryFolder(), 'a.db'))
    await write(
      runner,
      'CREATE TABLE p (n integer PRIMARY KEY)',
      'CREATE TABLE t (n integer REFERENCES p DEFERRABLE INITIALLY DEFERRED)',
    )
    await expect(write(runner, 'INSERT INTO t VALUES (1)')).rejects.toMatchObject({ code: 'ERR_DATABASE' })
    await write(runner, 'INSERT INTO p VALUES (2)', 'INSERT INTO t VALUES (2)')
    expect(await numbers(runner)).toEqual([2])
  })

  test('runs without a break, so that others see all of it or nothing', async () => {
    const runner = await sqliteRunner(':memory:')
    await write(runner, 'CREATE TABLE t (n integer)')
    const both = Array.from({ length: 20 }, async (_, n) => {
      await write(runner, `INSERT INTO t VALUES (${n})`, `INSERT INTO t VALUES (${n})`)
      return (await numbers(runner)).length % 2
    })
    expect(new Set(await Promise.all(both))).toEqual(new Set([0]))
  })
})

describe('a file that another connection has locked', () => {
  test('is waited for, without holding up the event loop', async () => {
    const filename = join(temporaryFolder(), 'a.db')
    const clock = new ManualClock(0)
    const runner = await sqliteRunner(filename, { clock, ids: seededIds(1) })
    await write(runner, 'CREATE TABLE t (n integer)')
    const other = new Database(filename)
    other.exec('BEGIN IMMEDIATE; INSERT INTO t VALUES (1)')
    const writing = write(runner, 'INSERT INTO t VALUES (2)')
    await clock.advance(1_000)
    expect(await numbers(runner)).toEqual([])
    other.exec('COMMIT')
    other.close()
    await clock.advance(1_000)
    await writing
    expect(await numbers(runner)).toEqual([1, 2])
  })

  test('is used by all that wait, in their order, in a gap of milliseconds', async () => {
    const filename = join(temporaryFolder(), 'a.db')
    const clock = new ManualClock(0)
    const runner = await sqliteRunner(filename, { clock, ids: seededIds(1) })
    await write(runner, 'CREATE TABLE t (n integer)')
    const other = new Database(filename)
    other.exec('BEGIN IMMEDIATE')
    const done: number[] = []
    const writing = Array.from({ length: 20 }, async (_, n) => {
      await write(runner, `INSERT INTO t VALUES (${n})`)
      done.push(n)
    })
    await clock.advance(1_000)
    expect(done).toEqual([])
    other.exec('COMMIT')
    await clock.advance(10)
    other.exec('BEGIN IMMEDIATE')
    await Promise.all(writing)
    expect(done).toEqual(Array.from({ length: 20 }, (_, n) => n))
    other.exec('COMMIT')
    other.close()
    expect(await numbers(runner)).toEqual(done)
  })

  test('is looked at by one of those that wait, and by another one when its time is over', async () => {
    const filename = join(temporaryFolder(), 'a.db')
    const clock = new ManualClock(0)
    const runner = await sqliteRunner(filename, { clock, ids: seededIds(1), busyTimeoutMs: 1_000 })
    await write(runner, 'CREATE TABLE t (n integer)')
    const other = new Database(filename)
    other.exec('BEGIN IMMEDIATE')
    const failing = expect(write(runner, 'INSERT INTO t VALUES (1)')).rejects.toMatchObject(unavailable)
    await clock.advance(900)
    const writing = [0, 1].map((n) => write(runner, `INSERT INTO t VALUES (${n})`))
    await clock.advance(200)
    await failing
    other.exec('COMMIT')
    await clock.advance(10)
    await Promise.all(writing)
    expect(await numbers(runner)).toEqual([0, 1])
    other.close()
  })

  test('is tried for by one of those that wait, however many read meanwhile or give up', async () => {
    const filename = join(temporaryFolder(), 'a.db')
    const clock = new ManualClock(0)
    let tries = 0
    const connect = (): SqliteDatabase => {
      const database = new Database(filename, { timeout: 10 })
      database.pragma('journal_mode = WAL')
      return Object.assign(database, {
        pragma: (...given: Parameters<SqliteDatabase['pragma']>): unknown => {
          if (given[0] === 'busy_timeout = 0') tries++
          return Database.prototype.pragma.apply(database, given)
        },
      })
    }
    const options = { clock, ids: seededIds(1), busyTimeoutMs: 1_000 }
    const runner = new SqliteRunner({ filename, connect, isOwned: true }, options)
    await write(runner, 'CREATE TABLE t (n integer)')
    const other = new Database(filename)
    other.exec('BEGIN IMMEDIATE')
    const writing: Promise<unknown>[] = []
    for (let n = 0; n < 100; n++) {
      writing.push(expect(write(runner, `INSERT INTO t VALUES (${n})`)).rejects.toMatchObject(unavailable))
      await clock.advance(1)
      expect(await numbers(runner)).toEqual([])
    }
    await clock.advance(1_000)
    await Promise.all(writing)
    // Each has two tries of its own, and one of them looks at each few milliseconds.
    expect(tries).toBeLessThan(1_000)
    other.close()
    await runner.close()
  })

  test('is an error when it stays so for too long', async () => {
    const filename = join(temporaryFolder(), 'a.db')
    const runner = await sqliteRunner(filename, { busyTimeoutMs: 30 })
    await write(runner, 'CREATE TABLE t (n integer)')
    const other = new Database(filename)
    other.exec('BEGIN IMMEDIATE')
    await expect(write(runner, 'INSERT INTO t VALUES (2)')).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining('is locked by another connection') as string,
    })
    other.close()
    await write(runner, 'INSERT INTO t VALUES (3)')
    expect(await numbers(runner)).toEqual([3])
  })
})

describe('a file that cannot be used', () => {
  test('is an error that names it when it is no database, and is left as it is', async () => {
    const filename = join(temporaryFolder(), 'a.db')
    const content = 'not a database, but long enough to look like one '.repeat(50)
    writeFileSync(filename, content)
    await expect(sqliteRunner(filename)).rejects.toMatchObject({
      code: 'ERR_DATABASE',
      message: expect.stringMatching(/a\.db' is not a SQLite database/) as string,
    })
    expect(readFileSync(filename, 'utf8')).toBe(content)
  })

  const openWith = (driver: SqliteDriverName | null, filename: string): Promise<unknown> =>
    openSqlite(
      { filename, driver, synchronous: 'normal' },
      { clock: systemClock, ids: seededIds(1), busyTimeoutMs: 0 },
    )
  const saying = (problem: string): object => ({
    ...unavailable,
    message: expect.stringMatching(new RegExp(`' cannot be opened: ${problem}$`)) as string,
  })
  test.each(drivers)(
    'is an error when its folder is missing, or it is a folder, with driver %s',
    async (driver) => {
      const folder = temporaryFolder()
      const missing = openWith(driver, join(folder, 'none', 'a.db'))
      await expect(missing).rejects.toMatchObject(saying('its folder does not exist. Create the folder.'))
      await expect(openWith(driver, folder)).rejects.toMatchObject(
        saying('it is a folder. Name a file in it.'),
      )
    },
  )

  test('is an error when the disk is full, and all goes on when it is not any more', async () => {
    const filename = join(temporaryFolder(), 'a.db')
    const runner = await sqliteRunner(filename)
    await write(runner, 'CREATE TABLE t (n integer, b blob)', 'PRAGMA max_page_count = 5')
    const fill = 'INSERT INTO t VALUES (1, zeroblob(100000))'
    await expect(write(runner, fill)).rejects.toMatchObject({
      ...unavailable,
      // What a caller asked for is not repeated by the store.
      message: expect.stringMatching(
        /the disk is full\. Free some space, and ask again for what was refused;/,
      ) as string,
    })
    await write(runner, 'INSERT INTO t VALUES (2, NULL)')
    await write(runner, 'PRAGMA max_page_count = 10000')
    await write(runner, fill)
    expect(await numbers(runner)).toEqual([1, 2])
  })

  test('read-only: the connection is given up, and a new one writes as soon as it can', async () => {
    const runner = await sqliteRunner(join(temporaryFolder(), 'a.db'))
    await write(runner, 'CREATE TABLE t (n integer)')
    // What SQLite says of a file without the right to write, to root as well.
    await runner.read(() => all(sql('PRAGMA query_only = 1')))
    await expect(write(runner, 'INSERT INTO t VALUES (1)')).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining('mounted read-only') as string,
    })
    await write(runner, 'INSERT INTO t VALUES (2)')
    expect(await numbers(runner)).toEqual([2])
  })
})

describe('the connection', () => {
  test('is set up for several processes: WAL, foreign keys, the synchronous mode asked for', async () => {
    const runner = await sqliteRunner(join(temporaryFolder(), 'a.db'))
    const settings = ['journal_mode', 'foreign_keys', 'synchronous', 'busy_timeout']
    const found = await Promise.all(
      settings.map(async (name) =>
        Object.values((await runner.read(() => all(sql(`PRAGMA ${name}`))))[0] ?? {}),
      ),
    )
    expect(found.flat()).toEqual(['wal', 1, 1, 10])
  })

  test('is closed once, also when asked twice; what comes later is refused', async () => {
    const filename = join(temporaryFolder(), 'a.db')
    const runner = await sqliteRunner(filename)
    await write(runner, 'CREATE TABLE t (n integer)')
    await Promise.all([runner.close(), runner.close()])
    expect(existsSync(`${filename}-wal`)).toBe(false)
    await expect(numbers(runner)).rejects.toThrow('was shut down')
  })
})

describe("a user's connection", () => {
  test('without WAL waits at each commit until nobody reads, also when it is tried again', async () => {
    const filename = join(temporaryFolder(), 'a.db')
    const theirs = new Database(filename, { timeout: 4321 })
    theirs.exec('CREATE TABLE t (n integer); INSERT INTO t VALUES (1), (2)')
    const clock = new ManualClock(0)
    const atCommit: unknown[] = []
    const connect = (): SqliteDatabase =>
      Object.assign(theirs, {
        prepare: (text: string) => {
          const statement = Database.prototype.prepare.call(theirs, text)
          const run = statement.run.bind(statement) as (...values: unknown[]) => Database.RunResult
          const noting = (...values: unknown[]): Database.RunResult => {
            if (text === 'COMMIT') atCommit.push(theirs.pragma('busy_timeout', { simple: true }))
            return run(...values)
          }
          return Object.assign(statement, { run: noting })
        },
      })
    const options = { clock, ids: seededIds(1), busyTimeoutMs: 1_000 }
    const runner = new SqliteRunner({ filename, connect, isOwned: false }, options)
    const other = new Database(filename)
    other.exec('BEGIN')
    other.prepare('SELECT n FROM t').all()
    const writing = write(runner, 'INSERT INTO t VALUES (3)')
    await clock.advance(30)
    other.exec('COMMIT')
    await clock.advance(10)
    await writing
    expect(atCommit.length).toBeGreaterThan(2)
    expect(new Set(atCommit)).toEqual(new Set([10]))
    expect(theirs.pragma('busy_timeout', { simple: true })).toBe(4321)
    other.close()
    theirs.close()
  })

  test('waits shortly for locks while the store works on it, and as before afterwards', async () => {
    const filename = join(temporaryFolder(), 'a.db')
    const theirs = new Database(filename, { timeout: 4321 })
    const source = { filename, connect: () => theirs, isOwned: false }
    const runner = new SqliteRunner(source, { clock: systemClock, ids: seededIds(1), busyTimeoutMs: 30 })
    const timeoutMs = (): unknown => theirs.pragma('busy_timeout', { simple: true })
    const withinMs = await runner.transact(() => all(sql('PRAGMA busy_timeout')))
    expect(withinMs).toEqual([{ timeout: 10 }])
    expect(timeoutMs()).toBe(4321)
    const failing = runner.transact(() => all(sql('SELECT * FROM nowhere')))
    await expect(failing).rejects.toMatchObject({ code: 'ERR_DATABASE' })
    expect(timeoutMs()).toBe(4321)
    const other = new Database(filename)
    other.exec('BEGIN IMMEDIATE')
    await expect(write(runner, 'CREATE TABLE t (n integer)')).rejects.toMatchObject(unavailable)
    expect(timeoutMs()).toBe(4321)
    other.close()
    await runner.close()
    expect(theirs.open).toBe(true)
    theirs.close()
  })

  const whereLoopsLock = test.skipIf(!locksInLoops) // reason: node:sqlite lets others in while a loop goes on

  whereLoopsLock(
    'is waited for while a loop over its rows goes on, and for too long is an error',
    async () => {
      const theirs = new Database(':memory:')
      theirs.exec('CREATE TABLE t (n integer); INSERT INTO t VALUES (1), (2)')
      const clock = new ManualClock()
      const source = { filename: ':memory:', connect: () => theirs, isOwned: false }
      const runner = new SqliteRunner(source, { clock, ids: seededIds(1), busyTimeoutMs: 1000 })
      const loop = theirs.prepare('SELECT n FROM t').iterate()
      loop.next()
      const failing = expect(write(runner, 'INSERT INTO t VALUES (3)')).rejects.toMatchObject({
        ...unavailable,
        message: expect.stringContaining('take the rows with all()') as string,
      })
      await clock.advance(2000)
      await failing
      const writing = write(runner, 'INSERT INTO t VALUES (4)')
      loop.return?.()
      await clock.advance(1000)
      await writing
      expect(await numbers(runner)).toEqual([1, 2, 4])
      theirs.close()
    },
  )
})
