import { expect, test } from 'vitest'
import { jobKey } from '../../../../src/index.ts'
import { resolveSharding } from '../../../../src/jobs/sharding.ts'
import { jobDetail, namesOf, only } from '../../../../src/testing/job-store/testbed.ts'
import { TestCluster } from '../../../support/cluster.ts'

test('items are left to an owner that is there, and are free at once when it leaves', async () => {
  const cluster = await TestCluster.open()
  const job = jobDetail('sharded', { durable: true, sharding: resolveSharding({ items: 4 }) })
  const options = { jobTypes: [job.jobType] }
  const { bed } = await cluster.startNode('stays', options)
  const { bed: leaver } = await cluster.startNode('leaves', options)
  await bed.scheduleAll([bed.trigger('t', { job })], job)
  await bed.store.triggersFired([only(await bed.acquire())])
  const owners = async (): Promise<readonly unknown[]> => {
    const shards = await bed.store.shards?.overview(jobKey('sharded'))
    return (shards?.firings[0]?.items ?? []).map(({ owner, state }) => `${owner} ${state}`).toSorted()
  }
  await bed.acquire()
  expect(await owners()).toEqual(['leaves given', 'leaves given', 'stays given', 'stays given'])
  expect(await bed.acquire()).toEqual([])
  await leaver.store.shutdown()
  expect(await bed.acquire()).toHaveLength(2)
})

test('a node looks again when the turn of the owners ends, and takes what is left', async () => {
  const cluster = await TestCluster.open()
  const job = jobDetail('sharded', { durable: true, sharding: resolveSharding({ items: 4 }) })
  const options = { jobTypes: [job.jobType] }
  const { bed } = await cluster.startNode('runs', options)
  await cluster.startNode('is busy', options)
  const ahead = (): { noLaterThanMs: number } => ({ noLaterThanMs: bed.now() + 30_000 })
  await bed.scheduleAll([bed.trigger('t', { job })], job)
  const firedMs = bed.now()
  await bed.store.triggersFired([only(await bed.acquire())])
  expect((await bed.acquireAndFire()).fired).toHaveLength(1)
  await cluster.clock.advance(100)
  const left = { fired: [], acquired: [], lookAgainAtMs: firedMs + 5000 }
  expect(await bed.acquireAndFire(ahead())).toEqual(left)
  await bed.schedule('later', { inMs: 20_000 })
  const { acquired, lookAgainAtMs } = await bed.acquireAndFire(ahead())
  expect([namesOf(acquired), lookAgainAtMs], 'while it holds a claim').toEqual([['later'], firedMs + 5000])
  await cluster.clock.advance(4899)
  expect(await bed.acquireAndFire()).toEqual(left)
  await cluster.clock.advance(1)
  expect((await bed.acquireAndFire()).fired).toHaveLength(2)
})

test.each([
  ['standby', ['runs', 'runs']],
  ['draining', ['runs', 'runs']],
  ['started', ['other', 'runs']],
] as const)('a node that is %s gets as many items as it can run', async (status, expected) => {
  const cluster = await TestCluster.open()
  const job = jobDetail('sharded', { durable: true, sharding: resolveSharding({ items: 2 }) })
  const options = { jobTypes: [job.jobType] }
  const { bed } = await cluster.startNode('runs', options)
  const other = await cluster.node('other', options)
  other.bed.nodeReport = { status, eventLoopLagMs: null }
  await other.start()
  await bed.scheduleAll([bed.trigger('t', { job })], job)
  await bed.store.triggersFired([only(await bed.acquire())])
  const shards = await bed.store.shards?.overview(jobKey('sharded'))
  expect(shards?.firings[0]?.items.map(({ owner }) => owner).toSorted()).toEqual(expected)
})
