import { createScheduler, defineJob, JobBuilder, type SchedulerEventMap } from 'quartz-ts'
import { postgresJobStore } from 'quartz-ts/postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import type { LockWait } from '../../src/jobstore/lock-wait.ts'
import { LockWatch } from '../../src/jobstore/postgres/lock-watch.ts'
import type { SlowStatement } from '../../src/jobstore/postgres/postgres-session.ts'
import { systemClock } from '../../src/time/clock.ts'
import { latch } from '../support/latch.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { type TestRunner, testRunner } from '../support/postgres-runner.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { changesOf, rowsOf } from '../support/sql-steps.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
  await database.query('CREATE TABLE item (id int PRIMARY KEY)')
  await database.query('INSERT INTO item VALUES (1)')
})
afterAll(() => database[Symbol.asyncDispose]())

/** A runner whose waits for locks are reported to `onLockWait` after 200 ms. */
function watchedRunner(
  onLockWait: (wait: LockWait) => void,
  elapsedMs = () => systemClock.elapsedMs(),
): TestRunner & { readonly watch: LockWatch } {
  const report = (wait: SlowStatement): void => {
    watch.examine(wait)
  }
  // The pool has one connection: the one that waits.
  const store = testRunner(database.connectionString, { poolSize: 1, slow: { afterMs: 200, report } })
  const watch = new LockWatch({
    connect: () => store.connections.dedicatedClient(),
    onLockWait,
    onStandbyWait: () => expect.fail('there is no standby'),
    elapsedMs,
  })
  return { ...store, watch }
}

