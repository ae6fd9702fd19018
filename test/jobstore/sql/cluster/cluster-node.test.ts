import { describe, expect, test } from 'vitest'
import { SchedulerError } from '../../../../src/core/errors.ts'
import { refuses } from '../../../../src/testing/job-store/testbed.ts'
import { clusterDefaults, TestCluster } from '../../../support/cluster.ts'

/** A row of Java Quartz. */
function javaRow(cluster: TestCluster, lastCheckInTimeMs: number): Promise<unknown> {
  return cluster.sql(
    `INSERT INTO qrtz_scheduler_state (sched_name, instance_name, last_checkin_time, checkin_interval)
     VALUES ('conformance', 'java', ?, 7500)
     ON CONFLICT DO UPDATE SET last_checkin_time = excluded.last_checkin_time`,
    lastCheckInTimeMs,
  )
}

/** What a promise became, for a look at one that is still open. */
function outcomeOf(promise: Promise<unknown>): { value: string } {
  const outcome = { value: 'open' }
  promise.then(
    () => {
      outcome.value = 'done'
    },
    (error: unknown) => {
      outcome.value = SchedulerError.is(error) ? error.code : String(error)
    },
  )
  return outcome
}

describe('nodes of a cluster', () => {
  test('see each other, with what they say of themselves', async () => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a')
    await cluster.startNode('b', { checkInIntervalMs: 300, failedAfterMs: 1000 })
    await cluster.clock.advance(10_000)
    const nodes = await a.member().nodes()
    expect(nodes.map(({ instanceId, isSelf, state }) => [instanceId, isSelf, state])).toEqual([
      ['a', true, 'alive'],
      ['b', false, 'alive'],
    ])
    expect(nodes[1]?.info).toMatchObject({ pid: process.pid, failedAfterMs: 1000, jobTypes: [] })
  })

  test('say what they do and how late their loops run, at once when they announce it', async () => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a')
    const b = await cluster.startNode('b')
    const shown = async (): Promise<unknown> =>
      (await a.member().nodes()).map(({ info }) => [info?.status, info?.eventLoopLagMs])
    b.bed.nodeReport = { status: 'draining', eventLoopLagMs: 12.5 }
    expect(await shown()).toEqual([
      ['started', null],
      ['started', null],
    ])
    b.member().announce()
    a.bed.nodeReport = { status: 'started', eventLoopLagMs: 0.5 }
    await cluster.clock.advance(1)
    expect(await shown()).toEqual([
      ['started', 0.5],
      ['draining', 12.5],
    ])
    b.bed.nodeReport = { status: 'draining', eventLoopLagMs: 3 }
    await cluster.clock.advance(3000)
    expect(await shown()).toMatchObject([{}, ['draining', 3]])
  })

  test('are removed before they have failed when they have missed check-ins, and not while they check in', async () => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a')
    const b = await cluster.startNode('b')
    await b.bed.schedule('t')
    const running = await b.bed.start('t')
    await refuses(a.member().remove('b'), 'ERR_NODE_ALIVE')
    await refuses(a.member().remove('c'), 'ERR_NOT_FOUND')
    b.runner.state = 'away'
    await cluster.clock.advance(3500)
    expect((await a.member().nodes())[1]?.state).toBe('overdue')
    await a.member().remove('b')
    expect(await cluster.members()).toEqual(['a'])
    expect(await cluster.firedRows()).toEqual([])
    expect(a.bed.signals.lostExecutions).toMatchObject([{ fireInstanceId: running.fireInstanceId }])
    // One that lives learns it, and what it ran changes nothing any more.
    b.runner.state = 'there'
    await cluster.clock.advance(3000)
    expect(b.bed.signals.recoveriesByPeers).toBe(1)
    await b.bed.complete(running, 'setTriggerError')
    expect(await cluster.members()).toEqual(['a', 'b'])
  })

  test('that check in while they are removed stay', async () => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a')
    const b = await cluster.startNode('b')
    b.runner.state = 'away'
    await cluster.clock.advance(3500)
    const waits = a.runner.delay('cluster')
    const removing = outcomeOf(a.member().remove('b'))
    b.runner.state = 'there'
    await cluster.clock.advance(600)
    waits.begin()
    await cluster.clock.advance(600)
    expect(removing.value).toBe('ERR_NODE_ALIVE')
    expect(await cluster.members()).toEqual(['a', 'b'])
    expect(b.bed.signals.recoveriesByPeers).toBe(0)
  })

  test('are alive, overdue, and gone as soon as they have failed and were recovered', async () => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a')
    const b = await cluster.startNode('b')
    await cluster.clock.advance(1500)
    b.kill()
    const stateOfB = async (): Promise<string | undefined> =>
      (await a.member().nodes()).find(({ instanceId }) => instanceId === 'b')?.state
    const seen = new Set<string | undefined>()
    for (let step = 0; step < 90; step++) {
      seen.add(await stateOfB())
      await cluster.clock.advance(100)
    }
    expect([...seen]).toEqual(['alive', 'overdue', undefined])
    expect(a.bed.signals.failedNodes).toEqual(['b'])
  })

  test.each([
    ['by default', {}, 9000],
    ['when tuned', { checkInIntervalMs: 300, failedAfterMs: 1000 }, 1700],
  ])('are recovered within bounds %s', async (_what, options, longestMs) => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a', options)
    const b = await cluster.startNode('b', options)
    await cluster.clock.advance(10_000)
    b.kill()
    await cluster.clock.advance(longestMs)
    expect(a.bed.signals.failedNodes).toEqual(['b'])
    expect(await cluster.members()).toEqual(['a'])
  })

  test('leave without a trace at a shutdown, and stay in sight while firings of theirs are left', async () => {
    const cluster = await TestCluster.open()
    const [a, b, c] = [
      await cluster.startNode('a'),
      await cluster.startNode('b'),
      await cluster.startNode('c'),
    ]
    await a.bed.schedule('t')
    await a.bed.start('t')
    await a.bed.store.shutdown()
    await b.bed.store.shutdown()
    expect(await cluster.members()).toEqual(['a', 'c'])
    await cluster.clock.advance(9000)
    expect(c.bed.signals.lostExecutions).toHaveLength(1)
    await c.bed.store.shutdown()
    expect(await cluster.members()).toEqual([])
    expect(cluster.clock.timerCount).toBe(0)
  })

  test('are not recovered for a time in which the database was away', async () => {
    const cluster = await TestCluster.open()
    const nodes = [await cluster.startNode('a'), await cluster.startNode('b'), await cluster.startNode('c')]
    await cluster.clock.advance(5000)
    for (const { runner } of nodes) runner.state = 'away'
    await cluster.clock.advance(15_000)
    // One after the other finds its way back.
    for (const { runner } of nodes) {
      runner.state = 'there'
      await cluster.clock.advance(1500)
    }
    const late = await cluster.startNode('late')
    await cluster.clock.advance(20_000)
    expect(await cluster.members()).toEqual(['a', 'b', 'c', 'late'])
    expect([...nodes, late].flatMap(({ bed }) => bed.signals.failedNodes)).toEqual([])
    for (const { bed } of nodes) {
      expect(bed.signals.checkIns).toMatchObject([{ kind: 'failed' }, { kind: 'restored' }])
    }
  })

  test('check in again and again within their window when the database fails them', async () => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a')
    const b = await cluster.startNode('b')
    const kinds: string[] = []
    for (let step = 0; step < 20; step++) {
      kinds.push('failed', 'restored')
      a.runner.state = 'away'
      await cluster.clock.advance(2500)
      a.runner.state = 'there'
      await cluster.clock.advance(600)
    }
    expect(b.bed.signals.failedNodes).toEqual([])
    expect(a.bed.signals.checkIns.map(({ kind }) => kind)).toEqual(kinds)
  })

  test('that cannot check in say so once, and once that they can again', async () => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a')
    a.runner.state = 'away'
    await cluster.clock.advance(4000)
    expect(a.bed.signals.checkIns).toEqual([{ kind: 'failed', cause: expect.any(Error) as Error }])
    a.runner.state = 'there'
    await cluster.clock.advance(10_000)
    expect(a.bed.signals.checkIns.slice(1)).toEqual([{ kind: 'restored', failedAttempts: 6 }])
    expect(a.bed.signals.errors).toEqual([])
  })
})

