import { sqliteJobStore } from 'quartz-ts/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { TriggerKey } from '../../../../../src/core/key.ts'
import { JobBuilder } from '../../../../../src/jobs/job-builder.ts'
import type { JobDetail } from '../../../../../src/jobs/job-detail.ts'
import { jobDetail, namesOf, only, Testbed } from '../../../../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../../../../src/time/manual-clock.ts'
import { TestCluster, type TestNode } from '../../../../support/cluster.ts'

/** Long enough for the others to find out that a node died. */
const failOverMs = 9000

interface Scene {
  readonly cluster: TestCluster
  readonly a: TestNode
  readonly b: TestNode
}

async function twoNodes(limit: number): Promise<Scene> {
  const cluster = await TestCluster.open()
  const jobGroupLimits = new Map([
    ['reports', limit],
    ['nobody has such jobs', 1],
  ])
  return {
    cluster,
    a: await cluster.startNode('a', { jobGroupLimits }),
    b: await cluster.startNode('b', { jobGroupLimits }),
  }
}

const report = (name: string, changes: Partial<JobDetail> = {}): JobDetail =>
  jobDetail(name, { group: 'reports', durable: true, ...changes })

async function scheduleReports(bed: Testbed, ...names: readonly string[]): Promise<void> {
  for (const name of names) await bed.schedule(name, { job: report(name) })
}

describe('a limit for a job group', () => {
  test('counts what all nodes have claimed and execute, and leaves other groups alone', async () => {
    const { a, b } = await twoNodes(2)
    await scheduleReports(a.bed, 'r1', 'r2', 'r3', 'r4')
    await a.bed.schedule('s1')
    const claims = await a.bed.acquire({ maxCount: 1 })
    await expect(b.bed.acquireNames()).resolves.toEqual(['r2', 's1'])
    await expect(a.bed.acquireNames()).resolves.toEqual([])
    const execution = await a.bed.fire(only(claims))
    await a.bed.schedule('s2')
    await expect(b.bed.acquireNames()).resolves.toEqual(['s2'])
    await a.bed.complete(execution)
    await expect(b.bed.acquireNames()).resolves.toEqual(['r3'])
    await expect(a.bed.acquireNames()).resolves.toEqual([])
  })

  test('does not let triggers that wait hide later ones', async () => {
    const { cluster, a, b } = await twoNodes(1)
    await scheduleReports(a.bed, 'r1', 'r2', 'r3', 'r4')
    await a.bed.schedule('later', { inMs: 1 })
    await cluster.clock.advance(1)
    await expect(a.bed.acquireNames({ maxCount: 2 })).resolves.toEqual(['r1', 'later'])
    await b.bed.schedule('ahead', { inMs: 100 })
    await expect(b.bed.acquireNames({ noLaterThanMs: b.bed.now() + 1000 })).resolves.toEqual(['ahead'])
  })

  test('is not used up by triggers that cannot be read, or of jobs that are busy', async () => {
    const { cluster, a, b } = await twoNodes(2)
    const busy = report('busy', { disallowConcurrentExecution: true })
    await a.bed.scheduleAll([a.bed.trigger('b1', { job: busy }), a.bed.trigger('b2', { job: busy })], busy)
    await expect(b.bed.acquireNames()).resolves.toEqual(['b1'])
    await scheduleReports(a.bed, 'broken', 'fine')
    await cluster.sql("UPDATE qrtz_triggers SET trigger_type = 'X' WHERE trigger_name = 'broken'")
    await expect(a.bed.acquireNames()).resolves.toEqual(['fine'])
  })

  test('goes together with jobs for some nodes', async () => {
    const { a, b } = await twoNodes(1)
    await scheduleReports(a.bed, 'r1', 'r2')
    const pinned = JobBuilder.from(jobDetail('pinned', { durable: true }))
      .onNodes(['b'])
      .build()
    await a.bed.schedule('pinned', { job: pinned })
    await expect(a.bed.acquireNames()).resolves.toEqual(['r1'])
    await expect(a.bed.acquireNames()).resolves.toEqual([])
    await expect(b.bed.acquireNames()).resolves.toEqual(['pinned'])
  })

  test('holds in a store that one scheduler uses', async () => {
    const store = sqliteJobStore({ filename: ':memory:', jobGroupLimits: { reports: 1 } })
    onTestFinished(() => store.shutdown())
    const bed = new Testbed(store, new ManualClock(), 'only')
    await store.initialize(bed.context)
    await scheduleReports(bed, 'r1', 'r2')
    await bed.schedule('s1')
    await expect(bed.acquireNames()).resolves.toEqual(['r1', 's1'])
    await bed.store.releaseAllAcquiredTriggers()
    const execution = await bed.start('r1')
    await expect(bed.acquireNames()).resolves.toEqual(['s1'])
    bed.signals.clear()
    await bed.complete(execution)
    expect(bed.signals.announced(bed.now())).toBe(true)
    await expect(bed.acquireNames()).resolves.toEqual(['r2'])
  })

  test('that was lowered holds for what starts from then on', async () => {
    const { cluster, a } = await twoNodes(2)
    await scheduleReports(a.bed, 'r1', 'r2', 'r3')
    const claims = await a.bed.acquire()
    expect(claims).toHaveLength(2)
    const lowered = await cluster.startNode('c', { jobGroupLimits: new Map([['reports', 1]]) })
    await expect(lowered.bed.acquireNames()).resolves.toEqual([])
    await a.bed.store.releaseAcquiredTriggers(claims.slice(0, 1))
    await expect(lowered.bed.acquireNames()).resolves.toEqual([])
    await a.bed.store.releaseAcquiredTriggers(claims)
    await expect(lowered.bed.acquireNames()).resolves.toEqual(['r1'])
  })
})

