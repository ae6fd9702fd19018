import assert from 'node:assert/strict'
import type { JobDataMap } from '../../core/job-data-map.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { JobPlan } from '../../jobs/job-plan.ts'
import type { PlannedJob, PlanOutcome } from '../../jobstore/planned-job.ts'
import { scheduleSetText } from '../../jobstore/schedule-set-note.ts'
import { notesOf } from './note-cases.ts'
import { area, type StoreCase } from './store-case.ts'
import { jobDetail, refuses, type Testbed, type TriggerSpec } from './testbed.ts'

interface PlanSpec extends TriggerSpec {
  readonly changes?: Partial<JobDetail>
  readonly data?: JobDataMap
  readonly plan?: Partial<JobPlan>
  readonly goesOnFrom?: PlannedJob['goesOnFrom']
  readonly isPast?: boolean
}

/** A declared job, whose digests are what was given. */
function planned(bed: Testbed, name: string, spec: PlanSpec = {}): PlannedJob {
  const { changes = {}, data = {}, plan = {}, goesOnFrom = 'lastFire', isPast = false, ...trigger } = spec
  const digests = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, JSON.stringify(value)]))
  const job = {
    ...jobDetail(name, { durable: true, jobDataMap: data, ...changes }),
    plan: {
      set: null,
      generation: 0,
      job: JSON.stringify(changes),
      when: JSON.stringify(trigger),
      data: digests,
      ...plan,
    },
  }
  return { job, trigger: bed.trigger(name, { ...trigger, job }), goesOnFrom, isPast }
}

async function put(bed: Testbed, name: string, spec: PlanSpec = {}): Promise<PlanOutcome> {
  return (await bed.store.putPlanned(planned(bed, name, spec))).outcome
}

async function dataOf(bed: Testbed, name: string): Promise<JobDataMap | undefined> {
  return (await bed.store.getJob(jobDetail(name).key))?.jobDataMap
}

async function nextInMs(bed: Testbed, name: string): Promise<number> {
  return ((await bed.stored(name)).nextFireTimeMs ?? Number.NaN) - bed.now()
}

const second = 1000
const minute = 60_000

const same = area('plans: what is declared the same', {
  'is stored once, and left alone': async (bed) => {
    assert.equal(await put(bed, 'p', { everyMs: 10 * minute, data: { a: 1 } }), 'added')
    await bed.complete(await bed.start('p'))
    await bed.clock.advance(minute)
    assert.equal(await put(bed, 'p', { everyMs: 10 * minute, data: { a: 1 } }), 'unchanged')
    assert.equal(await nextInMs(bed, 'p'), 9 * minute)
    assert.notEqual((await bed.stored('p')).previousFireTimeMs, null)
  },
  'keeps its pause, and the data that the job has stored': async (bed) => {
    const spec = { everyMs: minute, data: { a: 1 }, changes: { persistJobDataAfterExecution: true } }
    await put(bed, 'p', spec)
    await bed.complete(await bed.start('p'), 'noop', { jobDataMap: { a: 1, count: 7 } })
    await bed.store.pauseTrigger((await bed.stored('p')).key)
    assert.equal(await put(bed, 'p', spec), 'unchanged')
    assert.equal(await bed.state('p'), 'PAUSED')
    assert.deepEqual(await dataOf(bed, 'p'), { a: 1, count: 7 })
  },
  'is stored again where its trigger was deleted, unless it runs once': async (bed) => {
    await put(bed, 'p', { everyMs: minute })
    await put(bed, 'once', { inMs: minute })
    await bed.store.deleteTriggers([(await bed.stored('p')).key, (await bed.stored('once')).key])
    assert.equal(await put(bed, 'p', { everyMs: minute }), 'changed')
    assert.equal(await put(bed, 'once', { inMs: minute }), 'unchanged')
    assert.deepEqual(await bed.states('p', 'once'), ['NORMAL', 'NONE'])
  },
})

