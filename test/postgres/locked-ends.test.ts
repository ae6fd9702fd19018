import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { postgresDialect } from '../../src/jobstore/postgres/postgres-dialect.ts'
import { sqlNames } from '../../src/jobstore/sql/kernel/sql-names.ts'
import type { SqlStatement } from '../../src/jobstore/sql/kernel/statement.ts'
import { LockedEnds } from '../../src/jobstore/sql/tables/triggers/locked-ends.ts'
import { postgresJobStore } from '../../src/postgres.ts'
import { completionOf, jobDetail, Testbed } from '../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

const tables = ['qrtz_fired_triggers', 'qrtz_simple_triggers', 'qrtz_triggers', 'qrtz_job_details']

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
  const store = postgresJobStore({ connectionString: database.connectionString, listen: false })
  const bed = new Testbed(store, new ManualClock(), 'first')
  await bed.store.initialize(bed.context)
  await bed.store.shutdown()
})
afterAll(() => database[Symbol.asyncDispose]())
beforeEach(() => database.emptySchema('public'))

const job = jobDetail('once', { durable: false })
const others = jobDetail('others', { durable: false })

async function newBed(): Promise<Testbed> {
  const store = postgresJobStore({ connectionString: database.connectionString, listen: false })
  const bed = new Testbed(store, new ManualClock(), 'node')
  await bed.store.initialize(bed.context)
  onTestFinished(() => bed.store.shutdown())
  return bed
}

/** How many rows there are: executions, sub-rows, triggers, jobs. */
async function counts(): Promise<readonly number[]> {
  const list = tables.map((table) => `(SELECT count(*) FROM ${table})`)
  const [row] = await database.query(`SELECT json_build_array(${list.join(', ')}) AS counts`)
  return row?.['counts'] as readonly number[]
}

/** A session of somebody else, in a transaction. */
async function stranger(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.connectionString })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('BEGIN')
  return client
}

const written = { locked: [], passedOver: [] }

test('an execution that changed nothing ends with its trigger and its job, which is told', async () => {
  const bed = await newBed()
  await bed.schedule('once', { job })
  const bundle = await bed.start('once')
  expect(await bed.store.triggeredJobsComplete([completionOf(bundle, 'deleteTrigger')])).toEqual(written)
  expect(await counts()).toEqual([0, 0, 0, 0])
  expect(bed.signals.deletedJobs.map(String)).toEqual([job.key.toString()])
})

test.each([
  [
    'a trigger that got another time is kept',
    'triggers',
    "next_fire_time = 9, trigger_state = 'WAITING'",
    [0, 1, 1, 1],
  ],
  ['a job that became durable is kept', 'job_details', 'is_durable = true', [0, 0, 0, 1]],
  [
    'a job that asks for recovery goes with its last execution',
    'job_details',
    'requests_recovery = true',
    [0, 0, 0, 0],
  ],
  [
    'a row that says that its job forbids others ends',
    'fired_triggers',
    'is_nonconcurrent = true',
    [0, 0, 0, 0],
  ],
  [
    'an execution that is another node’s writes nothing',
    'fired_triggers',
    "instance_name = 'b'",
    [1, 1, 1, 1],
  ],
] as const)('%s', async (_, table, change, left) => {
  const bed = await newBed()
  await bed.schedule('once', { job })
  const bundle = await bed.start('once')
  await database.query(`UPDATE qrtz_${table} SET ${change}`)
  const end = completionOf(bundle, 'deleteTrigger')
  const passedOver = left[0] === 1 ? [end] : []
  expect(await bed.store.triggeredJobsComplete([end])).toEqual({ locked: [], passedOver })
  expect(await counts()).toEqual(left)
})

test('a job goes with the last of its triggers, whether they end together or not', async () => {
  const bed = await newBed()
  for (const name of ['a', 'b', 'c']) await bed.schedule(name, { job })
  const [a, b, c] = [await bed.start('a'), await bed.start('b'), await bed.start('c')]
  await bed.store.triggeredJobsComplete([completionOf(a, 'deleteTrigger')])
  expect(await counts()).toEqual([2, 2, 2, 1])
  await bed.store.triggeredJobsComplete([b, c].map((bundle) => completionOf(bundle, 'deleteTrigger')))
  expect(await counts()).toEqual([0, 0, 0, 0])
  expect(bed.signals.deletedJobs).toHaveLength(1)
})

