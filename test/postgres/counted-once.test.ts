import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createScheduler, defineJob, JobBuilder, jobKey } from '../../src/index.ts'
import { postgresJobStore } from '../../src/postgres.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ fsync: true, settings: ['autovacuum=off'] })
})
afterAll(() => server.remove())

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.connectionString })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

test.each(['before', 'after'] as const)(
  'the status of a job counts a failure once where the server crashes %s it hears of the COMMIT',
  async (when) => {
    await using proxy = await TcpProxy.startFor(server.connectionString)
    const schema = `counted_${when}`
    const bad = defineJob('bad', () => {
      throw new Error('no')
    })
    const scheduler = await createScheduler({
      jobs: [bad],
      logger: false,
      jobStore: postgresJobStore({
        connectionString: proxy.through(server.connectionString),
        schema,
        preparedStatements: false,
      }),
    })
    const key = jobKey('bad')
    const counted = (): Promise<Record<string, unknown>[]> =>
      query(`SELECT s.failures::int, sum(d.failed)::int AS failed
        FROM "${schema}".qrtz_job_status s JOIN "${schema}".qrtz_job_days d USING (sched_name, job_name, job_group)
        GROUP BY s.failures`)
    await scheduler.addJob(JobBuilder.newJob(bad).withIdentity(key).storeDurably().build())
    await scheduler.start()
    const inDoubt = proxy
      .cutOn('COMMIT\0', when, { behind: `INSERT INTO "${schema}".qrtz_job_status` })
      .then(() => {
        proxy.refuse()
      })
    await scheduler.triggerJob(key)
    await inDoubt
    await server.crash()
    await server.start()
    expect(await counted()).toEqual(when === 'after' ? [{ failures: 1, failed: 1 }] : [])
    proxy.heal()
    // The next status waits for what becomes of the one in doubt.
    await scheduler.triggerJob(key)
    await scheduler.shutdown({ waitForJobsToComplete: true })
    expect(await counted()).toEqual([{ failures: 2, failed: 2 }])
  },
)
