import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { SqlProgram } from '../../src/jobstore/sql/kernel/statement.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { hastyClock, testRunner } from '../support/postgres-runner.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { changesOf, rowsOf } from '../support/sql-steps.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
  await database.query('CREATE TABLE item (id int PRIMARY KEY, n int NOT NULL)')
})
afterAll(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await database.query('DELETE FROM item')
  await database.query('INSERT INTO item VALUES (1, 0)')
})

const nNow = async (): Promise<unknown> => (await database.query('SELECT n FROM item'))[0]?.['n']

/** A program that counts, in the database and here. */
function counter(): { readonly begin: () => SqlProgram<number>; runs: number } {
  const counted = {
    runs: 0,
    begin: () => {
      counted.runs++
      return changesOf('UPDATE item SET n = n + 1 WHERE id = 1')
    },
  }
  return counted
}

const rows = { lock: 'rows' } as const
/** The end of the text is part of it: "READ COMMITTED" is sent, too. */
const commit = 'COMMIT\0'
const unavailable = expect.objectContaining({
  name: 'JobPersistenceError',
  code: 'ERR_DATABASE_UNAVAILABLE',
}) as object

describe('a commit of which the answer is lost', () => {
  test('is found to have happened: the program is not run again', async () => {
    await using proxy = await TcpProxy.startFor(database.connectionString)
    await using store = testRunner(proxy.through(database.connectionString))
    const program = counter()
    const cut = proxy.cutOn(commit, 'after')
    expect(await store.runner.transact(program.begin, rows)).toBe(1)
    await cut
    expect([program.runs, await nNow()]).toEqual([1, 1])
  })

  test('whose answer is none of a server is found to have happened', async () => {
    await using proxy = await TcpProxy.startFor(database.connectionString)
    await using store = testRunner(proxy.through(database.connectionString))
    const program = counter()
    // No message of the protocol has this letter.
    const cut = proxy.cutOn(commit, 'after', { replyInstead: Buffer.from([0x78, 0, 0, 0, 4]) })
    expect(await store.runner.transact(program.begin, rows)).toBe(1)
    await cut
    expect([program.runs, await nNow()]).toEqual([1, 1])
  })

  test('is found not to have happened: the program is run again', async () => {
    await using proxy = await TcpProxy.startFor(database.connectionString)
    await using store = testRunner(proxy.through(database.connectionString))
    const program = counter()
    const cut = proxy.cutOn(commit, 'before')
    expect(await store.runner.transact(program.begin, rows)).toBe(1)
    await cut
    expect([program.runs, await nNow()]).toEqual([2, 1])
  })

  test.each(['before', 'after'] as const)(
    'and stays unknown (cut %s it arrived): an error that says so, after 30 seconds',
    async (when) => {
      await using proxy = await TcpProxy.startFor(database.connectionString)
      // The first connection has eight real seconds: on a busy machine 0.2 were too few.
      await using store = testRunner(proxy.through(database.connectionString), {
        clock: hastyClock(50),
        connectTimeoutMs: 400_000,
      })
      const program = counter()
      const away = proxy.cutOn(commit, when).then(() => {
        proxy.refuse()
      })
      await expect(store.runner.transact(program.begin, rows)).rejects.toMatchObject({
        name: 'JobPersistenceError',
        code: 'ERR_COMMIT_UNKNOWN',
        message: expect.stringMatching(/pg_xact_status\('\d+'\)/) as string,
        cause: expect.any(Error) as Error,
      })
      await away
      proxy.heal()
      expect([program.runs, await nNow()]).toEqual([1, when === 'after' ? 1 : 0])
      expect(await store.runner.transact(program.begin, rows)).toBe(1)
    },
  )

  test('is asked about until the database is back, for the patient', async () => {
    await using proxy = await TcpProxy.startFor(database.connectionString)
    // Two minutes pass on this clock while the database is away.
    await using store = testRunner(proxy.through(database.connectionString), {
      clock: hastyClock(200),
      connectTimeoutMs: 400_000,
    })
    const program = counter()
    const away = proxy.cutOn(commit, 'after').then(() => {
      proxy.refuse()
    })
    const answer = store.runner.transact(program.begin, { lock: 'rows', onDoubt: 'patient' })
    await away
    await new Promise((resolve) => setTimeout(resolve, 600))
    proxy.heal()
    expect(await answer).toBe(1)
    expect([program.runs, await nNow()]).toEqual([1, 1])
  })

  test('does not keep a store from closing', async () => {
    await using proxy = await TcpProxy.startFor(database.connectionString)
    const store = testRunner(proxy.through(database.connectionString))
    const away = proxy.cutOn(commit, 'after').then(() => {
      proxy.refuse()
    })
    const answer = store.runner.transact(counter().begin, { lock: 'rows', onDoubt: 'patient' })
    const unknown = expect(answer).rejects.toMatchObject({ code: 'ERR_COMMIT_UNKNOWN' })
    await away
    await store.runner.close()
    await unknown
  })
})

