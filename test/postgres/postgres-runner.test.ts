import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { TransactionLock } from '../../src/jobstore/sql/kernel/sql-runner.ts'
import { later, type SqlProgram, type SqlRow } from '../../src/jobstore/sql/kernel/statement.ts'
import { freshDatabase, type TestDatabase, testPool } from '../support/postgres-database.ts'
import { type RunnerOptions, type TestRunner, testRunner } from '../support/postgres-runner.ts'
import { changesOf, rowsOf } from '../support/sql-steps.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
  await database.query('CREATE TABLE item (id int PRIMARY KEY, n bigint NOT NULL DEFAULT 0)')
  await database.query(
    'CREATE TABLE qrtz_locks (sched_name varchar(120), lock_name varchar(40), PRIMARY KEY (sched_name, lock_name))',
  )
})
afterAll(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await database.query('TRUNCATE item')
  await database.query('INSERT INTO item (id) SELECT generate_series(1, 9)')
})

const open = (options: RunnerOptions = {}): TestRunner => testRunner(database.connectionString, options)
const nOf = async (id: number): Promise<unknown> =>
  (await database.query('SELECT n FROM item WHERE id = $1', [id]))[0]?.['n']

/** The connection string with settings of the server. */
function withSettings(...settings: readonly string[]): string {
  const url = new URL(database.connectionString)
  url.searchParams.set('options', settings.map((setting) => `-c ${setting}`).join(' '))
  return url.href
}

function* add(id: number, by = 1): SqlProgram<number> {
  return yield* changesOf('UPDATE item SET n = n + $2 WHERE id = $1', id, by)
}

/** The server's processes that wait for a lock. */
const waitingSessions = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`

describe.each([
  ['skipLocked', true],
  ['skipLocked', false],
  ['quartzLocks', true],
] as const)('transactions, %s, prepared: %s', (locking, preparedStatements) => {
  const options = { locking, preparedStatements }
  const locks: TransactionLock[] = ['rows', 'shared', 'exclusive', 'cluster', 'schema']

  test.each(locks)('%s: commits what the program did and answers what it returned', async (lock) => {
    await using store = open(options)
    const answer = await store.runner.transact(
      function* () {
        const changed = (yield* add(1, 2)) + (yield* add(2, 2))
        const [row] = yield* rowsOf('SELECT n, id, true AS flag FROM item WHERE id = $1', 1)
        return { changed, row }
      },
      { lock },
    )
    expect(answer).toEqual({ changed: 2, row: { n: '2', id: 1, flag: true } })
    expect(await nOf(2)).toBe('2')
  })

  test('rolls back and passes on what the program throws', async () => {
    await using store = open(options)
    const failing = store.runner.transact(
      function* () {
        yield* add(1)
        throw new RangeError('no')
      },
      { lock: 'shared' },
    )
    await expect(failing).rejects.toThrow(RangeError)
    expect(await nOf(1)).toBe('0')
  })

  test('rolls back when the database refuses a statement, and says what it said', async () => {
    await using store = open(options)
    const failing = store.runner.transact(
      function* () {
        yield* add(1)
        yield* rowsOf('SELECT * FROM nowhere')
      },
      { lock: 'rows' },
    )
    await expect(failing).rejects.toMatchObject({
      name: 'JobPersistenceError',
      code: 'ERR_DATABASE',
      message: expect.stringMatching(/relation "nowhere" does not exist \(42P01\).*search_path/) as string,
      cause: expect.objectContaining({ code: '42P01' }) as object,
    })
    expect(await nOf(1)).toBe('0')
    expect(await store.runner.transact(() => add(1), { lock: 'rows' })).toBe(1)
  })

  test('sends large statements ahead while the program goes on, and fails with the first that fails', async () => {
    await using store = open(options)
    const large = 'x'.repeat(1_100_000)
    function* ahead(text: string): SqlProgram<void> {
      yield* later({ text, values: [large] })
    }
    const addLength = 'UPDATE item SET n = n + length($1) WHERE id = 1'
    const sum = await store.runner.transact(
      function* () {
        yield* ahead(addLength)
        yield* ahead(addLength)
        const [row] = yield* rowsOf('SELECT n FROM item WHERE id = 1')
        yield* ahead(addLength)
        return row?.['n']
      },
      { lock: 'rows' },
    )
    expect(sum).toBe('2200000')
    expect(await nOf(1)).toBe('3300000')
    let steps = 0
    const failing = store.runner.transact(
      function* () {
        yield* ahead('UPDATE nowhere SET n = length($1)')
        for (; steps < 5; steps++) yield* ahead(addLength)
      },
      { lock: 'rows' },
    )
    await expect(failing).rejects.toThrow('nowhere')
    expect(steps).toBeLessThan(2)
    const thrown = store.runner.transact(
      function* () {
        yield* ahead(addLength)
        throw new RangeError('no')
      },
      { lock: 'rows' },
    )
    await expect(thrown).rejects.toThrow(RangeError)
    expect(await nOf(1)).toBe('3300000')
    expect(await store.runner.transact(() => add(2), { lock: 'rows' })).toBe(1)
  })

  test('gives the error of a unique key after trying again, and of a check at once', async () => {
    await using store = open(options)
    let runs = 0
    const insert = (id: number) => () => {
      runs++
      return changesOf('INSERT INTO item (id, n) VALUES ($1, 0)', id)
    }
    await expect(store.runner.transact(insert(1), { lock: 'rows' })).rejects.toMatchObject({
      cause: { code: '23505' },
    })
    expect(runs).toBe(6)
    // As when others store a row again and again that does not stay.
    const insertLast = (): SqlProgram<number> => insert(runs++ < 16 ? 1 : 99)()
    expect(await store.runner.transact(insertLast, { lock: 'rows' })).toBe(1)
    await store.runner.transact(() => changesOf('DELETE FROM item WHERE id = 99'), { lock: 'rows' })
    const setNull = (): SqlProgram<number> => changesOf('UPDATE item SET n = NULL')
    await expect(store.runner.transact(setNull, { lock: 'rows' })).rejects.toMatchObject({
      cause: { code: '23502' },
    })
  })

  test('reads statement by statement, without a transaction', async () => {
    await using store = open(options)
    const answer = await store.runner.read(function* () {
      const [a] = yield* rowsOf('SELECT count(*) AS n FROM item')
      const [b] = yield* rowsOf('SELECT pg_current_xact_id_if_assigned() IS NULL AS free')
      return [a?.['n'], b?.['free']]
    })
    expect(answer).toEqual(['9', true])
  })
})

/** Waits until two transactions have come here. */
const meet = `DO $$ BEGIN
  PERFORM pg_advisory_xact_lock_shared(271828);
  WHILE (SELECT count(*) < 2 FROM pg_locks WHERE locktype = 'advisory' AND objid = 271828) LOOP
    PERFORM pg_sleep(0.002);
  END LOOP;
