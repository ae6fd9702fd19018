import { createScheduler, defineJob } from 'quartz-ts'
import { postgresJobStore } from 'quartz-ts/postgres'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/time/clock.ts'
import { run as runCommand } from '../cli/fake-host.ts'
import { freshDatabase } from '../support/postgres-database.ts'

test('a command whose change the database refuses says why, and that alone', async () => {
  await using database = await freshDatabase()
  const { connectionString } = database
  const job = defineJob('nightly', () => {})
  const scheduler = await createScheduler({
    logger: false,
    jobs: [job],
    jobStore: postgresJobStore({ connectionString }),
  })
  await scheduler.schedule(job, { key: 'nightly', daily: '07:00', zone: 'UTC' })
  await scheduler.shutdown()
  const role = `reader_${new URL(connectionString).pathname.slice(1)}`
  await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'reads'`)
  await database.query(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`)
  const asReader = new URL(connectionString)
  asReader.username = role
  asReader.password = 'reads'
  const pause = ['pause', 'job', 'DEFAULT/nightly', '--store', asReader.href]
  const { code, err } = await runCommand(pause, { clock: systemClock })
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringMatching(
      /^quartz-ts: PostgreSQL refused a statement: permission denied for table (?!qrtz_audit).* Grant the user .*\n$/,
    ) as string,
  })
  expect(err).not.toContain('may have been made')
  await database.query(`GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`)
  expect((await runCommand(pause, { clock: systemClock })).code).toBe(0)
  await database.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
})
