import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import { postgresEngine } from '../../src/jobstore/postgres/postgres-engine.ts'
import { resolvePostgresOptions } from '../../src/jobstore/postgres/postgres-options.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { describeStoredEncodings } from '../support/stored-encodings.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
})

describeStoredEncodings('PostgreSQL', () => {
  const { connectionString } = database
  const schema = `s${randomBytes(4).toString('hex')}`
  return Promise.resolve({
    store: (jobData) =>
      new SqlJobStore(
        postgresEngine(
          resolvePostgresOptions({ connectionString, schema, jobData, poolSize: 2, listen: false }),
        ),
      ),
    data: async (table, name) => {
      const column = table === 'triggers' ? 'trigger_name' : 'job_name'
      const text = `SELECT convert_from(job_data, 'UTF8') AS data FROM ${schema}.qrtz_${table} WHERE ${column} = $1`
      const [row] = await database.query(text, [name])
      return (row?.['data'] ?? null) as string | null
    },
  })
})
