import { expect, test } from 'vitest'
import { jobKey } from '../../../../src/index.ts'
import { resolveSharding } from '../../../../src/jobs/sharding.ts'
import { jobDetail, only } from '../../../../src/testing/job-store/testbed.ts'
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