/** A session that has done `first` and then waits for a lock until the end. */
async function beginWaiting(
  text: string,
  first = 'SELECT 1',
): Promise<{ readonly end: () => Promise<void> }> {
  let onWait = (): void => {}
  const isWaiting = new Promise<void>((resolve) => {
    onWait = resolve
  })
  const store = watchedRunner(() => {
    onWait()
  })
  const session = await store.connections.open(null)
  await session.query({ text: first })
  const refused = expect(session.query({ text })).rejects.toThrow('canceling')
  await isWaiting
  const end = async (): Promise<void> => {
    await database.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query = '${text}'`)
    await refused
    await session.query({ text: 'ROLLBACK' })
    session.release()
    await store.watch.close()
    await store.runner.close()
  }
  return { end }
}

describe('a wait for a lock', () => {
  test.each([
    ['a row', 'UPDATE item SET id = id WHERE id = 1'],
    ['a table', 'LOCK TABLE item IN SHARE MODE'],
  ] as const)('of %s is reported, with who holds it', async (_, held) => {
    await using holder = testRunner(database.connectionString)
    const session = await holder.connections.open(null)
    await session.query({ text: `BEGIN; ${held}` })
    let onWait: (wait: LockWait) => void = () => {}
    const reported = new Promise<LockWait>((resolve) => {
      onWait = resolve
    })
    const store = watchedRunner((wait) => {
      onWait(wait)
    })
    const waiting = store.runner.transact(() => changesOf('UPDATE item SET id = id'), { lock: 'rows' })
    const wait = await reported
    expect(wait.statement).toBe('UPDATE item SET id = id')
    expect(wait.processId).not.toBe(wait.holders[0]?.processId)
    expect(wait.waitedMs).toBeGreaterThanOrEqual(199)
    expect(wait.holders).toEqual([
      {
        processId: expect.any(Number) as number,
        application: 'quartz-ts',
        state: 'idle in transaction',
        statement: `BEGIN; ${held}`,
        transactionAgeMs: expect.any(Number) as number,
      },
    ])
    await session.query({ text: 'ROLLBACK' })
    session.release()
    expect(await waiting).toBe(1)
    await store.runner.close()
    await store.watch.close()
  })

  test('behind others that wait is reported with who holds up all of them', async () => {
    await using holder = testRunner(database.connectionString)
    const session = await holder.connections.open(null)
    await session.query({ text: 'BEGIN; UPDATE item SET id = id' })
    await using others = testRunner(database.connectionString)
    const inLine = await Promise.all([others.connections.open(null), others.connections.open(null)])
    const ahead = inLine.map((each) => each.query({ text: 'UPDATE item SET id = id + 0' }))
    const waitingCount = async (): Promise<unknown> => {
      const [row] = await database.query(
        `SELECT count(*)::int AS n FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%id + 0'`,
      )
      return row?.['n']
    }
    await vi.waitUntil(async () => (await waitingCount()) === 2, { timeout: 20_000 })
    const waits: LockWait[] = []
    const reported = latch()
    const store = watchedRunner((wait) => {
      waits.push(wait)
      reported.open()
    })
    const waiting = store.runner.transact(() => changesOf('UPDATE item SET id = id'), { lock: 'rows' })
    await reported.promise
    expect(waits.map(({ holders }) => holders.map(({ statement }) => statement))).toEqual([
      ['BEGIN; UPDATE item SET id = id'],
    ])
    await session.query({ text: 'ROLLBACK' })
    session.release()
    await Promise.all(ahead)
    for (const each of inLine) each.release()
    expect(await waiting).toBe(1)
    await store.runner.close()
    await store.watch.close()
  })

  test('of a scheduler is an event, once for each statement, and a line of the log', async () => {
    const { connectionString } = database
    const logged: string[] = []
    const logger = { ...silentLogger, warn: (_: object, message: string) => logged.push(message) }
    const jobStore = postgresJobStore({ connectionString, schema: 'watched', lockWaitWarningMs: 200 })
    const scheduler = await createScheduler({
      jobStore,
      instanceId: 'waiter',
      logger,
      jobs: [defineJob('work', () => {})],
    })
    const work = JobBuilder.newJob('work').withIdentity('work').storeDurably().build()
    const waits: SchedulerEventMap['lockWaitExceeded'][] = []
    scheduler.events.on('lockWaitExceeded', (wait) => waits.push(wait))
    await scheduler.addJob(work)
    expect(waits).toEqual([])
    await using holder = testRunner(connectionString)
    const session = await holder.connections.open(null)
    await session.query({ text: 'BEGIN; LOCK TABLE watched.qrtz_job_details' })
    const reported = scheduler.events.next('lockWaitExceeded')
    const deleting = scheduler.deleteJob(work.key)
    const { statement, waitedMs, holders } = await reported
    expect(statement).toContain('qrtz_job_details')
    expect(waitedMs).toBeGreaterThanOrEqual(199)
    expect(holders.map((by) => by.statement)).toEqual(['BEGIN; LOCK TABLE watched.qrtz_job_details'])
    await session.query({ text: 'COMMIT' })
    session.release()
    expect(await deleting).toBe(true)
    await scheduler.shutdown()
    expect(waits).toHaveLength(1)
    expect(logged).toEqual([
      expect.stringMatching(
        /^a statement waits for a lock of session \d+ \(quartz-ts, idle in transaction, for \d+ s: BEGIN; LOCK TABLE/,
      ),
    ])
  })

  test('of the same statement for the same session is reported once a minute, however often it is tried', async () => {
    await using holder = testRunner(database.connectionString)
    const session = await holder.connections.open(null)
    await session.query({ text: 'BEGIN; LOCK TABLE item' })
    const waits: string[] = []
    let elapsedMs = 0
    const store = watchedRunner(
      ({ statement }) => waits.push(statement),
      () => elapsedMs,
    )
    const waiter = await store.connections.open(null)
    await waiter.query({ text: 'SET lock_timeout = 1500' })
    const tries = async (statement: string): Promise<void> => {
      await expect(waiter.query({ text: statement })).rejects.toThrow()
      // The looks under way have ended.
      await store.watch.close()
    }
    await tries('SELECT 1 FROM item')
    await tries('SELECT 1 FROM item')
    await tries('SELECT 2 FROM item')
    elapsedMs += 59_000
    await tries('SELECT 1 FROM item')
    expect(waits.map((statement) => /SELECT \d/.exec(statement)?.[0])).toEqual(['SELECT 1', 'SELECT 2'])
    elapsedMs += 1000
    await tries('SELECT 1 FROM item')
    expect(waits).toHaveLength(3)
    await session.query({ text: 'ROLLBACK' })
    session.release()
    await waiter.query({ text: 'RESET lock_timeout' })
    waiter.release()
    await store.runner.close()
  })

  test('in a deadlock that the server has not found yet names the other session', async () => {
    await database.query('CREATE TABLE other (id int)')
    let onWait: (wait: LockWait) => void = () => {}
    const reported = new Promise<LockWait>((resolve) => {
      onWait = resolve
    })
    const store = watchedRunner((wait) => {
      onWait(wait)
    })
    const session = await store.connections.open(null)
    const begin = `BEGIN; SET LOCAL deadlock_timeout = '60s'`
    await session.query({ text: `${begin}; LOCK TABLE item` })
    const before = await beginWaiting('LOCK TABLE item', `${begin}; LOCK TABLE other`)
    const waiting = session.query({ text: 'LOCK TABLE other' })
    const { holders } = await reported
    await before.end()
    await waiting
    await session.query({ text: 'ROLLBACK' })
    session.release()
    await store.watch.close()
    await store.runner.close()
    expect(holders.map(({ statement }) => statement)).toEqual(['LOCK TABLE item'])
  })

  test('is not what a statement does that is merely slow', async () => {
    const waits: LockWait[] = []
    const store = watchedRunner((wait) => waits.push(wait))
    await store.runner.transact(() => rowsOf('SELECT pg_sleep(0.5)'), { lock: 'rows' })
    await store.watch.close()
    await store.runner.close()
    expect(waits).toEqual([])
  })

  test('that cannot be looked at disturbs nobody', async () => {
    await using store = testRunner('postgres://127.0.0.1:1/nothing')
    const watch = new LockWatch({
      connect: () => store.connections.dedicatedClient(),
      onLockWait: () => expect.fail('nothing is known'),
      onStandbyWait: () => expect.fail('nothing is known'),
      elapsedMs: () => systemClock.elapsedMs(),
    })
    watch.examine({ waitedMs: 1, processId: null })
    watch.examine({ waitedMs: 1, processId: 1 })
    await watch.close()
  })
})

