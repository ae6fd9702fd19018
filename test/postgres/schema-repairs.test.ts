import { randomUUID } from 'node:crypto'
import { postgresJobStore } from 'quartz-ts/postgres'
import { expect, onTestFinished, test } from 'vitest'
import { postgresDialect, postgresSchema } from '../../src/jobstore/postgres/postgres-dialect.ts'
import { sqlNames } from '../../src/jobstore/sql/kernel/sql-names.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
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

test('a store starts as a role that may not make a lost index again, and says what is missing', async () => {
  const database = await freshDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const owner = postgresJobStore({ connectionString: database.connectionString })
  await owner.migrate()
  const role = `runs_${randomUUID().slice(0, 8)}`
  await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
  await database.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`)
  await database.query('DROP INDEX idx_qrtz_t_job')
  const url = new URL(database.connectionString)
  url.username = role
  url.password = 'secret'
  const warnings: string[] = []
  const ignore = (): void => {}
  const warn = (_details: object, message: string): void => {
    warnings.push(message)
  }
  const scheduler = await createScheduler({
    jobStore: postgresJobStore({ connectionString: url.href }),
    logger: { debug: ignore, info: ignore, warn, error: ignore },
  })
  await scheduler.start()
  await scheduler.shutdown()
  expect(warnings[0]).toContain("index 'idx_qrtz_t_job', which could not be made")
  await database.query('DROP TABLE qrtz_notes')
  const again = createScheduler({ jobStore: postgresJobStore({ connectionString: url.href }), logger: false })
  await expect(again).rejects.toThrow(/lacks table 'qrtz_notes'.*permission denied/)
  await database.query('DELETE FROM qrtz_schema_version WHERE version = 2')
  const older = createScheduler({ jobStore: postgresJobStore({ connectionString: url.href }), logger: false })
  await expect(older).rejects.toMatchObject({
    code: 'ERR_SCHEMA_TOO_OLD',
    message: expect.stringMatching(
      /^The database has no schema of version 2.*run 'npx quartz-ts migrate --store ...' as the role that owns/,
    ) as string,
    cause: { code: 'ERR_DATABASE' },
  })
  await database.query(`DROP OWNED BY ${role}`)
  await database.query(`DROP ROLE ${role}`)
})