test('an execution that is named twice ends once', async () => {
  const bed = await newBed()
  await bed.schedule('once', { job })
  const end = completionOf(await bed.start('once'), 'deleteTrigger')
  const { locked, passedOver } = await bed.store.triggeredJobsComplete([end, { ...end }])
  expect([locked.length, passedOver.length]).toEqual([0, 1])
  expect(await counts()).toEqual([0, 0, 0, 0])
  expect(bed.signals.deletedJobs).toHaveLength(1)
})

test.each(['fired_triggers', 'triggers', 'job_details'])(
  'while another session holds the row of one execution in %s, that one keeps all of its rows',
  async (table) => {
    const bed = await newBed()
    await bed.schedule('once', { job })
    await bed.schedule('others', { job: others })
    const held = completionOf(await bed.start('once'), 'deleteTrigger')
    const free = completionOf(await bed.start('others'), 'deleteTrigger')
    const session = await stranger()
    await session.query(`SELECT 1 FROM qrtz_${table} WHERE job_name = 'once' FOR UPDATE`)
    expect(await bed.store.triggeredJobsComplete([held, free])).toEqual({ locked: [held], passedOver: [] })
    expect(await counts()).toEqual([1, 1, 1, 1])
    await session.query('ROLLBACK')
    expect(await bed.store.triggeredJobsComplete([held])).toEqual(written)
    expect(await counts()).toEqual([0, 0, 0, 0])
  },
)

test('a job is kept whose next trigger was being stored while its last execution ended', async () => {
  const bed = await newBed()
  await bed.schedule('once', { job })
  const end = completionOf(await bed.start('once'), 'deleteTrigger')
  const session = await stranger()
  // As a schedule call in a user's transaction does.
  await session.query(`SELECT 1 FROM qrtz_job_details FOR NO KEY UPDATE;
    INSERT INTO qrtz_triggers SELECT sched_name, 'next', trigger_group, job_name, job_group, NULL, 9999999999999, -1, 5,
      'WAITING', 'SIMPLE', 1, 0, NULL, 0 FROM qrtz_triggers`)
  expect(await bed.store.triggeredJobsComplete([end])).toEqual({ locked: [end], passedOver: [] })
  await session.query('COMMIT')
  expect(await bed.store.triggeredJobsComplete([end])).toEqual(written)
  expect(await counts()).toEqual([0, 0, 1, 1])
})

test.each([1, 2])(
  'rows of %i ends are looked up by their keys in tables that the server believes to be empty',
  async (count) => {
    const bed = await newBed()
    await bed.schedule('once', { job })
    const bundle = await bed.start('once')
    await database.emptySchema('public')
    await database.query(`ANALYZE ${tables.join(', ')}`)
    const ends = new LockedEnds(
      { dialect: postgresDialect, names: sqlNames('test', {}), schedulerName: 'test' },
      'node',
    )
    const execution = { fireInstanceId: bundle.fireInstanceId, trigger: bundle.trigger, jobKey: job.key }
    const statements: SqlStatement[] = []
    const others = { ...execution, fireInstanceId: 'other', jobKey: new JobKey('other') }
    const executions = count === 1 ? [execution] : [execution, others]
    for (const program of [ends.endLast(executions), ends.endExecutions(executions)]) {
      for (let step = program.next(); step.done !== true; step = program.next({ rows: [{}], changes: 0 })) {
        statements.push(step.value)
      }
    }
    const session = await stranger()
    await session.query('SET LOCAL enable_seqscan = off')
    expect(statements).toHaveLength(3)
    for (const { text, values } of statements) {
      const { rows } = await session.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, [...values])
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      expect(plan).toContain('Index Cond')
      expect(plan).not.toContain('Seq Scan')
      // What is compared without an index is at most the rows of the ends, which are named in full before.
      expect(plan.replaceAll(/Join Filter: \(l\w* ?\.job_id = jobs\.id\)/g, '')).not.toContain('Join Filter')
      expect(plan).not.toMatch(/Index Cond: \(\(sched_name\)::text = \S+\)$/m)
    }
  },
)
