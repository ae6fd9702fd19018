import assert from 'node:assert/strict'
import { recoveringJobsGroup, retryingJobsGroup, TriggerKey } from '../../core/key.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import { notesOfAttempt } from '../../jobstore/attempt-origin.ts'
import type { TriggerFiredBundle } from '../../jobstore/fired-bundle.ts'
import { recoveryTriggerFor } from '../../jobstore/recovery-trigger.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { begin, end, schedule, key as shardedKey, split, states } from './sharded-firings.ts'
import { area, type StoreCase, type StoreCaseBody } from './store-case.ts'
import { jobDetail, type Testbed, textsOf } from './testbed.ts'

const minute = 60_000
const former = jobDetail('j', { durable: true, persistJobDataAfterExecution: true, jobDataMap: { n: 0 } })
const other: JobDetail = { ...former, jobType: 'other', jobDataMap: { n: 5 } }

/** What runs a failed firing again in a minute. */
function retryOf(
  bed: Testbed,
  { jobDetail: job, trigger, scheduledFireTimeMs }: TriggerFiredBundle,
): Trigger {
  const notes = notesOfAttempt({
    attempt: 2,
    triggerKey: trigger.key,
    scheduledFireTimeMs,
    previousFireInstanceId: 'the one before',
  })
  return bed.trigger(`retry of ${trigger.key.name}`, {
    group: retryingJobsGroup,
    job,
    inMs: minute,
    data: notes,
  })
}

function recoveryOf(bed: Testbed, bundle: TriggerFiredBundle): Trigger {
  const firing = {
    instanceId: 'node',
    triggerKey: bundle.trigger.key,
    jobKey: bundle.jobDetail.key,
    firedTimeMs: bundle.fireTimeMs,
    plannedTimeMs: bundle.scheduledFireTimeMs,
    priority: bundle.trigger.priority,
  }
  return recoveryTriggerFor(firing, {}, bed.context)
}

/** Leaves a retry, a recovery, and triggers of a user, one of them in the group of the retries. */
async function leaveWork(bed: Testbed): Promise<void> {
  const user = bed.trigger('of a user', { group: retryingJobsGroup, job: former, inMs: minute })
  await bed.scheduleAll([bed.trigger('a', { job: former }), user], former)
  const failed = await bed.start('a')
  await bed.complete(failed, 'deleteTrigger', { retryTrigger: retryOf(bed, failed) })
  await bed.schedule('t', { job: former, everyMs: 10 * minute })
  const interrupted = await bed.start('t')
  await bed.complete(interrupted, 'noop', { retryTrigger: recoveryOf(bed, interrupted) })
  const groups = (await bed.store.getTriggersOfJob(former.key)).map(({ key: { group } }) => group)
  assert.deepEqual(groups.sort(), ['DEFAULT', recoveringJobsGroup, retryingJobsGroup, retryingJobsGroup])
}

async function triggersOf({ store }: Testbed): Promise<string[]> {
  return textsOf((await store.getTriggersOfJob(former.key)).map(({ key }) => key))
}

/** A case in which another job is stored over one that has a retry and a recovery ahead. */
function losesWork(replace: (bed: Testbed) => Promise<unknown>): StoreCaseBody {
  return async (bed) => {
    await leaveWork(bed)
    await replace(bed)
    assert.equal((await bed.store.getJob(former.key))?.jobType, 'other')
    const [kept] = (await triggersOf(bed)).filter((text) => text.startsWith(retryingJobsGroup))
    assert.equal(kept, `${retryingJobsGroup}.of a user`)
    assert.deepEqual(
      (await triggersOf(bed)).filter((text) => text.includes('retry of') || text.includes('recover_')),
      [],
    )
  }
}

function planOf(bed: Testbed): Parameters<Testbed['store']['putPlanned']>[0] {
  const plan = { set: null, generation: 0, job: 'other', when: 'next year', data: {} }
  const job = { ...other, plan }
  return {
    job,
    trigger: bed.trigger('j', { job, inMs: 1000 * minute }),
    goesOnFrom: 'start',
    isPast: false,
  }
}

const replaced = area('another job type: what is to run again goes with the former job', {
  'when a job is added in its place': losesWork((bed) => bed.store.addJob(other, { replace: true })),
  'when one is scheduled in its place': losesWork((bed) => {
    const triggers = [bed.trigger('t', { job: other, inMs: 1000 * minute })]
    return bed.store.scheduleJobs([{ job: other, triggers }], { replace: true })
  }),
  'when one is declared in its place': losesWork((bed) => bed.store.putPlanned(planOf(bed))),
  'and stays where the type is the same': async (bed) => {
    await leaveWork(bed)
    const before = await triggersOf(bed)
    await bed.store.addJob({ ...former, description: 'better' }, { replace: true })
    assert.deepEqual(await triggersOf(bed), before)
  },
})

const definitions = area(
  'another job type: what is to run again goes with the former job',
  {
    'when definitions are changed': losesWork((bed) => {
      const none = { calendars: [], removedTriggers: [], removedJobs: [], removedCalendars: [] }
      assert.ok(bed.store.changeDefinitions !== undefined)
      return bed.store.changeDefinitions({ ...none, entries: [{ job: other, triggers: [] }] })
    }),
  },
  { changesDefinitions: true },
)

