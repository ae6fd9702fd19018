import { type AddressInfo, createServer } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { ThreadCheckIns } from '../../src/jobstore/postgres/check-in-thread.ts'
import { threadAccess } from '../../src/jobstore/postgres/thread-connection.ts'
import type { CheckIn } from '../../src/jobstore/sql/cluster/check-in.ts'
import type { WitnessLook } from '../../src/jobstore/sql/cluster/witness.ts'
import { systemClock } from '../../src/time/clock.ts'
import { pgbouncerVersion, startPooler } from '../support/pgbouncer.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'

const entry = new URL('../../dist/jobstore/postgres/check-in-entry.js', import.meta.url)
const lockSpace = 0x71_74_73
const ownKey = 42

let server: PostgresServer
let database: TestDatabase
beforeAll(async () => {
  server = await startPostgres()
  database = await freshDatabase(server.connectionString)
})
afterAll(async () => {
  await server.remove()
})

type Report =
  | { readonly kind: 'checkedIn'; readonly witness: CheckIn['witness'] }
  | { readonly kind: 'looked'; readonly lost: WitnessLook['lost'] }
  | { readonly kind: 'failed' | 'witnessLost' }

interface ThreadOptions {
  /** Default none. */
  readonly watched?: readonly number[]
  /** Default `SELECT 1`. */
  readonly checkIn?: string
  /** The text of the look at the rows; default that of the check-in. */
  readonly look?: string
  readonly intervalMs?: number
  /** Default: it fails the test. */
  readonly checkInOfStore?: () => Promise<CheckIn>
}

const never = (): never => expect.fail('no stand-in')

/** A thread that checks in without tables, and names the witness that it was ordered to hold. */
function startThread(
  config: pg.ClientConfig,
  {
    watched = [],
    checkIn = 'SELECT 1',
    look = checkIn,
    intervalMs = 500,
    checkInOfStore = never,
  }: ThreadOptions = {},
): { readonly driver: ThreadCheckIns; readonly reports: Report[] } {
  const reports: Report[] = []
  const statements = { checkIn: { text: checkIn, values: [] }, look: { text: look, values: [] } }
  const driver = new ThreadCheckIns({
    access: threadAccess(config) ?? expect.fail('not for threads'),
    clock: systemClock,
    answerWithinMs: 10_000,
    silentAfterMs: 60_000,
    checkInOfStore,
    onStandIn: never,
    onThreadBack: never,
    entry,
  })
  onTestFinished(() => driver.stop())
  driver.start(
    {
      checkedIn: ({ witness }) => reports.push({ kind: 'checkedIn', witness }),
      checkInFailed: () => reports.push({ kind: 'failed' }),
      looked: ({ lost }) => reports.push({ kind: 'looked', lost }),
      witnessLost: () => reports.push({ kind: 'witnessLost' }),
    },
    {
      bootId: 'boot',
      intervalMs,
      statements: () => statements,
      witness: () => ({ key: ownKey, graceMs: 1000, checkIn: statements.checkIn, watched }),
    },
  )
  return { driver, reports }
}

/** Waits until the thread has looked twice more, and found nothing to tell. */
async function looksPass(driver: ThreadCheckIns): Promise<void> {
  for (let look = 0; look < 2; look++) {
    const beforeMs = driver.provenMs()
    await vi.waitFor(
      () => {
        expect(driver.provenMs()).toBeGreaterThan(beforeMs + 10)
      },
      { timeout: 60_000 },
    )
  }
}

const isNamed = (report: Report): boolean => report.kind === 'checkedIn' && report.witness === 'named'
const isUnnamed = (report: Report): boolean => report.kind === 'checkedIn' && report.witness === 'none'

async function seen(reports: readonly Report[], is: (report: Report) => boolean, from = 0): Promise<number> {
  return vi.waitFor(
    () => {
      const at = reports.findIndex((report, index) => index >= from && is(report))
      expect(at).toBeGreaterThanOrEqual(0)
      return at
    },
    { timeout: 60_000 },
  )
}

