import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { freshDatabase } from '../support/postgres-database.ts'
import { testRunner } from '../support/postgres-runner.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { changesOf, rowsOf } from '../support/sql-steps.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

async function query(connectionString: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

describe('a standby that is not promoted', () => {
  test('is named as such by each statement that writes, and may be the primary soon', async () => {
    const primary = await startPostgres()
    try {
      await primary.stop()
      const standby = await primary.promotedStandby(async (connectionString) => {
        await using store = testRunner(connectionString)
        const writing = store.runner.transact(() => changesOf('CREATE TABLE item (id int)'), { lock: 'rows' })
        await expect(writing).rejects.toMatchObject({
          code: 'ERR_DATABASE_UNAVAILABLE',
          message: expect.stringContaining('The server only reads: connect to the primary.') as string,
        })
      })
      await standby.remove()
    } finally {
      await primary.remove()
    }
  })
})

describe('a commit of which the answer is lost', () => {
  test('is unknown when a standby has taken over, whatever that says of the number', async () => {
    const primary = await startPostgres()
    try {
      await query(primary.connectionString, 'CREATE TABLE item (id int PRIMARY KEY)')
      await primary.stop()
      const standby = await primary.promotedStandby()
      try {
        await primary.start()
        // On the new timeline the next numbers are those of other transactions, which are committed.
        for (let count = 0; count < 50; count++) {
          await query(standby.connectionString, 'SELECT pg_current_xact_id()')
        }
        await using proxy = await TcpProxy.startFor(primary.connectionString)
        await using store = testRunner(proxy.through(primary.connectionString))
        await store.runner.read(() => rowsOf('SELECT id FROM item'))
        let runs = 0
        const cut = proxy.cutOn('COMMIT\0', 'after')
        proxy.redirect(standby.connectionString)
        const lost = store.runner.transact(
          () => {
            runs++
            return changesOf('INSERT INTO item VALUES (2)')
          },
          { lock: 'rows', onDoubt: 'patient' },
        )
        await expect(lost).rejects.toMatchObject({ code: 'ERR_COMMIT_UNKNOWN' })
        await cut
        expect(runs).toBe(1)
        expect(await query(primary.connectionString, 'SELECT id FROM item ORDER BY id')).toEqual([{ id: 2 }])
        expect(await query(standby.connectionString, 'SELECT id FROM item')).toEqual([])
      } finally {
        await standby.remove()
      }
    } finally {
      await primary.remove()
    }
  })

  test('is asked after by its number alone where the timeline is not told', async () => {
    await using database = await freshDatabase()
    const role = `r${database.connectionString.slice(-8)}`
    await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'quartz'`)
    await database.query('REVOKE EXECUTE ON FUNCTION pg_walfile_name FROM PUBLIC')
    await database.query('CREATE TABLE item (id int PRIMARY KEY)')
    await database.query(`GRANT ALL ON item TO ${role}`)
    const url = new URL(database.connectionString)
    url.username = role
    url.password = 'quartz'
    {
      await using proxy = await TcpProxy.startFor(url.href)
      await using store = testRunner(proxy.through(url.href))
      const insert = (id: number) => (): ReturnType<typeof changesOf> =>
        changesOf('INSERT INTO item VALUES ($1)', id)
      expect(await store.runner.transact(insert(1), { lock: 'rows' })).toBe(1)
      const cut = proxy.cutOn('COMMIT\0', 'after')
      expect(await store.runner.transact(insert(2), { lock: 'rows' })).toBe(1)
      await cut
    }
    expect(await database.query('SELECT id FROM item ORDER BY id')).toEqual([{ id: 1 }, { id: 2 }])
    await database.query(`REVOKE ALL ON item FROM ${role}`)
    await database.query(`DROP ROLE ${role}`)
  })

  test('is looked for where the server cannot tell when it was started', async () => {
    await using database = await freshDatabase()
    await database.query('ALTER FUNCTION pg_catalog.pg_postmaster_start_time() RENAME TO not_there')
    await database.query('CREATE TABLE item (id int PRIMARY KEY)')
    const url = database.connectionString
    await using proxy = await TcpProxy.startFor(url)
    await using store = testRunner(proxy.through(url))
    const looks: number[] = []
    const insert = (id: number): Promise<number> =>
      store.runner.transact(() => changesOf('INSERT INTO item VALUES ($1)', id), {
        lock: 'rows',
        *wasCommitted() {
          looks.push(id)
          return (yield* rowsOf('SELECT id FROM item WHERE id = $1', id)).length > 0
        },
      })
    expect(await insert(1)).toBe(1)
    for (const when of ['before', 'after'] as const) {
      const cut = proxy.cutOn('COMMIT\0', when)
      expect(await insert(when === 'before' ? 2 : 3)).toBe(1)
      await cut
    }
    // The server says of the second that it was not committed.
    expect(looks).toEqual([3])
    // Of those that begin at once, all fail with the first opening.
    await using fresh = testRunner(url)
    await Promise.all([1, 2, 3].map(() => fresh.runner.read(() => rowsOf('SELECT pg_sleep(0.05)'))))
    const isThere = (id: number) => (): ReturnType<typeof rowsOf> =>
      rowsOf('SELECT id FROM item WHERE id = $1', id)
    const found = await Promise.all(
      [1, 2, 3].map((id) => fresh.runner.transact(isThere(id), { lock: 'rows' })),
    )
    expect(found).toEqual([[{ id: 1 }], [{ id: 2 }], [{ id: 3 }]])
    expect(await database.query('SELECT id FROM item ORDER BY id')).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }])
  })
})
