import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { SqlRunner } from '../../src/jobstore/sql/kernel/sql-runner.ts'
import type { SqlProgram } from '../../src/jobstore/sql/kernel/statement.ts'
import { type TestRunner, testRunner } from '../support/postgres-runner.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { changesOf, rowsOf } from '../support/sql-steps.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

let server: PostgresServer
let proxy: TcpProxy
let store: TestRunner

beforeAll(async () => {
  server = await startPostgres({ fsync: true, settings: ['autovacuum=off'] })
  await query('CREATE TABLE item (id int)')
})
afterAll(() => server.remove())
beforeEach(async () => {
  await query('TRUNCATE item')
  proxy = await TcpProxy.startFor(server.connectionString)
  store = testRunner(proxy.through(server.connectionString), { poolSize: 1 })
  // The connection is there before the server crashes.
  await store.runner.read(() => rowsOf('SELECT 1'))
})
afterEach(async () => {
  await store.runner.close()
  await proxy[Symbol.asyncDispose]()
})

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.connectionString })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

/** Others use the next transaction numbers. */
async function useNumbers(): Promise<void> {
  for (let count = 0; count < 40; count++) await query('SELECT pg_current_xact_id()')
}

async function crashAndRestart(): Promise<void> {
  await server.crash()
  await server.start()
}

/** One process of the server crashes, whereupon the server ends all of them and recovers. */
async function crashOneProcess(): Promise<void> {
  const client = new pg.Client({ connectionString: server.connectionString })
  const ended = new Promise((resolve) => client.once('error', resolve))
  await client.connect()
  process.kill(await walWriter(), 'SIGKILL')
  await ended
  await vi.waitFor(() => query('SELECT 1'), { timeout: 30_000 })
}

/** The process that writes to the disk what no commit has written; a server begins it soon after it has started. */
function walWriter(): Promise<number> {
  return vi.waitFor(
    async () => {
      const [row] = await query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'")
      if (typeof row?.['pid'] !== 'number') throw new Error('the server has no process that writes ahead')
      return row['pid']
    },
    { timeout: 30_000 },
  )
}

interface Inserting {
  readonly answer: Promise<number>
  readonly runs: () => number
  /** The row that it stores. */
  readonly rows: () => Promise<unknown>
}

/**
 * Inserts a row, and loses the connection on COMMIT, `before` the server hears of it or `after`; then the server
 * crashes, and nothing but commits has reached its disk.
 */
async function insertAcrossCrash(
  when: 'before' | 'after',
  crash: () => Promise<void>,
  options?: InsertOptions,
): Promise<Inserting> {
  // It may stand still while it holds the lock of the log, for which a COMMIT would wait: only without one.
  if (when === 'before') process.kill(await walWriter(), 'SIGSTOP')
  return insertAcross(when, crash, options)
}

type InsertOptions = Partial<Parameters<SqlRunner['transact']>[1]>

async function insertAcross(
  when: 'before' | 'after',
  happen: () => Promise<void>,
  options: InsertOptions = {},
): Promise<Inserting> {
  let runs = 0
  const cut = proxy.cutOn('COMMIT\0', when).then(() => {
    proxy.refuse()
  })
  const answer = store.runner.transact(
    function* (): SqlProgram<number> {
      runs++
      return yield* changesOf('INSERT INTO item VALUES (1)')
    },
    { lock: 'rows', onDoubt: 'patient', ...options },
  )
  answer.catch(() => {})
  await cut
  await happen()
  proxy.heal()
  return { answer, runs: () => runs, rows: () => query('SELECT id FROM item') }
}

const unknown = expect.objectContaining({
  code: 'ERR_COMMIT_UNKNOWN',
  message: expect.stringContaining('the server has crashed') as string,
}) as object

const looksForRow = function* (): SqlProgram<boolean> {
  return (yield* rowsOf('SELECT id FROM item WHERE id = 1')).length > 0
}

describe.each([
  ['the server crashes', crashAndRestart],
  ['one process of the server crashes', crashOneProcess],
])('a commit on its way while %s', (_, crash) => {
  test('is not taken for the commit of another transaction that has its number by now', async () => {
    const { answer, runs, rows } = await insertAcrossCrash('before', async () => {
      await crash()
      await useNumbers()
    })
    await expect(answer).rejects.toEqual(unknown)
    expect([runs(), await rows()]).toEqual([1, []])
  })

  test('is made again when a look finds that it did not happen', async () => {
    const { answer, runs, rows } = await insertAcrossCrash(
      'before',
      async () => {
        await crash()
        await useNumbers()
      },
      { wasCommitted: looksForRow },
    )
    expect(await answer).toBe(1)
    expect([runs(), await rows()]).toEqual([2, [{ id: 1 }]])
  })

  test('is answered when a look finds that it happened', async () => {
    const { answer, runs, rows } = await insertAcrossCrash('after', crash, { wasCommitted: looksForRow })
    expect(await answer).toBe(1)
    expect([runs(), await rows()]).toEqual([1, [{ id: 1 }]])
  })

  test('is made again by programs that find what they have stored', async () => {
    const { answer, runs } = await insertAcrossCrash('after', crash, { wasCommitted: 'runAgain' })
    expect(await answer).toBe(1)
    expect(runs()).toBe(2)
  })

  test('is unknown when the look cannot tell, and when there is no look', async () => {
    const asked = await insertAcrossCrash('after', crash, {
      // biome-ignore lint/correctness/useYield: it looks at nothing
      *wasCommitted() {
        return null
      },
    })
    await expect(asked.answer).rejects.toEqual(unknown)
    const unasked = await insertAcrossCrash('after', crash)
    await expect(unasked.answer).rejects.toEqual(unknown)
    expect([asked.runs(), unasked.runs()]).toEqual([1, 1])
  })

  test('did not happen when its number is not given again, or is another open transaction, which goes on', async () => {
    const other = new pg.Client({ connectionString: server.connectionString })
    other.on('error', () => {})
    const ahead = await insertAcrossCrash('before', crash)
    expect([await ahead.answer, ahead.runs()]).toEqual([1, 2])
    const { answer, runs } = await insertAcrossCrash('before', async () => {
      await crash()
      await other.connect()
      await other.query('BEGIN')
      await other.query('INSERT INTO item VALUES (9)')
    })
    expect([await answer, runs()]).toEqual([1, 2])
    await other.query('COMMIT')
    await other.end()
    expect(await query('SELECT id FROM item ORDER BY id')).toEqual([{ id: 1 }, { id: 1 }, { id: 9 }])
  })
})

test('a commit on its way is known after an orderly restart of the server', async () => {
  for (const when of ['after', 'before'] as const) {
    const { answer, runs } = await insertAcross(when, async () => {
      await server.stop()
      await server.start()
      await useNumbers()
    })
    expect([await answer, runs()]).toEqual([1, when === 'after' ? 1 : 2])
  }
  expect(await query('SELECT id FROM item')).toEqual([{ id: 1 }, { id: 1 }])
})