const changed = area('plans: what is declared otherwise', {
  'while the job runs stays as declared, and what the run changed as it left it': async (bed) => {
    const changes = { persistJobDataAfterExecution: true, disallowConcurrentExecution: true }
    await put(bed, 'p', { everyMs: minute, changes, data: { code: 'old', count: 0, gone: 1 } })
    const running = await bed.start('p')
    assert.equal(
      await put(bed, 'p', { everyMs: minute, changes, data: { code: 'new', count: 0, more: 2 } }),
      'changed',
    )
    await bed.complete(running, 'noop', { jobDataMap: { code: 'old', count: 1, gone: 1, left: true } })
    assert.deepEqual(await dataOf(bed, 'p'), { code: 'new', count: 1, more: 2, left: true })
  },
  'counts its intervals from the last fire': async (bed) => {
    await put(bed, 'p', { everyMs: 60 * minute })
    await bed.complete(await bed.start('p'))
    await bed.clock.advance(50 * minute)
    assert.equal(await put(bed, 'p', { everyMs: 120 * minute }), 'changed')
    assert.equal(await nextInMs(bed, 'p'), 70 * minute)
    assert.equal(await put(bed, 'p', { everyMs: 30 * minute }), 'changed')
    assert.equal(await nextInMs(bed, 'p'), 10 * minute)
    assert.equal(await put(bed, 'p', { everyMs: 30 * minute, inMs: minute, goesOnFrom: 'start' }), 'changed')
    assert.equal(await nextInMs(bed, 'p'), minute)
  },
  'keeps the instant of what runs once, and does not run it again': async (bed) => {
    const plan = { instant: 'in ten minutes' }
    await put(bed, 'p', { inMs: 10 * minute, plan })
    await put(bed, 'q', { inMs: 10 * minute, plan })
    await bed.store.pauseTrigger((await bed.stored('q')).key)
    await bed.clock.advance(4 * minute)
    assert.equal(await put(bed, 'p', { inMs: 10 * minute, priority: 6, plan }), 'changed')
    assert.equal(await put(bed, 'q', { inMs: 10 * minute, priority: 6, plan }), 'changed')
    assert.equal(await nextInMs(bed, 'p'), 6 * minute)
    assert.equal((await bed.stored('p')).priority, 6)
    assert.deepEqual(await bed.states('p', 'q'), ['NORMAL', 'PAUSED'])
    await bed.clock.advance(6 * minute)
    await bed.complete(await bed.start('p'), 'deleteTrigger')
    assert.equal(await put(bed, 'p', { inMs: 10 * minute, priority: 7, plan }), 'changed')
    assert.equal(await bed.state('p'), 'NONE')
  },
  'is over when nothing is left of its series before a new end': async (bed) => {
    await put(bed, 'p', { everyMs: 60 * minute })
    await bed.complete(await bed.start('p'))
    await bed.clock.advance(20 * minute)
    assert.equal(await put(bed, 'p', { everyMs: 60 * minute, endsInMs: 30 * minute }), 'changed')
    assert.equal(await bed.state('p'), 'NONE')
    assert.deepEqual(await bed.acquireNames(), [])
    assert.equal(await put(bed, 'p', { everyMs: 60 * minute, endsInMs: 50 * minute }), 'changed')
    assert.equal(await nextInMs(bed, 'p'), 40 * minute)
  },
  'keeps what was due and has not run': async (bed) => {
    await put(bed, 'p', { everyMs: 60 * minute })
    await bed.complete(await bed.start('p'))
    await bed.clock.advance(90 * minute)
    await put(bed, 'p', { everyMs: 45 * minute, misfire: 'rescheduleNextWithExistingCount' })
    assert.equal(await nextInMs(bed, 'p'), -30 * minute)
    assert.deepEqual(await bed.acquireNames(), [])
    assert.deepEqual(
      bed.signals.misfired.map(({ key }) => key.name),
      ['p'],
    )
  },
  'keeps each of several instants that were due': async (bed) => {
    await put(bed, 'p', { everyMs: second })
    await bed.complete(await bed.start('p'))
    const beganMs = bed.now()
    await bed.clock.advance(3.2 * second)
    await put(bed, 'p', { everyMs: second, priority: 6, goesOnFrom: 'due' })
    const fired: (number | null)[] = []
    for (let count = 0; count < 3; count++) {
      const bundle = await bed.start('p')
      fired.push(bundle.scheduledFireTimeMs - beganMs)
      await bed.complete(bundle)
    }
    assert.deepEqual(fired, [second, 2 * second, 3 * second])
    assert.deepEqual(await bed.acquireNames(), [])
  },
  'runs no instant again when it is declared on a node whose clock is behind': async (bed) => {
    for (const goesOnFrom of ['start', 'due', 'lastFire'] as const) {
      const key = `p-${goesOnFrom}`
      await put(bed, key, { everyMs: second })
      let lastMs: number | null = null
      for (let count = 0; count < 5; count++) {
        const bundle = await bed.start(key)
        lastMs = bundle.scheduledFireTimeMs
        await bed.complete(bundle)
        await bed.clock.advance(second)
      }
      bed.clock.jump(-4 * second)
      assert.equal(await put(bed, key, { everyMs: second, priority: 6, goesOnFrom }), 'changed')
      bed.clock.jump(4 * second)
      assert.ok(((await bed.stored(key)).nextFireTimeMs ?? 0) > (lastMs ?? Number.NaN), goesOnFrom)
      await bed.store.deleteTriggers([(await bed.stored(key)).key])
    }
  },
  'stays paused, with what is known of the pause': async (bed) => {
    await put(bed, 'p', { everyMs: minute })
    const { key } = await bed.stored('p')
    await bed.store.pauseTrigger(key, { reason: 'broken', by: 'ann', untilMs: null })
    await put(bed, 'p', { everyMs: 2 * minute })
    assert.equal(await bed.state('p'), 'PAUSED')
    const { items } = await bed.store.queryTriggers({ take: 10 })
    assert.equal(items[0]?.pause?.reason, 'broken')
    assert.deepEqual(await bed.acquireNames(), [])
    await bed.store.resumeTrigger(key)
    assert.deepEqual(await bed.acquireNames(), ['p'])
  },
  'goes on where it was resumed by itself in a paused group': async (bed) => {
    await put(bed, 'p', { everyMs: minute })
    await bed.store.pauseAll()
    await bed.store.resumeTrigger((await bed.stored('p')).key)
    await put(bed, 'p', { everyMs: 2 * minute })
    assert.equal(await bed.state('p'), 'NORMAL')
  },
  'stays paused while it is over, until it is resumed': async (bed) => {
    const past = planned(bed, 'p', { inMs: -60 * minute, isPast: true })
    await put(bed, 'p', { everyMs: minute })
    const { key } = await bed.stored('p')
    await bed.store.pauseTrigger(key, { reason: 'broken', by: 'ann', untilMs: null })
    for (const outcome of ['changed', 'unchanged'] as const) {
      const put = await bed.store.putPlanned(past)
      assert.deepEqual([put.outcome, put.nextFireTimeMs], [outcome, null])
    }
    await put(bed, 'p', { everyMs: minute })
    const { items } = await bed.store.queryTriggers({ take: 10 })
    assert.deepEqual([items[0]?.state, items[0]?.pause?.reason], ['PAUSED', 'broken'])
    await bed.store.putPlanned(past)
    await bed.store.resumeTrigger(key)
    assert.equal(await bed.state('p'), 'COMPLETE')
    assert.deepEqual(bed.signals.missed, [])
    await put(bed, 'p', { everyMs: minute })
    assert.deepEqual(await bed.acquireNames(), ['p'])
  },
  'answers no fire time for one that its job ended, until its time is changed': async (bed) => {
    await put(bed, 'p', { everyMs: minute })
    await bed.complete(await bed.start('p'), 'setTriggerComplete')
    const withData = { everyMs: minute, data: { a: 1 } }
    for (const outcome of ['changed', 'unchanged'] as const) {
      const change = await bed.store.putPlanned(planned(bed, 'p', withData))
      assert.deepEqual([change.outcome, change.nextFireTimeMs], [outcome, null])
    }
    const changed = await bed.store.putPlanned(planned(bed, 'p', { ...withData, everyMs: 2 * minute }))
    assert.equal(changed.nextFireTimeMs, bed.now() + 2 * minute)
    assert.equal(await bed.state('p'), 'NORMAL')
  },
  'knows what has fired when its trigger is gone': async (bed) => {
    const firstMs = bed.now()
    const first = planned(bed, 'p', { plan: { instant: 'first' }, goesOnFrom: 'start' })
    await bed.store.putPlanned(first)
    await bed.complete(await bed.start('p'), 'deleteTrigger')
    await bed.clock.advance(second)
    await put(bed, 'p', { inMs: minute, plan: { instant: 'second' }, goesOnFrom: 'start' })
    assert.equal((await bed.store.putPlanned(first)).nextFireTimeMs, null)
    await put(bed, 'p', { everyMs: minute })
    assert.equal((await bed.stored('p')).nextFireTimeMs, firstMs + minute)
  },
  'changes the data that are declared otherwise, and no other': async (bed) => {
    await put(bed, 'p', { everyMs: minute, data: { a: 1, b: 1, c: 1 } })
    await bed.store.addJob(
      {
        ...planned(bed, 'p', { everyMs: minute, data: { a: 1, b: 1, c: 1 } }).job,
        jobDataMap: { a: 5, b: 6, c: 7, d: 8 },
      },
      { replace: true },
    )
    assert.equal(await put(bed, 'p', { everyMs: minute, data: { a: 1, b: 2 } }), 'changed')
    assert.deepEqual(await dataOf(bed, 'p'), { a: 5, b: 2, d: 8 })
  },
  'ends a claim on the trigger before': async (bed) => {
    await put(bed, 'p', { everyMs: minute })
    const claim = await bed.acquireOne('p')
    await put(bed, 'p', { everyMs: 2 * minute })
    assert.equal(await bed.fireKind(claim), 'gone')
    assert.deepEqual(await bed.acquireNames(), ['p'])
  },
  'is blocked by an execution of a job that forbids a second one': async (bed) => {
    const changes = { disallowConcurrentExecution: true }
    await put(bed, 'p', { everyMs: minute, changes })
    const running = await bed.start('p')
    await put(bed, 'p', { everyMs: 2 * minute, changes })
    await bed.clock.advance(5 * minute)
    assert.equal(await bed.state('p'), 'BLOCKED')
    await bed.complete(running)
    assert.equal(await bed.state('p'), 'NORMAL')
  },
  'goes out of the ERROR state': async (bed) => {
    await put(bed, 'p', { everyMs: minute })
    await bed.putInError('p')
    assert.equal(await put(bed, 'p', { everyMs: minute }), 'unchanged')
    assert.equal(await bed.state('p'), 'ERROR')
    await put(bed, 'p', { everyMs: 2 * minute })
    assert.equal(await bed.state('p'), 'NORMAL')
  },
  'takes the place of a job that was stored in another way': async (bed) => {
    await bed.schedule('p', { everyMs: minute, job: jobDetail('p', { jobDataMap: { kept: 1, a: 0 } }) })
    assert.equal(await put(bed, 'p', { everyMs: 2 * minute, data: { a: 1 } }), 'changed')
    assert.deepEqual(await dataOf(bed, 'p'), { kept: 1, a: 1 })
    assert.equal((await bed.store.getJob(jobDetail('p').key))?.durable, true)
  },
})

