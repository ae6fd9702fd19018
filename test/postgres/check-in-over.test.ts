import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { checkInOver } from '../../src/jobstore/sql/cluster/check-in.ts'
import type { SqlTransactor } from '../../src/jobstore/sql/session/sql-transactor.ts'
import { systemClock } from '../../src/time/clock.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { testRunner } from '../support/postgres-runner.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
  await database.query('CREATE TABLE nodes (name text PRIMARY KEY, check_ins int)')
  await database.query("INSERT INTO nodes VALUES ('a', 0)")
})
afterAll(() => database[Symbol.asyncDispose]())

test('a check-in whose answers are lost is written and leaves its row to those that recover the node', async () => {
  await using proxy = await TcpProxy.startFor(database.connectionString)
  await using store = testRunner(proxy.through(database.connectionString), { poolSize: 1 })
  const transactor = {
    session: { context: { clock: systemClock } },
    run: (program, operation) => store.runner.transact(() => program(null as never), operation),
  } as Pick<SqlTransactor, 'run'> as SqlTransactor
  const orders = {
    ...{ bootId: 'boot', intervalMs: 1000, witness: () => null },
    statements: () => ({
      checkIn: { text: "UPDATE nodes SET check_ins = check_ins + 1 WHERE name = 'a'", values: [] },
      look: { text: 'SELECT check_ins FROM nodes', values: [] },
    }),
  }
  expect(await checkInOver(transactor, orders, 'none')).toMatchObject({
    isOurs: true,
    rows: [{ check_ins: 1 }],
  })
  proxy.dropReplies()
  const unanswered = checkInOver(transactor, orders, 'none')
  const written = async (): Promise<boolean> => {
    const [row] = await database.query('SELECT check_ins FROM nodes')
    return row?.['check_ins'] === 2
  }
  await vi.waitUntil(written, { timeout: 20_000 })
  await database.query('SELECT 1 FROM nodes FOR UPDATE NOWAIT')
  proxy.heal()
  // It is made again where it cannot be known what became of it.
  expect(await unanswered).toMatchObject({ isOurs: true, rows: [{ check_ins: 3 }] })
})
