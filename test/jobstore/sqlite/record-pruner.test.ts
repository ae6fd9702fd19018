import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { defineJob } from '../../../src/jobs/define-job.ts'
import { HistoryTable } from '../../../src/jobstore/sql/tables/history/history-table.ts'
import { sqliteJobStore } from '../../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../../src/scheduler/create-scheduler.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { temporaryFolder } from '../../support/sqlite.ts'

const failed = 'Old records of executions could not be deleted; it is tried again later.'
const again = 'Old records of executions are deleted again.'

test('that old records cannot be deleted is reported once, and the log says when they can be again', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const clock = new ManualClock()
  const log: string[] = []
  const note = (level: string) => (_fields: object, message: string) => {
    if (message === failed || message === again) log.push(`${level}: ${message}`)
  }
  const history = { record: 'all', maxRows: 5 } as const
  const scheduler = await createScheduler({
    clock,
    logger: { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') },
    jobs: [defineJob('often', () => {})],
    jobStore: sqliteJobStore({ filename, history }),
  })
  onTestFinished(() => scheduler.shutdown())
  const events: string[] = []
  scheduler.events.on('schedulerError', ({ message }) => events.push(message))
  const other = new Database(filename)
  onTestFinished(() => {
    other.close()
  })
  other.exec(
    "CREATE TRIGGER kept BEFORE DELETE ON qrtz_execution_history BEGIN SELECT RAISE(ABORT, 'not allowed'); END",
  )
  await scheduler.start()
  await scheduler.schedule('often', { key: 'often', every: '1s' })
  for (let minute = 0; minute < 5; minute++) await clock.advance(60_000)
  expect(events).toEqual([failed])
  expect(log.slice(0, 3)).toEqual([`error: ${failed}`, `debug: ${failed}`, `debug: ${failed}`])
  other.exec('DROP TRIGGER kept')
  for (let minute = 0; minute < 3; minute++) await clock.advance(60_000)
  expect(events).toEqual([failed])
  expect(log.slice(-2)).toEqual([`debug: ${failed}`, `info: ${again}`])
})

test('that another process took the file over is told once, not again by each look for old records', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const clock = new ManualClock()
  const scheduler = await createScheduler({
    clock,
    logger: false,
    jobs: [defineJob('often', () => {})],
    jobStore: sqliteJobStore({ filename, history: { record: 'all', maxRows: 5 } }),
  })
  const events: string[] = []
  scheduler.events.on('schedulerError', ({ error, message }) => events.push(`${error.code}: ${message}`))
  const other = new Database(filename)
  onTestFinished(() => {
    other.close()
  })
  await scheduler.start()
  // In the first of several looks for what is too old or too many.
  other.exec(`CREATE TRIGGER taken AFTER DELETE ON qrtz_execution_history
    BEGIN UPDATE qrtz_scheduler_state SET boot_id = 'of another process'; END`)
  await scheduler.schedule('often', { key: 'often', every: '1s' })
  for (let minute = 0; minute < 3; minute++) await clock.advance(60_000)
  await scheduler.shutdown()
  expect(events.filter((event) => event.includes(failed))).toEqual([])
  expect(events.filter((event) => event.includes('was taken over'))).toHaveLength(1)
})

test('a look reads all that is kept once, however many rows of a clock that was ahead it deletes', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const clock = new ManualClock()
  const looks = vi.spyOn(HistoryTable.prototype, 'surplus')
  onTestFinished(() => {
    looks.mockRestore()
  })
  const scheduler = await createScheduler({
    clock,
    logger: false,
    jobs: [defineJob('often', () => {})],
    jobStore: sqliteJobStore({ filename, history: { record: 'all', maxRows: 1000 } }),
  })
  const database = new Database(filename)
  onTestFinished(() => {
    database.close()
  })
  database.exec(`INSERT INTO qrtz_execution_history (sched_name, fire_instance_id, trigger_name, trigger_group,
      job_name, job_group, job_type, instance_name,
      planned_time, fired_time, finished_time, attempt, outcome, recovering)
    WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 3500)
    SELECT 'QuartzScheduler', 'ahead-' || i, 't', 'g', 'j', 'g', 'often', 'n', 1,
      ${clock.now() + 86_400_000} + i, NULL, 1, 'failed', false FROM s`)
  await scheduler.start()
  await scheduler.schedule('often', { key: 'often', every: '1s' })
  await clock.advance(12_000)
  await scheduler.shutdown()
  // For the history and for the log lines in it.
  expect(looks.mock.calls.length).toBeLessThanOrEqual(2)
  const ahead = `SELECT COUNT(*) FROM qrtz_execution_history WHERE fired_time > ${clock.now() + 60_000}`
  expect(database.prepare(ahead).pluck().all()[0]).toBeLessThan(1000)
})
