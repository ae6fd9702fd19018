import assert from 'node:assert/strict'
import { area, type StoreCase } from './store-case.ts'
import { jobDetail, namesOf, type Testbed } from './testbed.ts'

const seconds = 1000

/** Triggers 200, 210, 220, 230 and 500 seconds ahead, called t1 to t5, and the fire time of the first. */
async function scheduleFive(bed: Testbed): Promise<number> {
  const times = [200, 210, 220, 230, 500]
  await bed.scheduleAll(
    times.map((at, index) => bed.trigger(`t${String(index + 1)}`, { inMs: at * seconds })),
  )
  return bed.now() + 200 * seconds
}

async function scheduleEarly(bed: Testbed): Promise<void> {
  await bed.schedule('early', { misfire: 'ignore' })
  await bed.clock.advance(100 * seconds)
}

const order = area('acquire', {
  'claims the earliest trigger first, one after the other, until none is left': async (bed) => {
    await bed.schedule('t1', { inMs: 200 * seconds })
    await bed.schedule('t2', { inMs: 50 * seconds })
    await bed.schedule('t3', { inMs: 100 * seconds })
    const request = { noLaterThanMs: bed.now() + 210 * seconds, maxCount: 1 }
    for (const name of ['t2', 't3', 't1']) assert.deepEqual(await bed.acquireNames(request), [name])
    assert.deepEqual(await bed.acquireNames(request), [])
  },
  'claims a trigger again after it was released': async (bed) => {
    await bed.schedule('t')
    const claims = await bed.acquire()
    assert.deepEqual(namesOf(claims), ['t'])
    await bed.store.releaseAcquiredTriggers(claims)
    assert.equal(await bed.state('t'), 'NORMAL')
    assert.deepEqual(await bed.acquireNames(), ['t'])
  },
  'gives triggers due at the same time by priority, the highest first': async (bed) => {
    await bed.schedule('low', { priority: 1 })
    await bed.schedule('high', { priority: 9 })
    await bed.schedule('middle')
    await bed.schedule('negative', { priority: -3 })
    assert.deepEqual(await bed.acquireNames(), ['high', 'middle', 'low', 'negative'])
  },
  'prefers an earlier trigger to one of higher priority': async (bed) => {
    await bed.schedule('important', { inMs: 1, priority: 10 })
    await bed.schedule('first', { priority: 1 })
    assert.deepEqual(await bed.acquireNames({ noLaterThanMs: bed.now() + 1, timeWindowMs: 1 }), [
      'first',
      'important',
    ])
  },
  'gives triggers of equal time and priority in order of their keys, group DEFAULT first': async (bed) => {
    await bed.schedule('b', { group: 'A' })
    await bed.schedule('c')
    await bed.schedule('a', { group: 'A' })
    await bed.schedule('B')
    assert.deepEqual(await bed.acquireNames(), ['B', 'c', 'a', 'b'])
  },
  'claims a trigger that is due exactly at the limit, and none that is due later': async (bed) => {
    await bed.schedule('at', { inMs: 1000 })
    await bed.schedule('after', { inMs: 1001 })
    const noLaterThanMs = bed.now() + 1000
    assert.deepEqual(await bed.acquireNames({ noLaterThanMs: noLaterThanMs - 1 }), [])
    assert.deepEqual(await bed.acquireNames({ noLaterThanMs }), ['at'])
    assert.deepEqual(await bed.acquireNames({ noLaterThanMs }), [])
  },
})