describe('a trigger of a limited group that is due later', () => {
  const ahead = (bed: Testbed): { noLaterThanMs: number } => ({ noLaterThanMs: bed.now() + 30_000 })

  test('is not claimed, and takes no room from what only another node may run', async () => {
    const { a, b } = await twoNodes(1)
    await a.bed.schedule('later', { job: report('later'), inMs: 5000 })
    const laterMs = a.bed.now() + 5000
    const nothing = { fired: [], acquired: [], lookAgainAtMs: laterMs }
    expect(await a.bed.acquireAndFire(ahead(a.bed))).toEqual(nothing)
    const pinned = JobBuilder.from(report('pinned')).onNodes(['b'], { required: true }).build()
    await a.bed.schedule('pinned', { job: pinned })
    expect(await a.bed.acquireAndFire(ahead(a.bed))).toEqual(nothing)
    expect(namesOf((await b.bed.acquireAndFire(ahead(b.bed))).fired)).toEqual(['pinned'])
  })

  test('fires in time, also between claims on others', async () => {
    const { cluster, a } = await twoNodes(1)
    await a.bed.schedule('s1', { inMs: 4000 })
    await a.bed.schedule('r1', { job: report('r1'), inMs: 4200 })
    await a.bed.schedule('s2', { inMs: 4500 })
    const dueMs = a.bed.now() + 4200
    const { acquired, lookAgainAtMs } = await a.bed.acquireAndFire({ ...ahead(a.bed), timeWindowMs: 1000 })
    expect([namesOf(acquired), lookAgainAtMs]).toEqual([['s1', 's2'], dueMs])
    await cluster.clock.advance(4200)
    expect(namesOf((await a.bed.acquireAndFire()).fired)).toEqual(['r1'])
  })

  test('is claimed for a caller that is not told when to look again', async () => {
    const { a } = await twoNodes(1)
    await a.bed.schedule('later', { job: report('later'), inMs: 5000 })
    await expect(a.bed.acquireNames(ahead(a.bed))).resolves.toEqual(['later'])
  })
})

/** Ways in which what was claimed or executed ends. */
const ends: Record<string, (scene: Scene) => Promise<unknown>> = {
  'an execution': async ({ a }) => a.bed.complete(await a.bed.start('r1')),
  'a claim that is given back': async ({ a: { bed } }) => {
    await bed.store.releaseAcquiredTriggers([await bed.acquireOne('r1')])
  },
  'a claim on a trigger that is deleted': async ({ a: { bed } }) => {
    await bed.store.deleteTriggers([(await bed.acquireOne('r1')).trigger.key])
  },
  'a claim on a trigger that is paused': async ({ a: { bed } }) => {
    await bed.acquireOne('r1')
    await bed.store.pauseTrigger(new TriggerKey('r1'))
  },
}

