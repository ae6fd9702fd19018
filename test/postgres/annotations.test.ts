import { createScheduler, GroupMatcher, type Scheduler } from 'quartz-ts'
import { type ClusterScheduling, enableScheduling, scheduled } from 'quartz-ts/annotations'
import { ManualClock } from 'quartz-ts/testing'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()

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
  const deleted = fresh.scheduler.events.next('jobDeleted')
  await fresh.clock.advance(60_000)
  expect((await deleted).jobKey.name).toBe('removed')
  expect(await jobNames(fresh.scheduler)).toEqual(['added', 'kept'])
})

test('what an old instance took away before a new one was visible is there when that has started', async () => {
  const newStore = await stores.prepare()
  const fresh = await instance(newStore, 'new-1', ['added'])
  const old = await instance(newStore, 'old-1', ['kept'])
  await old.scheduler.start()
  expect(await jobNames(old.scheduler)).toEqual(['kept'])
  await fresh.scheduler.start()
  expect(await jobNames(old.scheduler)).toEqual(['added', 'kept'])
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
  expect(await jobNames(first.scheduler)).toEqual(names)
  const triggers = await first.scheduler.queryTriggers()
  expect(triggers.items.map(({ key }) => key.name)).toEqual(
    first.scheduling.tasks().map(({ triggerKey }) => triggerKey.name),
  )
})
