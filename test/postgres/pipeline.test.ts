import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PipelinedStatement } from '../../src/jobstore/postgres/pipeline.ts'
import type { PostgresSession } from '../../src/jobstore/postgres/postgres-session.ts'
import { freshDatabase, type TestDatabase, testPool } from '../support/postgres-database.ts'
import { type TestRunner, testRunner } from '../support/postgres-runner.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
  await database.query('CREATE TABLE item (id int PRIMARY KEY, bits bytea, flag boolean)')
})
const pools: pg.Pool[] = []
afterAll(async () => {
  for (const pool of pools) await pool.end()
  await database[Symbol.asyncDispose]()
})

const say = (text: string, values: PipelinedStatement['values'] = [], name: string | null = null) => ({
  text,
  values,
  name,
})

/** How the connections behave on which statements travel. */
const kinds: readonly (readonly [string, () => TestRunner])[] = [
  ['together', () => testRunner(database.connectionString, { poolSize: 1 })],
  [
    'one by one, on a pool that pipelines itself',
    () => {
      const options = { connectionString: database.connectionString, max: 1, pipeline: true }
      const pool = testPool(options)
      pools.push(pool)
      return testRunner('', { source: pool })
    },
  ],
]

describe.each(kinds)('statements that travel %s', (_, open) => {
  const onSession = async (use: (session: PostgresSession) => Promise<void>): Promise<void> => {
    await using store = open()
    const session = await store.connections.open(null)
    try {
      await use(session)
    } finally {
      session.release()
    }
  }

  test('are each answered, in order', async () => {
    await onSession(async (session) => {
      const replies = await session.pipeline([
        say('BEGIN'),
        say('INSERT INTO item SELECT generate_series(1, 3), $1, true', ['\\x0102']),
        say('UPDATE item SET flag = NULL WHERE id = $1', [2]),
        say('SELECT id, bits, flag FROM item WHERE id < $1 ORDER BY id', [3]),
        say('SELECT id FROM item WHERE id > 99'),
        say('DELETE FROM item RETURNING id'),
        say('ROLLBACK'),
      ])
      const bits = Buffer.from([1, 2])
      expect(replies.map(({ changes }) => changes)).toEqual([0, 3, 1, 0, 0, 3, 0])
      expect(replies[3]?.rows).toEqual([
        { id: 1, bits, flag: true },
        { id: 2, bits, flag: null },
      ])
      expect(replies.slice(4, 6).map(({ rows }) => rows.length)).toEqual([0, 3])
    })
  })

  test('are prepared once under their name, and give rows of the same columns from then on', async () => {
    await onSession(async (session) => {
      const find = (from: number, to: number): PipelinedStatement =>
        say(
          'SELECT n AS one, n * 2 AS two FROM generate_series(CAST($1 AS int), $2) AS n',
          [from, to],
          'find',
        )
      const counts = async (): Promise<unknown> =>
        (
          await session.pipeline([
            say(`SELECT count(*) AS n FROM pg_prepared_statements WHERE name = 'find'`),
          ])
        )[0]?.rows[0]?.['n']
      const twice = await session.pipeline([find(1, 1), find(2, 3)])
      expect(twice.map(({ rows }) => rows)).toEqual([
        [{ one: 1, two: 2 }],
        [
          { one: 2, two: 4 },
          { one: 3, two: 6 },
        ],
      ])
      expect((await session.pipeline([find(5, 4)]))[0]?.rows).toEqual([])
      expect((await session.pipeline([find(4, 4)]))[0]?.rows).toEqual([{ one: 4, two: 8 }])
      expect(await counts()).toBe('1')
    })
  })

  test('end with the first that fails, which is the error; the connection is of use afterwards', async () => {
    await onSession(async (session) => {
      const failing = session.pipeline([
        say('BEGIN'),
        say('INSERT INTO item VALUES ($1)', [7], 'insert'),
        say('SELECT 1 / $1::int', [0], 'divide'),
        say('COMMIT'),
      ])
      await expect(failing).rejects.toMatchObject({ sqlState: '22012' })
      const replies = await session.pipeline([
        say('ROLLBACK'),
        say('SELECT 1 / $1::int AS n', [1], 'divided'),
        say('INSERT INTO item VALUES ($1)', [8], 'insert'),
        say('DELETE FROM item'),
      ])
      expect(replies.map(({ rows, changes }) => [rows.length, changes])).toEqual([
        [0, 0],
        [1, 0],
        [0, 1],
        [0, 1],
      ])
    })
  })
})
