import assert from 'node:assert/strict'
import { retryingJobsGroup, TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { AcquiredTrigger } from '../../jobstore/job-store.ts'
import { area, type StoreCase, type StoreCaseBody } from './store-case.ts'
import { storedCounts } from './stored.ts'
import { completionOf, jobDetail, type Testbed } from './testbed.ts'

const key = new TriggerKey('t')

/** A case in which something happens to a claimed trigger, after which the claim must have no effect. */
function losesClaim(happens: (bed: Testbed, claim: AcquiredTrigger) => Promise<unknown>): StoreCaseBody {
  return async (bed) => {
    await bed.schedule('t', { everyMs: 1000 })
    const claim = await bed.acquireOne('t')
    await happens(bed, claim)
    const before = [await bed.state('t'), await bed.store.getTrigger(key)]
    assert.equal(await bed.fireKind(claim), 'gone')
    await bed.store.releaseAcquiredTriggers([claim])
    assert.deepEqual([await bed.state('t'), await bed.store.getTrigger(key)], before)
  }
}

const claims = area('fencing: a claim is over', {
  'when it was released': losesClaim((bed, claim) => bed.store.releaseAcquiredTriggers([claim])),
  'when all claims were released': losesClaim((bed) => bed.store.releaseAllAcquiredTriggers()),
  'when it was fired': losesClaim((bed, claim) => bed.fire(claim)),
  'when the trigger was paused': losesClaim((bed) => bed.store.pauseTrigger(key)),
  'when its group was paused': losesClaim((bed) => bed.store.pauseTriggers(GroupMatcher.anyGroup())),
  'when its job was paused': losesClaim((bed) => bed.store.pauseJob(bed.job.key)),
  'when everything was paused and resumed': losesClaim(async (bed) => {
    await bed.store.pauseAll()
    await bed.store.resumeAll()
  }),
  'when the trigger was deleted': losesClaim((bed) => bed.store.deleteTriggers([key])),
  'when the trigger was deleted and stored again': losesClaim(async (bed) => {
    await bed.store.deleteTriggers([key])
    await bed.schedule('t', { everyMs: 1000 })
  }),
  'when the trigger was rescheduled': losesClaim((bed) =>
    bed.store.rescheduleTrigger(key, bed.trigger('t', { inMs: 5000 })),
  ),
  'when the trigger was stored again in its place': losesClaim((bed) =>
    bed.store.scheduleJobs([{ job: bed.job, triggers: [bed.trigger('t')] }], { replace: true }),
  ),
  'when the job was deleted': losesClaim((bed) => bed.store.deleteJobs([bed.job.key])),
  'when everything was cleared': losesClaim((bed) => bed.store.clear()),
  'when the job was replaced by one of another type': losesClaim((bed) =>
    bed.store.addJob({ ...bed.job, jobType: 'other' }, { replace: true }),
  ),
  'when the trigger was claimed again': losesClaim(async (bed, claim) => {
    await bed.store.releaseAcquiredTriggers([claim])
    await bed.acquireOne('t')
  }),
})

const firings = area('fencing: claims and firings', {
  'leave a trigger whose job is of a type that is not known here': async (bed) => {
    await bed.schedule('t', { everyMs: 1000 })
    const claim = await bed.acquireOne('t')
    bed.unknownJobTypes.add(bed.job.jobType)
    assert.equal(await bed.fireKind(claim), 'gone')
    assert.equal(await bed.state('t'), 'NORMAL')
    assert.deepEqual(await bed.acquireNames(), [])
    bed.unknownJobTypes.clear()
    await bed.start('t')
  },
  'keep a claimed trigger when its job is given to other nodes': async (bed, { capabilities, reopen }) => {
    await bed.schedule('t', { everyMs: 1000 })
    const claim = await bed.acquireOne('t')
    const nodeAffinity = { names: ['node-2'], required: true }
    await bed.store.addJob({ ...bed.job, nodeAffinity }, { replace: true })
    // One scheduler runs all jobs.
    const meant = capabilities.clustered ? await reopen() : bed
    if ((await bed.fireKind(claim)) === 'gone') await meant.start('t')
    assert.deepEqual(await meant.acquireNames(), [])
  },
  'leave a newer claim on the trigger untouched by an older one': async (bed) => {
    await bed.schedule('t', { everyMs: 1000 })
    const older = await bed.acquireOne('t')
    await bed.store.pauseTrigger(key)
    await bed.store.resumeTrigger(key)
    const newer = await bed.acquireOne('t')
    await bed.store.releaseAcquiredTriggers([older])
    assert.equal(await bed.fireKind(older), 'gone')
    assert.equal(await bed.fireKind(newer), 'fired')
  },
  'do not accept an id that was made up': async (bed) => {
    await bed.schedule('t')
    const { trigger } = await bed.acquireOne('t')
    assert.equal(await bed.fireKind({ trigger, fireInstanceId: 'made up' }), 'gone')
  },
  'do not accept the id of another trigger': async (bed) => {
    await bed.scheduleAll([bed.trigger('a'), bed.trigger('t')])
    const [first, second] = await bed.acquire()
    assert.ok(first !== undefined && second !== undefined)
    const crossed = { trigger: second.trigger, fireInstanceId: first.fireInstanceId }
    assert.equal(await bed.fireKind(crossed), 'gone')
    assert.equal(await bed.fireKind(second), 'fired')
  },
  'pass over the end of an execution that has ended before': async (bed) => {
    const job = jobDetail('counter', {
      persistJobDataAfterExecution: true,
      jobDataMap: { n: 0 },
      durable: true,
    })
    await bed.schedule('t', { job, everyMs: 1000 })
    const bundle = await bed.start('t')
    await bed.complete(bundle, 'noop', { jobDataMap: { n: 1 } })
    await bed.complete(bundle, 'deleteTrigger', {
      jobDataMap: { n: 2 },
      retryTrigger: bed.trigger('retry', { job }),
    })
    assert.deepEqual((await bed.store.getJob(job.key))?.jobDataMap, { n: 1 })
    assert.deepEqual(await bed.states('t', 'retry'), ['NORMAL', 'NONE'])
  },
  'pass over the end of a claim that was never fired': async (bed) => {
    await bed.schedule('t', { everyMs: 1000 })
    const claim = await bed.acquireOne('t')
    await bed.store.triggeredJobsComplete([
      {
        ...claim,
        jobDetail: bed.job,
        instruction: 'setTriggerError',
        jobDataMap: null,
        retryTrigger: null,
      },
    ])
    assert.equal(await bed.state('t'), 'NORMAL')
    assert.equal(await bed.fireKind(claim), 'fired')
  },
  'pass over the end of an unknown execution': async (bed) => {
    await bed.schedule('t', { everyMs: 1000 })
    const bundle = await bed.start('t')
    await bed.complete({ ...bundle, fireInstanceId: 'made up' }, 'setAllJobTriggersError')
    assert.equal(await bed.state('t'), 'NORMAL')
    await bed.complete(bundle)
  },
  'take ends that came together one by one': async (bed) => {
    await bed.scheduleAll([bed.trigger('a'), bed.trigger('b')])
    const [a, b] = [await bed.start('a'), await bed.start('b')]
    const completion = (bundle: typeof a, fireInstanceId: string) => ({
      fireInstanceId,
      trigger: bundle.trigger,
      jobDetail: bundle.jobDetail,
      instruction: 'deleteTrigger' as const,
      jobDataMap: null,
      retryTrigger: null,
    })
    await bed.store.triggeredJobsComplete([
      completion(a, 'made up'),
      completion(b, b.fireInstanceId),
      completion(b, b.fireInstanceId),
    ])
    assert.deepEqual(await bed.states('a', 'b'), ['COMPLETE', 'NONE'])
  },
  'take the first of two ends of an execution that came together': async (bed) => {
    const job = jobDetail('counter', { persistJobDataAfterExecution: true, durable: true })
    await bed.schedule('t', { job, everyMs: 1000 })
    const bundle = await bed.start('t')
    const first = completionOf(bundle, 'setTriggerError', { jobDataMap: { n: 1 } })
    await bed.store.triggeredJobsComplete([first, completionOf(bundle)])
    assert.deepEqual((await bed.store.getJob(job.key))?.jobDataMap, { n: 1 })
    assert.equal(await bed.state('t'), 'ERROR')
  },
})

const retrying = area('retries', {
  'are stored with the end of the execution, and announced': async (bed) => {
    await bed.schedule('t', { everyMs: 60_000 })
    const bundle = await bed.start('t')
    const retry = bed.trigger('t-retry', { group: retryingJobsGroup, inMs: 500, data: { attempt: 2 } })
    bed.signals.clear()
    await bed.complete(bundle, 'noop', { retryTrigger: retry })
    assert.deepEqual(await bed.stored('t-retry', retryingJobsGroup), retry)
    assert.ok(bed.signals.announced(retry.startTimeMs))
    await bed.clock.advance(500)
    assert.deepEqual(await bed.acquireNames(), ['t-retry'])
  },
  'keep a job that is not durable when its last trigger is deleted with the same end': async (bed) => {
    const job = jobDetail('non-durable')
    await bed.schedule('t', { job })
    const retry = bed.trigger('retry', { job, inMs: 500 })
    await bed.complete(await bed.start('t'), 'deleteTrigger', { retryTrigger: retry })
    assert.notEqual(await bed.store.getJob(job.key), null)
    assert.deepEqual(await bed.states('t', 'retry'), ['NONE', 'NORMAL'])
    await bed.clock.advance(500)
    await bed.complete(await bed.start('retry'), 'deleteTrigger')
    assert.equal(await bed.store.getJob(job.key), null)
    assert.deepEqual(bed.signals.deletedJobs, ['DEFAULT.non-durable'])
  },
  'may have the key of the trigger that they follow': async (bed) => {
    const job = jobDetail('non-durable')
    await bed.schedule('t', { job })
    const retry = bed.trigger('t', { job, inMs: 500 })
    await bed.complete(await bed.start('t'), 'deleteTrigger', { retryTrigger: retry })
    assert.deepEqual(await bed.stored('t'), retry)
    await bed.clock.advance(500)
    assert.deepEqual(await bed.acquireNames(), ['t'])
  },
  'keep a job whose last trigger is deleted with an end that comes later': async (bed) => {
    const job = jobDetail('non-durable')
    await bed.scheduleAll([bed.trigger('a', { job }), bed.trigger('b', { job })], job)
    const [a, b] = [await bed.start('a'), await bed.start('b')]
    await bed.store.deleteTriggers([a.trigger.key])
    const failed = completionOf(a, 'deleteTrigger', { retryTrigger: bed.trigger('retry', { job }) })
    await bed.store.triggeredJobsComplete([failed, completionOf(b, 'deleteTrigger')])
    assert.deepEqual(await bed.states('a', 'b', 'retry'), ['NONE', 'NONE', 'NORMAL'])
    assert.deepEqual(bed.signals.deletedJobs, [])
  },
  'are dropped when the job is gone': async (bed) => {
    await bed.schedule('t')
    const bundle = await bed.start('t')
    await bed.store.deleteJobs([bed.job.key])
    await bed.complete(bundle, 'noop', { retryTrigger: bed.trigger('retry') })
    assert.deepEqual(await storedCounts(bed.store), { jobs: 0, triggers: 0, calendars: 0 })
  },
  'do not wait for other triggers when the job forbids concurrent execution': async (bed) => {
    const job = jobDetail('j', { disallowConcurrentExecution: true })
    await bed.schedule('t', { job, everyMs: 60_000 })
    const retry = bed.trigger('retry', { job })
    await bed.complete(await bed.start('t'), 'noop', { retryTrigger: retry })
    assert.deepEqual(await bed.acquireNames(), ['retry'])
  },
  'start paused when their group is paused': async (bed) => {
    await bed.schedule('t', { everyMs: 60_000 })
    const bundle = await bed.start('t')
    await bed.store.pauseTriggers(GroupMatcher.groupEquals(retryingJobsGroup))
    const retry = bed.trigger('retry', { group: retryingJobsGroup })
    await bed.complete(bundle, 'noop', { retryTrigger: retry })
    assert.equal(await bed.state('retry', retryingJobsGroup), 'PAUSED')
  },
})

export const fencingCases: readonly StoreCase[] = [...claims, ...firings, ...retrying]
