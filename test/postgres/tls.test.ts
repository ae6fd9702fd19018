import { rootCertificates } from 'node:tls'
import pg from 'pg'
import { createScheduler, defineJob, JobBuilder, TriggerBuilder } from 'quartz-ts'
import { postgresJobStore } from 'quartz-ts/postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { requireTls } from '../support/postgres-tls.ts'

let server: PostgresServer
let ca: string
beforeAll(async () => {
  server = await startPostgres()
  ca = await requireTls(server)
  // The server reads its settings a moment later.
  await vi.waitFor(() => expect(connectPlainly()).rejects.toThrow('no encryption'), { timeout: 60_000 })
})
afterAll(() => server.remove())

async function connectPlainly(): Promise<void> {
  const client = new pg.Client({ connectionString: server.connectionString })
  try {
    await client.connect()
  } finally {
    await client.end()
  }
}

const work = defineJob('work', () => {})

describe('a connection over TLS', () => {
  test.each([
    ['options of a client', () => postgresJobStore({ connection: trusting() })],
    ['a pool', () => postgresJobStore({ pool: poolOfOurs() })],
  ])('made by %s fires jobs, and nothing of the scheduler goes unencrypted', async (_, makeStore) => {
    const scheduler = await createScheduler({ logger: false, jobs: [work], jobStore: makeStore() })
    const ran = scheduler.events.next('jobWasExecuted')
    await scheduler.start()
    await scheduler.scheduleJob(
      JobBuilder.newJob(work).build(),
      TriggerBuilder.newTrigger().startNow().build(),
    )
    expect((await ran).error).toBeNull()
    const client = new pg.Client(trusting())
    await client.connect()
    const { rows } = await client.query<{ ssl: boolean; application_name: string }>(
      'SELECT ssl, application_name FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_port > 0',
    )
    await client.end()
    expect(rows.length).toBeGreaterThan(2)
    expect(rows.filter(({ ssl }) => !ssl)).toEqual([])
    await scheduler.shutdown()
  })

  test.each([
    ['trusts another certificate', { ca: rootCertificates[0] }],
    ['trusts what the machine does', true],
    ['does without', false],
  ])('that %s is an error that names the option', async (_, ssl) => {
    const jobStore = postgresJobStore({ connection: { connectionString: server.connectionString, ssl } })
    await expect(createScheduler({ logger: false, jobs: [work], jobStore })).rejects.toMatchObject({
      code: 'ERR_DATABASE_UNAVAILABLE',
      message: expect.stringContaining("Check the option 'ssl'") as string,
    })
  })
})

function trusting(): pg.ClientConfig {
  return { connectionString: server.connectionString, ssl: { ca } }
}

function poolOfOurs(): pg.Pool {
  const pool = new pg.Pool(trusting())
  onTestFinished(() => pool.end())
  return pool
}
