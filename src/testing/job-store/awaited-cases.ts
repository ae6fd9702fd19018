import assert from 'node:assert/strict'
import { JobKey } from '../../core/key.ts'
import type { AwaitedResult, JobStoreAwaitedResults } from '../../jobstore/awaited-results.ts'
import type { ExecutionReport } from '../../jobstore/execution-report.ts'
import type { TriggerFiredBundle } from '../../jobstore/fired-bundle.ts'
import { area, type StoreCase } from './store-case.ts'
import { completionOf, jobDetail, only, type Testbed } from './testbed.ts'

function awaitedOf(bed: Testbed): JobStoreAwaitedResults {
  const { awaitedResults } = bed.store
  assert.ok(awaitedResults !== null, 'such a store has awaitedResults')
  return awaitedResults
}

function resultOf(
  bed: Testbed,
  bundle: TriggerFiredBundle,
  changes: Partial<AwaitedResult> = {},
): AwaitedResult {
  return {
    reference: 'run-1',
    note: 'to the other side',
    deadlineMs: bed.now() + 60_000,
    retriesOnTimeout: false,
    beganTimeMs: bed.now(),
    bundle,
    ...changes,
  }
}

const exclusive = jobDetail('exclusive', { durable: true, disallowConcurrentExecution: true })

/** Fires a trigger of a job that forbids concurrent execution, and lets the firing go on elsewhere. */
async function handOver(bed: Testbed, everyMs = 60_000): Promise<TriggerFiredBundle> {
  await bed.schedule('t', { job: exclusive, everyMs })
  const bundle = await bed.start('t')
  assert.deepEqual(await awaitedOf(bed).put([resultOf(bed, bundle)]), ['awaited'])
  return bundle
}

/** Two firings that are in flight, of different triggers. */
async function startBoth(bed: Testbed): Promise<readonly TriggerFiredBundle[]> {
  await bed.schedule('a')
  await bed.schedule('b')
  return [await bed.start('a'), await bed.start('b')]
}

function reportOf(
  bed: Testbed,
  { trigger, fireTimeMs, scheduledFireTimeMs }: TriggerFiredBundle,
): ExecutionReport {
  return {
    outcome: 'succeeded',
    errorText: null,
    triggerKey: trigger.key,
    scheduledFireTimeMs,
    fireTimeMs,
    finishedTimeMs: bed.now(),
    attempt: 1,
    recovering: false,
  }
}

/** Completes what was read back, as any node does; false when it has ended before. */
async function complete(
  bed: Testbed,
  { bundle }: AwaitedResult,
  changes: { readonly mayBeLate?: true } = {},
): Promise<boolean> {
  const rest = { isAwaited: true, report: reportOf(bed, bundle), ...changes } as const
  for (;;) {
    const { locked, passedOver } = await bed.complete(bundle, 'noop', rest)
    if (locked.length === 0) return passedOver.length === 0
  }
}

