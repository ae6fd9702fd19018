import {
  createScheduler,
  defineJob,
  type EndedSharding,
  JobBuilder,
  jobKey,
  type RetryOptions,
  type Scheduler,
  type ShardingOptions,
  type Trigger,
  TriggerBuilder,
} from 'quartz-ts'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { recoveringJobsGroup, retryingJobsGroup } from '../../src/core/key.ts'
import { resolveSharding } from '../../src/jobs/sharding.ts'
import type { TriggerFiredBundle } from '../../src/jobstore/fired-bundle.ts'
import { firingPartOf } from '../../src/jobstore/firing-part.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { ownersOf } from '../../src/jobstore/shard-strategies.ts'
import { jobDetail, only, Testbed } from '../../src/testing/job-store/testbed.ts'
import { systemClock } from '../../src/time/clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { closedGate } from '../support/held-statement.ts'
import { firingsOf } from '../support/shard-operations.ts'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()
const tuned = { checkInIntervalMs: 300, failedAfterMs: 1000 }
/** No node is taken for failed while a test waits. */
const patient = { checkInIntervalMs: 300, failedAfterMs: 600_000 }

interface Run {
  readonly item: number
  readonly node: string
  readonly parameter: string | null
}

/** Nodes on data of their own, and what they ran. */
async function cluster(options: typeof tuned = tuned) {
  const newStore = await stores.prepare()
  const runs: Run[] = []
  const ended: EndedSharding[] = []
  return {
    runs,
    ended,
    newStore: (): JobStore => newStore({ ...options, history: { record: 'all' } }),
    async node(instanceId: string, execute: () => unknown = () => {}): Promise<Scheduler> {
      const work = defineJob('work', async ({ shard }) => {
        if (shard !== null) runs.push({ item: shard.item, node: instanceId, parameter: shard.parameter })
        await execute()
      })
      const scheduler = await createScheduler({
        logger: false,
        jobStore: this.newStore(),
        instanceId,
        jobs: [work],
        idleWaitMs: 1000,
      })
      onTestFinished(() => scheduler.shutdown())
      scheduler.events.on('allShardsDone', ({ firing }) => ended.push(firing))
      await scheduler.start()
      return scheduler
    },
    async isEnded(count = 1): Promise<void> {
      await vi.waitFor(
        () => {
          expect(ended.length).toBeGreaterThanOrEqual(count)
        },
        { timeout: 30_000, interval: 20 },
      )
    },
  }
}

async function store(
  scheduler: Scheduler,
  options: ShardingOptions,
  retry: RetryOptions | null = null,
): Promise<void> {
  const job = JobBuilder.newJob('work').withIdentity('sharded').storeDurably().withSharding(options)
  await scheduler.addJob(job.withRetry(retry).build(), { replace: true })
}

const byItem = (a: Run, b: Run): number => a.item - b.item

