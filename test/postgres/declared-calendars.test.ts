import {
  AnnualCalendar,
  type Calendar,
  createScheduler,
  defineJob,
  defineSchedule,
  type Scheduler,
  triggerKey,
} from 'quartz-ts'
import { DelegatingJobStore, type JobStore } from 'quartz-ts/spi'
import { ManualClock } from 'quartz-ts/testing'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()
const work = defineJob('work', () => {})
const schedules = [
  defineSchedule(work, { key: 'yearly', cron: '0 0 1,2 7 *', zone: 'UTC', calendarName: 'closed' }),
]
const without = (day: number): Calendar =>
  new AnnualCalendar({ timeZone: 'UTC', excludedDays: [{ month: 7, day }] })
const [old, fresh] = [without(1), without(2)]
const [asOld, asFresh] = ['07-02', '07-01']

interface Node {
  readonly scheduler: Scheduler
  /** When it looks again at calendars that others hold. */
  readonly clock: ManualClock
}

async function node(
  jobStore: JobStore,
  instanceId: string,
  closed: Calendar,
  version?: number,
): Promise<Node> {
  const clock = new ManualClock()
  const scheduler = await createScheduler({
    logger: false,
    clock,
    instanceId,
    jobStore,
    jobs: [work],
    calendars: { closed },
    schedules: { schedules, ...(version !== undefined && { version }) },
  })
  onTestFinished(() => scheduler.shutdown())
  await scheduler.start()
  return { scheduler, clock }
}

async function nextDay({ scheduler }: Node): Promise<string | undefined> {
  return (await scheduler.getTrigger(triggerKey('yearly')))?.nextFireTime?.toISOString().slice(5, 10)
}

/** A store that a test stands around where calendars are stored. */
class WatchedStore extends DelegatingJobStore {
  before: () => Promise<void> | void = () => {}
  after = (): void => {}

  override async addCalendar(...call: Parameters<JobStore['addCalendar']>): Promise<void> {
    await this.before()
    await super.addCalendar(...call)
    this.after()
  }
}

test('an old calendar beside a new one changes nothing, and takes over when no node has the new one', async () => {
  const newStore = await stores.prepare()
  const first = await node(newStore(), 'old-1', old)
  expect(await nextDay(first)).toBe(asOld)
  const newer = await node(newStore(), 'new-1', fresh)
  expect(await nextDay(newer)).toBe(asFresh)
  const store = new WatchedStore(newStore())
  const again = await node(store, 'old-2', old)
  expect(await nextDay(again)).toBe(asFresh)
  await newer.scheduler.shutdown()
  const stored = new Promise<void>((resolve) => {
    store.after = resolve
  })
  await again.clock.advance(60_000)
  await stored
  expect(await nextDay(again)).toBe(asOld)
})

test('of two versions of the schedules the calendar of the higher one is in force', async () => {
  const newStore = await stores.prepare()
  const newer = await node(newStore(), 'new', fresh, 2)
  await node(newStore(), 'old', old, 1)
  expect(await nextDay(newer)).toBe(asFresh)
})

test('nodes that start at once agree on one, and a start with the same one writes none', async () => {
  const newStore = await stores.prepare()
  const ids = Array.from({ length: 6 }, (_, index) => `node-${index}`)
  const nodes = await Promise.all(
    ids.map((id, index) => node(newStore(), id, index % 2 === 0 ? old : fresh, 1 + (index % 2))),
  )
  const [first = expect.fail('there are nodes')] = nodes
  expect(await first.scheduler.getCalendar('closed')).toEqual(fresh)
  expect(await nextDay(first)).toBe(asFresh)
  const store = new WatchedStore(newStore())
  store.before = () => expect.fail('the calendar is stored')
  await node(store, 'late', fresh, 2)
})

test('a node that stores its calendar late puts that of a newer one back', async () => {
  const newStore = await stores.prepare()
  const store = new WatchedStore(newStore())
  let newer: Node | null = null
  store.before = async () => {
    newer ??= await node(newStore(), 'new', fresh)
  }
  const slow = await node(store, 'old', old)
  expect(newer).not.toBeNull()
  expect(await slow.scheduler.getCalendar('closed')).toEqual(fresh)
  expect(await nextDay(slow)).toBe(asFresh)
})
