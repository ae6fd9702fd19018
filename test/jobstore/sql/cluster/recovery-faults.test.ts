import { expect, test } from 'vitest'
import { recoveringJobsGroup } from '../../../../src/core/key.ts'
import { jobDetail } from '../../../../src/testing/job-store/testbed.ts'
import { TestCluster } from '../../../support/cluster.ts'

const recoverable = jobDetail('r', { requestsRecovery: true, disallowConcurrentExecution: true })
const plain = jobDetail('p', { disallowConcurrentExecution: true })

/** A node died with a claim and two executions; what its peer does from then on fails once, at the n-th statement. */
async function failOver(failAt: number): Promise<{ statements: number; errors: number }> {
  const cluster = await TestCluster.open()
  const { bed, kill } = await cluster.startNode('dead')
  await bed.scheduleAll(
    [bed.trigger('r', { job: recoverable }), bed.trigger('s', { job: recoverable, inMs: 1 })],
    recoverable,
  )
  await bed.start('r')
  await bed.scheduleAll([bed.trigger('p', { job: plain })], plain)
  await bed.start('p')
  await bed.scheduleAll([bed.trigger('c')])
  await bed.acquireOne('c')
  kill()
  const live = await cluster.startNode('live', { sweepIntervalMs: 3000 })
  live.runner.failAt(failAt)
  await cluster.clock.advance(20_000)
  const statements = live.runner.statementCount
  const { signals } = live.bed
  expect(signals.recoveries).toEqual([
    { node: 'dead', releasedClaims: 1, recoveredExecutions: 1, lostExecutions: 1 },
  ])
  expect(signals.lostExecutions.map(({ triggerKey }) => triggerKey.name)).toEqual(['p'])
  expect(signals.failedNodes).toEqual(['dead'])
  expect(signals.recoveriesByPeers).toBe(0)
  expect(await cluster.firedRows()).toEqual([])
  expect(await cluster.members()).toEqual(['live'])
  const claims = (await live.bed.acquire()).map(({ trigger: { key } }) => key)
  expect(claims.map(({ name, group }) => (group === recoveringJobsGroup ? group : name))).toEqual([
    'c',
    recoveringJobsGroup,
  ])
  const failedCheckIns = signals.checkIns.filter(({ kind }) => kind === 'failed')
  return { statements, errors: signals.errors.length + failedCheckIns.length }
}

test('a recovery that fails at any of its statements is whole in the end, and told once', async () => {
  const undisturbed = await failOver(Number.POSITIVE_INFINITY)
  expect(undisturbed.errors).toBe(0)
  for (let n = 1; n <= undisturbed.statements; n++) {
    const { errors } = await failOver(n)
    expect(errors, `statement ${String(n)}`).toBe(1)
  }
})