describe('a sharded firing in a cluster', () => {
  test('runs each item once, on its owner, and ends once; late joiners take part in the next one', async () => {
    const { node, runs, ended, isEnded } = await cluster().then((nodes) => ({
      ...nodes,
      node: nodes.node.bind(nodes),
      isEnded: nodes.isEnded.bind(nodes),
    }))
    const one = await node('node-1')
    await node('node-2')
    const expected = (nodes: readonly string[], items: number): string[] => [
      ...ownersOf('sticky', { items, nodes, jobName: 'sharded', nowMs: 0 }),
    ]
    await store(one, { items: 8, parameters: { 3: 'north' } })
    await one.triggerJob(jobKey('sharded'))
    await isEnded(1)
    expect(runs.sort(byItem).map((run) => run.node)).toEqual(expected(['node-1', 'node-2'], 8))
    expect(runs.map(({ item }) => item)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(runs[3]?.parameter).toBe('north')
    expect(ended[0]?.items.map(({ owner }) => owner)).toEqual(expected(['node-1', 'node-2'], 8))
    const three = await node('node-3')
    for (const [index, items] of [3, 10].entries()) {
      runs.length = 0
      await store(one, { items })
      await three.triggerJob(jobKey('sharded'))
      await isEnded(2 + index)
      expect(runs.sort(byItem).map((run) => run.node)).toEqual(
        expected(['node-1', 'node-2', 'node-3'], items),
      )
    }
    expect(ended).toHaveLength(3)
    const { items: parts } = await one.queryExecutions({ firingId: ended[2]?.fireInstanceId ?? '' })
    expect(parts).toHaveLength(10)
    const line = await three.getExecution(ended[2]?.fireInstanceId ?? '')
    expect(line).toMatchObject({ outcome: 'succeeded', shard: null })
  })

  test('with an item for each node runs once on every live node', async () => {
    const nodes = await cluster()
    const one = await nodes.node('node-1')
    await nodes.node('node-2')
    await nodes.node('node-3')
    await store(one, { items: 'nodes' })
    await one.triggerJob(jobKey('sharded'))
    await nodes.isEnded()
    expect(nodes.runs.map(({ node }) => node).sort()).toEqual(['node-1', 'node-2', 'node-3'])
  })

  test('with an item for each node leaves out nodes that stand by or drain', async () => {
    const nodes = await cluster()
    const one = await nodes.node('node-1')
    const [two, three] = [await nodes.node('node-2'), await nodes.node('node-3')]
    await two.standby()
    await three.cluster.drain('node-3')
    const statuses = async () => (await one.cluster.nodes()).map(({ status }) => status)
    await expect.poll(async () => (await statuses()).toSorted()).toEqual(['draining', 'standby', 'started'])
    await store(one, { items: 'nodes' })
    await one.triggerJob(jobKey('sharded'))
    await nodes.isEnded()
    expect(nodes.runs.map(({ node }) => node)).toEqual(['node-1'])
  })

  test('does not wait for an owner that stands by', async () => {
    const nodes = await cluster()
    const one = await nodes.node('node-1')
    const two = await nodes.node('node-2')
    await two.standby()
    await store(one, { items: 4 })
    await one.triggerJob(jobKey('sharded'))
    await nodes.isEnded()
    expect(nodes.runs.sort(byItem).map(({ node }) => node)).toEqual(Array.from({ length: 4 }, () => 'node-1'))
  })

  test('gives the items of a node that leaves to the others', async () => {
    const nodes = await cluster()
    const one = await nodes.node('node-1')
    const two = await nodes.node('node-2')
    await two.standby()
    await store(one, { items: 4 })
    await one.triggerJob(jobKey('sharded'))
    await vi.waitFor(
      () => {
        expect(nodes.runs.length).toBeGreaterThan(0)
      },
      { timeout: 30_000, interval: 20 },
    )
    await two.shutdown()
    await nodes.isEnded()
    expect(nodes.runs.map(({ node }) => node)).toEqual(Array.from({ length: 4 }, () => 'node-1'))
  })
})

describe('a broadcast to a node that leaves', () => {
  const itemsOf = ({ items }: EndedSharding): string[] =>
    items.map(({ owner, outcome }) => `${owner} ${outcome}`).toSorted()

  test('ends soon when an item waits for its next attempt there', async () => {
    const nodes = await cluster(patient)
    const one = await nodes.node('node-1')
    const two = await nodes.node('node-2', () => Promise.reject(new Error('broken')))
    await store(one, { items: 'nodes' }, { attempts: 2, backoff: { initialMs: 3_600_000 } })
    const retried = two.events.next('jobRetryScheduled')
    await one.triggerJob(jobKey('sharded'))
    await retried
    const ended = one.events.next('allShardsDone')
    await two.shutdown({ waitForJobsToComplete: true })
    const { firing } = await ended
    expect(itemsOf(firing)).toEqual(['node-1 succeeded', 'node-2 lost'])
    expect(nodes.ended).toEqual([firing])
    expect(await one.getShards(jobKey('sharded'))).toMatchObject({ firings: [] })
  })

  test('ends soon when it was split before and is committed after the node has left', async () => {
    const nodes = await cluster(patient)
    const one = await nodes.node('node-1')
    await store(one, { items: 'nodes' })
    const bed = await bareNode(nodes.newStore(), 'node-2')
    const table = `${stores.lastSchema()}.qrtz_split_firings`
    const gate = await closedGate(stores.database(), { on: 'INSERT', table })
    const ended = one.events.next('allShardsDone')
    await one.triggerJob(jobKey('sharded'))
    await gate.reached()
    await bed.store.shutdown()
    await checkedIn(one, 3)
    await gate.open()
    expect(itemsOf((await ended).firing)).toEqual(['node-1 succeeded', 'node-2 lost'])
  })

  test('ends at the next check-in of a node that has run an item and never saw the other', async () => {
    const nodes = await cluster({ checkInIntervalMs: 60_000, failedAfterMs: 3_600_000 })
    const one = await bareNode(nodes.newStore(), 'node-1')
    const two = await bareNode(nodes.newStore(), 'node-2')
    const sharding = resolveSharding({ items: 'nodes' })
    const job = jobDetail('sharded', { durable: true, jobType: 'work', sharding })
    await two.scheduleAll([two.trigger('t', { job })], job)
    const claim = only(await two.acquire({ noLaterThanMs: systemClock.now() }))
    const failed = only(firingsOf(await two.store.triggersFired([claim])))
    await two.complete(failed, 'deleteTrigger', { retryTrigger: retryInAnHour(failed) })
    const item = only(await one.acquire({ noLaterThanMs: systemClock.now() }))
    await one.complete(await one.fire(item), 'deleteTrigger')
    await two.store.shutdown()
    expect(one.signals.endedShardings).toEqual([])
    one.store.cluster?.announce()
    await vi.waitFor(
      () => {
        // What ends without a report has failed.
        expect(one.signals.endedShardings.map(itemsOf)).toEqual([['node-1 failed', 'node-2 lost']])
      },
      { timeout: 30_000, interval: 20 },
    )
  })
})

function retryInAnHour({ trigger }: TriggerFiredBundle): Trigger {
  return TriggerBuilder.newTrigger()
    .withIdentity('retry', retryingJobsGroup)
    .forJob(jobKey('sharded'))
    .startAt(new Date(systemClock.now() + 3_600_000))
    .usingJobData(trigger.jobDataMap)
    .build()
    .computeFirstFireTime(null)
}

/** A node that takes part in broadcasts, and fires nothing by itself. */
async function bareNode(store: JobStore, instanceId: string): Promise<Testbed> {
  const bed = new Testbed(store, new ManualClock(systemClock.now()), instanceId)
  await store.initialize({
    ...bed.context,
    schedulerName: 'QuartzScheduler',
    clock: systemClock,
    jobTypes: () => ['work'],
  })
  onTestFinished(() => store.shutdown())
  await store.schedulerStarted()
  return bed
}

/** Resolves when the node has checked in so often from now on. */
async function checkedIn({ cluster }: Scheduler, times: number): Promise<void> {
  const lastMs = async (): Promise<unknown> => (await cluster.nodes())[0]?.lastCheckInTimeMs
  for (let count = 0, before = await lastMs(); count < times; count++) {
    await expect.poll(lastMs).not.toBe(before)
    before = await lastMs()
  }
}

/** A node that begins items and dies: it never checks in. */
async function deadNode(
  newStore: () => JobStore,
  options: ShardingOptions,
  requestsRecovery: boolean = true,
): Promise<DeadNode> {
  const bed = new Testbed(newStore(), new ManualClock(systemClock.now()), 'dead')
  await bed.store.initialize({ ...bed.context, schedulerName: 'QuartzScheduler', clock: systemClock })
  onTestFinished(() => bed.store.shutdown())
  const sharding = resolveSharding(options)
  const job = jobDetail('sharded', { durable: true, jobType: 'work', sharding, requestsRecovery })
  await bed.scheduleAll([bed.trigger('t', { job })], job)
  const claim = only(await bed.acquire({ noLaterThanMs: systemClock.now() }))
  const bundles = firingsOf(await bed.store.triggersFired([claim]))
  for (const item of await bed.acquire({ noLaterThanMs: systemClock.now() }))
    bundles.push(await bed.fire(item))
  return { bed, bundles }
}

interface DeadNode {
  readonly bed: Testbed
  readonly bundles: readonly TriggerFiredBundle[]
}

describe('items of a node that died', () => {
  test('run again, each once, in the same firing, and its own ends count for nothing', async () => {
    const nodes = await cluster()
    const { bed, bundles } = await deadNode(() => nodes.newStore(), { items: 6 })
    expect(bundles).toHaveLength(6)
    const [first] = bundles
    if (first === undefined) throw new Error('there are items')
    await bed.complete(first, 'deleteTrigger')
    // Two nodes look at the same dead items.
    const [one] = await Promise.all([nodes.node('node-1'), nodes.node('node-2')])
    await nodes.isEnded()
    for (const bundle of bundles) await bed.complete(bundle, 'deleteTrigger')
    expect(nodes.runs.map(({ item }) => item).sort()).toEqual([1, 2, 3, 4, 5])
    expect(nodes.ended).toHaveLength(1)
    const firingId = firingPartOf(first.trigger.jobDataMap)?.firingId ?? ''
    expect(nodes.ended[0]).toMatchObject({ fireInstanceId: firingId, triggerKey: { name: 't' } })
    expect(bed.signals.endedShardings).toEqual([])
    const { items } = await one.queryExecutions({ firingId })
    expect(items.filter(({ recovering }) => recovering)).toHaveLength(5)
    expect(items.every(({ triggerKey }) => triggerKey.group !== recoveringJobsGroup)).toBe(true)
    expect(await one.getShards(jobKey('sharded'))).toMatchObject({ firings: [] })
  })

  test('are lost when they are not recovered, and the firing ends', async () => {
    const nodes = await cluster()
    await deadNode(() => nodes.newStore(), { items: 2 }, false)
    await nodes.node('node-1')
    await nodes.isEnded()
    expect(nodes.runs).toEqual([])
    expect(nodes.ended.map(({ outcome, items }) => [outcome, items.map((item) => item.outcome)])).toEqual([
      ['lost', ['lost', 'lost']],
    ])
  })

  test('of a broadcast that it has not begun are lost with it', async () => {
    const nodes = await cluster()
    const bed = new Testbed(nodes.newStore(), new ManualClock(systemClock.now()), 'dead')
    await bed.store.initialize({ ...bed.context, schedulerName: 'QuartzScheduler', clock: systemClock })
    onTestFinished(() => bed.store.shutdown())
    const sharding = resolveSharding({ items: 'nodes' })
    const job = jobDetail('sharded', { durable: true, jobType: 'work', sharding })
    await bed.scheduleAll([bed.trigger('t', { job })], job)
    await bed.fireKind(only(await bed.acquire({ noLaterThanMs: systemClock.now() })))
    await nodes.node('node-1')
    await nodes.isEnded()
    expect(nodes.ended[0]).toMatchObject({ outcome: 'lost', items: [{ owner: 'dead', outcome: 'lost' }] })
    expect(nodes.runs).toEqual([])
  })
})
