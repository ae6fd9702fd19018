import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { jobKey, triggerKey } from '../../../src/core/key.ts'
import { defineJob } from '../../../src/jobs/define-job.ts'
import { sqliteJobStore } from '../../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../../src/scheduler/create-scheduler.ts'
import { defineSchedule } from '../../../src/scheduler/define-schedule.ts'
import type { Scheduler } from '../../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { temporaryFolder } from '../../support/sqlite.ts'

const work = defineJob('work', () => {})
const schedules = ['a', 'b'].map((key) => defineSchedule(work, { key, daily: '07:00', zone: 'UTC' }))

function run(filename: string, sql: string): void {
  const file = new Database(filename)
  file.exec(sql)
  file.close()
}

test('a declaration replaces a trigger whose row cannot be read, and the others of its set are looked at', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const open = (): Promise<Scheduler> =>
    createScheduler({ jobs: [work], logger: false, jobStore: sqliteJobStore({ filename }) })
  {
    await using before = await open()
    await before.reconcile('s', schedules)
    await before.schedule(work, { key: 'single', daily: '07:00', zone: 'UTC' })
  }
  run(filename, "UPDATE qrtz_cron_triggers SET cron_expression = 'junk' WHERE trigger_name <> 'b'")
  await using scheduler = await open()
  const { changed, unchanged } = await scheduler.reconcile('s', schedules)
  expect([changed.map(({ name }) => name), unchanged.map(({ name }) => name)]).toEqual([['a'], ['b']])
  const single = await scheduler.schedule(work, { key: 'single', daily: '07:00', zone: 'UTC' })
  expect(single.change).toBe('changed')
  for (const name of ['a', 'single']) {
    expect((await scheduler.getTrigger(triggerKey(name)))?.nextFireTime).not.toBeNull()
  }
})

test('a job whose row cannot be read stays, is told once, and holds up no other', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const jobStore = sqliteJobStore({ filename })
  {
    await using before = await createScheduler({ jobs: [work], logger: false, jobStore })
    await before.reconcile('default', schedules)
  }
  run(filename, "UPDATE qrtz_job_details SET job_data = CAST('{' AS BLOB) WHERE job_name = 'a'")
  const later = [...schedules.slice(0, 1), defineSchedule(work, { key: 'b', daily: '08:00', zone: 'UTC' })]
  const clock = new ManualClock()
  await using scheduler = await createScheduler({
    jobs: [work],
    logger: false,
    jobStore: sqliteJobStore({ filename }),
    clock,
    schedules: later,
  })
  expect((await scheduler.getTrigger(triggerKey('b')))?.nextFireTime?.getUTCHours()).toBe(8)
  const errors: string[] = []
  scheduler.events.on('schedulerError', ({ message }) => errors.push(message))
  const again = await scheduler.reconcile('default', later)
  expect(again).toMatchObject({ broken: [{ name: 'a' }], unchanged: [{ name: 'b' }], deferred: false })
  expect(errors).toEqual([])

  run(filename, "UPDATE qrtz_job_details SET job_data = NULL WHERE job_name = 'a'")
  await clock.advance(60_000)

  expect(await scheduler.reconcile('default', later, { dryRun: true })).toMatchObject({ broken: [] })
})

test('a job that is declared no more goes once its row can be read again', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const clock = new ManualClock()
  await using scheduler = await createScheduler({
    jobs: [work],
    logger: false,
    jobStore: sqliteJobStore({ filename }),
    clock,
    schedules,
  })
  run(filename, "UPDATE qrtz_job_details SET job_data = CAST('{' AS BLOB) WHERE job_name = 'a'")
  const errors: string[] = []
  scheduler.events.on('schedulerError', ({ message }) => errors.push(message))
  const later = schedules.slice(1)
  const foreseen = await scheduler.reconcile('default', later, { dryRun: true })
  const done = await scheduler.reconcile('default', later)
  for (const answer of [foreseen, done]) {
    expect(answer).toMatchObject({ broken: [{ name: 'a' }], removed: [], unchanged: [{ name: 'b' }] })
  }
  await clock.advance(60_000)
  expect(errors).toEqual([
    expect.stringContaining("Job DEFAULT.a of the schedules 'default' cannot be read."),
  ])

  run(filename, "UPDATE qrtz_job_details SET job_data = NULL WHERE job_name = 'a'")
  await clock.advance(60_000)

  expect(await scheduler.checkExists(jobKey('a'))).toBe(false)
})
