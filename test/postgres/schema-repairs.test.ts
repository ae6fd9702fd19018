import { onTestFinished } from 'vitest'
import { postgresDialect, postgresSchema } from '../../src/jobstore/postgres/postgres-dialect.ts'
import { sqlNames } from '../../src/jobstore/sql/kernel/sql-names.ts'
import { freshDatabase } from '../support/postgres-database.ts'
import { testRunner } from '../support/postgres-runner.ts'
import { describeSchemaRepairs } from '../support/schema-repairs.ts'

describeSchemaRepairs('PostgreSQL', async () => {
  const database = await freshDatabase()
  const { runner } = testRunner(database.connectionString)
  onTestFinished(async () => {
    await runner.close()
    await database[Symbol.asyncDispose]()
  })
  const names = sqlNames('test', {})
  return { runner, words: { dialect: postgresDialect, schema: postgresSchema, names } }
})
