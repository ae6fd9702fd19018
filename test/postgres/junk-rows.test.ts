import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { postgresEngine } from '../../src/jobstore/postgres/postgres-engine.ts'
import { resolvePostgresOptions } from '../../src/jobstore/postgres/postgres-options.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { describeJunkRows, type JunkGround } from '../support/junk-rows.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client({ connectionString: database.connectionString })
  await client.connect()
  await store().migrate()
})
afterAll(async () => {
  await client.end()
  await database[Symbol.asyncDispose]()
})

function store(): SqlJobStore {
  const { connectionString } = database
  // A row that names an instance which is nowhere is recovered when that was silent for long enough.
  const tuned = { checkInIntervalMs: 500, failedAfterMs: 2000 }
  const options = {
    connectionString,
    poolSize: 2,
    listen: false,
    history: { record: 'all' },
    ...tuned,
  } as const
  return new SqlJobStore(postgresEngine(resolvePostgresOptions(options)))
}

/** All columns take minutes: the CI asks for them, and SQLite has them in every run. */
const sample = (process.env['QUARTZ_TS_SEED_FACTOR'] ?? '1') === '1'

async function prepare(): Promise<JunkGround> {
  await database.emptySchema('public')
  await client.query('DELETE FROM qrtz_schema_version WHERE version <> 1')
  return {
    store,
    sql: async (text) => (await client.query<Record<string, unknown>>(text)).rows,
    bytes: (hex) => `'\\x${hex}'`,
  }
}

describeJunkRows('PostgreSQL', prepare, { sample })
