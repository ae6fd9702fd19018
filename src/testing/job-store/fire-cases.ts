import assert from 'node:assert/strict'
import { reservedDataPrefix } from '../../core/job-data-map.ts'
import { JobKey, retryingJobsGroup, TriggerKey } from '../../core/key.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { TriggerFiredBundle } from '../../jobstore/fired-bundle.ts'
import type { CompletedExecutionInstruction } from '../../jobstore/job-store.ts'
import type { TriggerState } from '../../jobstore/trigger-state.ts'
import { area, type StoreCase, type StoreCaseBody } from './store-case.ts'
import { storedCounts } from './stored.ts'
import { completionOf, jobDetail, only, type Testbed, textsOf } from './testbed.ts'

const firing = area('fire', {
  'hands out the job, the advanced trigger and the times of the firing': async (bed) => {
    const trigger = await bed.schedule('t', { everyMs: 1000, times: 3, data: { n: 1 } })
    const dueMs = bed.now()
    await bed.clock.advance(7)
    const bundle = await bed.start('t')
    assert.deepEqual(bundle.jobDetail, bed.job)
    assert.equal(bundle.calendar, null)
    assert.equal(bundle.scheduledFireTimeMs, dueMs)
    assert.equal(bundle.fireTimeMs, dueMs + 7)
    assert.equal(bundle.previousFireTimeMs, null)
    assert.equal(bundle.nextFireTimeMs, dueMs + 1000)
    assert.deepEqual(bundle.trigger, trigger.triggered(null))
  },
  'hands out the previous fire time from the second firing on': async (bed) => {
    await bed.schedule('t', { everyMs: 1000 })
    const dueMs = bed.now()
    await bed.complete(await bed.start('t'))
    await bed.clock.advance(1000)
    const bundle = await bed.start('t')
    assert.equal(bundle.previousFireTimeMs, dueMs)
    assert.equal(bundle.scheduledFireTimeMs, dueMs + 1000)
  },
  'keeps the id of the claim for the firing': async (bed) => {
    await bed.schedule('t')
    const claim = await bed.acquireOne('t')
    assert.equal((await bed.fire(claim)).fireInstanceId, claim.fireInstanceId)
  },
  'stores the trigger as it goes on': async (bed) => {
    const trigger = await bed.schedule('t', { everyMs: 1000 })
    await bed.start('t')
    assert.deepEqual(await bed.stored('t'), trigger.triggered(null))
    assert.equal(await bed.state('t'), 'NORMAL')
  },
  'makes a trigger that fired for the last time complete': async (bed) => {
    await bed.schedule('t')
    const bundle = await bed.start('t')
    assert.equal(bundle.nextFireTimeMs, null)
    assert.equal(await bed.state('t'), 'COMPLETE')
    assert.equal((await bed.stored('t')).nextFireTimeMs, null)
  },
  'fires a concurrent job again while it runs': async (bed) => {
    await bed.schedule('t', { everyMs: 1000 })
    const first = await bed.start('t')
    await bed.clock.advance(1000)
    const second = await bed.start('t')
    assert.notEqual(first.fireInstanceId, second.fireInstanceId)
    await bed.complete(second)
    await bed.complete(first)
    assert.equal(await bed.state('t'), 'NORMAL')
  },
  'answers one result per claim in the order of the claims': async (bed) => {
    await bed.scheduleAll(['a', 'b', 'c'].map((name) => bed.trigger(name)))
    const claims = await bed.acquire()
    await bed.store.pauseTrigger(new TriggerKey('b'))
    const results = await bed.store.triggersFired([...claims].reverse())
    assert.deepEqual(
      results.map((result) => (result.kind === 'fired' ? result.bundle.trigger.key.name : result.kind)),
      ['c', 'gone', 'a'],
    )
  },
  'fires with the job as it is stored by then': async (bed) => {
    await bed.schedule('t')
    const claim = await bed.acquireOne('t')
    await bed.store.addJob({ ...bed.job, jobDataMap: { changed: true } }, { replace: true })
    assert.deepEqual((await bed.fire(claim)).jobDetail.jobDataMap, { changed: true })
  },
  'keeps the job of an execution as it was when the job is replaced meanwhile': async (bed) => {
    await bed.schedule('t', { everyMs: 1000 })
    const bundle = await bed.start('t')
    await bed.store.addJob({ ...bed.job, description: 'new' }, { replace: true })
    assert.equal(bundle.jobDetail.description, null)
    await bed.complete(bundle)
    assert.equal((await bed.store.getJob(bed.job.key))?.description, 'new')
  },
})