export const awaitedCases: readonly StoreCase[] = area(
  'awaited results',
  {
    'a firing that goes on elsewhere is read back as it fired': async (bed) => {
      const bundle = await handOver(bed)
      const found = only(await awaitedOf(bed).find(['run-1', 'run-2']))
      const { trigger, jobDetail: job, ...times } = found.bundle
      assert.deepEqual(
        { note: found.note, deadlineMs: found.deadlineMs, retriesOnTimeout: found.retriesOnTimeout },
        { note: 'to the other side', deadlineMs: bed.now() + 60_000, retriesOnTimeout: false },
      )
      assert.equal(times.fireInstanceId, bundle.fireInstanceId)
      assert.equal(times.fireTimeMs, bundle.fireTimeMs)
      assert.equal(times.scheduledFireTimeMs, bundle.scheduledFireTimeMs)
      assert.equal(times.nextFireTimeMs, bundle.nextFireTimeMs)
      assert.ok(trigger.key.equals(bundle.trigger.key))
      assert.equal(trigger.nextFireTimeMs, bundle.trigger.nextFireTimeMs)
      assert.ok(job.key.equals(exclusive.key))
      assert.equal(job.disallowConcurrentExecution, true)
    },

    'it blocks its job until it is completed, and is then forgotten': async (bed) => {
      await handOver(bed)
      await bed.clock.advance(60_000)
      assert.deepEqual(await bed.acquire(), [])
      await complete(bed, only(await awaitedOf(bed).find(['run-1'])))
      assert.deepEqual(await awaitedOf(bed).find(['run-1']), [])
      assert.deepEqual(await bed.acquireNames(), ['t'])
    },

    'it is in flight until it is completed': async (bed) => {
      const inFlight = async (): Promise<readonly string[]> =>
        (await awaitedOf(bed).inFlight()).results.map(({ reference }) => reference)
      assert.deepEqual(await inFlight(), [])
      await handOver(bed)
      await bed.schedule('sooner')
      const sooner = await bed.start('sooner')
      const deadlineMs = bed.now() + 1000
      await awaitedOf(bed).put([resultOf(bed, sooner, { reference: 'run-2', deadlineMs })])
      assert.deepEqual(await inFlight(), ['run-2', 'run-1'])
      const { results, seen } = await awaitedOf(bed).inFlight(1)
      assert.deepEqual([results.map(({ reference }) => reference), seen], [['run-1'], 1])
      await complete(bed, only(await awaitedOf(bed).find(['run-1'])))
      assert.deepEqual(await inFlight(), ['run-2'])
    },

    'a second completion does nothing, and is told so': async (bed) => {
      await handOver(bed)
      const found = only(await awaitedOf(bed).find(['run-1']))
      assert.equal(await complete(bed, found), true)
      await bed.clock.advance(60_000)
      const next = await bed.start('t')
      assert.equal(await complete(bed, found), false)
      await bed.clock.advance(60_000)
      assert.deepEqual(await bed.acquire(), [], 'the next firing is still in flight')
      await bed.complete(next, 'noop')
      assert.deepEqual(await bed.acquireNames(), ['t'])
    },

    'of several completions that are written together, those that end nothing are named': async (bed) => {
      await handOver(bed)
      const { bundle } = only(await awaitedOf(bed).find(['run-1']))
      await bed.schedule('plain')
      const plain = completionOf(await bed.start('plain'), 'noop')
      const one = completionOf(bundle, 'noop', { isAwaited: true })
      const other = { ...one }
      const answer = await bed.store.triggeredJobsComplete([one, plain, other])
      assert.deepEqual(answer.locked, [])
      assert.equal(answer.passedOver.length, 1)
      assert.equal(answer.passedOver[0], other)
      const again = await bed.store.triggeredJobsComplete([plain, one])
      assert.deepEqual([again.locked.length, again.passedOver.length], [0, 2])
    },

    'a reference that another firing has is refused, and so is a firing that has ended': async (bed) => {
      await handOver(bed)
      await bed.schedule('other')
      const other = await bed.start('other')
      const awaited = awaitedOf(bed)
      assert.deepEqual(await awaited.put([resultOf(bed, other)]), ['taken'])
      const several = [
        resultOf(bed, other, { reference: 'run-2' }),
        resultOf(bed, other, { reference: 'run-1' }),
      ]
      assert.deepEqual(await awaited.put(several), ['awaited', 'taken'])
      await bed.complete(other, 'noop', { isAwaited: true })
      assert.deepEqual(await awaited.put([resultOf(bed, other, { reference: 'run-3' })]), ['gone'])
      assert.deepEqual(await awaited.find(['run-2', 'run-3']), [])
    },

    'of two firings that are put under one reference together, one has it': async (bed) => {
      const bundles = await startBoth(bed)
      const awaited = awaitedOf(bed)
      const outcomes = await awaited.put(bundles.map((bundle) => resultOf(bed, bundle)))
      assert.deepEqual([...outcomes].sort(), ['awaited', 'taken'])
      const found = only(await awaited.find(['run-1']))
      assert.equal(found.bundle.fireInstanceId, bundles[outcomes.indexOf('awaited')]?.fireInstanceId)
    },

    'so it is when the reference is left of a firing that its deadline ended': async (bed) => {
      await handOver(bed)
      const awaited = awaitedOf(bed)
      await complete(bed, only(await awaited.find(['run-1'])), { mayBeLate: true })
      const bundles = await startBoth(bed)
      const outcomes = await awaited.put(bundles.map((bundle) => resultOf(bed, bundle)))
      assert.deepEqual([...outcomes].sort(), ['awaited', 'taken'])
    },

    'it is found by its job and by its firing': async (bed) => {
      const { fireInstanceId } = await handOver(bed)
      const awaited = awaitedOf(bed)
      const references = async (target: Parameters<typeof awaited.findTarget>[0]): Promise<string[]> =>
        (await awaited.findTarget(target)).map(({ reference }) => reference)
      assert.deepEqual(await references({ jobKey: exclusive.key }), ['run-1'])
      assert.deepEqual(await references({ fireInstanceId }), ['run-1'])
      assert.deepEqual(await references({ jobKey: new JobKey('another') }), [])
      assert.deepEqual(await references({ fireInstanceId: 'another' }), [])
    },

    'a firing that is put under two references is forgotten under both': async (bed) => {
      const bundle = await handOver(bed)
      const awaited = awaitedOf(bed)
      assert.deepEqual(await awaited.put([resultOf(bed, bundle, { reference: 'run-2' })]), ['awaited'])
      const found = await awaited.find(['run-1', 'run-2'])
      assert.equal(found.length, 2)
      for (const each of found) await complete(bed, each)
      assert.deepEqual(await awaited.find(['run-1', 'run-2']), [])
      assert.deepEqual(await awaited.inFlight(), { results: [], seen: 0 })
    },

    'those that are overdue come first, with the deadline of the next one': async (bed) => {
      await bed.schedule('a')
      await bed.schedule('b')
      await bed.schedule('c')
      const awaited = awaitedOf(bed)
      const begunMs = bed.now()
      for (const [index, name] of ['a', 'b', 'c'].entries()) {
        const deadlineMs = begunMs + (3 - index) * 1000
        await awaited.put([resultOf(bed, await bed.start(name), { reference: name, deadlineMs })])
      }
      assert.deepEqual(await awaited.overdue(begunMs), { overdue: [], seen: 0, nextMs: begunMs + 1000 })
      const { overdue, nextMs } = await awaited.overdue(begunMs + 2000)
      assert.deepEqual([overdue.map(({ reference }) => reference), nextMs], [['c', 'b'], begunMs + 3000])
      assert.equal((await awaited.overdue(begunMs + 3000)).nextMs, null)
      const skipped = await awaited.overdue(begunMs + 2000, 1)
      assert.deepEqual(
        [skipped.overdue.map(({ reference }) => reference), skipped.seen, skipped.nextMs],
        [['b'], 1, begunMs + 3000],
      )
    },

    'one that its deadline ended is known by its reference, to the first who asks': async (bed) => {
      const { fireInstanceId } = await handOver(bed)
      const awaited = awaitedOf(bed)
      if (awaited.takeLate === undefined) return
      assert.deepEqual(await awaited.takeLate(['run-1']), [], 'its result is still awaited')
      await complete(bed, only(await awaited.find(['run-1'])), { mayBeLate: true })
      assert.deepEqual(await awaited.find(['run-1']), [])
      assert.deepEqual(await awaited.inFlight(), { results: [], seen: 0 })
      assert.deepEqual(await awaited.overdue(bed.now() + 60_000), { overdue: [], seen: 0, nextMs: null })
      assert.deepEqual(await awaited.takeLate(['run-2', 'run-1']), [{ reference: 'run-1', fireInstanceId }])
      assert.deepEqual(await awaited.takeLate(['run-1']), [])
    },

    'one that its deadline ended is known also after a result that came in the same moment': async (bed) => {
      const { fireInstanceId } = await handOver(bed)
      const awaited = awaitedOf(bed)
      if (awaited.takeLate === undefined) return
      const found = only(await awaited.find(['run-1']))
      await complete(bed, found, { mayBeLate: true })
      await complete(bed, found)
      assert.deepEqual(await awaited.takeLate(['run-1']), [{ reference: 'run-1', fireInstanceId }])
    },

    'one that its deadline ended leaves its reference to the next one, and is forgotten': async (bed) => {
      await handOver(bed)
      const awaited = awaitedOf(bed)
      if (awaited.takeLate === undefined) return
      await complete(bed, only(await awaited.find(['run-1'])), { mayBeLate: true })
      await bed.clock.advance(60_000)
      const next = await bed.start('t')
      assert.deepEqual(await awaited.put([resultOf(bed, next)]), ['awaited'])
      assert.deepEqual(await awaited.takeLate(['run-1']), [])
      const { deadlineMs } = only(await awaited.find(['run-1']))
      await complete(bed, only(await awaited.find(['run-1'])), { mayBeLate: true })
      await awaited.overdue(deadlineMs + 3 * 86_400_000 + 1)
      assert.deepEqual(await awaited.takeLate(['run-1']), [])
    },

    'a job that was deleted meanwhile leaves its key and its type': async (bed) => {
      await handOver(bed)
      await bed.store.deleteJobs([exclusive.key])
      const found = only(await awaitedOf(bed).find(['run-1']))
      assert.ok(found.bundle.jobDetail.key.equals(exclusive.key))
      assert.equal(found.bundle.jobDetail.jobType, exclusive.jobType)
      await complete(bed, found)
      assert.deepEqual(await awaitedOf(bed).find(['run-1']), [])
    },

    'a job that was replaced meanwhile is read back as it is now, of the type that has begun it': async (
      bed,
    ) => {
      const dataText = '{"to":"ops"}'
      await bed.schedule('t', { job: exclusive })
      const bundle = await bed.start('t')
      await awaitedOf(bed).put([resultOf(bed, bundle, { dataText })])
      const another = { ...exclusive, jobType: 'another', description: 'new' }
      await bed.store.addJob(another, { replace: true })
      const found = only(await awaitedOf(bed).find(['run-1']))
      assert.equal(found.dataText, dataText)
      assert.equal(found.bundle.jobDetail.jobType, exclusive.jobType)
      assert.equal(found.bundle.jobDetail.description, 'new')
    },
  },
  { awaitedResults: true },
)

