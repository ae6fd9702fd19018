import pg from 'pg'
import { sqlJobStore } from 'quartz-ts/spi'
import { jobStoreConformance } from 'quartz-ts/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jobDetail, Testbed } from '../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { ownPostgres } from '../support/own-databases.ts'
import { freshDatabase, schemaOfCase, type TestDatabase } from '../support/postgres-database.ts'
import { sqliteCapabilities } from '../support/sqlite.ts'

let database: TestDatabase
const clients = new Map<string, pg.Client>()
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => {
  for (const client of clients.values()) await client.end()
  await database[Symbol.asyncDispose]()
})

/** One client for each set of tables. */
async function clientOf(schema: string): Promise<pg.Client> {
  const known = clients.get(schema)
  if (known !== undefined) return known
  await database.query(`CREATE SCHEMA ${schema}`)
  const client = new pg.Client({
    connectionString: database.connectionString,
    options: `-c search_path=${schema}`,
  })
  client.on('error', () => {})
  await client.connect()
  clients.set(schema, client)
  return client
}

describe('a store over postgresDialect and a driver of the user conforms', () => {
  const cases = jobStoreConformance({
    name: 'own',
    create: async (dataId) => sqlJobStore(ownPostgres(await clientOf(schemaOfCase('own', dataId)))),
    destroy: (dataId) => database.emptySchema(schemaOfCase('own', dataId)),
    capabilities: { ...sqliteCapabilities, persistent: true },
  })
  test.each(cases)('$area: $name', ({ run }) => run())
})

test('a key that is taken is refused in the same way by a call of any size', async () => {
  const store = sqlJobStore(ownPostgres(await clientOf('taken')))
  const bed = new Testbed(store, new ManualClock(), 'node')
  await store.initialize(bed.context)
  const entries = Array.from({ length: 1000 }, (_, n) => {
    const job = jobDetail(`j${String(n)}`, { durable: true })
    return { job, triggers: [bed.trigger(`t${String(n)}`, { job, everyMs: 1000 })] }
  })
  await store.scheduleJobs(entries.slice(0, 1), { replace: false })
  await expect(store.scheduleJobs(entries, { replace: false })).rejects.toMatchObject({
    code: 'ERR_OBJECT_ALREADY_EXISTS',
  })
  await store.shutdown()
})