/** Ends the last of two executions of a job that is not durable, while the one before it is still in flight. */
async function endLastOfTwo(
  bed: Testbed,
  options: Pick<JobDetail, 'requestsRecovery'>,
): Promise<{ readonly job: JobDetail; readonly earlier: TriggerFiredBundle }> {
  const job = jobDetail('twice', options)
  await bed.schedule('t', { job, everyMs: 1000, times: 2 })
  const earlier = await bed.start('t')
  await bed.clock.advance(1000)
  await bed.complete(await bed.start('t'), 'deleteTrigger')
  return { job, earlier }
}

const completing = area('complete', {
  'deletes a finished trigger and the job that it leaves alone': async (bed) => {
    const job = jobDetail('non-durable')
    await bed.schedule('t', { job })
    await bed.complete(await bed.start('t'), 'deleteTrigger')
    assert.deepEqual(await storedCounts(bed.store), { jobs: 0, triggers: 0, calendars: 0 })
    assert.deepEqual(bed.signals.deletedJobs, ['DEFAULT.non-durable'])
  },
  'keeps a job that wants recovery until its executions in flight have ended': async (bed) => {
    const { job, earlier } = await endLastOfTwo(bed, { requestsRecovery: true })
    assert.equal(await bed.state('t'), 'NONE')
    assert.notEqual(await bed.store.getJob(job.key), null)
    assert.deepEqual(bed.signals.deletedJobs, [])
    await bed.complete(earlier)
    assert.equal(await bed.store.getJob(job.key), null)
    assert.deepEqual(bed.signals.deletedJobs, ['DEFAULT.twice'])
  },
  'keeps such a job for longer when it got another trigger meanwhile': async (bed) => {
    const { job, earlier } = await endLastOfTwo(bed, { requestsRecovery: true })
    const another = bed.trigger('u', { job, inMs: 1000 })
    await bed.store.scheduleJobs([{ job: null, triggers: [another] }], { replace: false })
    await bed.complete(earlier)
    assert.notEqual(await bed.store.getJob(job.key), null)
    await bed.clock.advance(1000)
    await bed.complete(await bed.start('u'), 'deleteTrigger')
    assert.deepEqual(bed.signals.deletedJobs, ['DEFAULT.twice'])
  },
  'deletes a job that wants no recovery whatever is in flight of it': async (bed) => {
    const { job, earlier } = await endLastOfTwo(bed, { requestsRecovery: false })
    assert.equal(await bed.store.getJob(job.key), null)
    await bed.complete(earlier)
    assert.deepEqual(bed.signals.deletedJobs, ['DEFAULT.twice'])
  },
  'keeps a durable job, and a job with another trigger': async (bed) => {
    const job = jobDetail('busy')
    await bed.scheduleAll([bed.trigger('a', { job }), bed.trigger('b', { job, inMs: 1000 })], job)
    await bed.complete(await bed.start('a'), 'deleteTrigger')
    await bed.schedule('c')
    await bed.complete(await bed.start('c'), 'deleteTrigger')
    assert.notEqual(await bed.store.getJob(job.key), null)
    assert.notEqual(await bed.store.getJob(bed.job.key), null)
    assert.deepEqual(bed.signals.deletedJobs, [])
  },
  'spares a trigger that was rescheduled while it ran for the last time': async (bed) => {
    await bed.schedule('t')
    const bundle = await bed.start('t')
    const trigger = bed.trigger('t', { inMs: 1000 })
    await bed.store.rescheduleTrigger(trigger.key, trigger)
    await bed.complete(bundle, 'deleteTrigger')
    assert.deepEqual(await bed.stored('t'), trigger)
    await bed.clock.advance(1000)
    assert.deepEqual(await bed.acquireNames(), ['t'])
  },
  'leaves a trigger of the same key that belongs to another job by now': async (bed) => {
    await bed.schedule('t')
    const bundle = await bed.start('t')
    await bed.store.deleteTriggers([new TriggerKey('t')])
    const trigger = await bed.schedule('t', { job: jobDetail('other'), inMs: 1000 })
    await bed.complete(bundle, 'setTriggerError')
    assert.equal(await bed.state('t'), 'NORMAL')
    assert.deepEqual(await bed.stored('t'), trigger)
  },
  'takes the end of an execution whose trigger is gone': async (bed) => {
    for (const instruction of ['noop', 'deleteTrigger', 'setTriggerComplete', 'setTriggerError'] as const) {
      await bed.schedule('t')
      const bundle = await bed.start('t')
      await bed.store.deleteTriggers([new TriggerKey('t')])
      await bed.complete(bundle, instruction)
      assert.equal(await bed.state('t'), 'NONE')
    }
  },
  'takes the end of an execution whose job is gone': async (bed) => {
    await bed.schedule('t')
    const bundle = await bed.start('t')
    await bed.store.deleteJobs([bed.job.key])
    await bed.complete(bundle, 'deleteTrigger', { jobDataMap: { n: 1 } })
    assert.equal(await bed.store.getJob(bed.job.key), null)
    assert.deepEqual(bed.signals.deletedJobs, [])
  },
  'stores back the data that a job left': async (bed) => {
    const job = jobDetail('counter', {
      persistJobDataAfterExecution: true,
      jobDataMap: { n: 0 },
      durable: true,
    })
    await bed.schedule('t', { job, everyMs: 1000 })
    for (const n of [1, 2, 3]) {
      const bundle = await bed.start('t')
      assert.deepEqual(bundle.jobDetail.jobDataMap, { n: n - 1 })
      await bed.complete(bundle, 'noop', { jobDataMap: { n } })
      await bed.clock.advance(1000)
    }
    assert.deepEqual(await bed.store.getJob(job.key), { ...job, jobDataMap: { n: 3 } })
  },
  'keeps what others stored in the data while a job ran, but for the keys that it changed or deleted': async (
    bed,
  ) => {
    const changes = { persistJobDataAfterExecution: true, durable: true }
    const given = { to: 'old', deep: { at: [1] }, runs: 0, taken: 1, gone: 1, rest: 1 }
    const job = jobDetail('counter', { ...changes, jobDataMap: given })
    await bed.schedule('t', { job, everyMs: 1000 })
    const bundle = await bed.start('t')
    const stored = { to: 'new', deep: { at: [2] }, runs: 9, taken: 2, more: 1, rest: 1 }
    await bed.store.addJob({ ...job, jobDataMap: stored }, { replace: true })
    const left = { to: 'old', deep: { at: [1] }, runs: 1, gone: 1, left: 1, rest: 1 }
    await bed.complete(bundle, 'noop', { jobDataMap: left })
    const data = { to: 'new', deep: { at: [2] }, runs: 1, more: 1, left: 1, rest: 1 }
    assert.deepEqual((await bed.store.getJob(job.key))?.jobDataMap, data)
  },
  'keeps what each of two runs that end together changed in the data': async (bed) => {
    const job = jobDetail('counter', {
      persistJobDataAfterExecution: true,
      jobDataMap: { a: 0, b: 0 },
      durable: true,
    })
    await bed.schedule('t', { job })
    await bed.scheduleAll([bed.trigger('u', { job })])
    const [first, second] = [await bed.start('t'), await bed.start('u')]
    await bed.store.triggeredJobsComplete([
      completionOf(first, 'deleteTrigger', { jobDataMap: { a: 1, b: 0 } }),
      completionOf(second, 'deleteTrigger', { jobDataMap: { a: 0, b: 1 } }),
    ])
    assert.deepEqual((await bed.store.getJob(job.key))?.jobDataMap, { a: 1, b: 1 })
  },
  'leaves the data as it is when there is none to store back': async (bed) => {
    const job = jobDetail('counter', { persistJobDataAfterExecution: true, jobDataMap: { n: 7 } })
    await bed.schedule('t', { job, everyMs: 1000 })
    await bed.complete(await bed.start('t'))
    assert.deepEqual((await bed.store.getJob(job.key))?.jobDataMap, { n: 7 })
  },
  'ends many executions at once': async (bed) => {
    const names = Array.from({ length: 25 }, (_, index) => `t${String(index)}`)
    await bed.scheduleAll(names.map((name) => bed.trigger(name)))
    const results = await bed.store.triggersFired(await bed.acquire({ maxCount: 25 }))
    const completions = results.flatMap((result) =>
      result.kind === 'fired' ? [completionOf(result.bundle, 'deleteTrigger')] : [],
    )
    await bed.store.triggeredJobsComplete(completions)
    assert.equal(completions.length, 25)
    assert.deepEqual(await storedCounts(bed.store), { jobs: 1, triggers: 0, calendars: 0 })
  },
  'signals triggers that an execution put in error': async (bed) => {
    await bed.scheduleAll([bed.trigger('a', { everyMs: 1000 }), bed.trigger('b', { inMs: 5000 })])
    await bed.complete(await bed.start('a'), 'setAllJobTriggersError')
    assert.deepEqual(textsOf(bed.signals.inError.map(({ key }) => key)), ['DEFAULT.a', 'DEFAULT.b'])
    assert.match(only(bed.signals.inError.slice(0, 1)).reason, /\S/)
  },
  'shows no next fire time of a trigger that an execution completed': async (bed) => {
    await bed.schedule('t', { everyMs: 1000 })
    const { trigger } = await bed.start('t')
    await bed.clock.advance(2000)
    const due = { take: 10, dueBefore: new Date(bed.now()) }
    assert.equal((await bed.store.queryTriggers(due)).items.length, 1)
    await bed.complete(await bed.start('t'), 'setTriggerComplete')
    await bed.clock.advance(2000)
    const stored = await bed.stored('t')
    const { items } = await bed.store.queryTriggers({ take: 10 })
    const [many] = await bed.store.getTriggers([trigger.key])
    const [ofJob] = await bed.store.getTriggersOfJob(stored.jobKey ?? new JobKey(''))
    assert.deepEqual(
      [stored, items[0], many, ofJob].map((seen) => seen?.nextFireTimeMs),
      [null, null, null, null],
    )
    assert.notEqual(stored.previousFireTimeMs, null)
    assert.deepEqual((await bed.store.queryTriggers(due)).items, [])
  },
  'leaves a trigger alone that was stored anew while its last firing ran': async (bed) => {
    const job = jobDetail('once')
    for (const instruction of ['setTriggerComplete', 'setAllJobTriggersComplete'] as const) {
      await bed.schedule('t', { job })
      const bundle = await bed.start('t')
      await bed.store.deleteJobs([job.key])
      await bed.schedule('t', { job, inMs: 1000 })
      await bed.complete(bundle, instruction)
      assert.equal(await bed.state('t'), 'NORMAL')
      await bed.clock.advance(1000)
      await bed.complete(await bed.start('t'), 'deleteTrigger')
    }
  },
  'deletes a trigger that the scheduler made, when the run ends it': async (bed) => {
    const retry = bed.trigger('RT_1', {
      group: retryingJobsGroup,
      job: jobDetail('again'),
      data: { [`${reservedDataPrefix}ATTEMPT`]: 2 },
    })
    const asked = bed.trigger('MT_1', { job: jobDetail('asked') })
    // A call of `triggerJob` makes simple triggers.
    const made = bed.triggerType === 'simple' ? [retry, asked] : [retry]
    for (const instruction of ['setTriggerComplete', 'setAllJobTriggersComplete'] as const) {
      for (const trigger of made) {
        const job = jobDetail(trigger.jobKey?.name ?? '')
        await bed.store.scheduleJobs([{ job, triggers: [trigger] }], { replace: false })
        bed.signals.clear()
        await bed.complete(await bed.start(trigger.key.name), instruction)
        assert.equal(await bed.store.getTrigger(trigger.key), null)
        assert.equal(await bed.store.getJob(job.key), null)
        assert.deepEqual(textsOf(bed.signals.deletedJobs), [job.key.toString()])
      }
    }
  },
  'deletes triggers that the scheduler made, when a run ends all of the job or their fire is left out':
    async (bed) => {
      const spec = { group: retryingJobsGroup, inMs: 60_000, data: { [`${reservedDataPrefix}ATTEMPT`]: 2 } }
      const [ended, left] = [bed.trigger('RT_1', spec), bed.trigger('RT_2', spec)]
      const others = bed.trigger('RT_3', { group: retryingJobsGroup, inMs: 60_000 })
      await bed.scheduleAll([bed.trigger('t', { everyMs: 1000 }), ended, left, others])
      await bed.store.pauseTrigger(left.key)
      bed.signals.clear()
      await bed.store.skipNextFire(left.key, null)
      assert.equal(await bed.store.getTrigger(left.key), null)
      assert.deepEqual(
        bed.signals.finalized.map(({ key }) => key.name),
        ['RT_2'],
      )
      await bed.complete(await bed.start('t'), 'setAllJobTriggersComplete')
      assert.equal(await bed.store.getTrigger(ended.key), null)
      assert.deepEqual(await bed.states('t'), ['COMPLETE'])
      assert.equal(await bed.store.getTriggerState(others.key), 'COMPLETE')
    },
  'completes triggers in error with all others of the job when an execution says so': async (bed) => {
    await bed.scheduleAll([bed.trigger('a', { everyMs: 1000 }), bed.trigger('b', { everyMs: 1000, inMs: 1 })])
    await bed.putInError('a')
    await bed.clock.advance(1)
    await bed.complete(await bed.start('b'), 'setAllJobTriggersComplete')
    assert.deepEqual(await bed.states('a', 'b'), ['COMPLETE', 'COMPLETE'])
  },
  'leaves triggers of other jobs alone': async (bed) => {
    await bed.schedule('other', { job: jobDetail('other'), inMs: 1000 })
    await bed.schedule('t', { everyMs: 1000 })
    await bed.complete(await bed.start('t'), 'setAllJobTriggersError')
    assert.deepEqual(await bed.states('t', 'other'), ['ERROR', 'NORMAL'])
    assert.notEqual(await bed.store.getJob(new JobKey('other')), null)
  },
})