describe('a connection that breaks', () => {
  test('before the commit: the program is run again', async () => {
    await using proxy = await TcpProxy.startFor(database.connectionString)
    // A prepared statement goes out without its text.
    const options = { preparedStatements: false }
    await using store = testRunner(proxy.through(database.connectionString), options)
    for (const at of ['BEGIN ISOLATION', 'UPDATE item']) {
      const program = counter()
      for (const when of ['before', 'after'] as const) {
        const cut = proxy.cutOn(at, when)
        for (let calls = 1; calls <= 2; calls++) await store.runner.transact(program.begin, rows)
        await cut
      }
      expect(program.runs).toBe(6)
    }
    expect(await nNow()).toBe(8)
  })

  test('in silence: the transaction is ended and its locks with it', async () => {
    await using proxy = await TcpProxy.startFor(database.connectionString)
    // 5 seconds and a statement's time until an answer counts as lost: 0.3 seconds on this clock.
    await using store = testRunner(proxy.through(database.connectionString), {
      clock: hastyClock(50),
      statementTimeoutMs: 10_000,
    })
    let runs = 0
    const program = function* (): SqlProgram<number> {
      runs++
      const changed = yield* changesOf('UPDATE item SET n = n + 1 WHERE id = 1')
      if (runs === 1) proxy.dropReplies()
      yield* rowsOf('SELECT 1')
      return changed
    }
    expect(await store.runner.transact(program, rows)).toBe(1)
    expect([runs, await nNow()]).toEqual([2, 1])
  })

  test('while nobody uses it: nothing happens but that another is made', async () => {
    await using store = testRunner(database.connectionString, { poolSize: 2 })
    const program = counter()
    await Promise.all([
      store.runner.transact(program.begin, rows),
      store.runner.read(() => rowsOf('SELECT 1')),
    ])
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
    await vi.waitFor(
      () => {
        expect(store.idleErrors.length).toBeGreaterThan(0)
      },
      { timeout: 30_000 },
    )
    expect(await store.runner.transact(program.begin, rows)).toBe(1)
    expect(await nNow()).toBe(2)
  })

  test('in the middle, again and again: everything is done once', async () => {
    await using store = testRunner(database.connectionString, { poolSize: 4 })
    const program = counter()
    const storms = { go: true }
    const storm = (async () => {
      while (storms.go) {
        await database.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1`,
        )
      }
    })()
    let done = 0
    let failed = 0
    const worker = async (): Promise<void> => {
      for (let call = 0; call < 50; call++) {
        await store.runner.transact(program.begin, rows).then(
          () => done++,
          (error: unknown) => {
            expect(error).toEqual(unavailable)
            failed++
          },
        )
      }
    }
    await Promise.all([worker(), worker(), worker(), worker()])
    storms.go = false
    await storm
    expect(done + failed).toBe(200)
    expect(await nNow()).toBe(done)
  })

  test('with a server that restarts: calls fail and say so, and work again', async () => {
    const server = await startPostgres()
    try {
      await using store = testRunner(server.connectionString, {
        clock: hastyClock(20),
        statementTimeoutMs: 0,
      })
      const ask = (): Promise<unknown> => store.runner.transact(() => rowsOf('SELECT 1 AS one'), rows)
      expect(await ask()).toEqual([{ one: 1 }])
      const inside = store.runner.transact(() => rowsOf('SELECT pg_sleep(60)'), rows)
      const broken = expect(inside).rejects.toEqual(unavailable)
      const reading = store.runner.read(() => rowsOf('SELECT pg_sleep(60)'))
      const brokenRead = expect(reading).rejects.toEqual(unavailable)
      await vi.waitFor(
        async () => {
          const sleeping = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'`
          expect(await store.runner.read(() => rowsOf(sleeping))).toHaveLength(2)
        },
        { timeout: 30_000 },
      )
      await server.stop()
      await Promise.all([broken, brokenRead])
      await expect(ask()).rejects.toEqual(unavailable)
      await server.start()
      expect(await ask()).toEqual([{ one: 1 }])
    } finally {
      await server.remove()
    }
  })

  test('slow networks are waited for', async () => {
    await using proxy = await TcpProxy.startFor(database.connectionString)
    await using store = testRunner(proxy.through(database.connectionString))
    proxy.delay(40)
    expect(await store.runner.transact(counter().begin, rows)).toBe(1)
  })
})