const owned = area('plans: sets and their generations', {
  'leave alone what a later generation declared': async (bed) => {
    await put(bed, 'p', { everyMs: minute, plan: { set: 's', generation: 2 } })
    assert.equal(await put(bed, 'p', { everyMs: 5 * minute, plan: { set: 's', generation: 1 } }), 'newer')
    assert.equal(await nextInMs(bed, 'p'), 0)
    assert.equal(await put(bed, 'p', { everyMs: minute, plan: { set: 's', generation: 3 } }), 'unchanged')
    assert.equal(await put(bed, 'p', { everyMs: 5 * minute, plan: { set: 's', generation: 2 } }), 'newer')
  },
  'refuse a job of another set, and a trigger of another job': async (bed) => {
    await put(bed, 'p', { everyMs: minute, plan: { set: 's' } })
    await refuses(put(bed, 'p', { everyMs: minute, plan: { set: 't' } }), 'ERR_OBJECT_ALREADY_EXISTS')
    await refuses(put(bed, 'p', { everyMs: minute }), 'ERR_OBJECT_ALREADY_EXISTS')
    await bed.schedule('q')
    await refuses(put(bed, 'q', { everyMs: minute }), 'ERR_OBJECT_ALREADY_EXISTS')
  },
  'delete what they declared up to a generation, and nothing else': async (bed) => {
    const now = { set: 's', generation: 2 }
    await put(bed, 'former', { everyMs: minute, plan: { ...now, generation: 1 } })
    await put(bed, 'same', { everyMs: minute, plan: now })
    await put(bed, 'later', { everyMs: minute, plan: { ...now, generation: 3 } })
    await put(bed, 'other', { everyMs: minute, plan: { ...now, set: 't' } })
    await put(bed, 'alone', { everyMs: minute })
    await bed.schedule('plain', { job: jobDetail('plain') })
    const names = ['former', 'same', 'later', 'other', 'alone', 'plain', 'missing']
    const keys = names.map((name) => jobDetail(name).key)
    const deleted = await bed.store.deletePlanned(keys, now)
    assert.deepEqual(deleted.map(({ name }) => name).sort(), ['former', 'same'])
    const left = await bed.store.getJobs(keys)
    assert.deepEqual(left.map(({ key: { name } }) => name).sort(), ['alone', 'later', 'other', 'plain'])
    assert.deepEqual(await bed.states('former', 'same', 'later'), ['NONE', 'NONE', 'NORMAL'])
    assert.deepEqual(await bed.store.deletePlanned(keys, now), [])
    assert.deepEqual(await bed.store.deletePlanned([], now), [])
  },
  'store and delete nothing of a generation when by the note of the set a later one is in force': async (
    bed,
  ) => {
    const inForce = (generation: number, version: number | null): Promise<boolean> =>
      notesOf(bed).put('schedules', 's', scheduleSetText({ generation }), version)
    const of = (generation: number): PlanSpec => ({ everyMs: minute, plan: { set: 's', generation } })
    const keys = [jobDetail('p').key]
    await inForce(1, null)
    assert.equal(await put(bed, 'p', of(1)), 'added')
    await inForce(2, 1)
    assert.equal(await put(bed, 'new', of(1)), 'newer')
    assert.equal(await put(bed, 'p', { ...of(1), everyMs: 5 * minute }), 'newer')
    await bed.schedule('q', { job: jobDetail('q', { durable: true }) })
    assert.equal(await put(bed, 'q', of(1)), 'newer')
    assert.deepEqual(await bed.states('new', 'p', 'q'), ['NONE', 'NORMAL', 'NORMAL'])
    assert.equal((await bed.store.getJob(jobDetail('q').key))?.plan, null)
    assert.deepEqual(await bed.store.deletePlanned(keys, { set: 's', generation: 1 }), [])
    assert.deepEqual(await bed.store.deletePlanned(keys, { set: 's', generation: 2 }), keys)
    assert.equal(await put(bed, 'of another set', { ...of(1), plan: { set: 't', generation: 1 } }), 'added')
    await notesOf(bed).put('schedules', 's', 'written by hand', 2)
    assert.equal(await put(bed, 'new', of(1)), 'added')
  },
  'leave nothing behind of a generation that was being stored when a later one came into force': async (
    bed,
  ) => {
    const names = Array.from({ length: 20 }, (_, index) => `p${index}`)
    const keys = names.map((name) => jobDetail(name).key)
    await notesOf(bed).put('schedules', 's', scheduleSetText({ generation: 1 }), null)
    const stored = names.map((name) => put(bed, name, { everyMs: minute, plan: { set: 's', generation: 1 } }))
    await notesOf(bed).put('schedules', 's', scheduleSetText({ generation: 2 }), 1)
    const deleted = await bed.store.deletePlanned(keys, { set: 's', generation: 2 })
    const added = (await Promise.all(stored)).filter((outcome) => outcome === 'added')
    assert.equal(added.length, deleted.length)
    assert.deepEqual(await bed.store.getJobs(keys), [])
  },
  'have no trigger for an instant that has passed': async (bed) => {
    await put(bed, 'p', { inMs: minute })
    assert.equal(await put(bed, 'p', { inMs: -60 * minute, isPast: true }), 'changed')
    assert.equal(await put(bed, 'q', { inMs: -60 * minute, isPast: true }), 'added')
    assert.deepEqual(await bed.states('p', 'q'), ['NONE', 'NONE'])
  },
  'are stored once by many that declare at the same time': async (bed) => {
    const spec = { everyMs: minute, data: { a: 1 } }
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => put(bed, 'p', spec)))
    assert.deepEqual(outcomes.sort(), ['added', ...Array.from({ length: 4 }, () => 'unchanged')])
  },
})

export const planCases: readonly StoreCase[] = [...same, ...changed, ...owned]
