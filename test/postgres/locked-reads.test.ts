import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createScheduler, defineJob } from '../../src/index.ts'
import { postgresJobStore } from '../../src/postgres.ts'
import { latch } from '../support/latch.ts'
import { freshDatabase } from '../support/postgres-database.ts'

test('readers that wait for the lock of a table are refused in time, and keep nothing from firing', async () => {
  const database = await freshDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const { connectionString } = database
  const ran = latch()
  const job = defineJob('job', () => {
    ran.open()
  })
  const scheduler = await createScheduler({
    jobs: [job],
    jobStore: postgresJobStore({ connectionString, poolSize: 3, lockTimeoutMs: 400, connectTimeoutMs: 3000 }),
    logger: false,
  })
  onTestFinished(() => scheduler.shutdown())
  await scheduler.start()
  const holder = new pg.Client({ connectionString })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('BEGIN; LOCK TABLE qrtz_execution_history')

  const reads = Array.from({ length: 6 }, () => scheduler.queryExecutions())
  const settled = Promise.allSettled(reads)
  await scheduler.schedule(job, { in: 0 })
  await ran.promise
  const answers = await settled
  expect(answers.map(({ status }) => status)).toEqual(Array.from(reads, () => 'rejected'))
  for (const answer of answers) {
    expect(answer).toMatchObject({ reason: { code: 'ERR_DATABASE_UNAVAILABLE' } })
  }
  await holder.query('ROLLBACK')
  await scheduler.queryExecutions()
})
