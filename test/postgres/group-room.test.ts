import { createScheduler, defineJob, JobBuilder, type JobDetail, TriggerBuilder } from 'quartz-ts'
import { postgresJobStore } from 'quartz-ts/postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { closedGate } from '../support/held-statement.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

/** So long that whatever happens in time happens because the loop is woken. */
const idleWaitMs = 3_600_000

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())

const jobOf = (name: string, group: string): JobDetail =>
  JobBuilder.newJob('work').withIdentity(name, group).build()

test('a trigger that is stored while an execution of its group ends runs once that has ended', async () => {
  const ran: string[] = []
  let endFirst = (): void => {}
  const firstMayEnd = new Promise<void>((resolve) => {
    endFirst = resolve
  })
  const work = defineJob('work', async ({ jobKey }) => {
    ran.push(jobKey.name)
    if (jobKey.name === 'first') await firstMayEnd
  })
  const scheduler = await createScheduler({
    logger: false,
    jobs: [work],
    jobStore: postgresJobStore({
      connectionString: database.connectionString,
      jobGroupLimits: { reports: 1 },
      history: { record: 'all' },
      // The end waits at the gate for as long as the test needs, and is not run again.
      lockTimeoutMs: 60_000,
    }),
    idleWaitMs,
  })
  onTestFinished(() => scheduler.shutdown())
  const begins = (name: string): Promise<unknown> =>
    scheduler.events.next('jobToBeExecuted', ({ context }) => context.jobKey.name === name)
  await scheduler.start()
  const first = begins('first')
  await scheduler.scheduleJob(
    jobOf('first', 'reports'),
    TriggerBuilder.newTrigger().withIdentity('first').build(),
  )
  await first
  // The row of the execution is deleted by then, and the deletion is not committed.
  const gate = await closedGate(database, { on: 'INSERT', table: 'qrtz_execution_history' })
  endFirst()
  await gate.reached()
  const other = begins('other')
  const second = begins('second')
  await scheduler.scheduleJob(
    jobOf('second', 'reports'),
    TriggerBuilder.newTrigger().withIdentity('second').build(),
  )
  // A search that finds this one has found the group of the second one full.
  await scheduler.scheduleJob(
    jobOf('other', 'others'),
    TriggerBuilder.newTrigger()
      .withIdentity('other')
      .startAt(new Date(Date.now() + 100))
      .build(),
  )
  await other
  expect(ran).toEqual(['first', 'other'])
  await gate.open()
  await second
})
