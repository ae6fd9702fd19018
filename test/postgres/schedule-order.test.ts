import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import type { JobDetail } from 'quartz-ts'
import { expect, onTestFinished, test } from 'vitest'
import { seededIds } from '../../src/core/ids.ts'
import { jobDetail, Testbed } from '../../src/testing/job-store/testbed.ts'
import { systemClock } from '../../src/time/clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()

const jobOf = (name: string): JobDetail => jobDetail(name, { durable: true })
const only = (name: string) => ({ job: jobOf(name), triggers: [] })
const replace = { replace: true }

async function openScene() {
  const newStore = await stores.prepare()
  const store = newStore()
  const bed = new Testbed(store, new ManualClock(systemClock.now()), 'node')
  await store.initialize({ ...bed.context, clock: systemClock, ids: seededIds(1) })
  onTestFinished(() => store.shutdown())
  await store.scheduleJobs([only('held 1'), only('held 2')], replace)
  /** Holds the row of a job from now on; answers what lets it go. */
  const hold = async (name: string): Promise<() => Promise<unknown>> => {
    const client = new pg.Client(stores.connection())
    await client.connect()
    onTestFinished(() => client.end())
    await client.query(`SET search_path = ${stores.lastSchema()}; BEGIN`)
    await client.query('SELECT 1 FROM qrtz_job_details WHERE job_name = $1 FOR UPDATE', [name])
    return () => client.query('COMMIT')
  }
  /** What waits now has been tried when calls after it, which depend on nothing, are stored. */
  const othersAreStored = async (): Promise<void> => {
    for (let call = 0; call < 5; call++) await store.scheduleJobs([only('other')], replace)
  }
  const triggerOf = (name: string) => bed.trigger(`of ${name}`, { job: jobOf(name), inMs: 3_600_000 })
  return { store, hold, othersAreStored, triggerOf }
}

test('a call that is made while one before it runs into a lock is stored after that one', async () => {
  const { store, hold, othersAreStored, triggerOf } = await openScene()
  const release = await hold('held 1')
  const before = store.scheduleJobs([only('held 1'), only('new')], replace)
  // The transaction of the first is under way.
  await setImmediate()
  const after = store.scheduleJobs([{ job: null, triggers: [triggerOf('new')] }], replace)
  const both = Promise.all([before, after])
  await Promise.race([both, othersAreStored()])
  await release()
  await both
  expect(await store.getTriggersOfJob(jobOf('new').key)).toHaveLength(1)
})

test('a call that depends on several that wait is stored after all of them', async () => {
  const { store, hold, othersAreStored, triggerOf } = await openScene()
  const releases = [await hold('held 1'), await hold('held 2')]
  const first = store.scheduleJobs([only('held 1'), only('new 1')], replace)
  await othersAreStored()
  // Two calls that share a transaction, of which the later one depends on one that waits already as well.
  const second = store.scheduleJobs([only('held 2'), only('new 2')], replace)
  const triggers = [triggerOf('new 1'), triggerOf('new 2')]
  const third = store.scheduleJobs([{ job: null, triggers }], replace)
  const all = Promise.all([first, second, third])
  await Promise.race([all, othersAreStored()])
  await releases[0]?.()
  await first
  await Promise.race([all, othersAreStored()])
  await releases[1]?.()
  await all
  expect(await store.getTriggersOfJob(jobOf('new 2').key)).toHaveLength(1)
})

test('a call that waits for others is not held up by later calls that depend on the same ones', async () => {
  const { store, hold, othersAreStored } = await openScene()
  const releases = [await hold('held 1'), await hold('held 2')]
  const ended: string[] = []
  const put = async (name: string, jobs: readonly string[]): Promise<void> => {
    await store.scheduleJobs(jobs.map(only), replace)
    ended.push(name)
  }
  const calls = [put('first', ['held 1', 'also'])]
  await othersAreStored()
  calls.push(put('second', ['held 2']))
  await othersAreStored()
  calls.push(put('both', ['held 1', 'held 2']))
  for (let call = 0; call < 100; call++) calls.push(put(`later ${call}`, ['also']))
  await othersAreStored()
  for (const release of releases) await release()
  await Promise.all(calls)
  expect(ended.indexOf('both')).toBeLessThan(ended.indexOf('later 50'))
})
