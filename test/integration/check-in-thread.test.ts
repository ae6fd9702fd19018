import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import type { ClientConfig } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { seededIds } from '../../src/core/ids.ts'
import { postgresEngine } from '../../src/jobstore/postgres/postgres-engine.ts'
import { resolvePostgresOptions } from '../../src/jobstore/postgres/postgres-options.ts'
import { threadAccess } from '../../src/jobstore/postgres/thread-connection.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { Testbed } from '../../src/testing/job-store/testbed.ts'
import { systemClock } from '../../src/time/clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { builtEntry, orders, rig } from '../support/check-in-rig.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { requireTls } from '../support/postgres-tls.ts'
import { projectRoot } from '../support/source-files.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

const dyingEntry = new URL('../fixtures/check-in/dying-thread.mjs', import.meta.url)
const blockedNode = fileURLToPath(new URL('../fixtures/check-in/blocked-node.mjs', import.meta.url))
const patienceMs = 60_000

let server: PostgresServer
let database: TestDatabase
beforeAll(async () => {
  server = await startPostgres()
  database = await freshDatabase(server.connectionString)
})
afterAll(async () => {
  await server.remove()
})

describe('a node whose check-ins have a thread', () => {
  test('is not taken for failed while its event loop is blocked', async () => {
    const store = new SqlJobStore(
      postgresEngine(
        resolvePostgresOptions({
          connectionString: database.connectionString,
          checkInIntervalMs: 300,
          failedAfterMs: 4000,
        }),
      ),
    )
    const watcher = new Testbed(store, new ManualClock(systemClock.now()), 'watcher')
    await store.initialize({ ...watcher.context, clock: systemClock, ids: seededIds(1) })
    onTestFinished(() => store.shutdown())
    await store.schedulerStarted()
    const { schedulerName } = watcher.context
    const node = promisify(execFile)(
      process.execPath,
      [blockedNode, database.connectionString, schedulerName, '12000'],
      { timeout: patienceMs },
    )
    // It is a node of the watcher's own cluster, or nobody would judge it.
    const members = `SELECT instance_name FROM qrtz_scheduler_state WHERE sched_name = '${schedulerName}' ORDER BY 1`
    await vi.waitFor(
      async () => {
        expect(await database.query(members)).toEqual([
          { instance_name: 'blocked' },
          { instance_name: 'watcher' },
        ])
      },
      { timeout: patienceMs },
    )
    const { stdout } = await node
    expect(stdout.trim().split('\n')).toEqual(['started', 'unblocked', '[]'])
    expect(watcher.signals.failedNodes).toEqual([])
    expect(await database.query('SELECT instance_name FROM qrtz_scheduler_state')).toEqual([
      { instance_name: 'watcher' },
    ])
  })
})

describe('a node whose check-in thread has no file, as in a bundle', () => {
  const connect = async (checkInEntry: URL | null): Promise<SqlJobStore> => {
    const { connectionString } = database
    const store = new SqlJobStore(postgresEngine(resolvePostgresOptions({ connectionString, checkInEntry })))
    const { context } = new Testbed(store, new ManualClock(systemClock.now()), 'bundled')
    await store.initialize({ ...context, clock: systemClock, ids: seededIds(2) })
    onTestFinished(() => store.shutdown())
    return store
  }

  test('says so when it starts', async () => {
    const store = await connect(new URL('file:///no/such/entry.js'))
    await expect(store.schedulerStarted()).rejects.toMatchObject({
      code: 'ERR_ENTRY_MISSING',
      message: expect.stringMatching(
        /checkInEntry of postgresJobStore.*quartz-ts\/check-in-entry/,
      ) as unknown,
    })
  })

  test('checks in on the event loop when it is told to', async () => {
    const store = await connect(null)
    await store.schedulerStarted()
    expect(await database.query('SELECT instance_name FROM qrtz_scheduler_state')).toContainEqual({
      instance_name: 'bundled',
    })
  })
})

