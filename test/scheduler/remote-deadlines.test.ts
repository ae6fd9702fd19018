import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import {
  createScheduler,
  defineRemoteJob,
  JobBuilder,
  type RemoteJobContext,
  ramJobStore,
  TriggerBuilder,
} from '../../src/index.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { ManualClock } from '../../src/testing.ts'
import { temporaryFolder } from '../support/sqlite.ts'

/** A started scheduler of which one firing for each name goes on elsewhere. */
async function openSent(names: readonly string[], timeoutMs: (name: string) => number, jobStore: JobStore) {
  const clock = new ManualClock()
  const send = (context: RemoteJobContext) => {
    const reference = context.triggerKey.name
    return context.awaitResult({ reference, timeoutMs: timeoutMs(reference) })
  }
  const definition = defineRemoteJob('r', send, { sendsAtOnce: names.length })
  const scheduler = await createScheduler({ clock, logger: false, jobs: [definition], jobStore })
  onTestFinished(() => scheduler.shutdown())
  const job = JobBuilder.newJob(definition).withIdentity('j').storeDurably().build()
  const triggers = names.map((name) =>
    TriggerBuilder.newTrigger({ clock })
      .withIdentity(name)
      .forJob(job.key)
      .startAt(new Date(clock.now()))
      .build(),
  )
  await scheduler.scheduleJobs([{ job, triggers }])
  await scheduler.start()
  await scheduler.idle()
  return { scheduler, clock }
}

test.each([
  ['memory', () => ramJobStore()],
  ['SQLite', () => sqliteJobStore({ filename: ':memory:' })],
] as const)('firings end at their deadline behind 500 whose end is held up, on %s', async (_, makeStore) => {
  const heldUp = Array.from({ length: 500 }, (_each, index) => `held-${index}`)
  const later = ['later-1', 'later-2']
  const isLater = (name: string): boolean => later.includes(name)
  const { scheduler, clock } = await openSent(
    [...heldUp, ...later],
    (name) => (isLater(name) ? 3000 : 1000),
    makeStore(),
  )
  let goOn = (): void => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  onTestFinished(goOn)
  expect(await scheduler.cluster.executingJobs()).toHaveLength(502)
  const ended: string[] = []
  scheduler.listenerManager.addJobListener({
    name: 'slow',
    jobWasExecuted: ({ triggerKey: { name } }) => {
      ended.push(name)
      return isLater(name) ? undefined : held
    },
  })
  await clock.advance(2000)
  expect(ended).toHaveLength(500)
  await clock.advance(3000)
  expect(ended.slice(500).sort()).toEqual(later)
})

test('a firing is listed, and ends at its deadline, behind 500 that cannot be read', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const unreadable = Array.from({ length: 500 }, (_each, index) => `unreadable-${index}`)
  const { scheduler, clock } = await openSent(
    [...unreadable, 'later'],
    (name) => (name === 'later' ? 3000 : 1000),
    sqliteJobStore({ filename }),
  )
  const ended: string[] = []
  scheduler.listenerManager.addJobListener({
    name: 'ends',
    jobWasExecuted: ({ triggerKey: { name } }) => {
      ended.push(name)
    },
  })
  const database = new Database(filename)
  database.exec("UPDATE qrtz_awaited_results SET details = '{' WHERE reference <> 'later'")
  database.close()
  const listed = await scheduler.cluster.executingJobs()
  expect(listed.map(({ triggerKey: { name } }) => name)).toEqual(['later'])
  await clock.advance(5000)
  expect(ended).toEqual(['later'])
})

test('while one end is held up, each look at deadlines asks the store once', async () => {
  const jobStore = ramJobStore()
  const { awaitedResults } = jobStore
  if (awaitedResults === null) throw new Error('The store awaits no results.')
  const skips: (number | undefined)[] = []
  const overdue = awaitedResults.overdue.bind(awaitedResults)
  awaitedResults.overdue = (nowMs, skip) => {
    skips.push(skip)
    return overdue(nowMs, skip)
  }
  const { scheduler, clock } = await openSent(['one'], () => 1000, jobStore)
  let goOn = (): void => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  onTestFinished(goOn)
  scheduler.listenerManager.addJobListener({ name: 'slow', jobWasExecuted: () => held })
  await clock.advance(1500)
  skips.length = 0
  await clock.advance(3000)
  expect(new Set(skips)).toEqual(new Set([0]))
})