describe('a node that was recovered although it lives', () => {
  test('learns it, takes part anew, and nothing it had begun is written', async () => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a')
    const b = await cluster.startNode('b')
    await a.bed.scheduleAll([a.bed.trigger('t', { everyMs: 3_600_000 }), a.bed.trigger('u')])
    const running = await a.bed.start('t')
    const claim = await a.bed.acquireOne('u')
    a.runner.state = 'away'
    await cluster.clock.advance(9000)
    expect(b.bed.signals.recoveries).toHaveLength(1)
    a.runner.state = 'there'
    expect(a.bed.signals.recoveriesByPeers).toBe(0)
    // It asks before it claims.
    const again = await a.bed.acquire()
    expect(a.bed.signals.recoveriesByPeers).toBe(1)
    expect(again.map(({ trigger }) => trigger.key.name)).toEqual(['u'])
    expect(await a.bed.fireKind(claim)).toBe('gone')
    await a.bed.complete(running, 'setTriggerError')
    expect(await b.bed.state('t')).toBe('NORMAL')
    expect(await a.bed.fireKind(again[0] ?? expect.fail())).toBe('fired')
    await cluster.clock.advance(20_000)
    expect(await cluster.members()).toEqual(['a', 'b'])
    expect(b.bed.signals.failedNodes).toEqual(['a'])
  })

  test('claims nothing while it cannot find out', async () => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a')
    await a.bed.schedule('t')
    a.runner.state = 'away'
    await cluster.clock.advance(5000)
    await refuses(a.bed.acquire(), 'ERR_JOB_PERSISTENCE')
  })
})