describe('a check-in thread', () => {
  test('checks in each interval, tells when by the clock of its owner, and stops', async () => {
    const { driver, observer, seen } = rig({ connectionString: server.connectionString }, builtEntry, {
      checkInOfStore: () => expect.fail('the thread is there'),
    })
    const startedMs = systemClock.elapsedMs()
    driver.start(observer, orders('first'))
    await vi.waitFor(
      () => {
        expect(seen.checkIns.length).toBeGreaterThan(3)
      },
      { timeout: patienceMs },
    )
    for (const { bootId, isOurs, rows, sentMs, lookedMs, lookTookMs } of seen.checkIns) {
      expect({ bootId, isOurs, rows }).toEqual({
        bootId: 'first',
        isOurs: true,
        rows: [{ count: '0', big: '5' }],
      })
      expect(sentMs).toBeGreaterThan(startedMs)
      expect(lookedMs).toBeGreaterThan(sentMs)
      expect(lookedMs + lookTookMs / 2).toBeLessThan(systemClock.elapsedMs())
    }
    expect(seen.failures).toEqual([])
    await driver.stop()
    const count = seen.checkIns.length
    await driver.stop()
    expect(seen.checkIns.length).toBe(count)
  })

  test.each([
    ['esm', 'mjs'],
    ['cjs', 'cjs'],
  ] as const)('checks in from a bundle (%s)', async (format, ending) => {
    const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-check-in-'))
    onTestFinished(() => {
      rmSync(folder, { recursive: true, force: true })
    })
    // The bundle leaves out pg, which stays in node_modules beside it.
    symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'))
    const outfile = join(folder, `check-in-entry.${ending}`)
    await build({
      ...{ bundle: true, platform: 'node', logLevel: 'error', external: ['pg'] },
      ...{ format, entryPoints: [fileURLToPath(builtEntry)], outfile },
    })
    const { connectionString } = server
    const { driver, observer, seen } = rig({ connectionString }, pathToFileURL(outfile), {
      answerWithinMs: patienceMs,
    })
    driver.start(observer, orders('bundled'))
    await vi.waitFor(
      () => {
        expect(seen.checkIns.length + seen.failures.length).toBeGreaterThan(0)
      },
      { timeout: patienceMs },
    )
    expect(seen.failures).toEqual([])
    expect(seen.checkIns[0]).toMatchObject({ bootId: 'bundled', isOurs: true })
  })

  test('takes new orders, and hurries', async () => {
    const { driver, observer, seen } = rig({ connectionString: server.connectionString })
    const change = { count: 1 }
    driver.start(observer, { ...orders('first', change), intervalMs: 3_600_000 })
    await vi.waitFor(
      () => {
        expect(seen.checkIns).toHaveLength(1)
      },
      { timeout: patienceMs },
    )
    driver.order({ ...orders('second', change), intervalMs: 3_600_000 })
    driver.hurry()
    await vi.waitFor(
      () => {
        expect(seen.checkIns.at(-1)?.bootId).toBe('second')
      },
      { timeout: patienceMs },
    )
    // What a node says of itself changes by itself.
    change.count = 2
    await vi.waitFor(
      () => {
        driver.hurry()
        expect(seen.checkIns.at(-1)?.rows).toEqual([{ count: '2', big: '5' }])
      },
      { timeout: patienceMs },
    )
  })

  test('asks for a password that is a function', async () => {
    const { hostname, port, username, password, pathname } = new URL(server.connectionString)
    const { driver, observer, seen } = rig({
      host: hostname,
      port: Number(port),
      user: username,
      database: pathname.slice(1),
      password: () => Promise.resolve(password),
    })
    driver.start(observer, orders('first'))
    await vi.waitFor(
      () => {
        expect(seen.checkIns.length).toBeGreaterThan(0)
      },
      { timeout: patienceMs },
    )
  })

  test('connects over TLS where the store does', async () => {
    const other = await startPostgres()
    onTestFinished(() => other.remove())
    const ca = await requireTls(other)
    const { driver, observer, seen } = rig({ connectionString: other.connectionString, ssl: { ca } })
    driver.start(observer, orders('first'))
    await vi.waitFor(
      () => {
        expect(seen.checkIns.length).toBeGreaterThan(0)
      },
      { timeout: patienceMs },
    )
  })

  test('goes on when the server has been away', async () => {
    const other = await startPostgres()
    onTestFinished(() => other.remove())
    const { driver, observer, seen, stoodIn } = rig(
      { connectionString: other.connectionString },
      builtEntry,
      { checkInOfStore: () => Promise.reject(new Error('away')) },
    )
    driver.start(observer, orders('first'))
    await vi.waitFor(
      () => {
        expect(seen.checkIns.length).toBeGreaterThan(0)
      },
      { timeout: patienceMs },
    )
    await other.stop()
    await vi.waitFor(
      () => {
        expect(seen.failures.length).toBeGreaterThan(2)
      },
      { timeout: patienceMs },
    )
    const count = seen.checkIns.length
    await other.start()
    await vi.waitFor(
      () => {
        expect(seen.checkIns.length).toBeGreaterThan(count)
      },
      { timeout: patienceMs },
    )
    expect(stoodIn).toEqual([])
  })

  test('says what to do about a server that does not answer, and about one that refuses', async () => {
    await using proxy = await TcpProxy.startFor(server.connectionString)
    const standing = rig({ connectionString: proxy.through(server.connectionString) })
    standing.driver.start(standing.observer, orders('first'))
    await vi.waitFor(
      () => {
        expect(standing.seen.checkIns.length).toBeGreaterThan(0)
      },
      { timeout: patienceMs },
    )
    proxy.blackHole()
    const refused = rig({ connectionString: server.connectionString.replace('quartz', 'wrong') })
    refused.driver.start(refused.observer, orders('first'))
    await vi.waitFor(
      () => {
        expect(standing.seen.failures.length).toBeGreaterThan(0)
        expect(refused.seen.failures.length).toBeGreaterThan(0)
      },
      { timeout: patienceMs },
    )
    expect(standing.seen.failures[0]).toMatchObject({
      code: 'ERR_DATABASE_UNAVAILABLE',
      message: expect.stringMatching(/no answer within 2000 ms\. Check that the server runs/) as unknown,
    })
    expect(refused.seen.failures[0]).toMatchObject({
      code: 'ERR_DATABASE_UNAVAILABLE',
      message: expect.stringMatching(/\(28P01\)\. Check user, password/) as unknown,
    })
    await standing.driver.stop()
  })

  test('says no more when the main thread has not been heard of for too long', async () => {
    const { driver, observer, seen } = rig({ connectionString: server.connectionString }, builtEntry, {
      deafAfterMs: 500,
    })
    driver.start(observer, orders('first'))
    await vi.waitFor(
      () => {
        expect(seen.checkIns.length).toBeGreaterThan(0)
      },
      { timeout: patienceMs },
    )
    const before = seen.checkIns.length
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5000)
    await vi.waitFor(
      () => {
        expect(seen.checkIns.length).toBeGreaterThan(before + 10)
      },
      { timeout: patienceMs },
    )
    const gapsMs = seen.checkIns.slice(1).map(({ sentMs }, at) => sentMs - (seen.checkIns[at]?.sentMs ?? 0))
    expect(Math.max(...gapsMs)).toBeGreaterThan(3000)
  })

  test('that dies is reported and replaced', async () => {
    const { driver, observer, seen, stoodIn } = rig({}, dyingEntry)
    driver.start(observer, orders('first'))
    await vi.waitFor(
      () => {
        expect(seen.checkIns.length).toBeGreaterThan(2)
      },
      { timeout: patienceMs },
    )
    expect(seen.failures[0]).toMatchObject({ code: 'ERR_JOB_PERSISTENCE', cause: { message: 'out of luck' } })
    expect(stoodIn).toEqual([])
  })

  test('that starts while the server is away for the store too checks in as soon as it is back', async () => {
    const proxy = await TcpProxy.startFor(server.connectionString)
    onTestFinished(() => proxy[Symbol.asyncDispose]())
    proxy.refuse()
    let asked = 0
    const { driver, observer, seen, stoodIn } = rig(
      { connectionString: proxy.through(server.connectionString) },
      builtEntry,
      {
        checkInOfStore: () => {
          asked++
          return Promise.reject(new Error('away'))
        },
      },
    )
    driver.start(observer, orders('first'))
    await vi.waitFor(
      () => {
        expect(asked).toBeGreaterThan(2)
      },
      { timeout: patienceMs },
    )
    proxy.heal()
    await vi.waitFor(
      () => {
        expect(seen.checkIns.length).toBeGreaterThan(2)
      },
      { timeout: patienceMs },
    )
    expect(stoodIn).toEqual([])
  })
})

describe('what a thread can connect with', () => {
  test.each<readonly [string, ClientConfig]>([
    ['a transport of its own', { stream: () => expect.fail() }],
    ['a function that checks the server', { ssl: { checkServerIdentity: () => undefined } }],
  ])('is not %s', (_what, config) => {
    expect(threadAccess(config)).toBeNull()
  })

  test('is what the store connects with', () => {
    const ssl = { rejectUnauthorized: true, ca: 'certificate' }
    Object.defineProperty(ssl, 'key', { value: 'secret', enumerable: false })
    expect(threadAccess({ host: 'h', port: 1, user: 'u', password: 'p', ssl })).toEqual({
      connection: {
        fallback_application_name: 'quartz-ts',
        keepAlive: true,
        host: 'h',
        port: 1,
        user: 'u',
        password: 'p',
        ssl: { rejectUnauthorized: true, ca: 'certificate', key: 'secret' },
      },
      password: null,
    })
  })
})
