import assert from 'node:assert/strict'
import { TriggerKey } from '../../core/key.ts'
import { area, type StoreCase } from './store-case.ts'
import { jobDetail, namesOf, type Testbed } from './testbed.ts'

const exclusive = jobDetail('exclusive', { disallowConcurrentExecution: true, durable: true })
const concurrent = { ...exclusive, disallowConcurrentExecution: false }

/** Triggers of the exclusive job, one millisecond after the other, all due. */
async function scheduleDue(bed: Testbed, ...names: readonly string[]): Promise<void> {
  await bed.scheduleAll(
    names.map((name, index) => bed.trigger(name, { job: exclusive, inMs: index, everyMs: 60_000 })),
    exclusive,
  )
  await bed.clock.advance(names.length)
}

const batches = area('non-concurrent jobs: acquire', {
  'give one trigger to a batch, and the rest of the batch to other jobs': async (bed) => {
    await scheduleDue(bed, 'a', 'b', 'c')
    await bed.scheduleAll([bed.trigger('x'), bed.trigger('y')])
    assert.deepEqual(await bed.acquireNames(), ['a', 'x', 'y'])
  },
  'do not hide other triggers behind very many of their own': async (bed) => {
    const many = Array.from({ length: 500 }, (_, index) =>
      bed.trigger(`m${String(index)}`, { job: exclusive, priority: 9 }),
    )
    await bed.scheduleAll(many, exclusive)
    await bed.schedule('last', { priority: 1 })
    const names = await bed.acquireNames({ maxCount: 2 })
    assert.deepEqual(names, ['m0', 'last'])
  },
  'run in turn with jobs of other keys': async (bed) => {
    const other = jobDetail('other', { disallowConcurrentExecution: true })
    await scheduleDue(bed, 'a', 'b')
    await bed.schedule('x', { job: other })
    await bed.start('a')
    const bundle = await bed.start('x')
    assert.equal(bundle.jobDetail.key.name, 'other')
    assert.deepEqual(await bed.states('b', 'a'), ['BLOCKED', 'BLOCKED'])
  },
  'never fire two claims, however they were come by': async (bed) => {
    await scheduleDue(bed, 'a', 'b')
    const claims = [...(await bed.acquire()), ...(await bed.acquire())]
    const results = await bed.store.triggersFired(claims)
    assert.equal(results.filter(({ kind }) => kind === 'fired').length, 1)
    assert.equal(results[0]?.kind, 'fired')
  },
  'offer the next trigger when a claim is released': async (bed) => {
    await scheduleDue(bed, 'a', 'b')
    const claims = await bed.acquire({ maxCount: 1 })
    await bed.store.releaseAcquiredTriggers(claims)
    await bed.store.pauseTrigger(new TriggerKey('a'))
    assert.deepEqual(await bed.acquireNames(), ['b'])
  },
  'offer the next trigger when a claimed one is paused or deleted': async (bed) => {
    await scheduleDue(bed, 'a', 'b', 'c')
    await bed.acquireOne('a')
    await bed.store.pauseTrigger(new TriggerKey('a'))
    await bed.acquireOne('b')
    await bed.store.deleteTriggers([new TriggerKey('b')])
    await bed.acquireOne('c')
  },
  'let an earlier trigger go first that was stored after a later one was claimed and released': async (
    bed,
  ) => {
    await bed.schedule('later', { job: exclusive, inMs: 5000 })
    const request = { noLaterThanMs: bed.now() + 5000 }
    const claims = await bed.acquire(request)
    await bed.schedule('sooner', { job: exclusive, inMs: 1000 })
    await bed.store.releaseAcquiredTriggers(claims)
    assert.deepEqual(await bed.acquireNames(request), ['sooner'])
  },
})