const batches = area('acquire: batches', {
  'holds everything that is due now when the first trigger is overdue': async (bed) => {
    for (const [index, name] of ['a', 'b', 'c'].entries()) await bed.schedule(name, { inMs: index * 10 })
    await bed.clock.advance(20)
    assert.deepEqual(await bed.acquireNames(), ['a', 'b', 'c'])
  },
  'counts the window from now when the first trigger is overdue': async (bed) => {
    const firstMs = await scheduleFive(bed)
    await scheduleEarly(bed)
    const claims = await bed.acquireNames({
      noLaterThanMs: firstMs + 10_000,
      maxCount: 4,
      timeWindowMs: 1000,
    })
    assert.deepEqual(claims, ['early'])
  },
  'joins a future trigger to an overdue one when the window reaches it': async (bed) => {
    const firstMs = await scheduleFive(bed)
    await scheduleEarly(bed)
    const claims = await bed.acquireNames({
      noLaterThanMs: firstMs + 10_000,
      maxCount: 4,
      timeWindowMs: 105_000,
    })
    assert.deepEqual(claims, ['early', 't1'])
  },
  'holds every trigger inside the window of the first, up to the limit of the count': async (bed) => {
    const firstMs = await scheduleFive(bed)
    const claims = await bed.acquireNames({
      noLaterThanMs: firstMs + 10_000,
      maxCount: 5,
      timeWindowMs: 100_000,
    })
    assert.deepEqual(claims, ['t1', 't2', 't3', 't4'])
  },
  'holds the first trigger alone without a window': async (bed) => {
    const firstMs = await scheduleFive(bed)
    assert.deepEqual(await bed.acquireNames({ noLaterThanMs: firstMs + 1, maxCount: 5 }), ['t1'])
  },
  'reaches past the limit of the first trigger as far as the window goes': async (bed) => {
    const firstMs = await scheduleFive(bed)
    const claims = await bed.acquireNames({
      noLaterThanMs: firstMs + 250,
      maxCount: 5,
      timeWindowMs: 19_999,
    })
    assert.deepEqual(claims, ['t1', 't2'])
  },
  'leaves out the trigger behind a narrow window': async (bed) => {
    const firstMs = await scheduleFive(bed)
    const claims = await bed.acquireNames({
      noLaterThanMs: firstMs + 150,
      maxCount: 5,
      timeWindowMs: 5000,
    })
    assert.deepEqual(claims, ['t1'])
  },
  'includes a trigger exactly at the end of the window': async (bed) => {
    const firstMs = await scheduleFive(bed)
    assert.deepEqual(await bed.acquireNames({ noLaterThanMs: firstMs, timeWindowMs: 10_000 }), ['t1', 't2'])
  },
  'never holds more than it was asked for': async (bed) => {
    const triggers = Array.from({ length: 10 }, (_, index) =>
      bed.trigger(`t${String(index)}`, { inMs: index * 60_000 }),
    )
    await bed.scheduleAll(triggers)
    const claims = await bed.acquireNames({
      noLaterThanMs: bed.now() + 30_000,
      maxCount: 7,
      timeWindowMs: 8 * 60_000,
    })
    assert.deepEqual(claims, ['t0', 't1', 't2', 't3', 't4', 't5', 't6'])
  },
  'goes on where the batch before it ended': async (bed) => {
    await bed.scheduleAll(['a', 'b', 'c', 'd', 'e'].map((name) => bed.trigger(name)))
    assert.deepEqual(await bed.acquireNames({ maxCount: 2 }), ['a', 'b'])
    assert.deepEqual(await bed.acquireNames({ maxCount: 2 }), ['c', 'd'])
    assert.deepEqual(await bed.acquireNames({ maxCount: 2 }), ['e'])
  },
})

