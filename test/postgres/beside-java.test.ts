import {
  createScheduler,
  defineJob,
  JobBuilder,
  jobKey,
  type Scheduler,
  type SchedulerBehaviour,
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

const work = defineJob('work', () => undefined)
const mixed = { name: 'JobPersistenceError', code: 'ERR_MIXED_LOCKING' }
const refused = { name: 'InvalidArgumentError', code: 'ERR_INVALID_JOB_DATA' }

async function open(
  schema: string,
  locking: 'skipLocked' | 'quartzLocks',
  behaviour: SchedulerBehaviour = {},
): Promise<Scheduler> {
  const { connectionString } = database
  const jobStore = postgresJobStore({ connectionString, schema, locking })
  const scheduler = await createScheduler({ jobs: [work], logger: false, jobStore, ...behaviour })
  onTestFinished(() => scheduler.shutdown())
  return scheduler
}

/** A row as Java Quartz writes it, which was written so many milliseconds ago. */
async function javaChecksIn(schema: string, agoMs: number, name = 'java'): Promise<void> {
  // In one statement: a node that looks in between would find no row.
  await database.query(
    `INSERT INTO ${schema}.qrtz_scheduler_state (sched_name, instance_name, last_checkin_time, checkin_interval)
     VALUES ('QuartzScheduler', '${name}', (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${agoMs}, 7500)
     ON CONFLICT (sched_name, instance_name) DO UPDATE SET last_checkin_time = excluded.last_checkin_time`,
  )
}

const job = JobBuilder.newJob(work).withIdentity('job').storeDurably().build()
const trigger = (name: string): TriggerBuilder => TriggerBuilder.newTrigger().withIdentity(name).forJob('job')
const later = new Date(Date.now() + 86_400_000)

test('a scheduler that is not started changes nothing while a Java node does not see its locks', async () => {
  const scheduler = await open('unstarted', 'skipLocked')
  await scheduler.scheduleJob(job, trigger('before').startAt(later).build())
  await javaChecksIn('unstarted', 1000)
  for (const change of [
    () => scheduler.triggerJob('job'),
    () => scheduler.scheduleJob(trigger('another').startAt(later).build()),
    () => scheduler.pauseAll(),
    () => scheduler.deleteJob('job'),
  ]) {
    await expect(change()).rejects.toMatchObject({
      ...mixed,
      message: expect.stringMatching(
        /^Nothing was changed: 'java', a node of Java Quartz, .*--config/s,
      ) as string,
    })
  }
  expect((await scheduler.queryTriggers()).items).toMatchObject([
    { key: { name: 'before' }, state: 'NORMAL' },
  ])
  // Its interval, what Java adds to that, and what its clock may be off.
  await javaChecksIn('unstarted', 31_000)
  expect(await scheduler.pauseJob('job')).toBe(true)
  await javaChecksIn('unstarted', -3_600_000)
  expect(await scheduler.deleteJob('job')).toBe(true)
})

test('nor does one whose start waits, or was refused', async () => {
  const scheduler = await open('starting', 'skipLocked')
  await scheduler.addJob(job)
  await javaChecksIn('starting', 1000)
  let isRefused = false
  const starting = scheduler.start().catch((error: unknown) => {
    isRefused = true
    throw error
  })
  const refusal = expect(starting).rejects.toMatchObject(mixed)
  await expect(scheduler.triggerJob('job')).rejects.toMatchObject(mixed)
  await vi.waitFor(
    async () => {
      await javaChecksIn('starting', 0)
      expect(isRefused).toBe(true)
    },
    { timeout: 60_000, interval: 200 },
  )
  await refusal
  await expect(scheduler.triggerJob('job')).rejects.toMatchObject(mixed)
})

test('nor does it remove a node, which would store what that left', async () => {
  const scheduler = await open('removing', 'skipLocked')
  await javaChecksIn('removing', 20_000, 'overdue')
  await javaChecksIn('removing', 1000)
  await expect(scheduler.cluster.remove('overdue')).rejects.toMatchObject(mixed)
  expect((await scheduler.cluster.nodes()).map(({ instanceId }) => instanceId).sort()).toEqual([
    'java',
    'overdue',
  ])
})

test('nor does one in a transaction of the caller', async () => {
  const scheduler = await open('joined', 'skipLocked')
  await javaChecksIn('joined', 1000)
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: database.connectionString })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('BEGIN')
  const jobs = scheduler.withTransaction(client)
  await expect(jobs.scheduleJob(job, trigger('t').startAt(later).build())).rejects.toMatchObject(mixed)
  await client.query('ROLLBACK')
})

test('with quartzLocks it changes what it likes beside a Java node, with strings as data', async () => {
  const scheduler = await open('strings', 'quartzLocks')
  await javaChecksIn('strings', 1000)
  await scheduler.scheduleJob(job, trigger('t').startAt(later).build())
  await scheduler.triggerJob('job', { to: 'me' })
  const [row] = await database.query(
    `SELECT convert_from(job_data, 'LATIN1') AS data FROM strings.qrtz_triggers WHERE job_data IS NOT NULL`,
  )
  expect(row?.['data']).toMatch(/^to=me$/m)
  await expect(scheduler.triggerJob('job', { to: 1 })).rejects.toMatchObject(refused)
})

test('nothing with data is stored where Java nodes serialize theirs, and they read what has none', async () => {
  const before = await open('serializing', 'quartzLocks')
  await before.addJob(job)
  await before.shutdown()
  // Java writes an empty map as well.
  await database.query(`UPDATE serializing.qrtz_job_details SET job_data = '\\xaced00057372'::bytea`)
  const told: unknown[] = []
  const logger = { debug() {}, info() {}, error() {}, warn: (_: unknown, text: unknown) => told.push(text) }
  const scheduler = await open('serializing', 'quartzLocks', { logger })
  expect(told).toEqual([expect.stringContaining('Java nodes on these tables serialize job data') as string])
  const other = JobBuilder.newJob(work).withIdentity('other').storeDurably()
  await scheduler.addJob(other.build())
  await expect(scheduler.triggerJob('other', { to: 'me' })).rejects.toMatchObject({
    ...refused,
    message: expect.stringMatching(/serialize job data.*such as "?'?to.*useProperties=true/s) as string,
  })
  await expect(
    scheduler.addJob(other.usingJobData('to', 'me').build(), { replace: true }),
  ).rejects.toMatchObject(refused)
  await scheduler.scheduleJob(trigger('plain').forJob('other').startAt(later).build())
  // By whom it was run is a note, which is left out.
  await scheduler.triggerJob('other', {}, { by: 'ann' })
  const stored = await database.query('SELECT count(job_data) AS data FROM serializing.qrtz_triggers')
  expect(stored).toEqual([{ data: '0' }])
  expect(await scheduler.pauseJob('other')).toBe(true)
  expect(await scheduler.deleteJob(jobKey('job'))).toBe(true)
})
