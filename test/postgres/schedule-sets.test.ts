import {
  createScheduler,
  defineJob,
  defineSchedule,
  GroupMatcher,
  type Reconciliation,
  type ScheduleDefinition,
  type Scheduler,
  triggerKey,
} from 'quartz-ts'
import { DelegatingJobStore, type JobStoreOperation } from 'quartz-ts/spi'
import { ManualClock } from 'quartz-ts/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { closedGate } from '../support/held-statement.ts'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()
const work = defineJob('work', () => {})

interface Node {
  readonly scheduler: Scheduler
  /** When it looks again at sets that others hold. */
  readonly clock: ManualClock
}

class FailingStore extends DelegatingJobStore {
  isAway = false
  override putPlanned(
    ...plan: Parameters<DelegatingJobStore['putPlanned']>
  ): ReturnType<DelegatingJobStore['putPlanned']> {
    return this.isAway ? Promise.reject(new Error('away')) : super.putPlanned(...plan)
  }
}

type Plans = Readonly<Record<string, string>>

/** Nothing of it is due for months. */
async function node(
  newStore: Awaited<ReturnType<typeof stores.prepare>>,
  instanceId: string,
  plans: Plans,
  version?: number,
): Promise<Node> {
  const clock = new ManualClock()
  const schedules = Object.entries(plans).map(([key, cron]) =>
    defineSchedule(work, { key, cron, zone: 'UTC' }),
  )
  const scheduler = await createScheduler({
    logger: false,
    clock,
    instanceId,
    jobStore: newStore(),
    jobs: [work],
    schedules: { schedules, ...(version !== undefined && { version }) },
  })
  onTestFinished(() => scheduler.shutdown())
  await scheduler.start()
  return { scheduler, clock }
}

/** The jobs with the months of their next fire times. */
async function stored(scheduler: Scheduler): Promise<string[]> {
  const keys = await scheduler.getJobKeys(GroupMatcher.anyGroup())
  const texts = keys.map(async ({ name }) => {
    const next = (await scheduler.getTrigger(triggerKey(name)))?.nextFireTime
    return `${name} ${next?.toISOString().slice(5, 7) ?? 'none'}`
  })
  return (await Promise.all(texts)).toSorted()
}

const inMonth = (month: number): string => `0 0 1 ${month} *`
const oldPlans = { kept: inMonth(7), changed: inMonth(7), removed: inMonth(7) }
const newPlans = { kept: inMonth(7), changed: inMonth(8), added: inMonth(7) }
const asOld = ['changed 07', 'kept 07', 'removed 07']
const asNew = ['added 07', 'changed 08', 'kept 07']

test('old code beside new changes nothing, and takes over only when no node has the new code', async () => {
  const newStore = await stores.prepare()
  const old = await node(newStore, 'old-1', oldPlans)
  expect(await stored(old.scheduler)).toEqual(asOld)
  const fresh = await node(newStore, 'new-1', newPlans)
  expect(await stored(fresh.scheduler)).toEqual(asNew)
  const again = await node(newStore, 'old-2', oldPlans)
  expect(await stored(fresh.scheduler)).toEqual(asNew)
  await fresh.scheduler.shutdown()
  const third = await node(newStore, 'old-3', oldPlans)
  // The nodes with the new code may only be restarting.
  expect(await stored(third.scheduler)).toEqual(asNew)
  const deleted = again.scheduler.events.next('jobDeleted')
  await again.clock.advance(60_000)
  expect((await deleted).jobKey.name).toBe('added')
  expect(await stored(third.scheduler)).toEqual(asOld)
})

test('of two versions the higher one is in force at once, however often each was declared', async () => {
  const newStore = await stores.prepare()
  const fresh = await node(newStore, 'new-1', newPlans, 2)
  const old = await node(newStore, 'old-1', oldPlans, 1)
  expect(await stored(old.scheduler)).toEqual(asNew)
  await fresh.scheduler.shutdown()
  const deleted = old.scheduler.events.next('jobDeleted')
  await old.clock.advance(60_000)
  await deleted
  expect(await stored(old.scheduler)).toEqual(asOld)
  const back = await node(newStore, 'new-2', newPlans, 2)
  expect(await stored(back.scheduler)).toEqual(asNew)
  await expect(old.scheduler.reconcile('default', [], { version: 1 })).resolves.toMatchObject({
    deferred: true,
  })
  await expect(old.scheduler.reconcile('default', [], { version: 1, dryRun: true })).resolves.toMatchObject({
    deferred: true,
  })
  expect(await stored(back.scheduler)).toEqual(asNew)
})

test('an older program that declares the same does not let one of yet another content win over the newer', async () => {
  const newStore = await stores.prepare()
  await node(newStore, 'new', newPlans, 3)
  await node(newStore, 'same', newPlans, 1)
  const old = await node(newStore, 'old', oldPlans, 2)
  expect(await stored(old.scheduler)).toEqual(asNew)
})