/** The sessions that hold this witness. */
async function holders(key: number): Promise<unknown[]> {
  const rows = await database.query(
    `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND objid = $2 AND granted
       AND mode = 'ExclusiveLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [lockSpace, key],
  )
  return rows.map(({ pid }) => pid)
}

/** Another node's session, with its witness. */
async function sessionWith(key: number): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.connectionString })
  client.on('error', () => {})
  await client.connect()
  await client.query('SELECT pg_advisory_lock($1, $2)', [lockSpace, key])
  return client
}

describe('the witness of a session', () => {
  test('is held while the thread lives, taken again after each cut, and gone with the thread', async () => {
    const { reports } = startThread({ connectionString: database.connectionString })
    let at = await seen(reports, isNamed)
    const pids = new Set<unknown>()
    for (let cut = 0; cut < 5; cut++) {
      const [pid] = await holders(ownKey)
      pids.add(pid)
      await database.query('SELECT pg_terminate_backend($1)', [pid])
      at = await seen(reports, ({ kind }) => kind === 'witnessLost', at)
      at = await seen(reports, isNamed, at)
    }
    expect(pids.size).toBe(5)
    expect(pids).not.toContain(undefined)
  })

  test('of another is lost when it was seen held, and not for one that was away', async () => {
    const peer = await sessionWith(7)
    const { driver, reports } = startThread(
      { connectionString: database.connectionString },
      { watched: [7, 8] },
    )
    await seen(reports, isNamed)
    await looksPass(driver)
    await peer.end()
    const lostAt = await seen(reports, (report) => report.kind === 'looked' && report.lost.length > 0)
    expect(reports[lostAt]).toEqual({ kind: 'looked', lost: [7] })
    // The rows are read at once.
    await seen(reports, isNamed, lostAt)
    const [pid] = await holders(ownKey)
    const cutAt = reports.length
    await database.query('SELECT pg_terminate_backend($1)', [pid])
    const backAt = await seen(
      reports,
      isNamed,
      await seen(reports, ({ kind }) => kind === 'witnessLost', cutAt),
    )
    await looksPass(driver)
    expect(
      reports.slice(backAt).filter((report) => report.kind === 'looked' && report.lost.length > 0),
    ).toEqual([])
  })

  test('that another session has is not named until it is free', async () => {
    const other = await sessionWith(ownKey)
    const { reports } = startThread({ connectionString: database.connectionString })
    const at = await seen(reports, isUnnamed)
    expect(reports.some(isNamed)).toBe(false)
    await other.end()
    await seen(reports, isNamed, at)
  })

  test('is none for a thread that must ask for its password', async () => {
    const { hostname, port, username, password, pathname } = new URL(database.connectionString)
    const { reports } = startThread({
      host: hostname,
      port: Number(port),
      user: username,
      database: pathname.slice(1),
      password: () => Promise.resolve(password),
    })
    await seen(reports, isUnnamed, (await seen(reports, isUnnamed)) + 1)
    expect(reports.filter((report) => isNamed(report) || report.kind === 'looked')).toEqual([])
    expect(await holders(ownKey)).toEqual([])
  })

  test('is given up by a session that answers too late', async () => {
    const slow = { checkIn: 'SELECT pg_sleep(0.6)' }
    const { reports } = startThread({ connectionString: database.connectionString }, slow)
    const at = await seen(reports, isUnnamed, await seen(reports, isNamed))
    await seen(reports, isUnnamed, (await seen(reports, isUnnamed, at + 1)) + 1)
    expect(reports.filter(isNamed)).toHaveLength(1)
    // Peers do not take it for gone before the row says that there is none.
    expect(reports.filter(({ kind }) => kind === 'witnessLost' || kind === 'failed')).toEqual([])
  })

  test.each([
    ['take', 'pg_try_advisory_lock(int, int)'],
    ['look at', 'pg_try_advisory_xact_lock_shared(int, int)'],
  ])('is none where the user may not %s such locks', async (_what, called) => {
    await using other = await freshDatabase(server.connectionString)
    const role = `limited_${other.connectionString.slice(-8)}`
    await other.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
    await other.query(`REVOKE EXECUTE ON FUNCTION ${called} FROM PUBLIC`)
    const url = new URL(other.connectionString)
    url.username = role
    url.password = 'secret'
    const { reports } = startThread({ connectionString: url.href }, { watched: [7] })
    const failedAt = await seen(reports, ({ kind }) => kind === 'failed')
    await seen(reports, isUnnamed, (await seen(reports, isUnnamed, failedAt)) + 1)
    expect(
      reports.slice(failedAt + 1).filter((report) => isNamed(report) || report.kind === 'failed'),
    ).toEqual([])
  })

  const withPooler = test.skipIf(pgbouncerVersion === null) // reason: not every machine has one
  withPooler('is none behind a transaction pooler', async () => {
    await using pooler = await startPooler(database.connectionString, pgbouncerVersion ?? [])
    const { reports } = startThread({ connectionString: pooler.connectionString })
    await seen(reports, isUnnamed, (await seen(reports, isUnnamed)) + 1)
    expect(reports.filter((report) => isNamed(report) || report.kind === 'looked')).toEqual([])
    expect(await holders(ownKey)).toEqual([])
  })
})

test('a thread without its server tries again ever more slowly', async () => {
  const triedMs: number[] = []
  const server = createServer((socket) => {
    triedMs.push(performance.now())
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  const { port } = server.address() as AddressInfo
  startThread(
    { host: '127.0.0.1', port, user: 'nobody', database: 'none' },
    {
      intervalMs: 6000,
      checkInOfStore: () => Promise.reject(new Error('The server is away for the store, too.')),
    },
  )
  // Every 50 ms longer, up to half a second.
  await vi.waitUntil(() => triedMs.length >= 13, { timeout: 60_000 })
  const waits = triedMs.slice(1).map((atMs, index) => atMs - (triedMs[index] ?? 0))
  for (const waitedMs of waits.slice(-2)) expect(waitedMs).toBeGreaterThan(400)
})

test('a check-in writes where transactions are read-only by default, as the store does', async () => {
  await using other = await freshDatabase(server.connectionString)
  await other.query('CREATE TABLE checked_in (boot text)')
  const name = new URL(other.connectionString).pathname.slice(1)
  await database.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
  const { reports } = startThread(
    { connectionString: other.connectionString },
    { checkIn: "INSERT INTO checked_in VALUES ('boot')", look: 'SELECT 1' },
  )
  await seen(reports, isNamed, (await seen(reports, isNamed)) + 1)
  expect(reports.filter(({ kind }) => kind === 'failed' || kind === 'witnessLost')).toEqual([])
  await database.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`)
})