const blocking = area('non-concurrent jobs: blocking', {
  'block all their triggers while they run, and unblock them afterwards': async (bed) => {
    await scheduleDue(bed, 'a', 'b', 'c')
    const bundle = await bed.start('a')
    assert.deepEqual(await bed.states('a', 'b', 'c'), ['BLOCKED', 'BLOCKED', 'BLOCKED'])
    assert.deepEqual(await bed.acquireNames(), [])
    await bed.complete(bundle)
    assert.deepEqual(await bed.states('a', 'b', 'c'), ['NORMAL', 'NORMAL', 'NORMAL'])
    assert.deepEqual(await bed.acquireNames(), ['b'])
  },
  'run their triggers one after the other until none is due': async (bed) => {
    await scheduleDue(bed, 'a', 'b', 'c')
    for (const name of ['a', 'b', 'c']) await bed.complete(await bed.start(name))
    assert.deepEqual(await bed.acquireNames(), [])
  },
  'announce what an end makes available': async (bed) => {
    await scheduleDue(bed, 'a', 'b')
    const bundle = await bed.start('a')
    bed.signals.clear()
    await bed.complete(bundle)
    assert.ok(bed.signals.announced(bed.now()))
  },
  'block triggers that are stored while they run': async (bed) => {
    await scheduleDue(bed, 'a')
    const bundle = await bed.start('a')
    await bed.schedule('new', { job: exclusive })
    assert.equal(await bed.state('new'), 'BLOCKED')
    assert.deepEqual(await bed.acquireNames(), [])
    await bed.complete(bundle)
    assert.deepEqual(await bed.acquireNames(), ['new'])
  },
  'can have a blocked trigger paused and resumed': async (bed) => {
    await scheduleDue(bed, 'a', 'b')
    const bundle = await bed.start('a')
    const key = new TriggerKey('b')
    await bed.store.pauseTrigger(key)
    assert.equal(await bed.state('b'), 'PAUSED')
    await bed.store.resumeTrigger(key)
    assert.equal(await bed.state('b'), 'BLOCKED')
    await bed.store.pauseTrigger(key)
    await bed.complete(bundle)
    assert.equal(await bed.state('b'), 'PAUSED')
    await bed.store.resumeTrigger(key)
    assert.equal(await bed.state('b'), 'NORMAL')
  },
  'keep a trigger paused that was paused before they ran': async (bed) => {
    await scheduleDue(bed, 'a', 'b')
    await bed.store.pauseTrigger(new TriggerKey('b'))
    const bundle = await bed.start('a')
    assert.equal(await bed.state('b'), 'PAUSED')
    await bed.store.resumeTrigger(new TriggerKey('b'))
    assert.equal(await bed.state('b'), 'BLOCKED')
    await bed.complete(bundle)
    assert.equal(await bed.state('b'), 'NORMAL')
  },
  'leave complete triggers and triggers in error as they are': async (bed) => {
    await scheduleDue(bed, 'error', 'complete', 'runs')
    await bed.putInError('error')
    await bed.complete(await bed.start('complete'), 'setTriggerComplete')
    const bundle = await bed.start('runs')
    assert.deepEqual(await bed.states('error', 'complete'), ['ERROR', 'COMPLETE'])
    await bed.complete(bundle)
    assert.deepEqual(await bed.states('error', 'complete'), ['ERROR', 'COMPLETE'])
  },
  'end the claims on other triggers that were made before they forbade concurrency': async (bed) => {
    await bed.scheduleAll(
      ['a', 'b'].map((name) => bed.trigger(name, { job: concurrent })),
      concurrent,
    )
    const claims = await bed.acquire()
    assert.deepEqual(namesOf(claims), ['a', 'b'])
    await bed.store.addJob(exclusive, { replace: true })
    const kinds = (await bed.store.triggersFired(claims)).map(({ kind }) => kind)
    assert.ok(kinds.filter((kind) => kind === 'fired').length <= 1)
  },
})