export const awaitedClusterCases: readonly StoreCase[] = area(
  'awaited results on several nodes',
  {
    'any node completes it, once': async (bed, { reopen }) => {
      await handOver(bed)
      const other = await reopen()
      const found = only(await awaitedOf(other).find(['run-1']))
      const ended = await Promise.all([complete(bed, found), complete(other, found, { mayBeLate: true })])
      assert.deepEqual(ended.sort(), [false, true], 'one of two that complete it at once has ended it')
      assert.deepEqual(await awaitedOf(bed).find(['run-1']), [])
      await bed.clock.advance(60_000)
      const next = await bed.start('t')
      await complete(bed, found)
      await bed.clock.advance(60_000)
      assert.deepEqual(await other.acquire(), [], 'the next firing is still in flight')
      await bed.complete(next, 'noop')
    },
  },
  { awaitedResults: true, clustered: true },
)

export const awaitedRestartCases: readonly StoreCase[] = area(
  'awaited results after a restart',
  {
    'it is in flight as before, and neither lost nor run again': async (bed, { reopen }) => {
      await handOver(bed, 100)
      await bed.store.shutdown()
      const next = await reopen()
      await next.store.schedulerStarted()
      assert.deepEqual(next.signals.lostExecutions, [])
      await next.clock.advance(100)
      assert.deepEqual(await next.acquire(), [])
      await complete(next, only(await awaitedOf(next).find(['run-1'])))
      assert.deepEqual(await next.acquireNames(), ['t'])
    },
  },
  { awaitedResults: true, persistent: true },
)
