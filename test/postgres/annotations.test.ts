import { Client } from 'pg'
import { createScheduler, GroupMatcher, jobKey, type Scheduler } from 'quartz-ts'
import { type ClusterScheduling, enableScheduling, scheduled } from 'quartz-ts/annotations'
import { DelegatingJobStore } from 'quartz-ts/spi'
import { ManualClock } from 'quartz-ts/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Door } from '../executors/executor-fixture.ts'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()
const patienceMs = 30_000

interface Instance {
  readonly scheduler: Scheduler
  readonly scheduling: ClusterScheduling
  /** When it looks again for what nobody knows. */
  readonly clock: ManualClock
}

/** An instance whose code has tasks of these names; nothing of it is due for years. */
async function instance(
  newStore: Awaited<ReturnType<typeof stores.prepare>>,
  instanceId: string,
  names: readonly string[],
): Promise<Instance> {
  const clock = new ManualClock()
  const scheduler = await createScheduler({ logger: false, jobStore: newStore(), instanceId })
  onTestFinished(() => scheduler.shutdown())
  const instances = names.map((name) => ({
    task: scheduled({ cron: '@yearly', zone: 'UTC', name }, () => undefined),
  }))
  const scheduling = await enableScheduling({ cluster: scheduler, instances, clock })
  return { scheduler, scheduling, clock }
}

/** Has the instance look once more, and waits until it has. */
async function lookAgain({ clock }: Instance): Promise<void> {
  await clock.advance(60_000)
  await vi.waitFor(
    () => {
      expect(clock.timerCount).toBe(1)
    },
    { timeout: patienceMs },
  )
}

