import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createScheduler } from 'quartz-ts'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { locksInLoops, temporaryFolder } from '../../support/sqlite.ts'
import {
  note,
  now,
  openNode,
  type TransactionScene,
  transactionCases,
  type UserConnection,
} from '../../support/transaction-cases.ts'

const begin = 'BEGIN IMMEDIATE'

function connect(filename: string): Database.Database {
  const database = new Database(filename)
  onTestFinished(() => {
    database.close()
  })
  database.exec('CREATE TABLE IF NOT EXISTS orders (id text)')
  return database
}

const userOf = (database: Database.Database): UserConnection => ({
  handle: database,
  run: async (statement) => {
    await Promise.resolve()
    database.exec(statement)
  },
  orders: () => Promise.resolve(database.prepare('SELECT * FROM orders').all().length),
})

transactionCases('SQLite, by another connection', () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const scene: TransactionScene = {
    begin,
    newStore: () => sqliteJobStore({ filename }),
    connect: () => Promise.resolve(userOf(connect(filename))),
  }
  return Promise.resolve(scene)
})

transactionCases("SQLite, by the store's own connection", () => {
  const database = connect(':memory:')
  const scene: TransactionScene = {
    begin,
    newStore: () => sqliteJobStore({ database }),
    connect: () => Promise.resolve(userOf(database)),
  }
  return Promise.resolve(scene)
})

describe('a transaction of the user on SQLite', () => {
  test('and the store name the command for the tables of this store where one is missing', async () => {
    const filename = join(temporaryFolder(), 'jobs.db')
    const { scheduler } = await openNode(sqliteJobStore({ filename, tablePrefix: 'own_' }))
    const user = connect(filename)
    user.exec('DROP TABLE own_job_details')
    const remedy: unknown = expect.objectContaining({
      message: expect.stringContaining(`'npx quartz-ts migrate --store FILE --prefix own_'`) as string,
    })
    await expect(scheduler.getJobDetail(note('a').key)).rejects.toEqual(remedy)
    user.exec(begin)
    await expect(scheduler.withTransaction(user).addJob(note('a'))).rejects.toEqual(remedy)
    user.exec('ROLLBACK')
  })

  test('that another connection keeps from writing says so', async () => {
    const filename = join(temporaryFolder(), 'jobs.db')
    const { scheduler } = await openNode(sqliteJobStore({ filename }))
    const [user, writer] = [connect(filename), connect(filename)]
    user.pragma('busy_timeout = 1')
    user.exec('BEGIN')
    writer.exec(begin)
    const tx = scheduler.withTransaction(user)
    await expect(tx.addJob(note('a'))).rejects.toMatchObject({ code: 'ERR_DATABASE_UNAVAILABLE' })
    writer.exec('ROLLBACK')
    await tx.scheduleJob(note('a'), now('a'))
    user.exec('COMMIT')
    await expect(scheduler.checkExists(note('a').key)).resolves.toBe(true)
  })

  test("names a call without the handle, which waits for the program's own transaction", async () => {
    const database = connect(':memory:')
    const { scheduler } = await openNode(sqliteJobStore({ database, busyTimeoutMs: 1 }))
    database.exec(begin)
    const refusal = await scheduler.addJob(note('a')).catch((error: unknown) => error)
    expect(refusal).toMatchObject({
      code: 'ERR_DATABASE_UNAVAILABLE',
      message: expect.stringContaining('a transaction of your own') as string,
    })
    database.exec('COMMIT')
    await scheduler.addJob(note('a'))
  })

  const whereLoopsLock = test.skipIf(!locksInLoops) // reason: node:sqlite lets others in while a loop goes on

  whereLoopsLock('in a loop over rows of its connection says so, and goes on after it', async () => {
    const filename = join(temporaryFolder(), 'jobs.db')
    const { scheduler } = await openNode(sqliteJobStore({ filename }))
    const user = connect(filename)
    user.exec(`${begin}; INSERT INTO orders VALUES ('one'), ('two')`)
    const tx = scheduler.withTransaction(user)
    const loop = user.prepare('SELECT id FROM orders').iterate()
    loop.next()
    await expect(tx.addJob(note('a'))).rejects.toMatchObject({ code: 'ERR_DATABASE_UNAVAILABLE' })
    loop.return?.()
    await tx.addJob(note('b'))
    user.exec('COMMIT')
    await expect(scheduler.checkExists(note('b').key)).resolves.toBe(true)
  })

  test('is refused on another file, and where nothing is shared', async () => {
    const folder = temporaryFolder()
    const { scheduler } = await openNode(sqliteJobStore({ filename: join(folder, 'jobs.db') }))
    const other = connect(join(folder, 'other.db'))
    const refused = expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', field: 'handle' }) as Error
    expect(() => scheduler.withTransaction(other)).toThrow(refused)
    expect(() => scheduler.withTransaction(connect(':memory:'))).toThrow(refused)
    const unsupported = expect.objectContaining({ code: 'ERR_NOT_SUPPORTED' }) as Error
    const { scheduler: inMemory } = await openNode(sqliteJobStore({ filename: ':memory:' }))
    expect(() => inMemory.withTransaction(other)).toThrow(unsupported)
    await using ram = await createScheduler()
    expect(() => ram.withTransaction(other)).toThrow(unsupported)
  })

  test('given as a function that cannot await is refused with the remedy', async () => {
    const filename = join(temporaryFolder(), 'jobs.db')
    const { scheduler } = await openNode(sqliteJobStore({ filename }))
    const user = connect(filename)
    const tx = scheduler.withTransaction(user)
    let stored: Promise<unknown> = Promise.resolve()
    user.transaction(() => {
      stored = tx.scheduleJob(note('a'), now('a'))
    })()
    await expect(stored).rejects.toMatchObject({
      code: 'ERR_NO_TRANSACTION',
      message: expect.stringContaining('BEGIN IMMEDIATE') as string,
    })
  })
})