END $$`

/** Waits until none of those that met is in its transaction any more. */
const untilOthersAreThrough = `DO $$ BEGIN
  WHILE EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 271828) LOOP
    PERFORM pg_sleep(0.002);
  END LOOP;
END $$`

describe('trouble that passes', () => {
  test('a deadlock of two programs is run again until both are through', async () => {
    await using store = testRunner(withSettings('deadlock_timeout=20ms'))
    let runs = 0
    const both = (first: number, second: number) => () => {
      const isFirstRun = ++runs <= 2
      return (function* (): SqlProgram<void> {
        // The row that the victim gave back could be taken again by it before the other wakes: the next deadlock.
        if (!isFirstRun) yield* rowsOf(untilOthersAreThrough)
        yield* add(first)
        // Both hold their first row when they ask for the second.
        if (isFirstRun) yield* rowsOf(meet)
        yield* add(second)
      })()
    }
    // Neither gives up its wait for a lock before the server finds the deadlock, as with the lock 'rows' they would.
    await Promise.all([
      store.runner.transact(both(1, 2), { lock: 'none' }),
      store.runner.transact(both(2, 1), { lock: 'none' }),
    ])
    expect(runs).toBe(3)
    expect([await nOf(1), await nOf(2)]).toEqual(['2', '2'])
  })

  test('a serialization failure is run again', async () => {
    await using store = open()
    let runs = 0
    const answer = await store.runner.transact(
      function* () {
        runs++
        yield* changesOf('UPDATE item SET n = 100 WHERE id = 3')
        if (runs < 3) yield* rowsOf(`DO $$ BEGIN RAISE EXCEPTION 'planted' USING ERRCODE = '40001'; END $$`)
        return runs
      },
      { lock: 'rows' },
    )
    expect(answer).toBe(3)
  })

  test('a lock that is held for too long is an error that says so', async () => {
    await using holder = open()
    await using store = open({ lockTimeoutMs: 30 })
    const release = await holdRow(holder, 4)
    let runs = 0
    const blocked = store.runner.transact(
      () => {
        runs++
        return add(4)
      },
      { lock: 'rows' },
    )
    await expect(blocked).rejects.toMatchObject({
      code: 'ERR_DATABASE_UNAVAILABLE',
      message: expect.stringContaining('lockTimeoutMs') as string,
      cause: { code: '55P03' },
    })
    expect(runs).toBeGreaterThan(0)
    await release()
    expect(await store.runner.transact(() => add(4), { lock: 'rows' })).toBe(1)
  })

  test.each(['rows', 'none'] as const)(
    'no wait for a lock is longer than all of it may be: %s',
    async (lock) => {
      await using holder = open()
      await using store = open({ lockTimeoutMs: 1000 })
      const release = await holdRow(holder, 4)
      const startedMs = performance.now()
      await expect(store.runner.transact(() => add(4), { lock })).rejects.toMatchObject({
        cause: { code: '55P03' },
      })
      // Run again after each wait for the whole time it would take three times as long.
      expect(performance.now() - startedMs).toBeLessThan(3000)
      await release()
    },
  )

  test('a statement that takes too long is ended by the server', async () => {
    await using store = open({ statementTimeoutMs: 50 })
    const slow = store.runner.transact(() => rowsOf('SELECT pg_sleep(30)'), { lock: 'rows' })
    await expect(slow).rejects.toMatchObject({ cause: { code: '57014' } })
  })

  test('a transaction whose wait for a lock is cancelled is run again', async () => {
    await using holder = open()
    await using store = open({ lockTimeoutMs: 0 })
    const release = await holdRow(holder, 4)
    let runs = 0
    const blocked = store.runner.transact(
      () => {
        runs++
        return add(4)
      },
      { lock: 'rows' },
    )
    const cancel = `SELECT pg_cancel_backend(pid) AS cancelled FROM (${waitingSessions}) AS waiting`
    try {
      await vi.waitFor(
        async () => {
          expect(await database.query(cancel)).toEqual([{ cancelled: true }])
        },
        { timeout: 30_000, interval: 5 },
      )
      const runsThen = runs
      await vi.waitFor(
        () => {
          expect(runs).toBeGreaterThan(runsThen)
        },
        { timeout: 30_000, interval: 5 },
      )
    } finally {
      await release()
    }
    expect(await blocked).toBe(1)
  })

  test('a migration under prepared statements does not break them', async () => {
    await using store = open({ poolSize: 1 })
    await database.query('CREATE TABLE changing (a int)')
    const read = (): SqlProgram<readonly SqlRow[]> => rowsOf('SELECT * FROM changing')
    await store.runner.transact(read, { lock: 'rows' })
    await database.query('ALTER TABLE changing ADD COLUMN b int')
    expect(await store.runner.transact(read, { lock: 'rows' })).toEqual([])
    await database.query('ALTER TABLE changing ADD COLUMN c int')
    expect(await store.runner.read(read)).toEqual([])
  })
})

/** Waits without a lock for as long as a session holds this advisory lock. */
const stayOpen = `DO $$ BEGIN
  WHILE EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 314159) LOOP
    PERFORM pg_sleep(0.002);
  END LOOP;
