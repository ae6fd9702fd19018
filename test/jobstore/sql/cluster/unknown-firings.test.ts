import { describe, expect, test } from 'vitest'
import { jobDetail } from '../../../../src/testing/job-store/testbed.ts'
import { TestCluster, type TestNode } from '../../../support/cluster.ts'

/** Two looks are needed, one at each check-in. */
const noticedMs = 4500

/** What was asked is carried out, and its answer never reaches the node. */
async function loseAnswer(node: TestNode, ask: () => Promise<unknown>): Promise<void> {
  node.runner.losesAnswers = true
  await expect(ask()).rejects.toThrow('The answer was lost.')
  node.runner.losesAnswers = false
}

describe('what the database has of a live node that the node does not know of', () => {
  test.each([false, true])(
    'is settled as after the death of a node (recovery wanted: %s)',
    async (requestsRecovery) => {
      const cluster = await TestCluster.open()
      const node = await cluster.startNode('a')
      const { bed } = node
      const job = jobDetail('j', { requestsRecovery })
      await bed.scheduleAll([bed.trigger('t', { job })], job)
      await loseAnswer(node, () => bed.acquireAndFire())
      expect(await cluster.firedRows()).toEqual(['t EXECUTING'])
      await cluster.clock.advance(noticedMs)
      expect(await cluster.firedRows()).toEqual([])
      expect(bed.signals.lostExecutions).toHaveLength(requestsRecovery ? 0 : 1)
      const again = await bed.acquire()
      expect(again.map(({ trigger }) => trigger.key.group)).toEqual(
        requestsRecovery ? ['RECOVERING_JOBS'] : [],
      )
      // Its last trigger has fired.
      expect(await bed.store.getJob(job.key)).toEqual(requestsRecovery ? job : null)
    },
  )

  test('is settled when it is a claim, and the siblings that it hid are told of', async () => {
    const cluster = await TestCluster.open()
    const node = await cluster.startNode('a')
    const { bed } = node
    const job = jobDetail('j', { disallowConcurrentExecution: true })
    await bed.scheduleAll([bed.trigger('t', { job }), bed.trigger('sibling', { job })], job)
    await loseAnswer(node, () => bed.acquire())
    expect(await bed.acquire()).toEqual([])
    await cluster.clock.advance(noticedMs)
    expect(await bed.acquire()).toHaveLength(1)
    expect(bed.signals.recoveries).toMatchObject([{ node: 'a', releasedClaims: 1 }])
  })

  test('is left alone as long as an answer is on its way', async () => {
    const cluster = await TestCluster.open()
    const node = await cluster.startNode('a')
    const { bed } = node
    await bed.schedule('t')
    const answer = node.runner.delayAnswer()
    const firing = bed.acquireAndFire()
    await cluster.clock.advance(30_000)
    expect(await cluster.firedRows()).toEqual(['t EXECUTING'])
    answer.come()
    const { fired } = await firing
    await cluster.clock.advance(30_000)
    expect(await cluster.firedRows()).toEqual(['t EXECUTING'])
    await bed.complete(fired[0] ?? expect.fail('nothing has fired'), 'deleteTrigger')
    expect(await cluster.firedRows()).toEqual([])
    expect(bed.signals.recoveries).toEqual([])
  })

  test('is nothing that it fires, completes or gives back, however long that takes', async () => {
    const cluster = await TestCluster.open()
    const { bed } = await cluster.startNode('a')
    await cluster.startNode('b')
    for (const name of ['held', 'given back', 'run', 'gone'])
      await bed.schedule(name, { everyMs: 86_400_000 })
    const claims = await bed.acquire()
    const claim = (name: string) =>
      claims.find(({ trigger }) => trigger.key.name === name) ?? expect.fail('not claimed')
    const bundle = await bed.fire(claim('run'))
    await bed.store.releaseAcquiredTriggers([claim('given back')])
    await bed.store.pauseTrigger(claim('gone').trigger.key)
    expect(await bed.store.triggersFired([claim('gone')])).toEqual([{ kind: 'gone' }])
    await cluster.clock.advance(60_000)
    expect(await cluster.firedRows()).toEqual(['held ACQUIRED', 'run EXECUTING'])
    await bed.complete(bundle)
    await cluster.clock.advance(60_000)
    expect(await cluster.firedRows()).toEqual(['held ACQUIRED'])
    expect(bed.signals.recoveries).toEqual([])
  })
})
