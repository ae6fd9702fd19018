import {
  createScheduler,
  defineJob,
  inProcessThreadPool,
  JobBuilder,
  type Scheduler,
  type SchedulerEventMap,
  type ShutdownOptions,
  TriggerBuilder,
} from 'quartz-ts'
import { postgresJobStore } from 'quartz-ts/postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

/** The server goes away while a node fires, or while it has ends to write, and does not come back: the node ends. */

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())

const executions = 30

interface Scene {
  readonly proxy: TcpProxy
  readonly scheduler: Scheduler
  readonly left: SchedulerEventMap['shutdownIncomplete'][]
  /** Schedules jobs for now, by a node of its own that never fires and has a connection of its own. */
  readonly schedule: (count: number) => Promise<void>
  /** Resolves when so many jobs run. */
  readonly running: (count: number) => Promise<void>
  readonly openGate: () => void
}

async function openScene(): Promise<Scene> {
  const schema = `away${String(process.hrtime.bigint())}`
  const proxy = await TcpProxy.startFor(database.connectionString)
  let openGate = (): void => {}
  const gate = new Promise<void>((resolve) => {
    openGate = resolve
  })
  let runs = 0
  const waiting: (() => void)[] = []
  const job = defineJob('job', async () => {
    runs++
    for (const look of waiting) look()
    await gate
  })
  const common = { jobs: [job], logger: false } as const
  const scheduler = await createScheduler({
    ...common,
    threadPool: inProcessThreadPool({ size: executions }),
    jobStore: postgresJobStore({
      connectionString: proxy.through(database.connectionString),
      schema,
      // What commits after the first check-in are firings and their ends.
      checkInIntervalMs: 60_000,
    }),
  })
  const caller = await createScheduler({
    ...common,
    jobStore: postgresJobStore({ connectionString: database.connectionString, schema }),
  })
  onTestFinished(async () => {
    openGate()
    await Promise.all([scheduler.shutdown(), caller.shutdown()])
    await proxy[Symbol.asyncDispose]()
  })
  const left: Scene['left'] = []
  scheduler.events.on('shutdownIncomplete', (what) => left.push(what))
  await scheduler.start()
  return {
    proxy,
    scheduler,
    left,
    openGate,
    schedule: async (count) => {
      await caller.scheduleJobs(
        Array.from({ length: count }, (_, index) => ({
          job: JobBuilder.newJob(job).withIdentity(`job-${index}`).build(),
          triggers: [TriggerBuilder.newTrigger().withIdentity(`trigger-${index}`).build()],
        })),
      )
    },
    running: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (runs >= count) resolve()
        }
        waiting.push(look)
        look()
      }),
  }
}

async function timeOf(shutdown: Promise<void>): Promise<number> {
  const startedMs = performance.now()
  await shutdown
  return performance.now() - startedMs
}

/** What a shutdown may take beyond its own time, on a machine with much else to do; it took minutes. */
const graceMs = 4000

test.each<[string, ShutdownOptions, number]>([
  ['at once without waiting', { waitForJobsToComplete: false }, 0],
  ['when its time is over', { waitForJobsToComplete: true, timeoutMs: 1500 }, 1500],
])('a shutdown ends %s while the COMMIT of a firing has no answer', async (_, options, limitMs) => {
  const { proxy, scheduler, schedule, left } = await openScene()
  const away = proxy.cutOn('COMMIT\0', 'after').then(() => {
    proxy.refuse()
  })
  await schedule(1)
  await away
  expect(await timeOf(scheduler.shutdown(options))).toBeLessThan(limitMs + graceMs)
  expect(left).toMatchObject([{ isStoreCutOff: true }])
  expect(proxy.connectionCount).toBe(0)
})

test('a shutdown ends when its time is over, and says how many ends of executions are not written', async () => {
  const { proxy, scheduler, schedule, running, openGate, left } = await openScene()
  await schedule(executions)
  await running(executions)
  proxy.refuse()
  openGate()
  const options = { waitForJobsToComplete: true, timeoutMs: 1500 }
  expect(await timeOf(scheduler.shutdown(options))).toBeLessThan(1500 + graceMs)
  expect(left).toEqual([{ executions: 0, completionsUnwritten: executions, isStoreCutOff: true }])
  expect(proxy.connectionCount).toBe(0)
})
