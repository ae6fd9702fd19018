import pg from 'pg'
import { JobBuilder, TriggerBuilder } from 'quartz-ts'
import { postgresJobStore } from 'quartz-ts/postgres'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { postgresStores } from '../support/sql-stores.ts'
import {
  note,
  now,
  openNode,
  type TransactionScene,
  transactionCases,
  type UserConnection,
} from '../support/transaction-cases.ts'

const stores = postgresStores()
const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(stores.connection())
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

async function userConnection(): Promise<UserConnection> {
  const client = await connect()
  await client.query('DROP TABLE IF EXISTS orders; CREATE TABLE orders (id text)')
  return {
    handle: client,
    run: async (statement) => {
      await client.query(statement)
    },
    orders: async () => (await client.query('SELECT * FROM orders')).rows.length,
  }
}

async function scene(locking: 'skipLocked' | 'quartzLocks' = 'skipLocked'): Promise<TransactionScene> {
  const newStore = await stores.prepare()
  return { begin: 'BEGIN', newStore: () => newStore({ locking, jobData: 'json' }), connect: userConnection }
}

transactionCases('PostgreSQL', () => scene())
transactionCases("PostgreSQL with Java's locks", () => scene('quartzLocks'))

describe('a transaction of the user on PostgreSQL', () => {
  test('wakes another node when it is committed, and not before', async () => {
    const { newStore, begin, connect: user } = await scene()
    const [scheduling, firing] = [await openNode(newStore(), 'node-1'), await openNode(newStore(), 'node-2')]
    await firing.scheduler.start()
    const { handle, run } = await user()
    await run(begin)
    const tx = scheduling.scheduler.withTransaction(handle)
    await tx.scheduleJob(note('a'), now('a'))
    // What another node is told by a commit it hears after what was told before.
    await scheduling.scheduler.scheduleJob(note('b'), now('b'))
    await firing.hasRun('b')
    expect(firing.ran).toEqual(['b'])
    await run('COMMIT')
    await firing.hasRun('a')
  })

  test.each([
    ['skipLocked', undefined, 4],
    ['skipLocked', 'a', 6],
    ['quartzLocks', undefined, 5],
  ] as const)('with %s and the key %s is held up for few round trips', async (locking, key, most) => {
    const { newStore, begin, connect: user } = await scene(locking)
    const { scheduler, hasRun, ran } = await openNode(newStore())
    await scheduler.start()
    const { handle, run } = await user()
    await run(begin)
    const asked = vi.spyOn(handle as pg.Client, 'query')
    const tx = scheduler.withTransaction(handle)
    const scheduled = await tx.schedule('note', { in: 0, ...(key !== undefined && { key }) })
    expect(asked.mock.calls.length).toBeLessThanOrEqual(most)
    await run('COMMIT')
    await hasRun(scheduled.key.name)
    expect(ran).toEqual([scheduled.key.name])
  })

  test('goes on after an error of a statement of ours, and tells of one of its own', async () => {
    const { newStore, begin, connect: user } = await scene()
    const { scheduler } = await openNode(newStore())
    const { handle, run } = await user()
    await run(begin)
    const tx = scheduler.withTransaction(handle)
    await Promise.all([tx.addJob(note('a')), tx.addJob(note('b')), tx.addJob(note('c'))])
    await expect(run('SELECT 1/0')).rejects.toThrow('division')
    await expect(tx.addJob(note('d'))).rejects.toMatchObject({ code: 'ERR_NO_TRANSACTION' })
    await run('ROLLBACK')
    await expect(scheduler.checkExists(note('a').key)).resolves.toBe(false)
  })

  test('takes the calls of two schedulers in turn, so that one that fails undoes its own alone', async () => {
    const { newStore, begin, connect: user } = await scene()
    const open = async (name: string) => (await openNode(newStore(), undefined, name)).scheduler
    const [first, second] = [await open('first'), await open('second')]
    await first.addJob(note('a'))
    const { handle, run } = await user()
    await run(begin)
    const keys = Array.from({ length: 20 }, (_, index) => `a${index}`)
    const ends = await Promise.allSettled(
      keys.flatMap((key) => [
        first.withTransaction(handle).addJob(note('a')),
        second.withTransaction(handle).scheduleJob(note(key), now(key)),
      ]),
    )
    await run('COMMIT')
    expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(20)
    for (const key of keys) expect(await second.checkExists(note(key).key)).toBe(true)
  })

  test.each([
    ['BEGIN', 'ERR_OBJECT_ALREADY_EXISTS'],
    ['BEGIN ISOLATION LEVEL REPEATABLE READ', 'ERR_DATABASE_UNAVAILABLE'],
  ])('that another one overtakes is refused as late as any other call: %s', async (begin, code) => {
    const { newStore } = await scene()
    const { scheduler } = await openNode(newStore())
    const [first, second, watch] = [await connect(), await connect(), await connect()]
    await first.query('BEGIN')
    await second.query(begin)
    await second.query('SELECT 1')
    await scheduler.withTransaction(first).addJob(note('a'))
    const tx = scheduler.withTransaction(second)
    const adding = expect(tx.addJob(note('a'))).rejects.toMatchObject({ code })
    while ((await watch.query(waiting)).rows.length === 0);
    await first.query('COMMIT')
    await adding
    await tx.addJob(note('b'))
    await second.query('COMMIT')
    await expect(scheduler.checkExists(note('b').key)).resolves.toBe(true)
  })

  test('that adds a trigger to a job lets others do so, and keeps the job until it ends', async () => {
    const newStore = await stores.prepare()
    const { scheduler } = await openNode(newStore({ lockTimeoutMs: 300 }))
    const { key } = note('hot')
    await scheduler.addJob(JobBuilder.newJob('note').withIdentity(key).storeDurably().build())
    const client = await connect()
    await client.query('BEGIN')
    const later = new Date(Date.now() + 3_600_000)
    const trigger = TriggerBuilder.newTrigger().withIdentity('of the user').forJob(key).startAt(later).build()
    await scheduler.withTransaction(client).scheduleJob(trigger)
    for (let call = 0; call < 3; call++) await scheduler.triggerJob(key)
    await expect(scheduler.deleteJob(key)).rejects.toMatchObject({ code: 'ERR_DATABASE_UNAVAILABLE' })
    await client.query('COMMIT')
    expect(await scheduler.getTriggersOfJob(key)).toHaveLength(4)
    expect(await scheduler.deleteJob(key)).toBe(true)
    expect(await scheduler.checkExists(trigger.key)).toBe(false)
  })

  test('that cannot reach the tables, or not write them, says so', async () => {
    const { scheduler } = await openNode(postgresJobStore({ connection: stores.connection() }))
    const client = await connect()
    const tx = scheduler.withTransaction(client)
    await client.query('BEGIN READ ONLY')
    const readOnly = { code: 'ERR_DATABASE', message: expect.stringContaining('only reads') as string }
    await expect(tx.addJob(note('a'))).rejects.toMatchObject(readOnly)
    await client.query('ROLLBACK; BEGIN; SET LOCAL search_path = pg_catalog')
    const lost = { code: 'ERR_DATABASE', message: expect.stringContaining('search path') as string }
    await expect(tx.addJob(note('a'))).rejects.toMatchObject(lost)
    await client.query('ROLLBACK')
  })

  test('is refused with a pool', async () => {
    const { newStore } = await scene()
    const { scheduler } = await openNode(newStore())
    const pool = new pg.Pool(stores.connection())
    onTestFinished(() => pool.end())
    expect(() => scheduler.withTransaction(pool)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', field: 'handle' }),
    )
  })
})
