import { describe, expect, test } from 'vitest'
import { overdueClaimMs } from '../../../../src/jobstore/sql/programs/firing/overdue-claims.ts'
import { jobDetail, namesOf, only } from '../../../../src/testing/job-store/testbed.ts'
import { TestCluster, type TestNode } from '../../../support/cluster.ts'

interface Scene {
  readonly cluster: TestCluster
  readonly a: TestNode
  readonly b: TestNode
}

async function twoNodes(): Promise<Scene> {
  const cluster = await TestCluster.open()
  return { cluster, a: await cluster.startNode('a'), b: await cluster.startNode('b') }
}

const ahead = ({ cluster }: Scene): { noLaterThanMs: number } => ({
  noLaterThanMs: cluster.clock.now() + 30_000,
})

describe('a claim of another node', () => {
  test('is a reason to look again when that has had time to fire it', async () => {
    const scene = await twoNodes()
    const { a, b, cluster } = scene
    await a.bed.schedule('t', { inMs: 1000, everyMs: 1000 })
    only(await a.bed.acquire(ahead(scene)))
    const answer = await b.bed.acquireAndFire(ahead(scene))
    expect(answer).toEqual({
      fired: [],
      acquired: [],
      lookAgainAtMs: cluster.clock.now() + 1000 + overdueClaimMs,
    })
  })

  test('is no reason beside an earlier claim of its own', async () => {
    const scene = await twoNodes()
    const { a, b } = scene
    await a.bed.schedule('t', { inMs: 2000 })
    await a.bed.acquire(ahead(scene))
    await a.bed.schedule('earlier', { inMs: 1000 })
    const { acquired, lookAgainAtMs } = await b.bed.acquireAndFire(ahead(scene))
    expect(namesOf(acquired)).toEqual(['earlier'])
    expect(lookAgainAtMs).toBeUndefined()
  })

  test('is waited for beside a later claim of its own', async () => {
    const scene = await twoNodes()
    const { a, b, cluster } = scene
    await a.bed.schedule('t', { inMs: 1000 })
    await a.bed.acquire(ahead(scene))
    await a.bed.schedule('later', { inMs: 2000 })
    const { acquired, lookAgainAtMs } = await b.bed.acquireAndFire(ahead(scene))
    expect(namesOf(acquired)).toEqual(['later'])
    expect(lookAgainAtMs).toBe(cluster.clock.now() + 1000 + overdueClaimMs)
  })

  test.each([false, true])('is ended when it is overdue, and then comes to nothing (%s)', async (strict) => {
    const scene = await twoNodes()
    const { a, b, cluster } = scene
    const job = jobDetail('job', { durable: true, disallowConcurrentExecution: strict })
    await a.bed.schedule('t', { job, inMs: 1000, everyMs: 1000 })
    const claim = only(await a.bed.acquire(ahead(scene)))
    await cluster.clock.advance(1000 + overdueClaimMs - 1)
    expect((await b.bed.acquireAndFire()).fired).toEqual([])
    await cluster.clock.advance(1)
    const { fired, acquired } = await b.bed.acquireAndFire()
    const bundle = fired[0] ?? (await b.bed.fire(only(acquired)))
    expect(bundle.trigger.key.name).toBe('t')
    expect(await a.bed.fireKind(claim)).toBe('gone')
    await b.bed.complete(bundle)
    expect(await cluster.firedRows()).toEqual([])
  })

  test('is not overdue when it was made for what was late already', async () => {
    const { a, b, cluster } = await twoNodes()
    await a.bed.schedule('t')
    await cluster.clock.advance(5000)
    const claim = only(await a.bed.acquire())
    const lookAgainAtMs = cluster.clock.now() + overdueClaimMs
    expect(await b.bed.acquireAndFire()).toEqual({ fired: [], acquired: [], lookAgainAtMs })
    expect(await a.bed.fireKind(claim)).toBe('fired')
  })
})
