import {
  CronScheduleBuilder,
  createScheduler,
  defineJob,
  JobBuilder,
  type SchedulerEventMap,
  TriggerBuilder,
} from 'quartz-ts'
import { postgresJobStore } from 'quartz-ts/postgres'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())

/** What Java's object streams begin with, and something behind it that is no text. */
const serialized = String.raw`'\xaced0005737200ff'::bytea`
const later = new Date(Date.now() + 86_400_000)

/** How Java may have written the trigger of an execution. */
const writtenByJava = {
  plain: [],
  type: [`UPDATE beside.qrtz_triggers SET trigger_type = 'BLOB' WHERE trigger_name = 'type'`],
  zone: [
    `UPDATE beside.qrtz_cron_triggers SET time_zone_id = 'GMT+02:00', dst_policy = NULL
     WHERE trigger_name = 'zone'`,
  ],
  data: [`UPDATE beside.qrtz_triggers SET job_data = ${serialized} WHERE trigger_name = 'data'`],
  broken: [`UPDATE beside.qrtz_triggers SET job_data = '{"a"'::bytea WHERE trigger_name = 'broken'`],
  unwanted: [`UPDATE beside.qrtz_triggers SET trigger_type = 'BLOB' WHERE trigger_name = 'unwanted'`],
} as const

test('executions of a Java node run again although their triggers can be read by Java only', async () => {
  const { connectionString } = database
  const ran: (readonly [string | undefined, unknown])[] = []
  const work = defineJob('work', ({ recoveringTriggerKey, mergedJobDataMap }) => {
    ran.push([recoveringTriggerKey?.name, mergedJobDataMap['to']])
  })
  const jobStore = postgresJobStore({ connectionString, schema: 'beside', locking: 'quartzLocks' })
  const warnings: unknown[] = []
  const logger = {
    debug() {},
    info() {},
    error() {},
    warn: (_: unknown, text: string) => warnings.push(text),
  }
  const scheduler = await createScheduler({ logger, jobs: [work], idleWaitMs: 1000, jobStore })
  onTestFinished(() => scheduler.shutdown())
  const lost: SchedulerEventMap['executionLost'][] = []
  scheduler.events.on('executionLost', (event) => lost.push(event))

  for (const [name, changes] of Object.entries(writtenByJava)) {
    const job = JobBuilder.newJob(work)
      .withIdentity(name)
      .storeDurably()
      .requestRecovery(name !== 'unwanted')
    const trigger = TriggerBuilder.newTrigger().withIdentity(name).startAt(later).usingJobData({ to: name })
    const yearly = trigger.withSchedule(CronScheduleBuilder.cronSchedule('0 0 0 1 1 ?', { dst: 'quartz' }))
    await scheduler.scheduleJob(job.build(), (name === 'zone' ? yearly : trigger).build())
    for (const change of changes) await database.query(change)
  }
  await database.query(
    `INSERT INTO beside.qrtz_fired_triggers (sched_name, entry_id, trigger_name, trigger_group, instance_name,
       fired_time, sched_time, priority, state, job_name, job_group, is_nonconcurrent, requests_recovery)
     SELECT sched_name, 'java-' || trigger_name, trigger_name, trigger_group, 'java',
       1000, 1000, 5, 'EXECUTING', job_name, job_group, false, trigger_name <> 'unwanted'
     FROM beside.qrtz_triggers`,
  )
  await database.query(
    `INSERT INTO beside.qrtz_scheduler_state (sched_name, instance_name, last_checkin_time, checkin_interval)
     VALUES ('QuartzScheduler', 'java', 1000, 1000)`,
  )
  const recovered = scheduler.events.next('nodeRecovered')
  await scheduler.start()
  expect(await recovered).toMatchObject({ node: 'java', recoveredExecutions: 4, lostExecutions: 2 })

  // Java is to run the one whose data it serialized: they are as they were.
  await vi.waitUntil(() => ran.length >= 3, { timeout: 30_000 })
  expect(ran.toSorted()).toEqual(['plain', 'type', 'zone'].map((name) => [name, name]))
  const left = await database.query(
    `SELECT job_name, trigger_type, trigger_state, job_data = ${serialized} AS is_copied
     FROM beside.qrtz_triggers WHERE trigger_group = 'RECOVERING_JOBS' AND trigger_state <> 'COMPLETE'`,
  )
  expect(left).toEqual([
    { job_name: 'data', trigger_type: 'SIMPLE', trigger_state: 'WAITING', is_copied: true },
  ])
  const reasons = Object.fromEntries(lost.map(({ triggerKey: { name }, reason }) => [name, reason]))
  expect(reasons).toEqual({
    broken: expect.stringMatching(/^its recovery could not be stored: .*neither JSON nor/) as string,
    unwanted: 'its job does not request recovery',
  })
  expect(warnings).toEqual(
    expect.arrayContaining(
      Object.values(reasons).map(
        (reason) => `An execution died with its node and is not run again: ${reason}.`,
      ),
    ),
  )
})