test('a record that was lost is found again in the marks of the jobs', async () => {
  const newStore = await stores.prepare()
  const store = newStore()
  const { scheduler } = await node(() => store, 'one', oldPlans)
  const { notes } = store
  const [record] = (await notes?.list('schedules')) ?? []
  await notes?.delete('schedules', 'default', record?.version ?? Number.NaN)
  const { removed } = await scheduler.reconcile('default', [
    defineSchedule(work, { key: 'kept', cron: oldPlans.kept, zone: 'UTC' }),
  ])
  expect(removed.map(({ name }) => name)).toEqual(['changed', 'removed'])
  expect(await stored(scheduler)).toEqual(['kept 07'])
})

test('nodes that start at once store each schedule once, whatever they declare', async () => {
  const newStore = await stores.prepare()
  const ids = Array.from({ length: 6 }, (_, index) => `node-${index}`)
  const nodes = await Promise.all(
    ids.map((id, index) => node(newStore, id, index % 2 === 0 ? oldPlans : newPlans, 1 + (index % 2))),
  )
  const [first = expect.fail('there are nodes')] = nodes
  expect(await stored(first.scheduler)).toEqual(asNew)
})

test('a process may go back to a form that it has declared before, unless another node has the newer one', async () => {
  const newStore = await stores.prepare()
  const { scheduler } = await node(newStore, 'one', oldPlans)
  const declare = (month: number): Promise<Reconciliation> =>
    scheduler.reconcile('s', [defineSchedule(work, { key: 'toggled', cron: inMonth(month), zone: 'UTC' })])
  for (const month of [7, 8, 7]) {
    expect((await declare(month)).deferred).toBe(false)
    expect(await stored(scheduler)).toContain(`toggled 0${month}`)
  }
  const other = await node(newStore, 'two', oldPlans)
  await other.scheduler.reconcile('s', [
    defineSchedule(work, { key: 'toggled', cron: inMonth(7), zone: 'UTC' }),
  ])
  expect((await declare(8)).deferred).toBe(true)
  expect(await stored(scheduler)).toContain('toggled 07')
})

test('a process goes back at once to what it declared before a form that failed half way', async () => {
  const newStore = await stores.prepare()
  const store = new FailingStore(newStore())
  const { scheduler } = await node(() => store, 'one', oldPlans)
  const schedules = (plans: Plans): ScheduleDefinition[] =>
    Object.entries(plans).map(([key, cron]) => defineSchedule(work, { key, cron, zone: 'UTC' }))
  store.isAway = true
  await expect(scheduler.reconcile('default', schedules(newPlans))).rejects.toThrow('away')
  store.isAway = false
  expect((await scheduler.reconcile('default', schedules(oldPlans))).deferred).toBe(false)
})

test('a process that declares its set over and over leaves it to new code that has not started yet', async () => {
  const newStore = await stores.prepare()
  const old = await node(newStore, 'old', oldPlans)
  const schedules = Object.entries(oldPlans).map(([key, cron]) =>
    defineSchedule(work, { key, cron, zone: 'UTC' }),
  )
  expect((await old.scheduler.reconcile('default', schedules)).deferred).toBe(false)
  const fresh = await createScheduler({
    logger: false,
    instanceId: 'fresh',
    jobStore: newStore(),
    jobs: [work],
    schedules: Object.entries(newPlans).map(([key, cron]) =>
      defineSchedule(work, { key, cron, zone: 'UTC' }),
    ),
  })
  onTestFinished(() => fresh.shutdown())
  expect((await old.scheduler.reconcile('default', schedules)).deferred).toBe(true)
  expect(await stored(old.scheduler)).toEqual(asNew)
})

test('a job that a later declaration takes up is not deleted by the node that was removing it', async () => {
  const newStore = await stores.prepare()
  let meanwhile = (): Promise<unknown> => Promise.resolve()
  class SlowStore extends DelegatingJobStore {
    protected override async around<Answer>(
      operation: JobStoreOperation,
      proceed: () => Promise<Answer>,
    ): Promise<Answer> {
      if (operation.startsWith('delete')) await meanwhile()
      return proceed()
    }
  }
  const one = await node(() => new SlowStore(newStore()), 'one', oldPlans)
  const two = await node(newStore, 'two', oldPlans)
  const schedules = (plans: Plans): ScheduleDefinition[] =>
    Object.entries(plans).map(([key, cron]) => defineSchedule(work, { key, cron, zone: 'UTC' }))
  meanwhile = async () => {
    meanwhile = () => Promise.resolve()
    await two.scheduler.reconcile('default', schedules({ ...oldPlans, added: inMonth(8) }))
  }
  const { kept, changed } = oldPlans
  const { removed, deferred } = await one.scheduler.reconcile('default', schedules({ kept, changed }))
  expect({ removed, deferred }).toEqual({ removed: [], deferred: true })
  expect(await stored(one.scheduler)).toEqual(['added 08', ...asOld])
})

