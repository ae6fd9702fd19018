import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { seededIds } from '../../src/core/ids.ts'
import { recoveringJobsGroup } from '../../src/core/key.ts'
import { postgresEngine } from '../../src/jobstore/postgres/postgres-engine.ts'
import {
  type PostgresJobStoreOptions,
  resolvePostgresOptions,
} from '../../src/jobstore/postgres/postgres-options.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { jobDetail, only, refuses, Testbed } from '../../src/testing/job-store/testbed.ts'
import { systemClock } from '../../src/time/clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
})

const tuned = { checkInIntervalMs: 300, failedAfterMs: 1000 }
const patienceMs = 30_000

/** Makes nodes of a cluster of its own, on real time. */
function cluster(shared: PostgresJobStoreOptions = {}) {
  const schema = `c${randomBytes(4).toString('hex')}`
  let nodeCount = 0
  return {
    schema,
    async node(instanceId: string, options: PostgresJobStoreOptions = {}): Promise<Testbed> {
      nodeCount++
      const resolved = resolvePostgresOptions({
        connectionString: database.connectionString,
        poolSize: 3,
        schema,
        ...tuned,
        ...shared,
        ...options,
      })
      const store = new SqlJobStore(postgresEngine(resolved))
      const bed = new Testbed(store, new ManualClock(systemClock.now()), instanceId)
      await store.initialize({ ...bed.context, clock: systemClock, ids: seededIds(nodeCount) })
      onTestFinished(() => store.shutdown())
      return bed
    },
    async startNode(instanceId: string, options: PostgresJobStoreOptions = {}): Promise<Testbed> {
      const bed = await this.node(instanceId, options)
      await bed.store.schedulerStarted()
      return bed
    },
    async members(): Promise<unknown[]> {
      const rows = await database.query(
        `SELECT instance_name FROM ${schema}.qrtz_scheduler_state ORDER BY instance_name`,
      )
      return rows.map((row) => row['instance_name'])
    },
  }
}