test('a COMMIT that waits for a synchronous standby is told, and no lock is', async () => {
  const server = await startPostgres({ settings: ['synchronous_standby_names=gone'] })
  onTestFinished(() => server.remove())
  const url = new URL(server.connectionString)
  url.searchParams.set('options', '-c synchronous_commit=on')
  let onStandby = (): void => {}
  const told = new Promise<void>((resolve) => {
    onStandby = resolve
  })
  const waits: LockWait[] = []
  const report = (wait: SlowStatement): void => {
    watch.examine(wait)
  }
  await using store = testRunner(url.href, { slow: { afterMs: 200, report } })
  const watch = new LockWatch({
    connect: () => store.connections.dedicatedClient(),
    onLockWait: (wait) => waits.push(wait),
    onStandbyWait: () => {
      onStandby()
    },
    elapsedMs: () => systemClock.elapsedMs(),
  })
  const create = 'CREATE TABLE item AS SELECT 1 AS id'
  const creating = store.runner.transact(() => changesOf(create), { lock: 'rows' })
  await told
  const admin = testRunner(server.connectionString)
  // As when the standby is back.
  await admin.runner.transact(
    () => rowsOf(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`),
    { lock: 'rows' },
  )
  await creating
  await watch.close()
  await admin.runner.close()
  expect(waits).toEqual([])
})