describe('what a newer declaration takes out while an older node stores it', () => {
  const declared = (names: readonly string[]): ScheduleDefinition[] =>
    names.map((key) => defineSchedule(work, { key, cron: inMonth(7), zone: 'UTC' }))

  /** The older node ends when it would delete something. */
  class DyingStore extends DelegatingJobStore {
    meanwhile: () => Promise<unknown> = () => Promise.resolve()
    override async putPlanned(
      ...[planned]: Parameters<DelegatingJobStore['putPlanned']>
    ): ReturnType<DelegatingJobStore['putPlanned']> {
      if (planned.job.key.name === 'b') await this.meanwhile()
      return super.putPlanned(planned)
    }
    override deletePlanned(): Promise<never> {
      return Promise.reject(new Error('killed'))
    }
  }

  test('goes, also when the older node ends before it could take it back', async () => {
    const newStore = await stores.prepare()
    const old = await node(() => new DyingStore(newStore()), 'old', {})
    const fresh = await node(newStore, 'new', {})
    const table = `${stores.lastSchema()}.qrtz_job_details`
    const gate = await closedGate(stores.database(), { on: 'INSERT', table, when: `NEW.job_name = 'b'` })
    const older = old.scheduler.reconcile('s', declared(['a', 'b']), { version: 1 }).catch(() => null)
    await gate.reached()
    const newer = fresh.scheduler.reconcile('s', declared(['a']), { version: 2 })
    await Promise.race([newer, gate.isWaitedFor()])
    await gate.open()
    await older
    expect((await newer).removed.map(({ name }) => name)).toEqual(['b'])
    expect(await stored(fresh.scheduler)).toEqual(['a 07'])
  })

  test('is not stored any more once the newer one is in force', async () => {
    const newStore = await stores.prepare()
    const store = new DyingStore(newStore())
    const old = await node(() => store, 'old', {})
    const fresh = await node(newStore, 'new', {})
    store.meanwhile = () => fresh.scheduler.reconcile('s', declared(['a']), { version: 2 })
    const { added, deferred } = await old.scheduler.reconcile('s', declared(['a', 'b']), { version: 1 })
    expect({ added: added.map(({ name }) => name), deferred }).toEqual({ added: ['a'], deferred: true })
    expect(await stored(fresh.scheduler)).toEqual(['a 07'])
  })

  test('goes with the next declaration when the newer node ended before it deleted anything', async () => {
    const newStore = await stores.prepare()
    const old = await node(newStore, 'old', {})
    const fresh = await node(() => new DyingStore(newStore()), 'new', {})
    const third = await node(newStore, 'third', {})
    await old.scheduler.reconcile('s', declared(['a', 'b']), { version: 1 })
    await expect(fresh.scheduler.reconcile('s', declared(['a']), { version: 2 })).rejects.toThrow('killed')
    const { removed } = await third.scheduler.reconcile('s', declared(['a', 'c']), { version: 3 })
    expect(removed.map(({ name }) => name)).toEqual(['b'])
    expect(await stored(third.scheduler)).toEqual(['a 07', 'c 07'])
  })
})

test('each set waits a minute of its own for nodes with a newer form', async () => {
  const newStore = await stores.prepare()
  const fresh = await node(newStore, 'new-1', {})
  const old = await node(newStore, 'old-1', {})
  const declare = async (
    { scheduler }: Node,
    set: string,
    options: { version: number; dryRun?: boolean },
  ): Promise<boolean> => {
    const cron = inMonth(options.version)
    const schedules = [defineSchedule(work, { key: set, cron, zone: 'UTC' })]
    return (await scheduler.reconcile(set, schedules, options)).deferred
  }
  for (const set of ['a', 'b']) expect(await declare(fresh, set, { version: 2 })).toBe(false)
  expect(await declare(old, 'a', { version: 1 })).toBe(true)
  await old.clock.advance(59_000)
  expect(await declare(old, 'b', { version: 1 })).toBe(true)
  await fresh.scheduler.shutdown()
  await old.clock.advance(1000)
  expect(await declare(old, 'b', { version: 1, dryRun: true })).toBe(true)
  expect(await stored(old.scheduler)).toEqual(['a 01', 'b 02'])
  await old.clock.advance(59_000)
  expect(await declare(old, 'b', { version: 1, dryRun: true })).toBe(false)
  expect(await stored(old.scheduler)).toEqual(['a 01', 'b 01'])
})

test('a set whose store failed waits a minute for nodes with a newer form, too', async () => {
  const newStore = await stores.prepare()
  const store = new FailingStore(newStore())
  const old = await node(() => store, 'old-1', {})
  const schedules = [defineSchedule(work, { key: 'a', cron: inMonth(1), zone: 'UTC' })]
  store.isAway = true
  await expect(old.scheduler.reconcile('s', schedules, { version: 1 })).rejects.toThrow('away')
  store.isAway = false
  const fresh = await node(newStore, 'new-1', {})
  const newer = [defineSchedule(work, { key: 'a', cron: inMonth(2), zone: 'UTC' })]
  expect((await fresh.scheduler.reconcile('s', newer, { version: 2 })).deferred).toBe(false)
  await fresh.scheduler.shutdown()
  await old.clock.advance(60_000)
  const foreseen = await old.scheduler.reconcile('s', schedules, { version: 1, dryRun: true })
  expect(foreseen.deferred).toBe(true)
  expect(await stored(old.scheduler)).toEqual(['a 02'])
})