interface Outcome {
  /** States of the trigger that fired, with a next fire time and without. */
  readonly repeating: TriggerState
  readonly last: TriggerState
  /** State of another trigger of the job. */
  readonly sibling: TriggerState
}

const outcomes: Readonly<Record<CompletedExecutionInstruction, Outcome>> = {
  noop: { repeating: 'NORMAL', last: 'COMPLETE', sibling: 'NORMAL' },
  reExecuteJob: { repeating: 'NORMAL', last: 'COMPLETE', sibling: 'NORMAL' },
  setTriggerComplete: { repeating: 'COMPLETE', last: 'COMPLETE', sibling: 'NORMAL' },
  deleteTrigger: { repeating: 'NONE', last: 'NONE', sibling: 'NORMAL' },
  setAllJobTriggersComplete: { repeating: 'COMPLETE', last: 'COMPLETE', sibling: 'COMPLETE' },
  setTriggerError: { repeating: 'ERROR', last: 'ERROR', sibling: 'NORMAL' },
  setAllJobTriggersError: { repeating: 'ERROR', last: 'ERROR', sibling: 'ERROR' },
}

function instructionCase(
  instruction: CompletedExecutionInstruction,
  kind: 'repeating' | 'last',
  forbidsConcurrency: boolean,
): StoreCaseBody {
  return async (bed) => {
    const { [kind]: expected, sibling } = outcomes[instruction]
    const job = jobDetail('subject', { disallowConcurrentExecution: forbidsConcurrency, durable: true })
    const repeats = kind === 'repeating' ? { everyMs: 1000 } : {}
    await bed.scheduleAll(
      [bed.trigger('fires', { job, ...repeats }), bed.trigger('sibling', { job, inMs: 500 })],
      job,
    )
    const bundle = await bed.start('fires')
    const whileRunning = forbidsConcurrency ? 'BLOCKED' : 'NORMAL'
    const own = kind === 'last' ? 'COMPLETE' : whileRunning
    assert.deepEqual(await bed.states('fires', 'sibling'), [own, whileRunning])
    await bed.complete(bundle, instruction)
    assert.deepEqual(await bed.states('fires', 'sibling'), [expected, sibling])
    await bed.clock.advance(500)
    assert.deepEqual(await bed.acquireNames(), sibling === 'NORMAL' ? ['sibling'] : [])
  }
}

function instructionCases(): Record<string, StoreCaseBody> {
  const cases: Record<string, StoreCaseBody> = {}
  for (const instruction of Object.keys(outcomes) as CompletedExecutionInstruction[]) {
    for (const kind of ['repeating', 'last'] as const) {
      for (const forbidsConcurrency of [false, true]) {
        const after = kind === 'last' ? 'the last firing' : 'a firing of several'
        const job = forbidsConcurrency ? 'a non-concurrent job' : 'a job'
        const sentence = `${instruction} after ${after} of ${job} leaves the trigger ${outcomes[instruction][kind]}`
        cases[sentence] = instructionCase(instruction, kind, forbidsConcurrency)
      }
    }
  }
  return cases
}

export const fireCases: readonly StoreCase[] = [
  ...firing,
  ...completing,
  ...area('complete: instructions', instructionCases()),
]
