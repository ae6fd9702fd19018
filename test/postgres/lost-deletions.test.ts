import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import {
  createScheduler,
  defineJob,
  JobBuilder,
  type JobDetail,
  jobKey,
  type Scheduler,
  type SchedulerEventMap,
  type Trigger,
  TriggerBuilder,
  triggerKey,
} from '../../src/index.ts'
import { postgresJobStore } from '../../src/postgres.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

/** The answer that says which jobs were deleted comes with that to the COMMIT, which is lost. */

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())

/** The next deletion of jobs that have lost their last trigger is committed, and the node is not told. */
let losesAnswer: () => Promise<void>
let scheduler: Scheduler
let errors: SchedulerEventMap['schedulerError'][]
let deleted: string[]

beforeEach(async () => {
  const schema = `lost${String(process.hrtime.bigint())}`
  const proxy = await TcpProxy.startFor(database.connectionString)
  const job = defineJob('job', () => {})
  const alone = defineJob('alone', () => {}, { disallowConcurrentExecution: true })
  scheduler = await createScheduler({
    jobs: [job, alone],
    logger: false,
    // What fires in these tests is woken by a signal.
    idleWaitMs: 3_600_000,
    jobStore: postgresJobStore({
      connectionString: proxy.through(database.connectionString),
      schema,
      // A prepared statement goes out without its text.
      preparedStatements: false,
    }),
  })
  onTestFinished(async () => {
    await scheduler.shutdown()
    await proxy[Symbol.asyncDispose]()
  })
  errors = []
  scheduler.events.on('schedulerError', (error) => errors.push(error))
  deleted = []
  scheduler.events.on('jobDeleted', (event) => deleted.push(event.jobKey.name))
  losesAnswer = () => proxy.cutOn('COMMIT\0', 'after', { behind: `DELETE FROM "${schema}".qrtz_job_details` })
})

const jobOf = (name: string, { jobType = 'job', durable = false } = {}): JobDetail =>
  JobBuilder.newJob(jobType).withIdentity(name).storeDurably(durable).build()

const triggerOf = (name: string, inMs = 3_600_000): Trigger =>
  TriggerBuilder.newTrigger()
    .withIdentity(name)
    .startAt(new Date(Date.now() + inMs))
    .build()

test('unscheduleJob answers, and tells of the job that went with its trigger', async () => {
  await scheduler.scheduleJob(jobOf('a'), triggerOf('a'))
  const lost = losesAnswer()
  const told = scheduler.events.next('jobDeleted')
  expect(await scheduler.unscheduleJob(triggerKey('a'))).toBe(true)
  await Promise.all([lost, told])
  expect(await scheduler.getJobDetail(jobKey('a'))).toBeNull()
})

test('unscheduleJobs tells of the jobs that are gone, and of none that has another trigger', async () => {
  await scheduler.scheduleJob(jobOf('a'), triggerOf('a'))
  await scheduler.scheduleJob(jobOf('b'), triggerOf('b'))
  await scheduler.scheduleJob(TriggerBuilder.newTrigger().withIdentity('b2').forJob('b').build())
  await scheduler.scheduleJob(jobOf('c'), triggerOf('c'))
  const lost = losesAnswer()
  expect(await scheduler.unscheduleJobs(['a', 'b', 'c'].map((name) => triggerKey(name)))).toBe(true)
  await lost
  await expect.poll(() => deleted, { timeout: 30_000 }).toHaveLength(2)
  expect(deleted).toEqual(['a', 'c'])
  expect(await scheduler.getJobDetail(jobKey('b'))).not.toBeNull()
})

test('scheduleJobs that gives a trigger to another job answers, and the loop is told of the trigger', async () => {
  await scheduler.start()
  await scheduler.addJob(jobOf('other', { durable: true }))
  await scheduler.scheduleJob(jobOf('a'), triggerOf('t'))
  const lost = losesAnswer()
  const told = scheduler.events.next('jobDeleted')
  const fired = scheduler.events.next('jobWasExecuted')
  await scheduler.scheduleJobs(
    [{ job: jobOf('other', { durable: true }), triggers: [triggerOf('t', 2000)] }],
    { replace: true },
  )
  await lost
  expect((await told).jobKey.name).toBe('a')
  // Behind the signal of the deletion comes the one that wakes the loop.
  expect((await fired).context.jobKey.name).toBe('other')
})

test('the last end of a job that excludes itself is told like any other', async () => {
  await scheduler.start()
  const lost = losesAnswer()
  const ended = Promise.all([
    scheduler.events.next('triggerFinalized'),
    scheduler.events.next('jobWasExecuted'),
    scheduler.events.next('jobDeleted'),
  ])
  await scheduler.scheduleJob(jobOf('a', { jobType: 'alone' }), triggerOf('a', 0))
  await ended
  await lost
  await scheduler.idle()
  expect([deleted, errors]).toEqual([['a'], []])
})
