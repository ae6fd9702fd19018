import assert from 'node:assert/strict'
import { area, type StoreCase } from './store-case.ts'
import { jobDetail, misfireThresholdMs, namesOf, only, type Testbed } from './testbed.ts'

const needs = { firesAtOnce: true }

/** A case whose triggers are fired in the step that finds them. */
export function startedAtOnce({ area: name, body, ...rest }: StoreCase): StoreCase {
  return {
    ...rest,
    area: `${name}, at once`,
    needs: { ...rest.needs, ...needs },
    body: (bed, tools) => {
      bed.startsAtOnce = true
      return body(bed, tools)
    },
  }
}

const beside = async (bed: Testbed, name: string): Promise<void> => {
  await bed.schedule(name, { everyMs: 1000, times: 3, priority: 7, data: { n: 1 } })
}

export const fireAtOnceCases: readonly StoreCase[] = area(
  'acquire and fire',
  {
    'hands out what an acquisition and a firing hand out': async (bed, { createRaw }) => {
      await beside(bed, 't')
      const other = await createRaw()
      await other.store.initialize(other.context)
      await beside(other, 't')
      await bed.clock.advance(7)
      const atOnce = only((await bed.acquireAndFire()).fired)
      const inTwoSteps = await other.start('t')
      assert.deepEqual({ ...atOnce, fireInstanceId: '' }, { ...inTwoSteps, fireInstanceId: '' })
      assert.deepEqual(await bed.stored('t'), await other.stored('t'))
    },
    'fires what is due, in order, and claims nothing beside it': async (bed) => {
      await bed.schedule('late', { inMs: 2 })
      await bed.schedule('ahead', { inMs: 5000 })
      await bed.schedule('early', { inMs: 1 })
      await bed.clock.advance(10)
      const { fired, acquired } = await bed.acquireAndFire({ noLaterThanMs: bed.now() + 30_000 })
      assert.deepEqual(namesOf(fired), ['early', 'late'])
      assert.deepEqual(acquired, [])
      assert.equal(new Set(fired.map(({ fireInstanceId }) => fireInstanceId)).size, 2)
    },
    'claims what the time window takes in beside what it fires': async (bed) => {
      await bed.schedule('now')
      await bed.schedule('soon', { inMs: 100 })
      await bed.schedule('ahead', { inMs: 5000 })
      const { fired, acquired } = await bed.acquireAndFire({ timeWindowMs: 100 })
      assert.deepEqual([namesOf(fired), namesOf(acquired)], [['now'], ['soon']])
      await bed.clock.advance(100)
      assert.equal(await bed.fireKind(only(acquired)), 'fired')
    },
    'claims the next trigger when none is due': async (bed) => {
      await bed.schedule('ahead', { inMs: 5000 })
      await bed.schedule('further', { inMs: 6000 })
      const { fired, acquired } = await bed.acquireAndFire({ noLaterThanMs: bed.now() + 30_000 })
      assert.deepEqual([fired, namesOf(acquired)], [[], ['ahead']])
    },
    'takes no more than it is asked for, both kinds together': async (bed) => {
      for (const name of ['a', 'b', 'c']) await bed.schedule(name)
      await bed.schedule('soon', { inMs: 100 })
      const first = await bed.acquireAndFire({ maxCount: 2, timeWindowMs: 1000 })
      assert.deepEqual([namesOf(first.fired), namesOf(first.acquired)], [['a', 'b'], []])
      const second = await bed.acquireAndFire({ maxCount: 2, timeWindowMs: 1000 })
      assert.deepEqual([namesOf(second.fired), namesOf(second.acquired)], [['c'], ['soon']])
    },
    'fires beyond what it is asked for nothing but what needs no thread, or not even that': async (bed) => {
      const job = jobDetail('sent', { jobType: 'sent' })
      for (const name of ['a', 'b', 'c']) await bed.schedule(name)
      for (const name of ['d', 'e', 'f', 'g']) await bed.schedule(name, { job })
      const roomOf = (jobType: string): number => (jobType === 'sent' ? 3 : 0)
      const asked = { maxCount: 2, timeWindowMs: 0 }
      const batch = await bed.acquireAndFire({ ...asked, beside: { maxCount: 2, roomOf } })
      const names = namesOf(batch.fired)
      assert.deepEqual(names.slice(0, 2), ['a', 'b'])
      assert.ok(['', 'd', 'd,e'].includes(names.slice(2).join()), `fired ${names.join()}`)
      assert.deepEqual(batch.acquired, [])
      const rest: string[] = []
      for (;;) {
        const { fired } = await bed.acquireAndFire(asked)
        if (fired.length === 0) break
        rest.push(...namesOf(fired))
      }
      assert.deepEqual([...names, ...rest].toSorted(), ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    },
    'takes one trigger of a job that forbids concurrent execution, until that has ended': async (bed) => {
      const job = jobDetail('strict', { durable: true, disallowConcurrentExecution: true })
      await bed.scheduleAll([bed.trigger('a', { job, everyMs: 1000 }), bed.trigger('b', { job })], job)
      bed.startsAtOnce = true
      const first = await bed.start('a')
      assert.deepEqual(await bed.states('a', 'b'), ['BLOCKED', 'BLOCKED'])
      assert.deepEqual(await bed.acquireAndFire(), { fired: [], acquired: [] })
      await bed.complete(first)
      await bed.start('b')
    },
    'leaves alone what is paused': async (bed) => {
      await bed.schedule('t')
      await bed.store.pauseAll()
      assert.deepEqual(await bed.acquireAndFire(), { fired: [], acquired: [] })
    },
    'leaves alone job types that are not known here': async (bed) => {
      await bed.schedule('strange', { job: jobDetail('strange', { jobType: 'unknown' }) })
      await bed.schedule('t')
      bed.unknownJobTypes.add('unknown')
      assert.deepEqual(namesOf((await bed.acquireAndFire()).fired), ['t'])
      assert.equal(await bed.state('strange'), 'NORMAL')
    },
    'puts what is late through its misfire policy first': async (bed) => {
      await bed.schedule('t', { everyMs: 1000, misfire: 'rescheduleNextWithRemainingCount' })
      await bed.clock.advance(misfireThresholdMs + 500)
      assert.deepEqual(await bed.acquireAndFire(), { fired: [], acquired: [] })
      assert.equal(bed.signals.misfired.length, 1)
      await bed.clock.advance(500)
      assert.deepEqual(namesOf((await bed.acquireAndFire()).fired), ['t'])
    },
    'has an execution that can be completed, and of which the trigger then goes': async (bed) => {
      const job = jobDetail('passing')
      await bed.schedule('t', { job })
      await bed.complete(only((await bed.acquireAndFire()).fired), 'deleteTrigger')
      assert.equal(await bed.state('t'), 'NONE')
      assert.equal(await bed.store.getJob(job.key), null)
      assert.deepEqual(bed.signals.deletedJobs, [job.key.toString()])
    },
    'makes no claim that could be released': async (bed) => {
      await bed.schedule('t', { everyMs: 60_000 })
      const bundle = only((await bed.acquireAndFire()).fired)
      await bed.store.releaseAllAcquiredTriggers()
      await bed.complete(bundle)
      assert.deepEqual((await bed.acquireAndFire()).fired, [])
    },
  },
  needs,
)