const changing = area('non-concurrent jobs: changes while they run', {
  'stay blocked when the trigger that fired is deleted': async (bed) => {
    await scheduleDue(bed, 'a', 'b')
    const bundle = await bed.start('a')
    await bed.store.deleteTriggers([new TriggerKey('a')])
    assert.equal(await bed.state('b'), 'BLOCKED')
    await bed.complete(bundle)
    assert.deepEqual(await bed.acquireNames(), ['b'])
  },
  'stay blocked when the trigger that fired is rescheduled': async (bed) => {
    await scheduleDue(bed, 'a')
    const bundle = await bed.start('a')
    await bed.store.rescheduleTrigger(new TriggerKey('a'), bed.trigger('a', { job: exclusive }))
    assert.equal(await bed.state('a'), 'BLOCKED')
    assert.deepEqual(await bed.acquireNames(), [])
    await bed.complete(bundle)
    assert.deepEqual(await bed.acquireNames(), ['a'])
  },
  'stay blocked when job and trigger are stored again': async (bed) => {
    await scheduleDue(bed, 'a')
    const bundle = await bed.start('a')
    const triggers = [bed.trigger('a', { job: exclusive })]
    await bed.store.scheduleJobs([{ job: exclusive, triggers }], { replace: true })
    assert.equal(await bed.state('a'), 'BLOCKED')
    await bed.complete(bundle)
    assert.equal(await bed.state('a'), 'NORMAL')
  },
  'stay blocked when the job is deleted and added again': async (bed) => {
    await scheduleDue(bed, 'a')
    const bundle = await bed.start('a')
    await bed.store.deleteJobs([exclusive.key])
    await bed.schedule('new', { job: exclusive })
    assert.equal(await bed.state('new'), 'BLOCKED')
    assert.deepEqual(await bed.acquireNames(), [])
    await bed.complete(bundle, 'deleteTrigger')
    assert.equal(await bed.state('new'), 'NORMAL')
    assert.deepEqual(await bed.acquireNames(), ['new'])
  },
  'stay blocked when a job goes with its last trigger and is added again': async (bed) => {
    const job = jobDetail('non-durable', { disallowConcurrentExecution: true })
    await bed.schedule('a', { job })
    const bundle = await bed.start('a')
    await bed.store.deleteTriggers([new TriggerKey('a')])
    assert.equal(await bed.store.getJob(job.key), null)
    await bed.schedule('new', { job })
    assert.equal(await bed.state('new'), 'BLOCKED')
    await bed.complete(bundle)
    assert.deepEqual(await bed.acquireNames(), ['new'])
  },
  'stay blocked until the last of the executions has ended that a deleted job left behind': async (bed) => {
    await bed.scheduleAll(
      ['a', 'b'].map((name) => bed.trigger(name, { job: concurrent })),
      concurrent,
    )
    const [first, second] = [await bed.start('a'), await bed.start('b')]
    await bed.store.deleteJobs([concurrent.key])
    await bed.complete(first)
    await bed.schedule('new', { job: exclusive })
    assert.equal(await bed.state('new'), 'BLOCKED')
    await bed.complete(second)
    assert.equal(await bed.state('new'), 'NORMAL')
  },
  'stay blocked when everything is cleared and the job is added again': async (bed) => {
    await scheduleDue(bed, 'a')
    const bundle = await bed.start('a')
    await bed.store.clear()
    await bed.schedule('new', { job: exclusive })
    assert.equal(await bed.state('new'), 'BLOCKED')
    await bed.complete(bundle)
    assert.deepEqual(await bed.acquireNames(), ['new'])
  },
  'are not unblocked by the end of an execution that has ended before': async (bed) => {
    await scheduleDue(bed, 'a', 'b')
    const first = await bed.start('a')
    await bed.complete(first)
    const second = await bed.start('b')
    await bed.complete(first)
    assert.deepEqual(await bed.states('a', 'b'), ['BLOCKED', 'BLOCKED'])
    await bed.complete(second)
    assert.deepEqual(await bed.states('a', 'b'), ['NORMAL', 'NORMAL'])
  },
  'block as soon as a running job is replaced by one that forbids concurrency': async (bed) => {
    await bed.schedule('a', { job: concurrent, everyMs: 1000 })
    const first = await bed.start('a')
    await bed.clock.advance(1000)
    const second = await bed.start('a')
    await bed.store.addJob(exclusive, { replace: true })
    await bed.clock.advance(1000)
    assert.equal(await bed.state('a'), 'BLOCKED')
    assert.deepEqual(await bed.acquireNames(), [])
    await bed.complete(first)
    assert.equal(await bed.state('a'), 'BLOCKED', 'one execution is still running')
    await bed.complete(second)
    assert.deepEqual(await bed.acquireNames(), ['a'])
  },
  'are free as soon as a running job is replaced by one that allows concurrency': async (bed) => {
    await scheduleDue(bed, 'a', 'b')
    const bundle = await bed.start('a')
    bed.signals.clear()
    await bed.store.addJob(concurrent, { replace: true })
    assert.deepEqual(await bed.states('a', 'b'), ['NORMAL', 'NORMAL'])
    assert.ok(bed.signals.announced(bed.now()))
    assert.deepEqual(await bed.acquireNames(), ['b'])
    await bed.complete(bundle)
  },
  'keep to their key when another job takes over a trigger': async (bed) => {
    await scheduleDue(bed, 'a')
    const bundle = await bed.start('a')
    const trigger = bed.trigger('a', { everyMs: 1000 })
    await bed.store.scheduleJobs([{ job: bed.job, triggers: [trigger] }], { replace: true })
    assert.equal(await bed.state('a'), 'NORMAL')
    await bed.complete(bundle, 'setTriggerComplete')
    assert.equal(await bed.state('a'), 'NORMAL')
  },
})

export const concurrencyCases: readonly StoreCase[] = [...batches, ...blocking, ...changing]