async function query(sql: string): Promise<void> {
  const client = new Client(stores.connection())
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

async function jobNames(scheduler: Scheduler): Promise<string[]> {
  const keys = await scheduler.getJobKeys(GroupMatcher.groupEquals('annotations'))
  return keys.map(({ name }) => name).toSorted()
}

test('instances of old and new code live together during a deployment', async () => {
  const newStore = await stores.prepare()
  const old = await instance(newStore, 'old-1', ['kept', 'removed'])
  await old.scheduler.start()
  const fresh = await instance(newStore, 'new-1', ['kept', 'added'])
  await fresh.scheduler.start()
  // The old instance still runs what the new one has not.
  expect(await jobNames(fresh.scheduler)).toEqual(['added', 'kept', 'removed'])
  await old.scheduler.shutdown()
  // An old one that starts again does not take away what a new one has.
  const again = await instance(newStore, 'old-2', ['kept', 'removed'])
  await again.scheduler.start()
  expect(await jobNames(fresh.scheduler)).toEqual(['added', 'kept', 'removed'])
  await again.scheduler.shutdown()
  await lookAgain(fresh)
  const deleted = fresh.scheduler.events.next('jobDeleted')
  await fresh.clock.advance(60_000)
  expect((await deleted).jobKey.name).toBe('removed')
  expect(await jobNames(fresh.scheduler)).toEqual(['added', 'kept'])
})

test('what other instances took away is there when the instance that has it has started', async () => {
  const newStore = await stores.prepare()
  const fresh = await instance(newStore, 'new-1', ['added'])
  const old = await instance(newStore, 'old-1', ['kept'])
  await old.scheduler.start()
  await old.scheduler.deleteJob(jobKey('added', 'annotations'))
  await fresh.scheduler.start()
  expect(await jobNames(old.scheduler)).toEqual(['added', 'kept'])
})

test('what only one instance has outlives its restart, with its pause', async () => {
  const newStore = await stores.prepare()
  const canary = await instance(newStore, 'new-1', ['added', 'kept'])
  await canary.scheduler.start()
  const old = await instance(newStore, 'old-1', ['kept'])
  await old.scheduler.start()
  await lookAgain(old)
  await canary.scheduler.pauseJob(jobKey('added', 'annotations'))
  await canary.scheduler.shutdown()
  await lookAgain(old)
  const again = await instance(newStore, 'new-2', ['added', 'kept'])
  await again.scheduler.start()
  await lookAgain(old)
  const { items } = await again.scheduler.queryTriggers()
  expect(items.map(({ key, state }) => [key.name.replace(/@.*/, ''), state])).toEqual([
    ['added', 'PAUSED'],
    ['kept', 'NORMAL'],
  ])
})

/** A store whose listing of jobs, which a look begins with, does first what the test says. */
class WatchedStore extends DelegatingJobStore {
  beforeLook: () => Promise<void> = () => Promise.resolve()

  override async queryJobs(
    ...query: Parameters<DelegatingJobStore['queryJobs']>
  ): ReturnType<DelegatingJobStore['queryJobs']> {
    const page = await super.queryJobs(...query)
    await this.beforeLook()
    return page
  }
}

/** An instance that has seen another one with a task of its own, which has ended. */
async function besideOneThatEnded(): Promise<{
  readonly store: WatchedStore
  readonly old: Instance
  readonly canary: () => Promise<Instance>
}> {
  const newStore = await stores.prepare()
  let started = 0
  const canary = async (): Promise<Instance> => {
    const fresh = await instance(newStore, `new-${++started}`, ['added', 'kept'])
    await fresh.scheduler.start()
    return fresh
  }
  const first = await canary()
  const store = new WatchedStore(newStore())
  const old = await instance(() => store, 'old-1', ['kept'])
  await old.scheduler.start()
  await first.scheduler.shutdown()
  return { store, old, canary }
}

test('a look that fails between two does not let them count as neighbours', async () => {
  const { store, old, canary } = await besideOneThatEnded()
  await lookAgain(old)
  const second = await canary()
  store.beforeLook = () => Promise.reject(new Error('away'))
  await lookAgain(old)
  store.beforeLook = () => Promise.resolve()
  await second.scheduler.shutdown()
  await lookAgain(old)
  expect(await jobNames(old.scheduler)).toEqual(['added', 'kept'])
})

test('a start during a look does not make two looks of it, one right after the other', async () => {
  const { store, old } = await besideOneThatEnded()
  const [isLooking, mayGoOn] = [new Door(), new Door()]
  store.beforeLook = () => {
    isLooking.open()
    return mayGoOn.opened
  }
  await old.clock.advance(60_000)
  await isLooking.opened
  await old.scheduler.standby()
  const started = old.scheduler.start()
  mayGoOn.open()
  await started
  expect(await jobNames(old.scheduler)).toEqual(['added', 'kept'])
})

test('an instance that was taken for failed stores again what was taken away meanwhile', async () => {
  const newStore = await stores.prepare()
  const fast = (): ReturnType<typeof newStore> => newStore({ checkInIntervalMs: 300, failedAfterMs: 1000 })
  const frozen = await instance(fast, 'frozen', ['alone', 'cancelled'])
  await frozen.scheduler.start()
  await frozen.scheduling.tasks()[1]?.cancel()
  await frozen.scheduler.deleteJobs(['alone', 'cancelled'].map((name) => jobKey(name, 'annotations')))
  const stored = frozen.scheduler.events.next('jobAdded')
  await query(`DELETE FROM ${stores.lastSchema()}.qrtz_scheduler_state`)
  await stored
  await vi.waitFor(
    async () => {
      expect((await frozen.scheduler.queryTriggers()).items).toHaveLength(1)
    },
    { timeout: patienceMs },
  )
  expect(await jobNames(frozen.scheduler)).toEqual(['alone'])
})

test('nothing is deleted while a node lives whose job types cannot be read', async () => {
  const newStore = await stores.prepare()
  const gone = await instance(newStore, 'gone', ['elsewhere'])
  await gone.scheduler.start()
  await gone.scheduler.shutdown()
  await query(
    `INSERT INTO ${stores.lastSchema()}.qrtz_scheduler_state
       (sched_name, instance_name, boot_id, last_checkin_time, checkin_interval, node_info)
     VALUES ('QuartzScheduler', 'of tomorrow', 'b', ${Date.now() + 3_600_000}, 1000, '{"version":"9.0.0"}')`,
  )
  const old = await instance(newStore, 'old', ['kept'])
  await old.scheduler.start()
  await lookAgain(old)
  await lookAgain(old)
  expect(await jobNames(old.scheduler)).toEqual(['elsewhere', 'kept'])
  await query(`DELETE FROM ${stores.lastSchema()}.qrtz_scheduler_state WHERE instance_name = 'of tomorrow'`)
  await lookAgain(old)
  await old.clock.advance(60_000)
  await vi.waitFor(
    async () => {
      expect(await jobNames(old.scheduler)).toEqual(['kept'])
    },
    { timeout: patienceMs },
  )
})

test('instances that start at once store each job and trigger once', async () => {
  const newStore = await stores.prepare()
  const names = ['a', 'b', 'c', 'd', 'e']
  const before = await instance(newStore, 'before', ['z'])
  await before.scheduler.start()
  await before.scheduler.shutdown()
  const instances = await Promise.all(['1', '2', '3'].map((id) => instance(newStore, `node-${id}`, names)))
  await Promise.all(instances.map(({ scheduler }) => scheduler.start()))
  const [first] = instances
  if (first === undefined) return expect.fail('there is an instance')
  const deleted = first.scheduler.events.next('jobDeleted')
  await first.clock.advance(60_000)
  await deleted
  expect(await jobNames(first.scheduler)).toEqual(names)
  const triggers = await first.scheduler.queryTriggers()
  expect(triggers.items.map(({ key }) => key.name)).toEqual(
    first.scheduling.tasks().map(({ triggerKey }) => triggerKey.name),
  )
})
