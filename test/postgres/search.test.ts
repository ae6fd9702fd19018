import pg from 'pg'
import {
  createScheduler,
  defineJob,
  inProcessThreadPool,
  JobBuilder,
  type JobExecutionContext,
  type Scheduler,
  TriggerBuilder,
} from 'quartz-ts'
import { expect, onTestFinished, test } from 'vitest'
import { jobDetail, namesOf, only, Testbed } from '../../src/testing/job-store/testbed.ts'
import { systemClock } from '../../src/time/clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { type PostgresStores, postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()
type Stores = Awaited<ReturnType<PostgresStores['prepare']>>

/** So long that whatever happens in time happens because a node looks or is woken. */
const idleWaitMs = 3_600_000

/** A user's transaction that holds a row until it is ended. */
async function lockRow(schema: string, text: string): Promise<() => Promise<void>> {
  const client = new pg.Client(stores.connection())
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(`SET search_path = ${schema}`)
  await client.query('BEGIN')
  expect((await client.query(`${text} FOR UPDATE`)).rowCount).toBe(1)
  return async () => {
    await client.query('ROLLBACK')
  }
}

async function testbed(newStore: Stores, instanceId: string): Promise<Testbed> {
  const store = newStore()
  onTestFinished(() => store.shutdown())
  const bed = new Testbed(store, new ManualClock(systemClock.now()), instanceId)
  await store.initialize(bed.context)
  await store.schedulerStarted()
  return bed
}

/** The schema that the next prepared stores have. */
let schemas = 0
async function prepare(): Promise<{ readonly newStore: Stores; readonly schema: string }> {
  return { newStore: await stores.prepare(), schema: `s${schemas++}` }
}

test('a job that another transaction holds hides nothing, and is looked for again', async () => {
  const { newStore, schema } = await prepare()
  const bed = await testbed(newStore, 'a')
  const job = jobDetail('held', { durable: true, disallowConcurrentExecution: true })
  const triggers = Array.from({ length: 20 }, (_, index) => bed.trigger(`h${index}`, { job, priority: 9 }))
  await bed.scheduleAll(triggers, job)
  await bed.schedule('other')
  const unlock = await lockRow(schema, `SELECT 1 FROM qrtz_job_details WHERE job_name = 'held'`)
  const { fired } = await bed.acquireAndFire({ maxCount: 1 })
  expect(namesOf(fired)).toEqual(['other'])
  expect((await bed.acquireAndFire()).lookAgainAtMs).toBe(bed.now())
  await unlock()
  expect(namesOf((await bed.acquireAndFire()).acquired)).toEqual(['h0'])
})

test('a trigger that another transaction holds hides nothing, and is looked for again', async () => {
  const { newStore, schema } = await prepare()
  const bed = await testbed(newStore, 'a')
  await bed.schedule('held', { priority: 9 })
  await bed.schedule('other')
  const unlock = await lockRow(schema, `SELECT 1 FROM qrtz_triggers WHERE trigger_name = 'held'`)
  expect(namesOf((await bed.acquireAndFire({ maxCount: 1 })).fired)).toEqual(['other'])
  expect((await bed.acquireAndFire()).lookAgainAtMs).toBe(bed.now())
  await unlock()
  const { fired, lookAgainAtMs } = await bed.acquireAndFire()
  expect([namesOf(fired), lookAgainAtMs]).toEqual([['held'], undefined])
})

/** On a machine with much else to do. A trigger that waited for the other node was late by 21 seconds. */
const latestMs = 5000

/** The runs of a scheduler's jobs, which can be waited for. */
class Runs {
  readonly names: string[] = []
  /** By how much each began late. */
  readonly lateMs: number[] = []
  readonly #waiting: (() => void)[] = []

  note({ triggerKey, scheduledFireTime }: JobExecutionContext): void {
    this.names.push(triggerKey.name)
    this.lateMs.push(Date.now() - scheduledFireTime.getTime())
    for (const tell of this.#waiting.splice(0)) tell()
  }

  async until(count: number): Promise<void> {
    while (this.names.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}

interface Node {
  readonly scheduler: Scheduler
  readonly runs: Runs
  /** Ends what `long` runs. */
  readonly end: () => void
}

async function node(newStore: Stores, instanceId: string, threads: number): Promise<Node> {
  const runs = new Runs()
  let end = (): void => {}
  const mayEnd = new Promise<void>((resolve) => {
    end = resolve
  })
  const short = defineJob('short', (context) => {
    runs.note(context)
  })
  const long = defineJob('long', async (context) => {
    runs.note(context)
    await mayEnd
  })
  const scheduler = await createScheduler({
    jobStore: newStore(),
    // As the test beds call it.
    schedulerName: 'conformance',
    instanceId,
    jobs: [short, long],
    idleWaitMs,
    threadPool: inProcessThreadPool({ size: threads }),
  })
  onTestFinished(async () => {
    end()
    await scheduler.shutdown()
  })
  return { scheduler, runs, end }
}

const triggerOf = (name: string, everyMs: number | null = null) => {
  const builder = TriggerBuilder.newTrigger().withIdentity(name)
  if (everyMs === null) return builder.build()
  return builder
    .withSchedule(SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(everyMs).repeatForever())
    .build()
}

test('what a lock kept from firing fires when that ends, though nobody says so', async () => {
  const { newStore, schema } = await prepare()
  const { scheduler, runs } = await node(newStore, 'a', 2)
  await scheduler.scheduleJob(JobBuilder.newJob('short').withIdentity('held').build(), triggerOf('held'))
  const unlock = await lockRow(schema, `SELECT 1 FROM qrtz_triggers WHERE trigger_name = 'held'`)
  await scheduler.start()
  await scheduler.scheduleJob(JobBuilder.newJob('short').withIdentity('other').build(), triggerOf('other'))
  await runs.until(1)
  await unlock()
  await runs.until(2)
  expect(runs.names).toEqual(['other', 'held'])
})

test('an idle node goes on with a trigger of one that has no thread left', async () => {
  const { newStore } = await prepare()
  const full = await node(newStore, 'full', 1)
  await full.scheduler.start()
  await full.scheduler.scheduleJob(
    JobBuilder.newJob('short').withIdentity('s').build(),
    triggerOf('often', 100),
  )
  await full.runs.until(3)
  const idle = await node(newStore, 'idle', 2)
  await idle.scheduler.start()
  const long = JobBuilder.newJob('long').withIdentity('l').onNodes(['full'], { required: true }).build()
  await full.scheduler.scheduleJob(long, triggerOf('long'))
  await idle.runs.until(idle.runs.names.length + 10)
  expect(idle.runs.names.at(-1)).toBe('often')
  expect(Math.max(...idle.runs.lateMs)).toBeLessThan(latestMs)
})

test('an idle node fires what one that is blocked has claimed', async () => {
  const { newStore } = await prepare()
  const blocked = await testbed(newStore, 'blocked')
  const idle = await node(newStore, 'idle', 2)
  const job = jobDetail('job', { jobType: 'short' })
  const trigger = blocked.trigger('t', { job, inMs: 1000 })
  await blocked.store.scheduleJobs([{ job, triggers: [trigger] }], { replace: false })
  const claim = only(await blocked.acquire({ noLaterThanMs: blocked.now() + 2000 }))
  await idle.scheduler.start()
  await idle.runs.until(1)
  expect(idle.runs.names).toEqual(['t'])
  expect(Math.max(...idle.runs.lateMs)).toBeLessThan(latestMs)
  expect(await blocked.fireKind(claim)).toBe('gone')
})
