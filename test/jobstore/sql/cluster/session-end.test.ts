import { describe, expect, test } from 'vitest'
import { TestCluster, type TestNode } from '../../../support/cluster.ts'

const key = 7

/** The row of this node names a witness from now on, as if the thread had checked in. */
async function nameWitness(cluster: TestCluster, instanceId: string): Promise<void> {
  await cluster.sql(
    `UPDATE qrtz_scheduler_state
      SET node_info = json_set(node_info, '$.witness', json_object('key', ${String(key)}, 'graceMs', 1000))
      WHERE instance_name = ?`,
    instanceId,
  )
}

/** What the thread of this node would tell: its session lives, and sees this. */
function tellLook(cluster: TestCluster, node: TestNode, lost: readonly number[]): void {
  node.member().looked({ sentMs: cluster.clock.elapsedMs(), nowMs: cluster.clock.now(), lost })
}

describe('a node whose session has ended', () => {
  test('and that is gone is recovered a second after its row was read', async () => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a')
    const b = await cluster.startNode('b')
    await cluster.clock.advance(1500)
    b.kill()
    await nameWitness(cluster, 'b')
    const failedAfter: number[] = []
    for (let passedMs = 0; passedMs <= 2900; passedMs += 100) {
      tellLook(cluster, a, [key])
      await cluster.clock.advance(100)
      if (a.bed.signals.failedNodes.length > 0) failedAfter.push(passedMs)
    }
    // The row was read by the check-in after 1,500 ms.
    expect(failedAfter[0]).toBe(2500)
    expect(await cluster.members()).toEqual(['a'])
  })

  test('and that checks in is not recovered, nor told to have failed', async () => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a', { checkInIntervalMs: 800 })
    const b = await cluster.startNode('b', { checkInIntervalMs: 900 })
    await cluster.clock.advance(1800)
    for (let step = 0; step < 100; step++) {
      await nameWitness(cluster, 'b')
      tellLook(cluster, a, [key])
      await cluster.clock.advance(100)
    }
    expect(a.bed.signals.failedNodes).toEqual([])
    expect(b.bed.signals.recoveriesByPeers).toBe(0)
  })

  test('writes over another connection that it has no witness', async () => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a')
    await cluster.startNode('b')
    tellLook(cluster, a, [])
    await nameWitness(cluster, 'a')
    a.member().witnessLost()
    await cluster.clock.settle()
    const rows = await cluster.sql(`SELECT json_extract(node_info, '$.witness') AS witness
      FROM qrtz_scheduler_state WHERE instance_name = 'a'`)
    expect(rows).toEqual([{ witness: null }])
    expect(a.bed.signals.checkIns).toEqual([])
  })

  test('without a witness does nothing more than before', async () => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a')
    const before = a.runner.texts.length
    a.member().witnessLost()
    await cluster.clock.settle()
    expect(a.runner.texts.length).toBe(before)
  })
})

describe('a node that leaves while it waits to recover another', () => {
  test('is not told to have failed meanwhile', async () => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a')
    const b = await cluster.startNode('b')
    const c = await cluster.startNode('c')
    b.kill()
    const recovery = a.runner.delay('cluster')
    await cluster.clock.advance(7500)
    const leaving = a.bed.store.shutdown()
    await cluster.clock.advance(9000)
    expect(c.bed.signals.failedNodes).toEqual(['b'])
    recovery.begin()
    await leaving
    expect(await cluster.members()).toEqual(['c'])
  })
})

describe('a node whose row names a witness', () => {
  test('claims only after a recent answer of its session, and does not mistake an old one for it', async () => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a')
    await a.bed.schedule('t')
    const tookMs = cluster.clock.elapsedMs()
    tellLook(cluster, a, [])
    await cluster.clock.advance(900)
    const answer = a.runner.delayAnswer()
    let names: readonly string[] | null = null
    const claiming = a.bed.acquireNames().then((claimed) => {
      names = claimed
    })
    await cluster.clock.settle()
    a.member().looked({ sentMs: tookMs + 50, nowMs: cluster.clock.now(), lost: [] })
    await cluster.clock.settle()
    expect(names).toBeNull()
    answer.come()
    await claiming
    expect(names).toEqual(['t'])
  })
})

test('a check-in that took too long to say anything is followed by another one at once', async () => {
  const cluster = await TestCluster.open()
  const a = await cluster.startNode('a')
  await a.bed.schedule('t', { inMs: 20_000 })
  const first = a.runner.delayAnswer()
  // The check-in after 1.5 s is under way until the node does not rely on it any more.
  await cluster.clock.advance(20_000)
  const claiming = a.bed.acquireNames()
  const second = a.runner.delayAnswer()
  first.come()
  await cluster.clock.advance(6000)
  second.come()
  expect(await claiming).toEqual(['t'])
})
