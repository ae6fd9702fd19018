import { expect, test } from 'vitest'
import { jobDetail } from '../../../../src/testing/job-store/testbed.ts'
import { TestCluster, type TestNode } from '../../../support/cluster.ts'

/** Long enough for the others to find out. */
const failOverMs = 9000

interface Scene {
  readonly cluster: TestCluster
  readonly node: TestNode
  readonly other: TestNode
}

async function scene(): Promise<Scene> {
  const cluster = await TestCluster.open()
  return { cluster, node: await cluster.startNode('a'), other: await cluster.startNode('b') }
}

/** What `fire` answers where the answer comes when another node has recovered it, and its own has entered anew. */
async function answeredLate<Answer>(
  { cluster, node, other }: Scene,
  fire: () => Promise<Answer>,
): Promise<Answer> {
  const answer = node.runner.delayAnswer()
  const firing = fire()
  await cluster.clock.advance(1)
  node.runner.state = 'away'
  await cluster.clock.advance(failOverMs)
  expect(other.bed.signals.recoveries).toMatchObject([{ node: 'a', lostExecutions: 1 }])
  node.runner.state = 'there'
  await cluster.clock.advance(failOverMs)
  expect(node.member().isConfirmed).toBe(true)
  answer.come()
  return firing
}

test('a claim that was fired, and recovered before that was answered, is gone', async () => {
  const stage = await scene()
  const { bed } = stage.node
  await bed.schedule('t')
  const claim = await bed.acquireOne('t')
  expect(await answeredLate(stage, () => bed.store.triggersFired([claim]))).toEqual([{ kind: 'gone' }])
})

test('a search answers nothing that was recovered before it answered', async () => {
  const stage = await scene()
  const { bed } = stage.node
  await bed.schedule('t')
  expect((await answeredLate(stage, () => bed.acquireAndFire())).fired).toEqual([])
})

test('nor does a call that stored what it fired', async () => {
  const stage = await scene()
  const { bed } = stage.node
  const job = jobDetail('j')
  const slot = { dueByMs: bed.now(), reserve: () => true, release: () => {} }
  const entry = { job, triggers: [bed.trigger('t', { job })] }
  expect(await answeredLate(stage, async () => bed.store.scheduleAndFire?.(entry, slot))).toBeNull()
})

test('what is fired after the node has entered anew is its own', async () => {
  const stage = await scene()
  const { bed } = stage.node
  await bed.schedule('t')
  await answeredLate(stage, () => bed.acquireAndFire())
  await bed.schedule('next')
  expect((await bed.acquireAndFire()).fired).toHaveLength(1)
})
