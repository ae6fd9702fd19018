import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { JobCompletion } from '../../src/jobstore/job-store.ts'
import type { SqlProgram } from '../../src/jobstore/sql/kernel/statement.ts'
import { completionOf, jobDetail, type Testbed } from '../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { closedGate, statementAtGate } from '../support/held-statement.ts'
import { patientBed } from '../support/patient-bed.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

const clock = new ManualClock()
/** As it is while a test runs whose ends wait at the gate before they delete the row of the execution. */
const ends = { areHeld: false }

let database: TestDatabase
let one: Testbed
let other: Testbed
beforeAll(async () => {
  database = await freshDatabase()
  one = await patientBed(database, { instanceId: 'one', clock, around })
  other = await patientBed(database, { instanceId: 'other', clock, around })
})
afterAll(async () => {
  await one.store.shutdown()
  await other.store.shutdown()
  await database[Symbol.asyncDispose]()
})
beforeEach(() => database.emptySchema('public'))

function around<Answer>(program: SqlProgram<Answer>): SqlProgram<Answer> {
  return ends.areHeld ? heldBeforeDelete(program) : program
}

function* heldBeforeDelete<Answer>(program: SqlProgram<Answer>): SqlProgram<Answer> {
  let step = program.next()
  while (step.done !== true) {
    if (/^\s*DELETE FROM \S*fired_triggers/.test(step.value.text)) yield statementAtGate
    step = program.next(yield step.value)
  }
  return step.value
}

const job = jobDetail('job', { durable: true, disallowConcurrentExecution: true })

/** The end of an execution of the job, which has been deleted since it began. */
async function outlived(): Promise<JobCompletion> {
  await one.schedule('old', { job })
  const end = completionOf(await one.start('old'))
  await one.store.deleteJobs([job.key])
  return end
}

/** Ends it, also if another session holds a row that it needs, as the scheduler does. */
async function insist(end: JobCompletion): Promise<void> {
  while ((await one.store.triggeredJobsComplete([end])).locked.length > 0);
}

async function mayFire(name: string): Promise<void> {
  expect(await other.state(name)).toBe('NORMAL')
  expect(await other.acquireNames({ noLaterThanMs: clock.now() + 1000 })).toEqual([name])
  expect(await database.query(`SELECT 1 FROM qrtz_fired_triggers WHERE state = 'EXECUTING'`)).toEqual([])
}

test('a trigger may fire whose job was stored anew while an execution of the former one ended', async () => {
  const end = await outlived()
  const gate = await closedGate(database, { on: 'INSERT', table: 'qrtz_triggers' })
  const stored = other.store.scheduleJobs([{ job, triggers: [other.trigger('new', { job })] }], {
    replace: false,
  })
  await gate.reached()
  // It finds no job: that is not committed yet.
  const { locked } = await one.store.triggeredJobsComplete([end])
  await gate.open()
  await stored
  if (locked.length > 0) await insist(end)
  await mayFire('new')
})

test('a trigger may fire that a user stored with its job while an execution of the former one ended', async () => {
  const end = await outlived()
  const client = new pg.Client({ connectionString: database.connectionString })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('BEGIN')
  const joined = other.store.joinTransaction(client)
  await joined.addJob(job, { replace: false })
  await joined.scheduleJobs([{ job: null, triggers: [other.trigger('new', { job })] }], { replace: false })
  const { locked } = await one.store.triggeredJobsComplete([end])
  await client.query('COMMIT')
  if (locked.length > 0) await insist(end)
  await mayFire('new')
})

test('a trigger may fire that was stored after the end of an execution had found its job gone', async () => {
  const end = await outlived()
  const gate = await closedGate(database)
  ends.areHeld = true
  onTestFinished(() => {
    ends.areHeld = false
  })
  const ended = insist(end)
  await gate.reached()
  ends.areHeld = false
  await other.store.addJob(job, { replace: false })
  await other.schedule('new', { job })
  expect(await other.state('new')).toBe('BLOCKED')
  await gate.open()
  await ended
  await mayFire('new')
})
