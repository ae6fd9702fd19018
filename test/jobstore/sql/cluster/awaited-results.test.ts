import { describe, expect, test } from 'vitest'
import type { AwaitedResult, JobStoreAwaitedResults } from '../../../../src/jobstore/awaited-results.ts'
import type { TriggerFiredBundle } from '../../../../src/jobstore/fired-bundle.ts'
import { jobDetail, only } from '../../../../src/testing/job-store/testbed.ts'
import { TestCluster, type TestNode } from '../../../support/cluster.ts'

/** Long enough for the others to find out. */
const failOverMs = 9000

const awaitedOf = ({ bed }: TestNode): JobStoreAwaitedResults =>
  bed.store.awaitedResults ?? expect.fail('the store has awaited results')

const job = jobDetail('j', { requestsRecovery: true, disallowConcurrentExecution: true, durable: true })

function resultOf({ bed }: TestNode, bundle: TriggerFiredBundle): AwaitedResult {
  const deadlineMs = bed.now() + 60_000
  return { reference: 'run', note: '', deadlineMs, retriesOnTimeout: false, beganTimeMs: bed.now(), bundle }
}

async function scene() {
  const cluster = await TestCluster.open()
  const dead = await cluster.startNode('dead')
  const live = await cluster.startNode('live')
  await dead.bed.schedule('t', { job, everyMs: 100_000 })
  const bundle = await dead.bed.start('t')
  return { cluster, dead, live, bundle }
}

const owners = async (cluster: TestCluster) =>
  cluster.sql('SELECT instance_name, state FROM qrtz_fired_triggers')

describe('a firing that goes on elsewhere, when its node dies', () => {
  test('is taken over, and neither run again nor lost', async () => {
    const { cluster, dead, live, bundle } = await scene()
    await awaitedOf(dead).put([resultOf(dead, bundle)])
    dead.kill()
    await cluster.clock.advance(failOverMs)
    expect(await cluster.members()).toEqual(['live'])
    expect(await owners(cluster)).toEqual([{ instance_name: 'live', state: 'EXECUTING' }])
    expect(live.bed.signals.lostExecutions).toEqual([])
    expect(await live.bed.acquire()).toEqual([])
    const found = only(await awaitedOf(live).find(['run']))
    await live.bed.complete(found.bundle, 'noop', { isAwaited: true })
    expect(await cluster.firedRows()).toEqual([])
    expect(await cluster.sql('SELECT * FROM qrtz_awaited_results')).toEqual([])
  })

  test('is taken over again from the node that took it over', async () => {
    const { cluster, dead, live, bundle } = await scene()
    await awaitedOf(dead).put([resultOf(dead, bundle)])
    dead.kill()
    await cluster.clock.advance(failOverMs)
    await cluster.startNode('third')
    live.kill()
    await cluster.clock.advance(failOverMs)
    expect(await owners(cluster)).toEqual([{ instance_name: 'third', state: 'EXECUTING' }])
  })

  test('does not make a node that is shut down one that failed', async () => {
    const { cluster, dead, live, bundle } = await scene()
    await awaitedOf(dead).put([resultOf(dead, bundle)])
    await dead.bed.store.shutdown()
    expect(await cluster.members()).toEqual(['live'])
    expect(await owners(cluster)).toEqual([{ instance_name: 'dead', state: 'EXECUTING' }])
    await cluster.clock.advance(failOverMs)
    expect(live.bed.signals.failedNodes).toEqual([])
    expect(await owners(cluster)).toEqual([{ instance_name: 'live', state: 'EXECUTING' }])
  })

  test('keeps no next start of its node waiting', async () => {
    const { cluster, dead, live, bundle } = await scene()
    await awaitedOf(dead).put([resultOf(dead, bundle)])
    await dead.bed.store.shutdown()
    const again = await cluster.startNode('dead')
    expect(await cluster.members()).toEqual(['dead', 'live'])
    expect(only(await awaitedOf(again).find(['run'])).bundle.fireInstanceId).toBe(bundle.fireInstanceId)
    expect(live.bed.signals.failedNodes).toEqual([])
  })

  test('stays with a node that does not remember it', async () => {
    const { cluster, dead, bundle } = await scene()
    await awaitedOf(dead).put([resultOf(dead, bundle)])
    // The node looks for firings that it does not know at each check-in.
    for (let count = 0; count < 5; count++) await cluster.clock.advance(1500)
    expect(await owners(cluster)).toEqual([{ instance_name: 'dead', state: 'EXECUTING' }])
    expect(dead.bed.signals.recoveries).toEqual([])
  })

  test('cannot be written down any more once it was recovered', async () => {
    const { cluster, dead, live, bundle } = await scene()
    dead.runner.state = 'away'
    await cluster.clock.advance(failOverMs)
    expect(live.bed.signals.recoveries).toMatchObject([{ node: 'dead', recoveredExecutions: 1 }])
    dead.runner.state = 'there'
    expect(await awaitedOf(dead).put([resultOf(dead, bundle)])).toEqual(['gone'])
    expect(await cluster.sql('SELECT * FROM qrtz_awaited_results')).toEqual([])
  })

  test('is awaited when the answer to its writing was lost and it is written again', async () => {
    const { dead, bundle } = await scene()
    dead.runner.losesAnswers = true
    await expect(awaitedOf(dead).put([resultOf(dead, bundle)])).rejects.toThrow('lost')
    dead.runner.losesAnswers = false
    expect(await awaitedOf(dead).put([resultOf(dead, bundle)])).toEqual(['awaited'])
  })

  test('a row whose firing somebody else deleted goes with its deadline', async () => {
    const { cluster, dead, live, bundle } = await scene()
    await awaitedOf(dead).put([resultOf(dead, bundle)])
    await cluster.sql('DELETE FROM qrtz_fired_triggers')
    expect(await awaitedOf(live).find(['run'])).toEqual([])
    const { deadlineMs } = resultOf(dead, bundle)
    expect(await awaitedOf(live).overdue(deadlineMs)).toEqual({ overdue: [], seen: 0, nextMs: null })
    expect(await cluster.sql('SELECT * FROM qrtz_awaited_results')).toEqual([])
  })
})