describe('an instance id', () => {
  test('that is at work is refused, and the node that has it goes on', async () => {
    const cluster = await TestCluster.open()
    const a = await cluster.startNode('a')
    await a.bed.schedule('t')
    const claim = await a.bed.acquireOne('t')
    const twin = await cluster.node('a')
    const starting = outcomeOf(twin.start())
    await cluster.clock.advance(3000)
    expect(starting.value).toBe('ERR_DUPLICATE_INSTANCE_ID')
    expect(await a.bed.fireKind(claim)).toBe('fired')
    await cluster.clock.advance(10_000)
    expect(a.bed.signals.recoveriesByPeers).toBe(0)
  })

  test('of a run that died is taken over when it is certain, and what it left is recovered', async () => {
    const cluster = await TestCluster.open()
    const first = await cluster.startNode('a')
    await first.bed.schedule('t')
    await first.bed.acquireOne('t')
    first.kill()
    const second = await cluster.node('a')
    const starting = outcomeOf(second.start())
    await cluster.clock.advance(4000)
    expect(starting.value).toBe('open')
    await cluster.clock.advance(4000)
    expect(starting.value).toBe('done')
    expect(second.bed.signals.recoveries).toMatchObject([{ node: 'a', releasedClaims: 1 }])
    expect(await second.bed.acquireNames()).toEqual(['t'])
  })

  test('that another node took while its owner was silent is not used twice', async () => {
    const cluster = await TestCluster.open()
    const first = await cluster.startNode('a')
    first.runner.state = 'away'
    const second = await cluster.node('a')
    const starting = outcomeOf(second.start())
    await cluster.clock.advance(9000)
    expect(starting.value).toBe('done')
    first.runner.state = 'there'
    await cluster.clock.advance(10_000)
    expect(first.bed.signals.recoveriesByPeers).toBe(1)
    await first.bed.schedule('t')
    const claiming = outcomeOf(first.bed.acquire())
    await cluster.clock.advance(3000)
    expect(claiming.value).toBe('ERR_JOB_PERSISTENCE')
    expect(first.bed.signals.errors.at(-1)?.cause).toMatchObject({ code: 'ERR_DUPLICATE_INSTANCE_ID' })
    expect(second.bed.signals.recoveriesByPeers).toBe(0)
    expect(await second.bed.acquireNames()).toEqual(['t'])
  })

  test('is free at once after a clean shutdown', async () => {
    const cluster = await TestCluster.open()
    const first = await cluster.startNode('a')
    await first.bed.store.shutdown()
    await cluster.startNode('a')
    expect(await cluster.members()).toEqual(['a'])
  })

  test('is not waited for any more when the node is shut down', async () => {
    const cluster = await TestCluster.open()
    await cluster.startNode('a')
    const twin = await cluster.node('a')
    const starting = outcomeOf(twin.start())
    await cluster.clock.settle()
    await twin.bed.store.shutdown()
    await cluster.clock.settle()
    expect(starting.value).toBe('done')
  })
})

