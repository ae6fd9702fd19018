import {
  createScheduler,
  defineJob,
  JobBuilder,
  type Scheduler,
  SchedulerError,
  TriggerBuilder,
} from 'quartz-ts'
import { postgresJobStore } from 'quartz-ts/postgres'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startPostgres } from '../support/postgres-server.ts'

const kills = 6
const callers = 5

test('the server is killed again and again under load: what is stored fires once', async () => {
  // Commits reach the disk; the rest, transaction numbers among it, is lost with the server.
  const server = await startPostgres({ fsync: true })
  onTestFinished(() => server.remove())
  const fired = new Map<string, number>()
  const tick = defineJob('tick', ({ trigger: { key } }) => {
    fired.set(key.name, (fired.get(key.name) ?? 0) + 1)
  })
  const open = async (instanceId: string): Promise<Scheduler> => {
    const jobStore = postgresJobStore({ connectionString: server.connectionString })
    const scheduler = await createScheduler({ jobs: [tick], jobStore, instanceId, logger: false })
    onTestFinished(() => scheduler.shutdown({ timeoutMs: 10_000 }))
    await scheduler.start()
    return scheduler
  }
  const schedulers = await Promise.all(['a', 'b', 'c'].map(open))

  const stored: string[] = []
  /** Nobody can say whether these are stored. */
  const unknown: string[] = []
  const load = { goesOn: true, made: 0 }
  const schedule = async (scheduler: Scheduler, name: string): Promise<void> => {
    const trigger = TriggerBuilder.newTrigger().withIdentity(name)
    // Half of them fire in the call.
    if (load.made % 2 === 0) trigger.startAt(new Date(Date.now() + 300))
    try {
      await scheduler.scheduleJob(JobBuilder.newJob(tick).withIdentity(name).build(), trigger.build())
      stored.push(name)
    } catch (error) {
      if (!SchedulerError.is(error)) throw error
      if (error.code === 'ERR_COMMIT_UNKNOWN') unknown.push(name)
      else expect(error.code).toBe('ERR_DATABASE_UNAVAILABLE')
    }
  }
  const caller = async (scheduler: Scheduler): Promise<void> => {
    while (load.goesOn) await schedule(scheduler, `one-${String(++load.made)}`)
  }
  const callersEnd = Promise.all(
    schedulers.flatMap((scheduler) => Array.from({ length: callers }, () => caller(scheduler))),
  )
  for (let kill = 1; kill <= kills; kill++) {
    const before = stored.length
    await vi.waitUntil(() => stored.length > before + 500, { timeout: 60_000 })
    await server.crash()
    await server.start()
  }
  load.goesOn = false
  await callersEnd

  await vi.waitUntil(() => stored.every((name) => fired.has(name)), { timeout: 60_000 })
  const timesOf = (names: readonly string[]): Set<number> =>
    new Set(names.map((name) => fired.get(name) ?? 0))
  expect(timesOf(stored)).toEqual(new Set([1]))
  expect([...timesOf(unknown)].filter((times) => times > 1)).toEqual([])
  expect([...fired.keys()].filter((name) => !stored.includes(name) && !unknown.includes(name))).toEqual([])
})
