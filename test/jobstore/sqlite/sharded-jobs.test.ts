import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { JobKey, recoveringJobsGroup } from '../../../src/core/key.ts'
import { resolveSharding } from '../../../src/jobs/sharding.ts'
import type { TriggerFiredBundle } from '../../../src/jobstore/fired-bundle.ts'
import { firingPartOf } from '../../../src/jobstore/firing-part.ts'
import { jobDetail, only, Testbed } from '../../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { temporaryFolder } from '../../support/sqlite.ts'

/** A scheduler's run on a file: one after the other. */
async function run(filename: string, clock: ManualClock, instanceId: string): Promise<Testbed> {
  const bed = new Testbed(sqliteJobStore({ filename }), clock, instanceId)
  await bed.store.initialize(bed.context)
  await bed.store.schedulerStarted()
  onTestFinished(() => bed.store.shutdown())
  return bed
}

async function begin(bed: Testbed): Promise<readonly TriggerFiredBundle[]> {
  const bundles: TriggerFiredBundle[] = []
  for (const claim of await bed.acquire()) bundles.push(await bed.fire(claim))
  return bundles
}

const itemOf = ({ trigger }: TriggerFiredBundle): number | undefined => firingPartOf(trigger.jobDataMap)?.item

test.each([true, false])('items that ran when the process died, recovered: %s', async (recovers) => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const clock = new ManualClock()
  const sharding = resolveSharding({ items: 4 })
  const job = jobDetail('sharded', { durable: true, sharding, requestsRecovery: recovers })
  const before = await run(filename, clock, 'before')
  await before.schedule('t', { job, everyMs: 60_000 })
  // One item begins with the split.
  const first = await before.fire(only(await before.acquire({ maxCount: 1 })))
  const [ended, ...others] = await begin(before)
  if (ended === undefined) throw new Error('there are items')
  await before.complete(ended, 'deleteTrigger')
  // The next firing holds what runs; the item that has ended begins again.
  await clock.advance(60_000)
  const next = await before.fire(only(await before.acquire({ maxCount: 1 })))
  expect(itemOf(next)).toBe(itemOf(ended))
  await before.store.shutdown()

  const after = await run(filename, clock, 'after')
  if (recovers) {
    const again = await begin(after)
    const recovered = again.filter(({ trigger }) => trigger.key.group === recoveringJobsGroup)
    expect(recovered.map(itemOf).sort()).toEqual([first, next, ...others].map(itemOf).sort())
    for (const bundle of again) await after.complete(bundle, 'deleteTrigger')
  }
  // An end without a report counts as a failure.
  expect(after.signals.endedShardings.map(({ outcome }) => outcome)).toEqual([recovers ? 'failed' : 'lost'])
  for (const bundle of await begin(after)) await after.complete(bundle, 'deleteTrigger')
  expect(after.signals.endedShardings.map(({ items }) => items.length)).toEqual([4, 4])
  expect((await after.store.shards?.overview(new JobKey('sharded')))?.firings).toEqual([])
})

const item = { item: 0, owner: 'n', parameter: null, outcome: null, errorText: null }
const parts = { jobType: 'noop', isBroadcast: false, isRemote: false, priority: 5, triggerData: {} }

test.each([
  ['no items', { ...parts, items: [] }],
  ['an item that runs nowhere', { ...parts, items: [{ ...item, state: 'given', triggerKey: null }] }],
  ['a state that is none', { ...parts, items: [{ ...item, state: 7, triggerKey: null }] }],
  ['no item that is open', { ...parts, items: [{ ...item, state: 'ended', triggerKey: null }] }],
  [
    'a priority that is none',
    { ...parts, priority: 'high', items: [{ ...item, state: 'held', triggerKey: null }] },
  ],
])('a stored firing with %s does not hold up the next ones', async (_what, junk) => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const clock = new ManualClock()
  const bed = await run(filename, clock, 'node')
  const job = jobDetail('sharded', { durable: true, sharding: resolveSharding({ items: 2 }) })
  await bed.schedule('t', { job, everyMs: 60_000 })
  insertFirings(filename, ['sharded'], junk)
  const bundles = [await bed.fire(only(await bed.acquire({ maxCount: 1 }))), ...(await begin(bed))]
  expect(bundles.map(itemOf).sort()).toEqual([0, 1])
  expect(bed.signals.errors.map(({ message }) => message)).toEqual([
    "The sharded firing 'junk sharded' cannot be read: it is given up.",
  ])
  for (const bundle of bundles) await bed.complete(bundle, 'deleteTrigger')
  expect((await bed.store.shards?.overview(new JobKey('sharded')))?.firings).toEqual([])
})