describe('no connection', () => {
  test.each([
    ['nobody listens', { port: 1 }, 'ECONNREFUSED'],
    ['the password is wrong', { password: 'wrong' }, 'user, password'],
    ['there is no such database', { database: 'nowhere' }, 'Create the database'],
    ['the server has no TLS', { ssl: true }, "'ssl'"],
  ])('%s: an error that says so', async (_, override, words) => {
    const { hostname, port, username, password, pathname } = new URL(database.connectionString)
    const source = {
      host: hostname,
      port: Number(port),
      user: username,
      password,
      database: pathname.slice(1),
    }
    await using store = testRunner('', { source: { ...source, ...override }, clock: hastyClock(20) })
    const failing = store.runner.transact(counter().begin, rows)
    await expect(failing).rejects.toEqual(unavailable)
    await expect(failing).rejects.toThrow(words)
  })

  test('a pool that is used up: an error that names its size, and no harm when one comes free', async () => {
    await using store = testRunner(database.connectionString, { poolSize: 1, connectTimeoutMs: 500 })
    const session = await store.connections.open(null)
    await expect(store.runner.transact(counter().begin, rows)).rejects.toThrow(/pool of 1.*poolSize/)
    await expect(store.runner.read(() => rowsOf('SELECT 1'))).rejects.toEqual(unavailable)
    session.release()
    expect(await store.runner.transact(counter().begin, rows)).toBe(1)
  })

  test('a black hole: an error in time', async () => {
    await using proxy = await TcpProxy.startFor(database.connectionString)
    await using store = testRunner(proxy.through(database.connectionString), { connectTimeoutMs: 500 })
    proxy.blackHole()
    await expect(store.runner.transact(counter().begin, rows)).rejects.toEqual(unavailable)
    proxy.heal()
    expect(await store.runner.transact(counter().begin, rows)).toBe(1)
  })
})

describe('closing', () => {
  test('ends after what is under way, refuses what comes later, and may be said twice', async () => {
    const store = testRunner(database.connectionString)
    const program = counter()
    const underWay = store.runner.transact(program.begin, rows)
    await Promise.all([store.runner.close(), store.runner.close()])
    expect(await underWay).toBe(1)
    for (const late of [store.runner.transact(program.begin, rows), store.runner.read(program.begin)]) {
      await expect(late).rejects.toMatchObject({ code: 'ERR_SCHEDULER_SHUTDOWN' })
    }
    const open = await database.query(
      `SELECT count(*) AS n FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'quartz-ts'`,
    )
    expect(open).toEqual([{ n: '0' }])
  })

  test('does not wait for a database that is away', async () => {
    const store = testRunner('postgres://127.0.0.1:1/nothing')
    const failing = expect(store.runner.transact(counter().begin, rows)).rejects.toEqual(unavailable)
    await store.runner.close()
    await failing
  })

  test('shares a pool of the user with many others without a word of leaks', async () => {
    const pool = new pg.Pool({ connectionString: database.connectionString, max: 2 })
    const warned = vi.fn()
    process.on('warning', warned)
    const stores = Array.from({ length: 30 }, () => testRunner('', { source: pool }))
    // Node.js tells of warnings a turn later.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', warned)
    expect(pool.listenerCount('error')).toBe(30)
    await Promise.all(stores.map((store) => store.runner.close()))
    expect(warned).not.toHaveBeenCalled()
    expect(pool.getMaxListeners()).toBe(new pg.Pool().getMaxListeners())
    await pool.end()
  })

  test("leaves the user's pool as it was, and its connections without a listener of ours", async () => {
    const pool = new pg.Pool({ connectionString: database.connectionString, max: 2 })
    const store = testRunner('', { source: pool })
    await store.runner.transact(counter().begin, rows)
    await expect(store.runner.transact(() => rowsOf('SELECT * FROM nowhere'), rows)).rejects.toThrow(
      'nowhere',
    )
    await store.runner.close()
    expect(pool.listenerCount('error')).toBe(0)
    const client = await pool.connect()
    expect(client.listenerCount('error')).toBe(0)
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    client.release()
    await pool.end()
  })
})
