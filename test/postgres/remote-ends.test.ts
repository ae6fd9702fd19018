import { expect, onTestFinished, test } from 'vitest'
import { createScheduler, defineRemoteJob, JobBuilder, jobKey, type Scheduler } from '../../src/index.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { CompletionAnswer, JobCompletion } from '../../src/jobstore/job-store.ts'
import { postgresJobStore } from '../../src/postgres.ts'
import { closedGate } from '../support/held-statement.ts'
import { latch } from '../support/latch.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

const key = jobKey('orders')
const reference = 'run'

interface Nodes {
  readonly one: Scheduler
  readonly other: Scheduler
  readonly database: TestDatabase
  /** What listeners and events were told of ends, with the node. */
  readonly told: string[]
  /** Resolves when the second node has tried to end a firing. */
  readonly otherEnds: Promise<void>
}

class Witness extends DelegatingJobStore {
  readonly ended = latch()

  override async triggeredJobsComplete(completions: readonly JobCompletion[]): Promise<CompletionAnswer> {
    const answer = await super.triggeredJobsComplete(completions)
    this.ended.open()
    return answer
  }
}

/** Two nodes, of which the first one runs. Their job, which is stored, goes on elsewhere for so long. */
async function open(timeoutMs: number): Promise<Nodes> {
  const database = await freshDatabase()
  const told: string[] = []
  const node = async (instanceId: string): Promise<{ scheduler: Scheduler; store: Witness }> => {
    const job = defineRemoteJob(
      'r',
      (context) => context.awaitResult({ reference, timeoutMs, onTimeout: 'retry' }),
      {
        retry: { attempts: 2, backoff: { initialMs: 3_600_000 } },
      },
    )
    const { connectionString } = database
    const store = new Witness(
      postgresJobStore({ connectionString, history: { record: 'all' }, jobStatus: {} }),
    )
    const scheduler = await createScheduler({ instanceId, jobs: [job], jobStore: store, logger: false })
    for (const name of ['jobWasExecuted', 'jobRetryScheduled', 'jobInterrupted'] as const) {
      scheduler.events.on(name, () => told.push(`${name} on ${instanceId}`))
    }
    return { scheduler, store }
  }
  const { scheduler: one } = await node('one')
  const { scheduler: other, store } = await node('other')
  onTestFinished(async () => {
    await Promise.all([one.shutdown(), other.shutdown()])
    await database[Symbol.asyncDispose]()
  })
  await one.addJob(JobBuilder.newJob('r').withIdentity(key).storeDurably().build())
  await one.start()
  return { one, other, database, told, otherEnds: store.ended.promise }
}

/** Executions that the status of jobs has counted, and those in the history, when all is written. */
async function counts({ database, one, other }: Nodes): Promise<unknown> {
  await Promise.all([one.shutdown(), other.shutdown()])
  return database.query(
    `SELECT (SELECT sum(succeeded + failed + interrupted + timed_out) FROM qrtz_job_days)::int AS counted,
       (SELECT count(*) FROM qrtz_execution_history)::int AS kept`,
  )
}

/** The end that the first node is writing is held up. */
const heldUp = (database: TestDatabase) =>
  closedGate(database, { on: 'INSERT', table: 'qrtz_execution_history' })

test('of two nodes that see a deadline pass, one tells of the end', async () => {
  const nodes = await open(1)
  const { one, other, database, told, otherEnds } = nodes
  const gate = await heldUp(database)
  await one.triggerJob(key)
  await gate.reached()
  // Its first look finds the firing, of which the first node has locked the row.
  await other.start()
  await otherEnds
  const executed = one.events.next('jobWasExecuted')
  await gate.open()
  await executed
  await Promise.all([one.idle(), other.idle()])
  expect(told).toEqual(['jobWasExecuted on one', 'jobRetryScheduled on one'])
  expect(await counts(nodes)).toEqual([{ counted: 1, kept: 1 }])
})

test.each<[string, (node: Scheduler) => Promise<boolean>]>([
  ['a result', (node) => node.reportResult(reference, { error: 'no money' })],
  ['an interrupt', (node) => node.interrupt(key)],
])('of a result and %s that meet on two nodes, one ends the firing and tells so', async (_, act) => {
  const nodes = await open(3_600_000)
  const { one, other, database, told } = nodes
  await other.start()
  await one.triggerJob(key)
  await Promise.all([one.idle(), other.idle()])
  expect(await one.awaitsResult(reference)).toBe(true)
  const gate = await heldUp(database)
  const first = one.reportResult(reference, { result: 'paid' })
  await gate.reached()
  const second = act(other)
  // It has found the firing: nothing but the row is in its way.
  expect(await other.awaitsResult(reference)).toBe(true)
  await gate.open()
  expect(await Promise.all([first, second])).toEqual([true, false])
  expect(told).toEqual(['jobWasExecuted on one'])
  expect(await counts(nodes)).toEqual([{ counted: 1, kept: 1 }])
})
