import assert from 'node:assert/strict'
import { JobKey, retryingJobsGroup, shardedJobsGroup, TriggerKey } from '../../core/key.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import { firingPartOf } from '../../jobstore/firing-part.ts'
import {
  begin,
  end,
  endings,
  failOnce,
  firingOf,
  itemOf,
  key,
  reportOf,
  schedule,
  sharded,
  shardsOf,
  split,
  splitNext,
  states,
} from './sharded-firings.ts'
import { area, type StoreCase } from './store-case.ts'
import { jobDetail, only } from './testbed.ts'

const whole = area(
  'shards: a firing',
  {
    'becomes one execution for each item, and ends once, with the last': async (bed) => {
      await schedule(bed, { items: 3, parameters: { 1: 'north' } })
      const id = await split(bed)
      const bundles = await begin(bed)
      assert.deepEqual(bundles.map(itemOf), [0, 1, 2])
      assert.deepEqual(
        bundles.map(({ trigger }) => firingPartOf(trigger.jobDataMap)?.parameter),
        [null, 'north', null],
      )
      assert.deepEqual(bundles.map(firingOf), [id, id, id])
      await end(bed, bundles.slice(1))
      assert.deepEqual(endings(bed), [])
      assert.deepEqual(await states(bed), [['given', 'succeeded', 'succeeded']])
      await end(bed, bundles)
      await end(bed, bundles)
      assert.deepEqual(endings(bed), ['succeeded: succeeded succeeded succeeded'])
      assert.deepEqual(await states(bed), [])
      assert.equal(await bed.state('t'), 'NORMAL')
    },
    'is one line of the history with its items below it': async (bed) => {
      await schedule(bed, { items: 2 })
      const plannedMs = bed.now()
      const id = await split(bed)
      await bed.clock.advance(10)
      const [first, second] = await begin(bed)
      assert.ok(first !== undefined && second !== undefined)
      await end(bed, [first], 'interrupted')
      await bed.clock.advance(10)
      await end(bed, [second], 'failed')
      const items = (await bed.store.queryExecutions({ firingId: id })).items
      assert.deepEqual(items.map(({ shard, outcome }) => `${String(shard?.item)} ${outcome}`).sort(), [
        '0 interrupted',
        '1 failed',
      ])
      const line = await bed.store.records?.getExecution(id)
      assert.ok(line !== null && line !== undefined)
      assert.equal(line.outcome, 'failed')
      assert.equal(line.triggerKey.name, 't')
      assert.equal(line.shard, null)
      assert.deepEqual(
        [line.scheduledFireTimeMs, line.fireTimeMs, line.finishedTimeMs],
        [plannedMs, plannedMs, plannedMs + 20],
      )
      assert.equal(
        line.errorText,
        '2 of 2 items did not end well: 0 (interrupted), 1 (failed). The first error: it interrupted',
      )
    },
    'of the last time of a job ends the job with its last item': async (bed) => {
      const job = sharded({ items: 2 }, { durable: false })
      await bed.schedule('once', { job })
      await split(bed)
      assert.equal(await bed.state('once'), 'NONE')
      const bundles = await begin(bed)
      await end(bed, bundles.slice(0, 1))
      assert.notEqual(await bed.store.getJob(key), null)
      await end(bed, bundles.slice(1))
      assert.equal(await bed.store.getJob(key), null)
      assert.deepEqual(endings(bed), ['succeeded: succeeded succeeded'])
      assert.deepEqual(
        bed.signals.finalized.map((trigger) => trigger.key.name),
        ['once'],
      )
    },
    'has the data and the priority of its trigger': async (bed) => {
      await bed.schedule('t', { job: sharded({ items: 1 }), data: { to: 'ops' }, priority: 9 })
      await split(bed)
      const { trigger } = only(await begin(bed))
      assert.equal(trigger.priority, 9)
      assert.equal(trigger.jobDataMap['to'], 'ops')
    },
    'with an item for each node has one item where there is one node': async (bed) => {
      await schedule(bed, { items: 'nodes' })
      await split(bed)
      const bundle = only(await begin(bed))
      assert.equal(firingPartOf(bundle.trigger.jobDataMap)?.total, 1)
      await end(bed, [bundle])
      assert.deepEqual(endings(bed), ['succeeded: succeeded'])
    },
    'with remote items has as many as the remote job says, and gives them to the node that fires': async (
      bed,
    ) => {
      // The context of the testbed goes by the data.
      const job = sharded({ items: 'remote', parameters: { 1: 'north' } }, { jobDataMap: { items: 5 } })
      await bed.schedule('t', { job, data: { items: 3 } })
      await split(bed)
      const [firing] = (await shardsOf(bed).overview(key))?.firings ?? []
      const { instanceId } = bed.context
      assert.deepEqual(
        firing?.items.map(({ owner, parameter }) => [owner, parameter]),
        [
          [instanceId, null],
          [instanceId, 'north'],
          [instanceId, null],
        ],
      )
      const bundles = await begin(bed)
      assert.deepEqual(
        bundles.map(({ trigger }) => firingPartOf(trigger.jobDataMap)?.total),
        [3, 3, 3],
      )
      await end(bed, bundles)
      assert.deepEqual(endings(bed), ['succeeded: succeeded succeeded succeeded'])
    },
    'ends with the worst outcome of its items': async (bed) => {
      await schedule(bed, { items: 3 })
      await split(bed)
      const [first, second, third] = await begin(bed)
      assert.ok(first !== undefined && second !== undefined && third !== undefined)
      await end(bed, [first], 'interrupted')
      await end(bed, [second], 'timedOut')
      await end(bed, [third])
      assert.deepEqual(endings(bed), ['timedOut: interrupted timedOut succeeded'])
    },
  },
  { sharding: true, history: true, records: true },
)

