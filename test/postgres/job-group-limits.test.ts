import {
  createScheduler,
  defineJob,
  JobBuilder,
  type JobDetail,
  type Scheduler,
  type Trigger,
  TriggerBuilder,
} from 'quartz-ts'
import { expect, onTestFinished, test } from 'vitest'
import { namesOf, Testbed } from '../../src/testing/job-store/testbed.ts'
import { systemClock } from '../../src/time/clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()

/** So long that whatever happens in time happens because nodes are woken. */
const idleWaitMs = 3_600_000

test.each(['skipLocked', 'quartzLocks'] as const)(
  'nodes that claim at the same time stay within the limit together (%s)',
  async (locking) => {
    const newStore = await stores.prepare()
    const open = async (instanceId: string): Promise<Testbed> => {
      const store = newStore({ jobGroupLimits: { reports: 3 }, locking })
      onTestFinished(() => store.shutdown())
      const bed = new Testbed(store, new ManualClock(systemClock.now()), instanceId)
      await store.initialize(bed.context)
      return bed
    }
    const beds = [await open('a'), await open('bb'), await open('ccc')]
    const [first] = beds
    if (first === undefined) return expect.fail('there are three')
    for (let count = 0; count < 12; count++) {
      const name = `r${String(count).padStart(2, '0')}`
      const job = JobBuilder.newJob('noop').withIdentity(name, 'reports').storeDurably().build()
      await first.schedule(name, { job })
      await first.schedule(`s${name}`)
    }
    for (let round = 0; round < 10; round++) {
      const claims = await Promise.all(beds.map((bed) => bed.acquire({ maxCount: 5 })))
      const reports = claims.flatMap(namesOf).filter((name) => name.startsWith('r'))
      expect(new Set(reports).size).toBe(reports.length)
      expect(reports).toHaveLength(3)
      await Promise.all(beds.map((bed) => bed.store.releaseAllAcquiredTriggers()))
    }
  },
)

const triggerOf = (name: string): Trigger => TriggerBuilder.newTrigger().withIdentity(name).build()
const jobOf = (name: string, group: string): JobDetail =>
  JobBuilder.newJob('work').withIdentity(name, group).build()

type Body = (name: string, instanceId: string) => Promise<void>

async function twoSchedulers(limit: number, body: Body): Promise<readonly [Scheduler, Scheduler]> {
  const newStore = await stores.prepare()
  const open = async (instanceId: string): Promise<Scheduler> => {
    const work = defineJob('work', ({ jobKey }) => body(jobKey.name, instanceId))
    const jobStore = newStore({ jobGroupLimits: { reports: limit } })
    const scheduler = await createScheduler({ logger: false, jobStore, instanceId, jobs: [work], idleWaitMs })
    onTestFinished(() => scheduler.shutdown())
    return scheduler
  }
  return [await open('node-1'), await open('node-2')]
}

test('a backlog on two nodes drains, never more than the limit at once', async () => {
  const count = 60
  let running = 0
  let most = 0
  let ended = 0
  let tellAll = (): void => {}
  const allEnded = new Promise<void>((resolve) => {
    tellAll = resolve
  })
  const [one, two] = await twoSchedulers(3, async () => {
    running++
    most = Math.max(most, running)
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    running--
    ended++
    if (ended === count) tellAll()
  })
  const entries = Array.from({ length: count }, (_, index) => {
    const name = `r${String(index)}`
    return { job: jobOf(name, 'reports'), triggers: [triggerOf(name)] }
  })
  await one.scheduleJobs(entries)
  await Promise.all([one.start(), two.start()])
  await allEnded
  expect(most).toBeLessThanOrEqual(3)
  expect(ended).toBe(count)
})

test('other groups go on, and what waits starts on another node as soon as one ends', async () => {
  const begun = new Map<string, () => void>()
  const begins = (name: string): Promise<void> => new Promise((resolve) => begun.set(name, resolve))
  const log: string[] = []
  let endFirst = (): void => {}
  const firstMayEnd = new Promise<void>((resolve) => {
    endFirst = resolve
  })
  const [one, two] = await twoSchedulers(1, async (name) => {
    log.push(name)
    begun.get(name)?.()
    if (name === 'first') await firstMayEnd
  })
  await one.start()
  const first = begins('first')
  await one.scheduleJob(jobOf('first', 'reports'), triggerOf('first'))
  await first
  await two.start()
  // So that only the other node can start what comes now.
  await one.standby()
  const second = begins('second')
  const other = begins('other')
  await two.scheduleJob(jobOf('second', 'reports'), triggerOf('second'))
  await two.scheduleJob(jobOf('other', 'others'), triggerOf('other'))
  await other
  expect(log).toEqual(['first', 'other'])
  endFirst()
  await second
  expect(log).toEqual(['first', 'other', 'second'])
})

test('what is due later takes no room from what only another node may run now', async () => {
  let begins = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begins = resolve
  })
  const [one, two] = await twoSchedulers(1, async (name, instanceId) => {
    if (name === 'now' && instanceId === 'node-2') begins()
  })
  await one.start()
  const later = triggerOf('later')
    .getTriggerBuilder()
    .startAt(new Date(Date.now() + idleWaitMs / 2))
  await one.scheduleJob(jobOf('later', 'reports'), later.build())
  await one.idle()
  await two.start()
  const now = JobBuilder.from(jobOf('now', 'reports')).onNodes(['node-2'], { required: true })
  await one.scheduleJob(now.build(), triggerOf('now'))
  await begun
})