describe('nodes with different locking', () => {
  const skipLocked = { ...clusterDefaults, locking: 'skipLocked' } as const
  const quartzLocks = { ...clusterDefaults, locking: 'quartzLocks' } as const

  test('one with skipLocked refuses to start beside one of Java that is alive, whatever its clock says', async () => {
    const cluster = await TestCluster.open()
    await javaRow(cluster, cluster.clock.now() - 3_600_000)
    const starting = outcomeOf((await cluster.node('a', skipLocked)).start())
    await cluster.clock.advance(7000)
    expect(starting.value).toBe('open')
    await javaRow(cluster, cluster.clock.now() - 3_600_000)
    await cluster.clock.advance(1500)
    expect(starting.value).toBe('ERR_MIXED_LOCKING')
  })

  test('one with skipLocked starts beside a row that Java left, and recovers it', async () => {
    const cluster = await TestCluster.open()
    await javaRow(cluster, cluster.clock.now())
    const starting = outcomeOf((await cluster.node('a', skipLocked)).start())
    await cluster.clock.advance(18_000)
    expect(starting.value).toBe('done')
    await cluster.clock.advance(18_000)
    expect(await cluster.members()).toEqual(['a'])
  })

  test('one with skipLocked refuses to start beside one with quartzLocks', async () => {
    const cluster = await TestCluster.open()
    await cluster.startNode('q', quartzLocks)
    const starting = outcomeOf((await cluster.node('a', skipLocked)).start())
    await cluster.clock.advance(3000)
    expect(starting.value).toBe('ERR_MIXED_LOCKING')
  })

  test('one with quartzLocks warns of one with skipLocked, which warns of it, once each', async () => {
    const cluster = await TestCluster.open()
    const s = await cluster.startNode('s', skipLocked)
    const q = await cluster.startNode('q', quartzLocks)
    await cluster.clock.advance(10_000)
    for (const { bed } of [s, q]) {
      expect(bed.signals.errors).toMatchObject([{ cause: { code: 'ERR_MIXED_LOCKING' } }])
    }
  })

  test('one of Java that checks in by a clock of its own is not recovered, one that stops is', async () => {
    const cluster = await TestCluster.open()
    const q = await cluster.startNode('q', quartzLocks)
    for (let step = 0; step < 5; step++) {
      await javaRow(cluster, cluster.clock.now() - 3_600_000)
      await cluster.clock.advance(7500)
    }
    expect(q.bed.signals.failedNodes).toEqual([])
    await cluster.clock.advance(11_000)
    expect(q.bed.signals.failedNodes).toEqual(['java'])
  })
})

describe('the time of the database', () => {
  async function clusterWithTime(): Promise<TestCluster> {
    const cluster = await TestCluster.open({ nowMs: '(SELECT ms FROM db_time)' })
    await cluster.sql('CREATE TABLE db_time (ms bigint)')
    await cluster.sql('INSERT INTO db_time VALUES (?)', cluster.clock.now() + 7000)
    return cluster
  }

  test('is what check-ins go by, and its distance is measured', async () => {
    const cluster = await clusterWithTime()
    const a = await cluster.startNode('a')
    expect(a.bed.signals.clockOffsets).toEqual([{ offsetMs: 7000, uncertaintyMs: 0 }])
    await cluster.sql('UPDATE db_time SET ms = ms + 1500')
    await cluster.clock.advance(1500)
    expect(a.bed.signals.clockOffsets.at(-1)).toEqual({ offsetMs: 7000, uncertaintyMs: 0 })
    const [self] = await a.member().nodes()
    expect(self?.lastCheckInTimeMs).toBe(cluster.clock.now() + 7000)
    await cluster.clock.advance(1500)
    expect((await a.member().nodes())[0]?.info?.clockOffsetMs).toBe(7000)
  })

  test('that stands still or jumps makes nobody fail', async () => {
    const cluster = await clusterWithTime()
    const a = await cluster.startNode('a')
    const b = await cluster.startNode('b')
    await cluster.clock.advance(30_000)
    await cluster.sql('UPDATE db_time SET ms = ms + 3600000')
    await cluster.clock.advance(1500)
    await cluster.sql('UPDATE db_time SET ms = ms - 7200000')
    await cluster.clock.advance(30_000)
    expect([...a.bed.signals.failedNodes, ...b.bed.signals.failedNodes]).toEqual([])
  })
})
