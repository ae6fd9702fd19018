import type pg from 'pg'
import { jobStoreConformance } from 'quartz-ts/testing'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { postgresEngine } from '../../src/jobstore/postgres/postgres-engine.ts'
import {
  type PostgresJobStoreOptions,
  resolvePostgresOptions,
} from '../../src/jobstore/postgres/postgres-options.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { freshDatabase, schemaOfCase, type TestDatabase, testPool } from '../support/postgres-database.ts'

let database: TestDatabase
let pool: pg.Pool
beforeAll(async () => {
  database = await freshDatabase()
  pool = testPool({ connectionString: database.connectionString, max: 10 })
  // The database is dropped while the last of its sessions end.
  pool.on('error', () => {})
})
afterAll(async () => {
  await pool.end()
  await database[Symbol.asyncDispose]()
})

describe.each<[name: string, options: () => PostgresJobStoreOptions, firesAtOnce: boolean]>([
  // A pool that the cases share: sessions that are warm halve the time, and other tests open pools of their own.
  ['by_default', () => ({ pool }), true],
  // Beside Java nothing is fired without a claim.
  [
    'quartz_locks',
    () => ({ pool, locking: 'quartzLocks', jobData: 'json', preparedStatements: false, listen: false }),
    false,
  ],
])('PostgresJobStore conforms: %s', (name, options, firesAtOnce) => {
  const cases = jobStoreConformance({
    name,
    create: (dataId) =>
      new SqlJobStore(
        postgresEngine(resolvePostgresOptions({ ...options(), schema: schemaOfCase(name, dataId) })),
      ),
    destroy: (dataId) => database.emptySchema(schemaOfCase(name, dataId)),
    capabilities: {
      persistent: true,
      clustered: true,
      history: true,
      records: true,
      firesAtOnce,
      firesOnSchedule: firesAtOnce,
      sharding: firesAtOnce,
      awaitedResults: true,
      changesDefinitions: true,
    },
  })
  test.each(cases)('$area: $name', ({ run }) => run())
})
