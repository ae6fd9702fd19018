import { expect, test } from 'vitest'
import { defineJob } from '../../src/jobs/define-job.ts'
import { postgresJobStore } from '../../src/postgres.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { defineSchedule } from '../../src/scheduler/define-schedule.ts'
import { freshDatabase } from '../support/postgres-database.ts'

const work = defineJob('work', () => {})
const daily = (key: string, time: string) => defineSchedule(work, { key, daily: time, zone: 'UTC' })

test('a set of which one job cannot be read is in force: the process goes back to a former form at once', async () => {
  await using database = await freshDatabase()
  const { connectionString } = database
  const jobStore = postgresJobStore({ connectionString, listen: false })
  await using scheduler = await createScheduler({ jobs: [work], jobStore, logger: false })
  await scheduler.start()
  const former = [daily('a', '07:00'), daily('b', '07:00')]
  await scheduler.reconcile('s', former)
  await database.query("UPDATE qrtz_job_details SET job_data = '{' WHERE job_name = 'a'")
  const newer = await scheduler.reconcile('s', [daily('a', '07:00'), daily('b', '08:00')])
  expect(newer).toMatchObject({ broken: [{ name: 'a' }], changed: [{ name: 'b' }] })

  expect(await scheduler.reconcile('s', former)).toMatchObject({
    deferred: false,
    broken: [{ name: 'a' }],
    changed: [{ name: 'b' }],
  })
})