test('a firing with an item in a state of a newer version is left to nodes of that version', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const clock = new ManualClock()
  const bed = await run(filename, clock, 'node')
  const job = jobDetail('sharded', { durable: true, sharding: resolveSharding({ items: 2 }) })
  await bed.schedule('t', { job, everyMs: 60_000 })
  const items = [
    { ...item, state: 'parked', triggerKey: null },
    { ...item, item: 1, state: 'held', triggerKey: null },
  ]
  insertFirings(filename, ['sharded'], { ...parts, items })
  const bundles = [await bed.fire(only(await bed.acquire({ maxCount: 1 }))), ...(await begin(bed))]
  expect(bundles.map(itemOf).sort()).toEqual([0, 1])
  for (const bundle of bundles) await bed.complete(bundle, 'deleteTrigger')
  await bed.store.shutdown()
  const next = await run(filename, clock, 'next')
  expect([...bed.signals.errors, ...next.signals.errors]).toEqual([])
  expect(storedFirings(filename)).toEqual(['sharded'])
})

test('firings of jobs that are gone are given up, however many they are', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const clock = new ManualClock()
  const bed = await run(filename, clock, 'node')
  await bed.store.shutdown()
  const held = { ...parts, items: [{ ...item, state: 'held', triggerKey: null }] }
  const gone = Array.from({ length: 450 }, (_, n) => `job${String(n)}`)
  insertFirings(filename, gone, held)
  await run(filename, clock, 'next')
  expect(storedFirings(filename)).toEqual([])
})

test('an item whose retry cannot be stored has ended', async () => {
  const bed = await run(':memory:', new ManualClock(), 'node')
  const job = jobDetail('sharded', { durable: true, sharding: resolveSharding({ items: 1 }) })
  await bed.schedule('t', { job, everyMs: 60_000 })
  const bundle = await bed.fire(only(await bed.acquire()))
  const retryTrigger = bed.trigger('x'.repeat(300), { job, data: bundle.trigger.jobDataMap })
  await bed.complete(bundle, 'deleteTrigger', { retryTrigger })
  expect(bed.signals.errors.map(({ message }) => message)).toEqual([
    "A retry of job 'DEFAULT.sharded' cannot be stored: the job does not run again.",
  ])
  expect(bed.signals.endedShardings.map(({ outcome }) => outcome)).toEqual(['failed'])
  expect((await bed.store.shards?.overview(job.key))?.firings).toEqual([])
})

/** Stores a firing of each job, whose id is `junk` and the name of the job. */
function insertFirings(filename: string, jobNames: readonly string[], stored: object): void {
  const database = new Database(filename)
  database
    .prepare(`INSERT INTO qrtz_split_firings (sched_name, fire_id, job_name, job_group, trigger_name, trigger_group,
       instance_name, planned_time, fired_time, parts)
     SELECT 'conformance', 'junk ' || value, value, 'DEFAULT', 't', 'DEFAULT', 'node', 1, 1, ? FROM json_each(?)`)
    .run(JSON.stringify(stored), JSON.stringify(jobNames))
  database.close()
}

function storedFirings(filename: string): unknown[] {
  const database = new Database(filename)
  const names = database.prepare('SELECT job_name FROM qrtz_split_firings').pluck().all()
  database.close()
  return names
}