describe('the nodes are woken for what waits of a full group', () => {
  test.each(Object.entries(ends))('after %s', async (_, end) => {
    const scene = await twoNodes(1)
    const { cluster, a, b } = scene
    await scheduleReports(a.bed, 'r1')
    await cluster.clock.advance(10)
    await scheduleReports(a.bed, 'r2')
    const waitsSinceMs = a.bed.now()
    await cluster.clock.advance(10)
    a.wakes.splice(0)
    await end(scene)
    expect(a.wakes.some((wakeMs) => wakeMs <= waitsSinceMs)).toBe(true)
    await expect(b.bed.acquire()).resolves.toHaveLength(1)
  })

  test('also when it was stored while an execution ended', async () => {
    const { a, b } = await twoNodes(1)
    await scheduleReports(a.bed, 'r1')
    const execution = await a.bed.start('r1')
    a.wakes.splice(0)
    const answer = a.runner.delayAnswer()
    const end = a.bed.complete(execution)
    await scheduleReports(b.bed, 'r2')
    answer.come()
    await end
    expect(a.wakes).toEqual([a.bed.now()])
  })

  test('also when nobody can look whether something waits', async () => {
    const { a } = await twoNodes(1)
    await scheduleReports(a.bed, 'r1')
    const execution = await a.bed.start('r1')
    a.wakes.splice(0)
    const answer = a.runner.delayAnswer()
    const end = a.bed.complete(execution)
    a.runner.state = 'away'
    answer.come()
    expect(await end).toEqual({ locked: [], passedOver: [] })
    expect(a.wakes).toEqual([a.bed.now()])
  })

  test('after a claim that a node gives up because its job runs', async () => {
    const { cluster, a } = await twoNodes(2)
    const job = report('job')
    await a.bed.scheduleAll([a.bed.trigger('r1', { job }), a.bed.trigger('r2', { job })], job)
    const claims = await a.bed.acquire()
    await scheduleReports(a.bed, 'r3')
    // As a Java node would, which leaves the claims.
    await cluster.sql("UPDATE qrtz_job_details SET is_nonconcurrent = true WHERE job_name = 'job'")
    a.wakes.splice(0)
    const results = await a.bed.store.triggersFired(claims)
    expect(results.map(({ kind }) => kind)).toEqual(['fired', 'gone'])
    expect(a.wakes).toEqual([a.bed.now()])
    await expect(a.bed.acquireNames()).resolves.toEqual(['r3'])
  })

  test('not when it is due later and all of them look again then', async () => {
    const { a, b } = await twoNodes(1)
    await scheduleReports(a.bed, 'r1')
    await a.bed.schedule('r2', { job: report('r2'), inMs: 5000 })
    const dueMs = a.bed.now() + 5000
    const ahead = { noLaterThanMs: a.bed.now() + 30_000 }
    const { fired } = await a.bed.acquireAndFire(ahead)
    expect(namesOf(fired)).toEqual(['r1'])
    for (const { bed } of [a, b])
      expect(await bed.acquireAndFire(ahead)).toMatchObject({ lookAgainAtMs: dueMs })
    a.wakes.splice(0)
    await a.bed.complete(only(fired))
    expect(a.wakes).toEqual([])
  })

  test('also when it is due within the time by which their clocks may differ', async () => {
    const { cluster, a } = await twoNodes(1)
    await scheduleReports(a.bed, 'r1')
    await a.bed.schedule('r2', { job: report('r2'), inMs: 5000 })
    const dueMs = a.bed.now() + 5000
    const { fired } = await a.bed.acquireAndFire()
    await cluster.clock.advance(4970)
    const ahead = { noLaterThanMs: a.bed.now() + 30_000 }
    expect(await a.bed.acquireAndFire(ahead)).toMatchObject({ lookAgainAtMs: a.bed.now() + 50 })
    a.wakes.splice(0)
    await a.bed.complete(only(fired))
    expect(a.wakes).toEqual([dueMs])
  })

  test('also when it is due only soon, and a caller is not told when to look again', async () => {
    const { a } = await twoNodes(1)
    await scheduleReports(a.bed, 'r1')
    await a.bed.schedule('r2', { job: report('r2'), inMs: 5000 })
    const soonMs = a.bed.now() + 5000
    const [claim] = await a.bed.acquire({ noLaterThanMs: a.bed.now() + 30_000 })
    a.wakes.splice(0)
    await a.bed.complete(await a.bed.fire(claim ?? expect.fail('claimed')))
    expect(a.wakes).toEqual([soonMs])
  })

  test('after the recovery of a node', async () => {
    const { cluster, a, b } = await twoNodes(1)
    await scheduleReports(a.bed, 'r1', 'r2')
    await a.bed.start('r1')
    await expect(b.bed.acquireNames()).resolves.toEqual([])
    a.kill()
    b.bed.signals.clear()
    await cluster.clock.advance(failOverMs)
    expect(b.bed.signals.announced(b.bed.now())).toBe(true)
    await expect(b.bed.acquireNames()).resolves.toEqual(['r2'])
  })

  test('and not for groups without a limit', async () => {
    const { a } = await twoNodes(1)
    await a.bed.schedule('s1')
    await a.bed.schedule('s2', { inMs: 5 })
    const execution = await a.bed.start('s1')
    a.wakes.splice(0)
    await a.bed.complete(execution)
    expect(a.wakes).toEqual([])
  })
})
