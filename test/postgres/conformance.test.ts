import pg from 'pg'
import { jobStoreConformance } from 'quartz-ts/testing'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { postgresEngine } from '../../src/jobstore/postgres/postgres-engine.ts'
import {
  type PostgresJobStoreOptions,
  resolvePostgresOptions,
} from '../../src/jobstore/postgres/postgres-options.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

let database: TestDatabase
let pool: pg.Pool
beforeAll(async () => {
  database = await freshDatabase()
  pool = new pg.Pool({ connectionString: database.connectionString, max: 10 })
})
afterAll(async () => {
  await pool.end()
  await database[Symbol.asyncDispose]()
})

/** Making the tables takes longer than a case does, so cases share two sets of them: one at a time is in use. */
const schemaOf = (name: string, dataId: string): string => (dataId.endsWith('-raw') ? `${name}_raw` : name)

async function empty(schema: string): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT schemaname || '.' || tablename AS name FROM pg_tables
      WHERE schemaname = $1 AND tablename NOT LIKE '%schema_version'`,
    [schema],
  )
  if (rows.length > 0) await pool.query(`TRUNCATE ${rows.map(({ name }) => name).join(', ')}`)
}

describe.each<[name: string, options: () => PostgresJobStoreOptions, firesAtOnce: boolean]>([
  ['own_pool', () => ({ connectionString: database.connectionString, poolSize: 4 }), true],
  // Beside Java nothing is fired without a claim.
  ['quartz_locks', () => ({ pool, locking: 'quartzLocks', preparedStatements: false, listen: false }), false],
])('PostgresJobStore conforms: %s', (name, options, firesAtOnce) => {
  const cases = jobStoreConformance({
    name,
    create: (dataId) =>
      new SqlJobStore(
        postgresEngine(resolvePostgresOptions({ ...options(), schema: schemaOf(name, dataId) })),
      ),
    destroy: (dataId) => empty(schemaOf(name, dataId)),
    capabilities: { persistent: true, clustered: true, firesAtOnce },
  })
  test.each(cases)('$area: $name', ({ run }) => run())
})
