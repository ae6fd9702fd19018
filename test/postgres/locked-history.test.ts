import pg from 'pg'
import {
  createScheduler,
  defineJob,
  JobBuilder,
  SimpleScheduleBuilder,
  schedulerHealth,
  TriggerBuilder,
} from 'quartz-ts'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { postgresJobStore } from '../../src/postgres.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

const size = 3
const lateMs = 2000

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())

test('while the history is locked as a table a node says so, starts few executions, and is not ready', async () => {
  const { connectionString } = database
  const scheduler = await createScheduler({
    logger: false,
    jobStore: postgresJobStore({ connectionString, history: { record: 'all' } }),
    jobs: [defineJob('tick', () => {})],
    threadPool: { size },
  })
  const client = new pg.Client({ connectionString })
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await scheduler.shutdown()
  })
  await scheduler.start()
  const health = schedulerHealth(scheduler, { maxAgeMs: 0 })
  await client.query('BEGIN; LOCK TABLE qrtz_execution_history IN ACCESS EXCLUSIVE MODE')
  const errors: string[] = []
  scheduler.events.on('schedulerError', ({ message }) => errors.push(message))
  const everySoOften = SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(100).repeatForever()
  for (const name of ['a', 'b']) {
    await scheduler.scheduleJob(
      JobBuilder.newJob('tick').withIdentity(name).build(),
      TriggerBuilder.newTrigger().withIdentity(name).withSchedule(everySoOften).build(),
    )
  }
  const codes = async (): Promise<readonly string[]> => (await health.ready()).reasons.map(({ code }) => code)
  const expectCodes = async (...expected: string[]): Promise<void> => {
    await vi.waitFor(
      async () => {
        expect(await codes()).toEqual(expected)
      },
      { timeout: 20_000, interval: 50 },
    )
  }
  await expectCodes('notEnding')
  const isOfLock = (message: string): boolean =>
    /another session holds a lock.* Ends that wait: \d/.test(message)
  await vi.waitFor(
    () => {
      expect(errors.filter(isOfLock)).toHaveLength(1)
    },
    { timeout: 20_000, interval: 50 },
  )
  const startedBefore = scheduler.getMetaData().numberOfJobsExecuted
  // Those that end from now on hold their slots, so that triggers become late.
  const oldest = 'SELECT min(next_fire_time) AS at FROM qrtz_triggers'
  const isLate = async (): Promise<void> => {
    const [row] = await database.query(oldest)
    expect(Date.now() - Number(row?.['at'])).toBeGreaterThan(lateMs)
  }
  await vi.waitFor(isLate, { timeout: 20_000, interval: 50 })
  expect(scheduler.getMetaData().numberOfJobsExecuted - startedBefore).toBeLessThanOrEqual(2 * size)
  expect(await codes()).toEqual(['notEnding'])
  await client.query('ROLLBACK')
  await expectCodes()
  const heldUp = scheduler.getMetaData().numberOfJobsExecuted
  await vi.waitFor(
    () => {
      expect(scheduler.getMetaData().numberOfJobsExecuted).toBeGreaterThan(heldUp + 20)
    },
    {
      timeout: 20_000,
      interval: 50,
    },
  )
})