describe.each(['skipLocked', 'quartzLocks'] as const)('a cluster on PostgreSQL, %s', (locking) => {
  test('recovers a node that is no more: its claims and its executions', async () => {
    const nodes = cluster({ locking })
    const dead = await nodes.node('dead')
    const job = jobDetail('j', { requestsRecovery: true, disallowConcurrentExecution: true })
    await dead.scheduleAll([dead.trigger('t', { job }), dead.trigger('sibling', { job, inMs: 1 })], job)
    const lost = await dead.start('t')
    await dead.scheduleAll([dead.trigger('claimed')])
    await dead.acquireOne('claimed')
    await database.query(
      `INSERT INTO ${nodes.schema}.qrtz_scheduler_state
         (sched_name, instance_name, last_checkin_time, checkin_interval, boot_id, node_info)
       VALUES ('conformance', 'dead', 1, 300, 'boot', NULL)`,
    )
    const live = await nodes.startNode('live')
    // A row without a word about itself is judged like one of Java: by its interval and 7.5 seconds.
    await vi.waitFor(
      () => {
        expect(live.signals.recoveries).toEqual([
          { node: 'dead', releasedClaims: 1, recoveredExecutions: 1, lostExecutions: 0 },
        ])
      },
      { timeout: patienceMs },
    )
    expect(live.signals.failedNodes).toEqual(['dead'])
    expect(await nodes.members()).toEqual(['live'])
    const claims = await live.acquire({ noLaterThanMs: systemClock.now() })
    const recovery = only(claims.filter(({ trigger }) => trigger.key.group === recoveringJobsGroup))
    const bundle = await live.fire(recovery)
    expect(bundle.scheduledFireTimeMs).toBe(lost.scheduledFireTimeMs)
    await live.complete(bundle, 'deleteTrigger')
    expect(await live.state('sibling')).toBe('NORMAL')
    await dead.complete(lost, 'setTriggerError')
    expect(live.signals.lostExecutions).toEqual([])
  })

  test('recovers firings of a node that has no state', async () => {
    const nodes = cluster({ locking })
    const dead = await nodes.node('dead')
    await dead.schedule('t')
    await dead.start('t')
    const live = await nodes.startNode('live')
    await vi.waitFor(
      () => {
        expect(live.signals.lostExecutions).toHaveLength(1)
      },
      { timeout: patienceMs },
    )
    expect(live.signals.failedNodes).toEqual([])
  })

  test('recovers each execution once, however many nodes see the failure', async () => {
    const nodes = cluster({ locking })
    const dead = await nodes.node('dead')
    const job = jobDetail('j', { requestsRecovery: true })
    const names = Array.from({ length: 20 }, (_, index) => `t${index}`)
    await dead.scheduleAll(
      names.map((name) => dead.trigger(name, { job })),
      job,
    )
    const claims = await dead.acquire({ maxCount: 20 })
    await dead.store.triggersFired(claims)
    const peers = await Promise.all(['a', 'b', 'c', 'd'].map((id) => nodes.startNode(id)))
    await vi.waitFor(
      () => {
        expect(peers.flatMap(({ signals }) => signals.recoveries)).not.toEqual([])
      },
      { timeout: patienceMs },
    )
    // All of them have looked again since.
    const looks = peers.map(({ signals }) => signals.clockOffsets.length + 2)
    await vi.waitFor(
      () => {
        expect(peers.every(({ signals }, at) => signals.clockOffsets.length > (looks[at] ?? 0))).toBe(true)
      },
      { timeout: patienceMs },
    )
    expect(peers.flatMap(({ signals }) => signals.recoveries)).toMatchObject([{ recoveredExecutions: 20 }])
    expect(peers.flatMap(({ signals }) => signals.errors)).toEqual([])
    const rows = await database.query(
      `SELECT count(*) AS count FROM ${nodes.schema}.qrtz_triggers WHERE trigger_group = $1`,
      [recoveringJobsGroup],
    )
    expect(rows).toEqual([{ count: '20' }])
  })

  test('keeps nodes that live, knows the time, and lets go of those that leave', async () => {
    const nodes = cluster({ locking })
    const [a, b] = [await nodes.startNode('a'), await nodes.startNode('b')]
    await vi.waitFor(
      () => {
        expect(a.signals.clockOffsets.length).toBeGreaterThan(10)
      },
      { timeout: patienceMs },
    )
    expect(await nodes.members()).toEqual(['a', 'b'])
    expect([...a.signals.failedNodes, ...b.signals.failedNodes]).toEqual([])
    for (const { offsetMs, uncertaintyMs } of a.signals.clockOffsets) {
      // Server and client are on one machine.
      expect(Math.abs(offsetMs)).toBeLessThanOrEqual(uncertaintyMs + 5)
    }
    await a.store.shutdown()
    expect(await nodes.members()).toEqual(['b'])
  })

  test('refuses an instance id that is at work', async () => {
    const nodes = cluster({ locking })
    const first = await nodes.startNode('a')
    const second = await nodes.node('a')
    await refuses(second.store.schedulerStarted(), 'ERR_DUPLICATE_INSTANCE_ID')
    expect(first.signals.recoveriesByPeers).toBe(0)
  })

  test('a node whose row was taken away learns it, and takes part anew', async () => {
    const nodes = cluster({ locking })
    const a = await nodes.startNode('a')
    await database.query(`DELETE FROM ${nodes.schema}.qrtz_scheduler_state`)
    await vi.waitFor(
      () => {
        expect(a.signals.recoveriesByPeers).toBe(1)
      },
      { timeout: patienceMs },
    )
    await a.schedule('t')
    expect(await a.acquireNames({ noLaterThanMs: systemClock.now() })).toEqual(['t'])
    expect(await nodes.members()).toEqual(['a'])
  })
})

test('nodes with different locking do not work on the same tables', async () => {
  const nodes = cluster()
  await nodes.startNode('q', { locking: 'quartzLocks' })
  const second = await nodes.node('s')
  await refuses(second.store.schedulerStarted(), 'ERR_MIXED_LOCKING')
})