/** A case in which a job of another type has the key when an execution ends that leaves a retry and data. */
function leavesNothing(replace: (bed: Testbed) => Promise<unknown>): StoreCaseBody {
  return async (bed) => {
    await bed.schedule('t', { job: former, everyMs: 10 * minute })
    const running = await bed.start('t')
    await replace(bed)
    await bed.complete(running, 'noop', {
      jobDataMap: { n: 1, left: true },
      retryTrigger: retryOf(bed, running),
    })
    assert.deepEqual((await bed.store.getJob(former.key))?.jobDataMap, { n: 5 })
    assert.equal(await bed.state('retry of t', retryingJobsGroup), 'NONE')
  }
}

async function storeAnew(bed: Testbed, job: JobDetail): Promise<void> {
  await bed.store.deleteJobs([job.key])
  await bed.scheduleAll([bed.trigger('t', { job, inMs: 1000 * minute })], job)
}

const ended = area('another job type: an execution of the former job', {
  'leaves it neither a retry nor data': leavesNothing((bed) => bed.store.addJob(other, { replace: true })),
  'leaves it neither when it was deleted in between': leavesNothing((bed) => storeAnew(bed, other)),
  'leaves both where a job of its type was stored anew': async (bed) => {
    await bed.schedule('t', { job: former, everyMs: 10 * minute })
    const running = await bed.start('t')
    await storeAnew(bed, former)
    await bed.complete(running, 'noop', { jobDataMap: { n: 1 }, retryTrigger: retryOf(bed, running) })
    assert.deepEqual((await bed.store.getJob(former.key))?.jobDataMap, { n: 1 })
    assert.equal(await bed.state('retry of t', retryingJobsGroup), 'NORMAL')
  },
})

const shards = area(
  'another job type: a sharded firing of the former job',
  {
    'is given up, with the items that have not begun': async (bed) => {
      const job = await schedule(bed, { items: 2 })
      await split(bed)
      await bed.store.addJob({ ...job, jobType: 'other', sharding: null }, { replace: true })
      assert.deepEqual(await states(bed), [])
      const waiting: string[] = []
      for (const {
        key: { name, group },
      } of await bed.store.getTriggersOfJob(shardedKey)) {
        if ((await bed.state(name, group)) === 'NORMAL') waiting.push(name)
      }
      assert.deepEqual(waiting, ['t'])
      await end(bed, await begin(bed))
      assert.deepEqual(await states(bed), [])
    },
  },
  { sharding: true },
)

/** Declares a job that runs once, in so many minutes. */
async function declareOnce(bed: Testbed, inMinutes: number): Promise<string> {
  const when = String(bed.now() + inMinutes * minute)
  const plan = { set: null, generation: 0, job: 'same', when, instant: when, data: {} }
  const job = { ...former, plan }
  const trigger = bed.trigger('j', { job, inMs: inMinutes * minute })
  return (await bed.store.putPlanned({ job, trigger, goesOnFrom: 'start', isPast: false })).outcome
}

const moved = area('plans: what runs once and is to be tried again', {
  'is not tried again when it is declared for another time': async (bed) => {
    await declareOnce(bed, 0)
    const failed = await bed.start('j')
    await bed.complete(failed, 'deleteTrigger', { retryTrigger: retryOf(bed, failed) })
    assert.equal(await declareOnce(bed, 0), 'unchanged')
    assert.equal(await bed.state('retry of j', retryingJobsGroup), 'NORMAL')
    assert.equal(await declareOnce(bed, 10), 'changed')
    assert.equal(await bed.state('retry of j', retryingJobsGroup), 'NONE')
    assert.equal(await bed.state('j'), 'NORMAL')
  },
  'is tried again where another trigger of the job has failed': async (bed) => {
    await declareOnce(bed, 10)
    await bed.schedule('by hand', { job: former })
    const failed = await bed.start('by hand')
    await bed.complete(failed, 'deleteTrigger', { retryTrigger: retryOf(bed, failed) })
    assert.equal(await declareOnce(bed, 20), 'changed')
    assert.equal(await bed.state('retry of by hand', retryingJobsGroup), 'NORMAL')
  },
  'is tried again where the attempt runs by then': async (bed) => {
    await declareOnce(bed, 0)
    const failed = await bed.start('j')
    await bed.complete(failed, 'deleteTrigger', { retryTrigger: retryOf(bed, failed) })
    await bed.clock.advance(minute)
    const again = await bed.start('retry of j')
    assert.equal(await declareOnce(bed, 10), 'changed')
    const last = bed.trigger('last', {
      group: retryingJobsGroup,
      job: former,
      data: { ...again.trigger.jobDataMap },
    })
    await bed.complete(again, 'deleteTrigger', { retryTrigger: last })
    assert.deepEqual(
      [await bed.state('last', retryingJobsGroup), await bed.state('j'), again.trigger.key],
      ['NORMAL', 'NORMAL', new TriggerKey('retry of j', retryingJobsGroup)],
    )
  },
})

export const jobTypeCases: readonly StoreCase[] = [...replaced, ...definitions, ...ended, ...shards, ...moved]
