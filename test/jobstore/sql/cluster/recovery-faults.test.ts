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

test('trouble that lasts is told once for each thing it keeps a node from, and again when it is back', async () => {
  const cluster = await TestCluster.open()
  const { bed, kill } = await cluster.startNode('dead')
  await bed.schedule('t')
  await bed.acquireOne('t')
  kill()
  const live = await cluster.startNode('live', { sweepIntervalMs: 3000 })
  const told = (): string[] => live.bed.signals.errors.splice(0).map(({ message }) => message)
  const columns = { qrtz_fired_triggers: 'entry_id', qrtz_triggers: 'trigger_state' }
  const lastForAWhile = async (): Promise<void> => {
    // Check-ins need neither.
    for (const [table, column] of Object.entries(columns)) {
      await cluster.sql(`ALTER TABLE ${table} RENAME COLUMN ${column} TO hidden`)
    }
    await cluster.clock.advance(60_000)
    for (const [table, column] of Object.entries(columns)) {
      await cluster.sql(`ALTER TABLE ${table} RENAME COLUMN hidden TO ${column}`)
    }
    await cluster.clock.advance(10_000)
  }
  await lastForAWhile()
  const ofTheNode = [
    'The firings that the database has of this node could not be compared with those that it runs.',
    'Triggers without their claim or execution could not be looked for.',
  ]
  expect(told().toSorted()).toEqual([
    "Node 'dead' failed and could not be recovered; it is tried again.",
    ...ofTheNode,
  ])
  expect(live.bed.signals.recoveries).toMatchObject([{ node: 'dead', releasedClaims: 1 }])
  await lastForAWhile()
  expect(told().toSorted()).toEqual(ofTheNode)
})