const items = area(
  'shards: an item',
  {
    'that is open at the next firing runs once more when it has ended': async (bed) => {
      await schedule(bed, { items: 2 })
      const first = await split(bed)
      const [slow, quick] = await begin(bed)
      assert.ok(slow !== undefined && quick !== undefined)
      await end(bed, [quick])
      const second = await splitNext(bed)
      assert.deepEqual(await states(bed), [
        ['given', 'succeeded'],
        ['held', 'given'],
      ])
      const other = only(await begin(bed))
      assert.deepEqual([itemOf(other), firingOf(other)], [1, second])
      await splitNext(bed)
      assert.deepEqual((await states(bed)).at(-1), ['skipped', 'held'])
      await end(bed, [slow])
      const again = only(await begin(bed))
      assert.deepEqual([itemOf(again), firingOf(again)], [0, second])
      assert.deepEqual(
        bed.signals.endedShardings.map(({ fireInstanceId }) => fireInstanceId),
        [first],
      )
      await end(bed, [again, other])
      await end(bed, await begin(bed))
      assert.deepEqual(endings(bed), [
        'succeeded: succeeded succeeded',
        'succeeded: succeeded succeeded',
        'succeeded: skipped succeeded',
      ])
    },
    'that is open at the next firing is left out where the job says so': async (bed) => {
      await schedule(bed, { items: 2, misfire: 'skip' })
      await split(bed)
      const [slow, quick] = await begin(bed)
      assert.ok(slow !== undefined && quick !== undefined)
      await end(bed, [quick])
      await splitNext(bed)
      await end(bed, await begin(bed))
      assert.deepEqual(endings(bed), ['succeeded: skipped succeeded'])
      await splitNext(bed)
      await end(bed, await begin(bed))
      await end(bed, [slow])
      assert.deepEqual(endings(bed).at(-1), 'succeeded: succeeded succeeded')
    },
    'that is open keeps every item of a firing with another number of items': async (bed) => {
      await schedule(bed, { items: 8 })
      await split(bed)
      const first = await begin(bed)
      await end(bed, first.slice(1))
      await bed.store.addJob(sharded({ items: 3 }), { replace: true })
      await splitNext(bed)
      assert.deepEqual((await states(bed)).at(-1), ['held', 'held', 'held'])
      await end(bed, first.slice(0, 1))
      const second = await begin(bed)
      assert.deepEqual(second.map(itemOf), [0, 1, 2])
      await end(bed, second)
      await bed.store.addJob(sharded({ items: 10 }), { replace: true })
      await splitNext(bed)
      const third = await begin(bed)
      assert.equal(third.length, 10)
      await end(bed, third)
      assert.deepEqual(
        bed.signals.endedShardings.map((firing) => firing.items.length),
        [8, 3, 10],
      )
    },
    'that is remote and open keeps no remote item of the next firing, however many there are': async (
      bed,
    ) => {
      const remote = (count: number): JobDetail =>
        sharded({ items: 'remote' }, { jobDataMap: { items: count } })
      await bed.schedule('t', { job: remote(3), everyMs: 60_000 })
      await split(bed)
      const open = [...(await begin(bed))]
      for (const count of [3, 2]) {
        await bed.store.addJob(remote(count), { replace: true })
        await splitNext(bed)
        open.push(...(await begin(bed)))
      }
      assert.deepEqual(open.map(itemOf), [0, 1, 2, 0, 1, 2, 0, 1])
      // Items of another kind may have the same work.
      await bed.store.addJob(sharded({ items: 3 }), { replace: true })
      await splitNext(bed)
      assert.deepEqual(await states(bed), [
        ['given', 'given', 'given'],
        ['given', 'given', 'given'],
        ['given', 'given'],
        ['held', 'held', 'held'],
      ])
      await end(bed, open)
      await end(bed, await begin(bed))
      assert.deepEqual(
        bed.signals.endedShardings.map(({ outcome, items: ended }) => `${outcome} ${ended.length}`),
        ['succeeded 3', 'succeeded 3', 'succeeded 2', 'succeeded 3'],
      )
    },
    'that is turned off is left out until it is turned on, also when the job is replaced': async (bed) => {
      const job = await schedule(bed, { items: 2 })
      assert.equal(await shardsOf(bed).setItem(key, 1, { enabled: false }), true)
      await bed.store.addJob(job, { replace: true })
      assert.deepEqual((await shardsOf(bed).overview(key))?.disabledItems, [1])
      await split(bed)
      await end(bed, await begin(bed))
      await shardsOf(bed).setItem(key, 1, { enabled: true })
      await splitNext(bed)
      await end(bed, await begin(bed))
      assert.deepEqual(endings(bed), ['succeeded: succeeded disabled', 'succeeded: succeeded succeeded'])
      assert.equal(await shardsOf(bed).setItem(new JobKey('none'), 1, { enabled: true }), false)
      assert.equal(await shardsOf(bed).overview(new JobKey('none')), null)
    },
    'of a firing of which all are turned off is settled at once': async (bed) => {
      await schedule(bed, { items: 1 })
      await shardsOf(bed).setItem(key, 0, { enabled: false })
      await split(bed)
      assert.deepEqual(endings(bed), ['vetoed: disabled'])
      assert.deepEqual(await bed.acquireNames(), [])
    },
    'that is tried again ends with its last attempt': async (bed) => {
      await schedule(bed, { items: 2 })
      await split(bed)
      const [failing, other] = await begin(bed)
      assert.ok(failing !== undefined && other !== undefined)
      await failOnce(bed, failing)
      await end(bed, [other])
      assert.deepEqual(endings(bed), [])
      const again = only(await begin(bed))
      assert.deepEqual([itemOf(again), again.trigger.key.group], [0, retryingJobsGroup])
      await end(bed, [again])
      assert.deepEqual(endings(bed), ['succeeded: succeeded succeeded'])
    },
    'is lost when its trigger is deleted or left out': async (bed) => {
      await schedule(bed, { items: 2 })
      const left = new TriggerKey(`${await split(bed)}_1`, shardedJobsGroup)
      await bed.store.deleteTriggers([left])
      assert.deepEqual(await states(bed), [['given', 'lost']])
      await end(bed, await begin(bed))
      assert.deepEqual(endings(bed), ['lost: succeeded lost'])
      const skipped = new TriggerKey(`${await splitNext(bed)}_1`, shardedJobsGroup)
      await bed.store.skipNextFire(skipped, null)
      assert.equal(await bed.store.getTrigger(skipped), null)
      await end(bed, await begin(bed))
      assert.deepEqual(endings(bed), ['lost: succeeded lost', 'lost: succeeded lost'])
    },
    'of which the trigger is deleted while it runs ends as it ends': async (bed) => {
      await schedule(bed, { items: 2 })
      const id = await split(bed)
      const bundles = await begin(bed)
      await bed.store.deleteTriggers([0, 1].map((item) => new TriggerKey(`${id}_${item}`, shardedJobsGroup)))
      await end(bed, bundles)
      assert.deepEqual(endings(bed), ['succeeded: succeeded succeeded'])
    },
    'is lost when a run ends all triggers of the job': async (bed) => {
      await schedule(bed, { items: 2 })
      const id = await split(bed)
      await bed.store.pauseTrigger(new TriggerKey(`${id}_1`, shardedJobsGroup))
      const own = only(await begin(bed))
      await bed.complete(own, 'setAllJobTriggersComplete', { report: reportOf(bed, own, 'succeeded') })
      assert.deepEqual(endings(bed), ['lost: succeeded lost'])
      assert.deepEqual(
        (await bed.store.getTriggersOfJob(key)).map((trigger) => trigger.key.name),
        ['t'],
      )
    },
    'is lost when its trigger was replaced by another one': async (bed) => {
      await schedule(bed, { items: 2 })
      const left = new TriggerKey(`${await split(bed)}_1`, shardedJobsGroup)
      const other = bed.trigger(left.name, { group: left.group, job: jobDetail('sharded') })
      await bed.store.rescheduleTrigger(left, other, {})
      await end(bed, await begin(bed))
      await splitNext(bed)
      assert.deepEqual(endings(bed), ['lost: succeeded lost'])
    },
    'waits on after a resume without what was missed, because it was begun': async (bed) => {
      await schedule(bed, { items: 2 })
      await split(bed)
      await bed.store.pauseAll()
      await bed.clock.advance(600_000)
      await bed.store.resumeAll({ withoutMissed: true })
      await end(bed, await begin(bed))
      assert.deepEqual(endings(bed), ['succeeded: succeeded succeeded'])
    },
    'goes on as it was when the job is not sharded any more': async (bed) => {
      await schedule(bed, { items: 2 })
      await split(bed)
      await bed.store.addJob(jobDetail('sharded', { durable: true }), { replace: true })
      await end(bed, await begin(bed))
      assert.deepEqual(endings(bed), ['succeeded: succeeded succeeded'])
      await bed.clock.advance(60_000)
      const claim = only(await bed.acquire())
      assert.equal(claim.isSplit, undefined)
      await bed.complete(await bed.fire(claim))
    },
    'ends without a word when its job was deleted': async (bed) => {
      await schedule(bed, { items: 2 })
      await split(bed)
      const running = await begin(bed)
      await bed.store.deleteJobs([key])
      await end(bed, running.slice(0, 1))
      assert.deepEqual(endings(bed), [])
      assert.deepEqual(await bed.acquireNames(), [])
      await schedule(bed, { items: 2 })
      await split(bed)
      assert.equal((await begin(bed)).length, 2)
    },
    'is forgotten with its job, and a job stored anew under the key begins with all items': async (bed) => {
      await schedule(bed, { items: 2 })
      await split(bed)
      const [slow, quick] = await begin(bed)
      assert.ok(slow !== undefined && quick !== undefined)
      await end(bed, [quick])
      await splitNext(bed)
      await shardsOf(bed).setItem(key, 1, { enabled: false })
      await bed.store.deleteJobs([key])
      await schedule(bed, { items: 2 })
      assert.deepEqual(await shardsOf(bed).overview(key), { jobKey: key, firings: [], disabledItems: [] })
      await split(bed)
      assert.deepEqual(await states(bed), [['given', 'given']])
      // What still runs of the other job ends nothing of this one.
      await end(bed, [slow])
      assert.deepEqual(await states(bed), [['given', 'given']])
      await end(bed, await begin(bed))
      assert.deepEqual(endings(bed), ['succeeded: succeeded succeeded'])
    },
    'is forgotten with a job that goes with its last trigger': async (bed) => {
      const job = sharded({ items: 1 }, { durable: false })
      await bed.schedule('once', { job })
      const id = await split(bed)
      await bed.store.deleteTriggers([new TriggerKey(`${id}_0`, shardedJobsGroup)])
      assert.equal(await bed.store.getJob(key), null)
      await bed.store.addJob(sharded({ items: 1 }), { replace: false })
      assert.deepEqual((await shardsOf(bed).overview(key))?.firings, [])
    },
    'is forgotten when everything is deleted': async (bed) => {
      await schedule(bed, { items: 2 })
      await split(bed)
      await bed.store.clear()
      await bed.store.addJob(sharded({ items: 2 }), { replace: false })
      assert.deepEqual((await shardsOf(bed).overview(key))?.firings, [])
      assert.deepEqual(endings(bed), [])
    },
    'is found anew when the job is sharded since the trigger was claimed': async (bed) => {
      const plain = jobDetail('sharded', { durable: true })
      await bed.schedule('t', { job: plain, everyMs: 60_000 })
      const claim = only(await bed.acquire())
      assert.equal(claim.isSplit, undefined)
      await bed.store.addJob(sharded({ items: 2 }), { replace: true })
      assert.equal(await bed.fireKind(claim), 'gone')
      await split(bed)
      assert.equal((await begin(bed)).length, 2)
    },
  },
  { sharding: true },
)

const shown = area(
  'shards: an item in flight',
  {
    'is shown with its firing to every node, also when it is tried again': async (bed, { reopen }) => {
      await schedule(bed, { items: 2 })
      const firingId = await split(bed)
      const { store } = await reopen()
      const running = async (): Promise<unknown[]> =>
        ((await store.cluster?.executing()) ?? [])
          .map(({ shard }) => shard)
          .sort((a, b) => (a?.item ?? -1) - (b?.item ?? -1))
      const [failing, other] = await begin(bed)
      assert.ok(failing !== undefined && other !== undefined)
      const both = [0, 1].map((item) => ({ firingId, item, total: 2 }))
      assert.deepEqual(await running(), both)
      await end(bed, [other])
      await failOnce(bed, failing)
      assert.deepEqual(await running(), [])
      await begin(bed)
      assert.deepEqual(await running(), both.slice(0, 1))
    },
  },
  { sharding: true, clustered: true },
)

export const shardCases: readonly StoreCase[] = [...whole, ...items, ...shown]
