import {
  CronScheduleBuilder,
  createScheduler,
  defineJob,
  defineSchedule,
  GroupMatcher,
  InvalidArgumentError,
  JobBuilder,
  type Scheduler,
  SimpleScheduleBuilder,
  TriggerBuilder,
} from 'quartz-ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { postgresEngine } from '../../src/jobstore/postgres/postgres-engine.ts'
import { resolvePostgresOptions } from '../../src/jobstore/postgres/postgres-options.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())

const work = defineJob('work', () => {})

function storeIn(schema: string, locking: 'skipLocked' | 'quartzLocks'): SqlJobStore {
  const { connectionString } = database
  return new SqlJobStore(postgresEngine(resolvePostgresOptions({ connectionString, schema, locking })))
}

function schedulerOn(locking: 'skipLocked' | 'quartzLocks'): Promise<Scheduler> {
  const jobStore = storeIn(locking.toLowerCase(), locking)
  return createScheduler({ logger: false, jobs: [work], jobStore })
}

const job = JobBuilder.newJob(work).withIdentity('work').build()
const named = (name: string): TriggerBuilder => TriggerBuilder.newTrigger().withIdentity(name)
const cron = (expression: string): CronScheduleBuilder => CronScheduleBuilder.cronSchedule(expression)

/** What Java Quartz 2.3.2 cannot read, or reads otherwise. */
const unsuitable = [
  ['cronExpression', named('list of last days').withSchedule(cron('0 0 12 1,15,L * ?'))],
  ['cronExpression', named('list of weekdays').withSchedule(cron('0 0 12 10W,20W * ?'))],
  ['cronExpression', named('far from the last day').withSchedule(cron('0 0 12 L-30W * ?'))],
  ['cronExpression', named('step').withSchedule(cron('0 0 12 ? * MON-FRI/2'))],
  ['dialect', named('unix').withSchedule(CronScheduleBuilder.unixCron('*/5 * * * *'))],
  ['name', named('\u0001')],
  ['group', TriggerBuilder.newTrigger().withIdentity('name', '\u0002\u0003')],
] as const

test.each(unsuitable)('tables shared with Java refuse a trigger by its %s', async (field, trigger) => {
  await using scheduler = await schedulerOn('quartzLocks')
  await scheduler.clear()
  const unsuited = scheduler.scheduleJob(job, trigger.build())
  const suited = scheduler.scheduleJob(
    JobBuilder.newJob(work).withIdentity('other').build(),
    named('plain').withSchedule(cron('0 0 12 LW * ?')).build(),
  )
  await expect(unsuited).rejects.toBeInstanceOf(InvalidArgumentError)
  await expect(unsuited).rejects.toMatchObject({ code: 'ERR_INVALID_TRIGGER', field })
  await suited
  const keys = await scheduler.getTriggerKeys(GroupMatcher.anyGroup())
  expect(keys.map(({ name }) => name)).toEqual(['plain'])
})

test('tables shared with Java keep a trigger as it is whose new schedule does not suit', async () => {
  await using scheduler = await schedulerOn('quartzLocks')
  await scheduler.clear()
  await scheduler.scheduleJob(job, named('t').withSchedule(cron('0 0 12 LW * ?')).build())
  const rescheduled = scheduler.rescheduleJob('t', named('t').withSchedule(cron('0 0 12 1,L * ?')).build())
  await expect(rescheduled).rejects.toThrow(
    "cannot read 'L' in a list of days, here '1,L'. Use a trigger for each",
  )
  expect(await scheduler.getTrigger('t')).toHaveProperty('cronExpression.expression', '0 0 12 LW * ?')
})

test('tables shared with Java take nothing of what has one trigger that does not suit', async () => {
  await using scheduler = await schedulerOn('quartzLocks')
  await scheduler.clear()
  const durable = JobBuilder.newJob(work).withIdentity('work').storeDurably().build()
  const triggers = [
    named('a').withSchedule(cron('0 0/5 * * * ?')).build(),
    named('b').withSchedule(CronScheduleBuilder.unixCron('*/5 * * * *')).build(),
  ]
  const entries = [{ job: durable, triggers }]
  const set = ['0 0/5 * * * ?', '*/5 * * * *', '0 0/5 * * * ?'].map((expression, index) =>
    defineSchedule(work, { key: `s${index}`, cron: expression }),
  )
  const refused = [
    () => scheduler.reconcile('set', set, { dryRun: true }),
    () => scheduler.reconcile('set', set),
    () => scheduler.changeDefinitions({ entries }, { dryRun: true }),
    () => scheduler.changeDefinitions({ entries }),
    () => scheduler.scheduleJobs(entries),
  ]
  for (const call of refused) {
    await expect(call()).rejects.toMatchObject({ code: 'ERR_INVALID_TRIGGER', field: 'dialect' })
  }
  expect(await scheduler.getJobKeys(GroupMatcher.anyGroup())).toEqual([])
})

test('other tables take all of them', async () => {
  await using scheduler = await schedulerOn('skipLocked')
  await scheduler.addJob(JobBuilder.newJob(work).withIdentity('work').storeDurably().build())
  for (const [, trigger] of unsuitable) await scheduler.scheduleJob(trigger.forJob('work').build())
  expect(await scheduler.getTriggerKeys(GroupMatcher.anyGroup())).toHaveLength(unsuitable.length)
})

test('the count of a trigger without an end stays within what Java can read', async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const everyMs = SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(1).repeatForever()
  const trigger = named('often')
    .startAt(new Date(clock.now() - 40 * 86_400_000))
    .withSchedule(everyMs)
  const behaviour = { logger: false, jobs: [work], clock } as const
  await using scheduler = await createScheduler({ ...behaviour, jobStore: storeIn('counted', 'quartzLocks') })
  await scheduler.scheduleJob(job, trigger.build())
  await scheduler.pauseTrigger('often')
  await scheduler.resumeTrigger('often')
  const counts = await database.query('SELECT times_triggered FROM counted.qrtz_simple_triggers')
  expect(counts.map((row) => Number(row['times_triggered']))).toEqual([2_147_483_647])
})

test('a timed pause does not end one that a Java node has made after it resumed the trigger', async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const jobStore = storeIn('paused', 'quartzLocks')
  await using scheduler = await createScheduler({ logger: false, jobs: [work], clock, jobStore })
  await scheduler.scheduleJob(
    job,
    named('t')
      .startAt(new Date(scheduler.clock.now() + 3_600_000))
      .build(),
  )
  await jobStore.endPauses()
  await scheduler.pauseTrigger('t', { until: new Date(scheduler.clock.now() + 30_000) })
  // As Java does it, which does not know of the note.
  await database.query(`UPDATE paused.qrtz_triggers SET trigger_state = 'WAITING'`)
  expect(await jobStore.endPauses()).toEqual({ ended: [], nextMs: null })
  await database.query(`UPDATE paused.qrtz_triggers SET trigger_state = 'PAUSED'`)
  await clock.advance(30_000)
  expect(await jobStore.endPauses()).toEqual({ ended: [], nextMs: null })
  expect(await scheduler.getTriggerState('t')).toBe('PAUSED')
})
