import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { defineJob } from '../../../src/jobs/define-job.ts'
import { JobBuilder } from '../../../src/jobs/job-builder.ts'
import { rowsPerStatement } from '../../../src/jobstore/sql/kernel/row-set.ts'
import { createScheduler } from '../../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../../src/scheduler/scheduler.ts'
import { storedCounts } from '../../../src/testing/job-store/stored.ts'
import { completionOf, jobDetail, Testbed } from '../../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { TriggerBuilder } from '../../../src/triggers/families/trigger-builder.ts'
import { temporaryFolder } from '../../support/sqlite.ts'

interface Rig {
  readonly scheduler: Scheduler
  readonly database: Database.Database
  /** What the connection was sent since the job began. */
  readonly sent: string[]
}

/** A scheduler that runs a job once; the job does `during` first. */
async function runOnce(during: (database: Database.Database) => void): Promise<Rig> {
  const sent: string[] = []
  const database = new Database(join(temporaryFolder(), 'jobs.db'), {
    verbose: (text) => {
      sent.push(String(text))
    },
  })
  onTestFinished(() => {
    database.close()
  })
  const job = defineJob('note', () => {
    during(database)
    sent.length = 0
  })
  const jobStore = sqliteJobStore({ database })
  const scheduler = await createScheduler({ logger: false, jobs: [job], jobStore })
  onTestFinished(() => scheduler.shutdown())
  const detail = JobBuilder.newJob(job).withIdentity('once').build()
  await scheduler.scheduleJob(detail, TriggerBuilder.newTrigger().withIdentity('once').startNow().build())
  await scheduler.start()
  await scheduler.idle()
  return { scheduler, database, sent }
}

const rowsOf = (database: Database.Database): unknown =>
  database
    .prepare(
      `SELECT (SELECT count(*) FROM qrtz_fired_triggers) AS fired, (SELECT count(*) FROM qrtz_triggers) AS triggers,
         (SELECT count(*) FROM qrtz_simple_triggers) AS simple, (SELECT count(*) FROM qrtz_job_details) AS jobs`,
    )
    .get()

const looksAtRows = (text: string): boolean =>
  /^SELECT (t\.trigger_name.*trigger_name|j\.job_name.*job_name) = ('once'|\?)/.test(text)

test('an execution that changed nothing ends with its trigger and its job, none of which is read', async () => {
  const { database, sent } = await runOnce(() => {})
  expect(sent.filter((text) => text.startsWith('DELETE FROM qrtz_job_details'))).toHaveLength(1)
  expect(sent.filter(looksAtRows)).toEqual([])
  expect(rowsOf(database)).toEqual({ fired: 0, triggers: 0, simple: 0, jobs: 0 })
})

test('a trigger that got another time while its job ran is kept', async () => {
  const { database, sent } = await runOnce((own) => {
    own.exec("UPDATE qrtz_triggers SET next_fire_time = 9999999999999, trigger_state = 'WAITING'")
  })
  expect(sent.filter(looksAtRows)).not.toEqual([])
  expect(rowsOf(database)).toEqual({ fired: 0, triggers: 1, simple: 1, jobs: 1 })
})

test('a job that became durable while it ran is kept', async () => {
  const { database } = await runOnce((own) => {
    own.exec('UPDATE qrtz_job_details SET is_durable = 1')
  })
  expect(rowsOf(database)).toEqual({ fired: 0, triggers: 0, simple: 0, jobs: 1 })
})

test('a job that asks for recovery goes with its last execution', async () => {
  const { database } = await runOnce((own) => {
    own.exec('UPDATE qrtz_job_details SET requests_recovery = 1')
  })
  expect(rowsOf(database)).toEqual({ fired: 0, triggers: 0, simple: 0, jobs: 0 })
})

test('an execution whose row says that its job forbids others ends under the lock of the job', async () => {
  const { database, sent } = await runOnce((own) => {
    own.exec('UPDATE qrtz_fired_triggers SET is_nonconcurrent = 1')
  })
  expect(sent.filter(looksAtRows)).not.toEqual([])
  expect(rowsOf(database)).toEqual({ fired: 0, triggers: 0, simple: 0, jobs: 0 })
})

test('of more ends than one statement gets, those of deleted jobs are told', async () => {
  const bed = new Testbed(sqliteJobStore({ filename: ':memory:' }), new ManualClock(), 'node')
  await bed.store.initialize(bed.context)
  onTestFinished(() => bed.store.shutdown())
  const jobs = Array.from({ length: rowsPerStatement + 1 }, (_, index) => {
    return jobDetail(`job-${String(index)}`, { durable: index === 2 })
  })
  const entries = jobs.map((job) => ({ job, triggers: [bed.trigger(job.key.name, { job })] }))
  await bed.store.scheduleJobs(entries, { replace: false })
  const { fired } = await bed.acquireAndFire({ maxCount: jobs.length })
  // They end in another order than that of their names.
  const ends = fired.toReversed().map((bundle) => completionOf(bundle, 'deleteTrigger'))
  await bed.store.triggeredJobsComplete(ends)
  expect(await storedCounts(bed.store)).toMatchObject({ jobs: 1, triggers: 0 })
  const deleted = jobs.filter(({ durable }) => !durable).map(({ key }) => key.toString())
  expect(bed.signals.deletedJobs.toSorted()).toEqual(deleted.toSorted())
})