END $$`

/** The server's processes that wait there. */
const openSessions = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`

/** Holds a row lock in a transaction of a connection outside of the runner, until the answer is called. */
function holdRow(runner: TestRunner, id: number): Promise<() => Promise<void>> {
  return hold(runner, `UPDATE item SET n = n WHERE id = ${String(id)}`)
}

/** Has `stayOpen` wait until the answer is called. */
function holdOpen(runner: TestRunner): Promise<() => Promise<void>> {
  return hold(runner, 'SELECT pg_advisory_xact_lock(314159)')
}

async function hold({ connections }: TestRunner, statement: string): Promise<() => Promise<void>> {
  const session = await connections.open(null)
  await session.query({ text: `BEGIN; ${statement}` })
  return async () => {
    await session.query({ text: 'ROLLBACK' })
    session.release()
  }
}

describe('locks', () => {
  /** Whether a transaction with the second lock gets through while one with the first is open. */
  async function getsPast(
    first: TransactionLock,
    second: TransactionLock,
    options: RunnerOptions,
    secondName = 'test',
  ): Promise<boolean> {
    await using a = open(options)
    await using b = open({ ...options, schedulerName: secondName, lockTimeoutMs: 40 })
    // The first transaction stays open until this session lets go. It waits for no lock, which it would give up.
    const release = await holdOpen(a)
    const waiting = a.runner.transact(() => rowsOf(stayOpen), { lock: first })
    await vi.waitFor(
      async () => {
        expect(await database.query(openSessions)).toHaveLength(1)
      },
      { timeout: 30_000, interval: 5 },
    )
    let passed = true
    try {
      await b.runner.transact(() => rowsOf('SELECT 1'), { lock: second })
    } catch (error) {
      expect(error).toMatchObject({ cause: { code: '55P03' } })
      passed = false
    }
    await release()
    await waiting
    return passed
  }

  test.each([
    ['rows', 'exclusive', true],
    ['exclusive', 'rows', true],
    ['shared', 'shared', true],
    ['shared', 'exclusive', false],
    ['exclusive', 'shared', false],
    ['exclusive', 'exclusive', false],
    ['cluster', 'cluster', false],
    ['cluster', 'exclusive', false],
    ['exclusive', 'cluster', false],
    ['cluster', 'shared', true],
  ] as const)('skipLocked: beside %s, %s gets through: %s', async (first, second, expected) => {
    expect(await getsPast(first, second, {})).toBe(expected)
  })

  test('quartzLocks: everything excludes everything of its scheduler, and nothing of another', async () => {
    const options = { locking: 'quartzLocks' } as const
    expect(await getsPast('rows', 'rows', options)).toBe(false)
    expect(await getsPast('shared', 'cluster', options)).toBe(false)
    expect(await getsPast('exclusive', 'exclusive', options, 'other')).toBe(true)
    expect(await getsPast('exclusive', 'exclusive', {}, 'other')).toBe(true)
  })

  test('quartzLocks: makes the rows that are missing, once, also when many nodes begin at once', async () => {
    await database.query('DELETE FROM qrtz_locks')
    await using a = open({ locking: 'quartzLocks', poolSize: 8, schedulerName: `it's \\ "new"` })
    const one = (lock: TransactionLock) => a.runner.transact(() => add(1), { lock })
    await Promise.all([
      one('cluster'),
      one('rows'),
      one('shared'),
      one('exclusive'),
      one('rows'),
      one('cluster'),
    ])
    expect(await nOf(1)).toBe('6')
    expect(await database.query('SELECT sched_name, lock_name FROM qrtz_locks ORDER BY 2')).toEqual([
      { sched_name: `it's \\ "new"`, lock_name: 'STATE_ACCESS' },
      { sched_name: `it's \\ "new"`, lock_name: 'TRIGGER_ACCESS' },
    ])
  })

  test('leave nothing behind in the session', async () => {
    const pool = testPool({ connectionString: database.connectionString, max: 1 })
    onTestFinished(() => pool.end())
    await using store = open({ source: pool, preparedStatements: false })
    const state = async (): Promise<unknown> => {
      const { rows } = await pool.query<object>(`SELECT current_setting('lock_timeout') AS lock,
        current_setting('statement_timeout') AS statement, current_setting('transaction_isolation') AS iso,
        current_setting('idle_in_transaction_session_timeout') AS idle,
        (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks,
        (SELECT count(*) FROM pg_prepared_statements) AS prepared`)
      return rows
    }
    const before = await state()
    for (const lock of ['rows', 'shared', 'exclusive', 'cluster'] as const) {
      await store.runner.transact(() => add(1), { lock })
      await store.runner.transact(() => rowsOf('SELECT * FROM nowhere'), { lock }).catch(() => {})
      await store.runner.read(() => rowsOf('SELECT 1 AS one'))
      await store.runner.read(() => rowsOf('SELECT * FROM nowhere')).catch(() => {})
    }
    expect(await state()).toEqual(before)
    expect(before).toMatchObject([{ lock: '0', statement: '0', locks: '0', prepared: '0' }])
  })

  test('transactions are read committed and may write, whatever the database defaults to', async () => {
    await using store = testRunner(
      withSettings('default_transaction_isolation=serializable', 'default_transaction_read_only=on'),
    )
    const isolation = (): SqlProgram<readonly SqlRow[]> =>
      rowsOf(`SELECT current_setting('transaction_isolation') AS isolation`)
    expect(await store.runner.transact(isolation, { lock: 'rows' })).toEqual([
      { isolation: 'read committed' },
    ])
    expect(await store.runner.transact(() => add(1), { lock: 'rows' })).toBe(1)
  })

  test('are not ended by the limit for transactions that servers from PostgreSQL 17 on have', async (context) => {
    const [server] = await database.query(`SELECT current_setting('transaction_timeout', true) AS has`)
    if (server?.['has'] === null) context.skip()
    await using store = testRunner(withSettings('transaction_timeout=150ms'))
    const lasting = (): SqlProgram<readonly SqlRow[]> => rowsOf('SELECT pg_sleep(0.3), 1 AS one')
    expect(await store.runner.transact(lasting, { lock: 'rows' })).toMatchObject([{ one: 1 }])
    expect(await store.runner.read(lasting)).toMatchObject([{ one: 1 }])
    const session = await store.connections.open(null)
    const [shown] = await session.query({ text: 'SHOW transaction_timeout' })
    expect(shown?.rows).toEqual([{ transaction_timeout: '150ms' }])
    session.release()
  })
})
