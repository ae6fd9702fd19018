import assert from 'node:assert/strict'
import { GroupMatcher } from '../../core/matcher.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { FireSlot } from '../../jobstore/fire-slot.ts'
import type { TriggerFiredBundle } from '../../jobstore/fired-bundle.ts'
import type { EpochMs } from '../../time/clock.ts'
import { WeeklyCalendar } from '../../triggers/calendars/weekly-calendar.ts'
import { SimpleScheduleBuilder } from '../../triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../triggers/families/trigger-builder.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { area, type StoreCase } from './store-case.ts'
import { jobDetail, misfireThresholdMs, namesOf, only, refuses, type Testbed } from './testbed.ts'

/** The threads of a scheduler that has nothing else to do. */
class Threads {
  readonly #slots = new Set<FireSlot>()
  readonly #size: number

  constructor(size = 1) {
    this.#size = size
  }

  /** How many are kept. */
  get kept(): number {
    return this.#slots.size
  }

  slot(dueByMs: EpochMs): FireSlot {
    const slots = this.#slots
    const slot: FireSlot = {
      dueByMs,
      reserve: () => slots.has(slot) || (slots.size < this.#size && slots.add(slot).size > 0),
      release: () => {
        slots.delete(slot)
      },
    }
    return slot
  }
}

const passing = (name = 'passing', changes: Partial<JobDetail> = {}): JobDetail => jobDetail(name, changes)

/** A simple trigger that fires once, whatever family the store is tested with. */
function once(bed: Testbed, name: string, { job = bed.job, inMs = 0, times = 1 }: Once = {}): Trigger {
  const schedule = SimpleScheduleBuilder.of({
    repeatIntervalMs: 1000,
    repeatCount: times - 1,
    misfireInstruction: 'smart',
  })
  return TriggerBuilder.newTrigger({ clock: bed.clock })
    .withIdentity(name)
    .forJob(job)
    .startAt(new Date(bed.now() + inMs))
    .usingJobData({ n: 1, list: ['a', null, { b: 0.5 }] })
    .withDescription('once')
    .withPriority(7)
    .withSchedule(schedule)
    .build()
    .computeFirstFireTime(null)
}
interface Once {
  readonly job?: JobDetail
  readonly inMs?: number
  readonly times?: number
}

interface FireOptions {
  readonly job?: JobDetail | null
  readonly threads?: Threads
  readonly dueByMs?: EpochMs
}

async function fire(
  bed: Testbed,
  trigger: Trigger,
  { job = null, threads = new Threads(), dueByMs = bed.now() }: FireOptions = {},
): Promise<TriggerFiredBundle | null> {
  const fired = await bed.store.scheduleAndFire?.({ job, triggers: [trigger] }, threads.slot(dueByMs))
  assert.ok(fired !== undefined, 'a store that fires on schedule has scheduleAndFire')
  return fired
}

/** The trigger is stored only, and the loop finds it. */
async function isLeft(bed: Testbed, trigger: Trigger, job: JobDetail | null = null): Promise<void> {
  const threads = new Threads()
  assert.equal(await fire(bed, trigger, { job, threads }), null)
  assert.equal(threads.kept, 0)
  assert.deepEqual((await bed.store.getTrigger(trigger.key))?.nextFireTimeMs, trigger.nextFireTimeMs)
}

export const fireOnScheduleCases: readonly StoreCase[] = area(
  'schedule and fire',
  {
    'hands out what storing, an acquisition and a firing hand out': async (bed, { createRaw }) => {
      const job = passing('j', {
        description: 'of once',
        jobDataMap: { deep: { text: 'ü', list: [1, true] } },
        requestsRecovery: true,
        timeoutMs: 5000,
      })
      const trigger = once(bed, 't', { job })
      const other = await createRaw()
      await other.store.initialize(other.context)
      await other.store.scheduleJobs([{ job, triggers: [trigger] }], { replace: false })
      const atOnce = await fire(bed, trigger, { job })
      const inSteps = await other.start('t')
      assert.deepEqual({ ...atOnce, fireInstanceId: '' }, { ...inSteps, fireInstanceId: '' })
      assert.deepEqual(await bed.stored('t'), await other.stored('t'))
      assert.equal(await bed.state('t'), await other.state('t'))
      assert.deepEqual(await bed.store.getJob(job.key), await other.store.getJob(job.key))
    },
    'fires the trigger of a job that exists, with the job as it is stored': async (bed) => {
      const stored = jobDetail('job', { durable: true, jobDataMap: { stored: 'here' } })
      await bed.store.addJob(stored, { replace: false })
      const fired = await fire(bed, once(bed, 't'))
      assert.deepEqual(fired?.jobDetail, stored)
      assert.equal(fired.trigger.key.name, 't')
    },
    'leaves the loop nothing to claim, release or fire, and one execution to complete': async (bed) => {
      const job = passing()
      const fired = await fire(bed, once(bed, 't', { job }), { job })
      assert.ok(fired !== null)
      assert.deepEqual(await bed.acquire({ noLaterThanMs: bed.now() + 60_000 }), [])
      await bed.store.releaseAllAcquiredTriggers()
      assert.deepEqual(await bed.acquire(), [])
      await bed.complete(fired, 'deleteTrigger')
      assert.equal(await bed.state('t'), 'NONE')
      assert.equal(await bed.store.getJob(job.key), null)
      assert.deepEqual(bed.signals.deletedJobs, [job.key.toString()])
    },
    'keeps the thread of what it fires, and signals the loop only for what it leaves': async (bed) => {
      const job = passing()
      const threads = new Threads()
      assert.ok((await fire(bed, once(bed, 'a', { job }), { job, threads })) !== null)
      assert.equal(threads.kept, 1)
      assert.deepEqual(bed.signals.candidates, [])
      assert.equal(await fire(bed, once(bed, 'b', { job }), { threads }), null)
      assert.equal(threads.kept, 1)
      assert.deepEqual(bed.signals.candidates, [bed.now()])
      assert.deepEqual(namesOf(await bed.acquire()), ['b'])
    },
    'fires as many of the calls that come together as there are threads': async (bed) => {
      const threads = new Threads(2)
      const calls = ['a', 'b', 'c', 'd'].map((name) => {
        const job = passing(`job-${name}`)
        return fire(bed, once(bed, name, { job }), { job, threads })
      })
      const fired = (await Promise.all(calls)).filter((bundle) => bundle !== null)
      assert.equal(new Set(fired.map(({ fireInstanceId }) => fireInstanceId)).size, 2)
      assert.equal(threads.kept, 2)
      assert.equal((await bed.acquire()).length, 2)
    },
    'refuses what exists, and keeps no thread for it': async (bed) => {
      const job = passing()
      await bed.schedule('t', { job, inMs: 5000 })
      const threads = new Threads()
      await refuses(fire(bed, once(bed, 't', { job }), { threads }), 'ERR_OBJECT_ALREADY_EXISTS')
      await refuses(fire(bed, once(bed, 'u', { job }), { job, threads }), 'ERR_OBJECT_ALREADY_EXISTS')
      const lost = passing('lost')
      await refuses(fire(bed, once(bed, 'u', { job: lost }), { threads }), 'ERR_JOB_NOT_FOUND')
      assert.equal(threads.kept, 0)
      assert.deepEqual(await bed.states('t', 'u'), ['NORMAL', 'NONE'])
      assert.deepEqual(await bed.acquire(), [])
    },
    'leaves what is not due': async (bed) => {
      await bed.store.addJob(bed.job, { replace: false })
      await isLeft(bed, once(bed, 't', { inMs: 1 }))
      await bed.clock.advance(1)
      assert.deepEqual(namesOf(await bed.acquire()), ['t'])
    },
    'fires what is due by the clock of who asks': async (bed) => {
      await bed.store.addJob(bed.job, { replace: false })
      const dueMs = bed.now() + 2
      const fired = await fire(bed, once(bed, 't', { inMs: 2 }), { dueByMs: dueMs })
      assert.equal(fired?.scheduledFireTimeMs, dueMs)
      assert.equal(fired.fireTimeMs, dueMs)
      assert.equal(await fire(bed, once(bed, 'later', { inMs: 3 }), { dueByMs: dueMs }), null)
    },
    'leaves what is late to its misfire policy': async (bed) => {
      await bed.store.addJob(bed.job, { replace: false })
      await isLeft(bed, once(bed, 't', { inMs: -misfireThresholdMs }))
      assert.deepEqual(namesOf(await bed.acquire()), ['t'])
      assert.equal(bed.signals.misfired.length, 1)
    },
    'leaves a trigger whose group is paused': async (bed) => {
      await bed.store.addJob(bed.job, { replace: false })
      await bed.store.pauseTriggers(GroupMatcher.groupEquals('DEFAULT'))
      await isLeft(bed, once(bed, 't'))
      assert.equal(await bed.state('t'), 'PAUSED')
      assert.deepEqual(await bed.acquire(), [])
    },
    'leaves a trigger whose job group is paused': async (bed) => {
      await bed.store.addJob(bed.job, { replace: false })
      await bed.store.pauseJobs(GroupMatcher.groupEquals('DEFAULT'))
      await isLeft(bed, once(bed, 't'))
      assert.equal(await bed.state('t'), 'PAUSED')
    },
    'leaves the first trigger of a group while all are paused': async (bed) => {
      await bed.store.pauseAll()
      await isLeft(bed, once(bed, 't', { job: passing() }), passing())
      assert.equal(await bed.state('t'), 'PAUSED')
      await bed.store.resumeAll()
      assert.deepEqual(namesOf(await bed.acquire()), ['t'])
    },
    'leaves a trigger of a job that forbids concurrent execution, blocked while one executes': async (
      bed,
    ) => {
      const job = jobDetail('strict', { durable: true, disallowConcurrentExecution: true })
      await isLeft(bed, once(bed, 'a', { job }), job)
      const first = await bed.start('a')
      await isLeft(bed, once(bed, 'b', { job }))
      assert.equal(await bed.state('b'), 'BLOCKED')
      await bed.complete(first)
      assert.deepEqual(namesOf(await bed.acquire()), ['b'])
    },
    'leaves a trigger of a job that only some nodes run, or none that is known here': async (bed) => {
      const chosen = passing('chosen', { nodeAffinity: { names: ['elsewhere'], required: true } })
      await isLeft(bed, once(bed, 'chosen', { job: chosen }), chosen)
      bed.unknownJobTypes.add('strange')
      const strange = passing('strange', { jobType: 'strange' })
      await isLeft(bed, once(bed, 'strange', { job: strange }), strange)
      assert.equal(await bed.state('strange'), 'NORMAL')
    },
    'leaves a trigger that fires more than once, or by a calendar, to the loop': async (bed) => {
      await bed.store.addJob(bed.job, { replace: false })
      const isFiredOrLeft = async (trigger: Trigger): Promise<void> => {
        if ((await fire(bed, trigger)) !== null) return
        assert.deepEqual(namesOf(await bed.acquire()), [trigger.key.name])
      }
      await isFiredOrLeft(once(bed, 'twice', { times: 2 }))
      await bed.store.addCalendar('all', new WeeklyCalendar(), { replace: false, updateTriggers: false })
      const trigger = bed.trigger('planned', { calendar: 'all', inMs: 0 })
      await isFiredOrLeft(trigger)
      assert.equal((await bed.store.getTriggersOfJob(bed.job.key)).length, 2)
    },
    'is in the cluster what any execution is': async (bed) => {
      const job = passing()
      const fired = await fire(bed, once(bed, 't', { job }), { job })
      const shown = await bed.store.cluster?.executing()
      if (shown !== undefined) assert.equal(only(shown).fireInstanceId, fired?.fireInstanceId)
    },
  },
  { firesOnSchedule: true },
)