const claims = area('acquire: claims', {
  'does not claim a trigger twice': async (bed) => {
    await bed.schedule('t')
    assert.deepEqual(await bed.acquireNames(), ['t'])
    assert.deepEqual(await bed.acquireNames(), [])
  },
  'hands out the stored trigger with the time it is claimed for': async (bed) => {
    const trigger = await bed.schedule('t', { everyMs: 1000 })
    const claim = await bed.acquireOne('t')
    assert.deepEqual(claim.trigger, trigger)
    assert.equal(await bed.state('t'), 'NORMAL')
  },
  'gives every claim an id of its own, also to claims on the same trigger': async (bed) => {
    await bed.scheduleAll(Array.from({ length: 20 }, (_, index) => bed.trigger(`t${String(index)}`)))
    const ids = new Set<string>()
    for (let round = 0; round < 5; round++) {
      const batch = await bed.acquire({ maxCount: 20 })
      for (const { fireInstanceId } of batch) ids.add(fireInstanceId)
      await bed.store.releaseAcquiredTriggers(batch)
    }
    assert.equal(ids.size, 100)
    assert.ok(!ids.has(''))
  },
  'passes over a claim that is released twice': async (bed) => {
    await bed.schedule('t')
    const claim = await bed.acquireOne('t')
    await bed.store.releaseAcquiredTriggers([claim])
    await bed.store.releaseAcquiredTriggers([claim])
    assert.deepEqual(await bed.acquireNames(), ['t'])
    await bed.store.releaseAcquiredTriggers([claim])
    assert.deepEqual(await bed.acquireNames(), [], 'the old claim does not end the new one')
  },
  'passes over the release of a trigger that was deleted': async (bed) => {
    await bed.schedule('t')
    const claim = await bed.acquireOne('t')
    await bed.store.deleteTriggers([claim.trigger.key])
    await bed.store.releaseAcquiredTriggers([claim])
    assert.equal(await bed.state('t'), 'NONE')
  },
  'claims everything again after all claims were released, but nothing that has fired': async (bed) => {
    await bed.scheduleAll(['a', 'b', 'c'].map((name) => bed.trigger(name)))
    const bundle = await bed.start('a')
    assert.deepEqual(await bed.acquireNames(), ['b', 'c'])
    await bed.store.releaseAllAcquiredTriggers()
    assert.deepEqual(await bed.acquireNames(), ['b', 'c'])
    await bed.complete(bundle, 'deleteTrigger')
    assert.equal(await bed.state('a'), 'NONE')
  },
  'claims nothing that is paused, complete or in error': async (bed) => {
    await bed.schedule('error', { everyMs: 1000 })
    await bed.putInError('error')
    await bed.schedule('complete')
    await bed.complete(await bed.start('complete'))
    await bed.schedule('paused')
    await bed.store.pauseTrigger(bed.trigger('paused').key)
    await bed.clock.advance(5000)
    assert.deepEqual(await bed.states('error', 'complete', 'paused'), ['ERROR', 'COMPLETE', 'PAUSED'])
    assert.deepEqual(await bed.acquireNames(), [])
  },
  'leaves triggers whose job type this node does not know, and finds the others behind them': async (bed) => {
    const foreign = jobDetail('foreign', { jobType: 'foreign' })
    bed.unknownJobTypes.add('foreign')
    const names = Array.from({ length: 30 }, (_, index) => `f${String(index)}`)
    await bed.scheduleAll(
      names.map((name) => bed.trigger(name, { job: foreign, priority: 9 })),
      foreign,
    )
    await bed.schedule('ours')
    assert.deepEqual(await bed.acquireNames({ maxCount: 3 }), ['ours'])
    assert.deepEqual(await bed.acquireNames({ maxCount: 3 }), [])
    assert.equal(await bed.state('f0'), 'NORMAL')
  },
  'finds what it knows behind a hundred job types that it does not know': async (bed) => {
    for (let index = 0; index < 100; index++) {
      const jobType = `foreign ${String(index)}`
      bed.unknownJobTypes.add(jobType)
      await bed.schedule(`f${String(index)}`, { job: jobDetail(jobType, { jobType }), priority: 9 })
    }
    await bed.schedule('ours')
    assert.deepEqual(await bed.acquireNames({ maxCount: 1 }), ['ours'])
    assert.deepEqual(await bed.acquireNames({ maxCount: 1 }), [])
  },
  'finds other jobs behind many triggers of one that forbids concurrent execution': async (bed) => {
    const job = jobDetail('strict', { durable: true, disallowConcurrentExecution: true })
    const triggers = Array.from({ length: 30 }, (_, index) =>
      bed.trigger(`s${String(index)}`, { job, priority: 9 }),
    )
    await bed.scheduleAll(triggers, job)
    await bed.schedule('other')
    assert.deepEqual(await bed.acquireNames({ maxCount: 2 }), ['s0', 'other'])
  },
  'says since when the first trigger waits that may fire': async (bed) => {
    assert.equal(await bed.store.earliestDueMs(), null)
    const dueMs = bed.now() + 1000
    await bed.schedule('b', { inMs: 2000, priority: 9 })
    await bed.schedule('a', { inMs: 1000 })
    await bed.schedule('paused')
    await bed.store.pauseTrigger(bed.trigger('paused').key)
    assert.equal(await bed.store.earliestDueMs(), null)
    await bed.clock.advance(5000)
    assert.equal(await bed.store.earliestDueMs(), dueMs)
    await bed.acquireOne('a')
    assert.equal(await bed.store.earliestDueMs(), dueMs + 1000)
    await bed.acquireOne('b')
    assert.equal(await bed.store.earliestDueMs(), null)
  },
  'names the unknown job types whose triggers are due, with the first of those': async (bed) => {
    const foreign = jobDetail('foreign', { jobType: 'foreign' })
    const later = jobDetail('later', { jobType: 'later' })
    bed.unknownJobTypes.add('foreign').add('later')
    const names = Array.from({ length: 12 }, (_, index) => `f${String(index).padStart(2, '0')}`)
    await bed.scheduleAll(
      names.map((name, index) => bed.trigger(name, { job: foreign, inMs: index })),
      foreign,
    )
    await bed.schedule('paused', { job: foreign })
    await bed.store.pauseTrigger(bed.trigger('paused').key)
    await bed.schedule('not-yet', { job: later, inMs: 60_000 })
    await bed.schedule('ours')
    assert.deepEqual(await bed.acquireNames({ maxCount: 3 }), ['ours'])
    await bed.clock.advance(1000)
    const [found, ...others] = await bed.store.queryUnknownJobTypes()
    assert.deepEqual(others, [])
    assert.deepEqual([found?.jobType, found?.waiting], ['foreign', 12])
    assert.deepEqual(
      found?.first.map(({ triggerKey, jobKey }) => [triggerKey.name, jobKey.name]),
      names.slice(0, 10).map((name) => [name, 'foreign']),
    )
    bed.unknownJobTypes.clear()
    assert.deepEqual(await bed.store.queryUnknownJobTypes(), [])
  },
  'names the unknown job types whose triggers are due behind others that are not fired': async (bed) => {
    const foreign = jobDetail('foreign', { jobType: 'foreign' })
    bed.unknownJobTypes.add('foreign')
    for (let index = 0; index < 70; index++) await bed.schedule(`ours-${index}`)
    await bed.scheduleAll([bed.trigger('theirs', { job: foreign, inMs: 1 })], foreign)
    await bed.schedule('last', { inMs: 2 })
    await bed.clock.advance(1000)
    const found = await bed.store.queryUnknownJobTypes()
    assert.deepEqual(
      found.map(({ jobType, waiting, first }) => [
        jobType,
        waiting,
        first.map(({ triggerKey }) => triggerKey.name),
      ]),
      [['foreign', 1, ['theirs']]],
    )
    assert.equal((await bed.acquireNames({ maxCount: 80 })).length, 71)
  },
  'claims triggers of a job type as soon as it is known': async (bed) => {
    const foreign = jobDetail('foreign', { jobType: 'foreign' })
    bed.unknownJobTypes.add('foreign')
    await bed.scheduleAll(
      ['a', 'b', 'c'].map((name) => bed.trigger(name, { job: foreign })),
      foreign,
    )
    assert.deepEqual(await bed.acquireNames(), [])
    await bed.store.deleteTriggers([bed.trigger('b').key])
    bed.unknownJobTypes.delete('foreign')
    assert.deepEqual(await bed.acquireNames(), ['a', 'c'])
  },
})

export const acquireCases: readonly StoreCase[] = [...order, ...batches, ...claims]
