import assert from 'node:assert/strict'
import { TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import { DailyTimeIntervalScheduleBuilder } from '../../triggers/families/daily/daily-time-interval-trigger.ts'
import { TriggerBuilder } from '../../triggers/families/trigger-builder.ts'
import { area, type StoreCase } from './store-case.ts'
import { jobDetail, misfireThresholdMs, namesOf, only, type Testbed, textsOf } from './testbed.ts'

const late = misfireThresholdMs + 5000

/** Claims until nothing is left, a few at a time. */
async function drain(bed: Testbed): Promise<string[]> {
  const names: string[] = []
  for (;;) {
    const claims = await bed.acquire({ maxCount: 3 })
    if (claims.length === 0) return names
    names.push(...namesOf(claims))
  }
}

/** Triggers that their instruction moves to a later time when they are late. */
function scheduleMissed(bed: Testbed, count: number): Promise<void> {
  return bed.scheduleAll(
    Array.from({ length: count }, (_, index) =>
      bed.trigger(`m${String(index)}`, { everyMs: 3_600_000, misfire: 'rescheduleNextWithExistingCount' }),
    ),
  )
}

const acquiring = area('misfire: acquire', {
  'fires a trigger late without further ado within the threshold': async (bed) => {
    await bed.schedule('t')
    const dueMs = bed.now()
    await bed.clock.advance(misfireThresholdMs - 1)
    const bundle = await bed.start('t')
    assert.equal(bundle.scheduledFireTimeMs, dueMs)
    assert.deepEqual(bed.signals.misfired, [])
  },
  'begins exactly at the threshold': async (bed) => {
    const trigger = await bed.schedule('t')
    await bed.clock.advance(misfireThresholdMs)
    await bed.acquireOne('t')
    assert.deepEqual(bed.signals.misfired, [trigger])
  },
  'moves a one-shot trigger to now and keeps the planned time': async (bed) => {
    const trigger = await bed.schedule('t')
    const dueMs = bed.now()
    await bed.clock.advance(late)
    const claim = await bed.acquireOne('t')
    assert.equal(claim.trigger.nextFireTimeMs, bed.now())
    assert.deepEqual(bed.signals.misfired, [trigger], 'told with the trigger as it was')
    const bundle = await bed.fire(claim)
    assert.equal(bundle.fireTimeMs, bed.now())
    assert.equal(bundle.scheduledFireTimeMs, dueMs)
  },
  'shows no planned time of a trigger that is ended before it fires late': async (bed) => {
    await bed.schedule('t')
    await bed.schedule('ends', { inMs: late })
    await bed.clock.advance(late)
    const [ends, t] = await bed.acquire()
    assert.deepEqual([ends?.trigger.key.name, t?.trigger.key.name], ['ends', 't'])
    assert.ok(ends !== undefined && t !== undefined && t.trigger.misfiredFireTimeMs !== null)
    await bed.store.releaseAcquiredTriggers([t])
    await bed.complete(await bed.fire(ends), 'setAllJobTriggersComplete')
    const { nextFireTimeMs, misfiredFireTimeMs } = await bed.stored('t')
    assert.deepEqual([await bed.state('t'), nextFireTimeMs, misfiredFireTimeMs], ['COMPLETE', null, null])
  },
  'signals each misfire once': async (bed) => {
    await bed.schedule('t')
    await bed.clock.advance(late)
    const claims = await bed.acquire()
    await bed.store.releaseAcquiredTriggers(claims)
    await bed.acquireOne('t')
    assert.equal(bed.signals.misfired.length, 1)
  },
  'moves a trigger to its next time when the instruction says so': async (bed) => {
    const dueMs = bed.now()
    await bed.schedule('t', { everyMs: 50_000, misfire: 'rescheduleNextWithExistingCount' })
    await bed.clock.advance(late)
    assert.deepEqual(await bed.acquireNames(), [])
    assert.equal((await bed.stored('t')).nextFireTimeMs, dueMs + 100_000)
    assert.equal(bed.signals.misfired.length, 1)
    assert.deepEqual(bed.signals.finalized, [])
  },
  'fires every missed time one after the other with the instruction to ignore misfires': async (bed) => {
    const dueMs = bed.now()
    await bed.schedule('t', { everyMs: 40_000, misfire: 'ignore' })
    await bed.clock.advance(100_000)
    for (const plannedMs of [dueMs, dueMs + 40_000, dueMs + 80_000]) {
      const bundle = await bed.start('t')
      assert.equal(bundle.scheduledFireTimeMs, plannedMs)
      await bed.complete(bundle)
    }
    assert.deepEqual(await bed.acquireNames(), [])
    assert.deepEqual(bed.signals.misfired, [])
  },
  'completes a trigger that has no time left, and says so': async (bed) => {
    const trigger = await bed.schedule('t', { misfire: 'rescheduleNextWithExistingCount' })
    await bed.clock.advance(late)
    assert.deepEqual(await bed.acquireNames(), [])
    assert.equal(await bed.state('t'), 'COMPLETE')
    assert.deepEqual(bed.signals.misfired, [trigger])
    assert.deepEqual(
      bed.signals.finalized.map(({ key, nextFireTimeMs }) => [key.name, nextFireTimeMs]),
      [['t', null]],
    )
  },
  'completes a trigger whose end has passed instead of firing it now': async (bed) => {
    const once = await bed.schedule('once', { endsInMs: late - 1000 })
    const thrice = await bed.schedule('thrice', { everyMs: 1000, times: 3, endsInMs: late - 1000 })
    const inTime = await bed.schedule('in time', { endsInMs: late + 1 })
    const daily = TriggerBuilder.newTrigger({ clock: bed.clock })
      .withIdentity('daily')
      .forJob(bed.job)
      .endAt(new Date(bed.now() + late - 1000))
      .withSchedule(DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule().inTimeZone('UTC'))
      .build()
      .computeFirstFireTime(null)
    await bed.scheduleAll([daily])
    await bed.clock.advance(late)
    assert.deepEqual(await bed.acquireNames(), ['in time'])
    assert.deepEqual(await bed.states('once', 'thrice', 'daily'), ['COMPLETE', 'COMPLETE', 'COMPLETE'])
    assert.deepEqual(
      textsOf(bed.signals.misfired.map(({ key }) => key)),
      textsOf([once, thrice, inTime, daily].map(({ key }) => key)),
    )
    assert.deepEqual(
      textsOf(bed.signals.finalized.map(({ key }) => key)),
      textsOf([once, thrice, daily].map(({ key }) => key)),
    )
  },
  'keeps a job whose last trigger a misfire completed': async (bed) => {
    const job = jobDetail('non-durable')
    await bed.schedule('t', { job, misfire: 'rescheduleNextWithExistingCount' })
    await bed.clock.advance(late)
    await bed.acquire()
    assert.notEqual(await bed.store.getJob(job.key), null)
  },
  'gives a moved trigger its place behind triggers that were due before now': async (bed) => {
    await bed.schedule('late')
    await bed.schedule('recent', { inMs: late - 1000 })
    await bed.clock.advance(late)
    assert.deepEqual(await bed.acquireNames(), ['recent', 'late'])
  },
  'finds the trigger that is on time behind very many that are late': async (bed) => {
    await scheduleMissed(bed, 1200)
    await bed.schedule('on time', { inMs: late })
    await bed.clock.advance(late)
    assert.deepEqual(await drain(bed), ['on time'])
    assert.equal(bed.signals.misfired.length, 1200)
  },
  'gives what is on time before it has moved very many that are late': async (bed) => {
    await scheduleMissed(bed, 1200)
    await bed.schedule('on time', { inMs: late })
    await bed.clock.advance(late)
    assert.deepEqual(await bed.acquireNames({ maxCount: 1 }), ['on time'])
    assert.ok(bed.signals.misfired.length < 1200, 'an answer does not wait until all are moved')
    assert.deepEqual(await drain(bed), [])
    assert.equal(bed.signals.misfired.length, 1200)
  },
  'stops moving late triggers when its answer is not wanted any more': async (bed) => {
    await scheduleMissed(bed, 1200)
    await bed.clock.advance(late)
    assert.deepEqual(await bed.acquireNames({ isStillWanted: () => false }), [])
    assert.ok(bed.signals.misfired.length < 1200, 'it ends after a batch')
    assert.deepEqual(await drain(bed), [])
    assert.equal(bed.signals.misfired.length, 1200)
  },
  'moves late triggers in the end also while it is kept busy': async (bed) => {
    await bed.schedule('t', { everyMs: 3_600_000 })
    await bed.clock.advance(late)
    for (let second = 0; second < 3; second++) {
      await bed.schedule(`on time ${String(second)}`)
      assert.deepEqual(await bed.acquireNames({ maxCount: 1 }), [`on time ${String(second)}`])
      await bed.clock.advance(1000)
    }
    assert.equal(bed.signals.misfired.length, 1)
  },
  'claims all of very many late triggers, each once': async (bed) => {
    const names = Array.from({ length: 700 }, (_, index) => `m${String(index)}`)
    await bed.scheduleAll(names.map((name) => bed.trigger(name)))
    await bed.clock.advance(late)
    assert.deepEqual((await drain(bed)).sort(), names.sort())
    assert.equal(bed.signals.misfired.length, 700)
  },
  'leaves triggers alone that are paused': async (bed) => {
    const trigger = await bed.schedule('t')
    await bed.store.pauseTrigger(trigger.key)
    await bed.clock.advance(late)
    assert.deepEqual(await bed.acquireNames(), [])
    assert.deepEqual(bed.signals.misfired, [])
    assert.deepEqual(await bed.stored('t'), trigger)
  },
  'comes to a trigger that its running job kept waiting when that run has ended': async (bed) => {
    const job = jobDetail('j', { disallowConcurrentExecution: true })
    await bed.schedule('a', { job, everyMs: 3_600_000 })
    await bed.schedule('b', { job, inMs: 1000 })
    const bundle = await bed.start('a')
    await bed.clock.advance(1000 + late)
    assert.deepEqual(await bed.acquireNames(), [])
    await bed.complete(bundle)
    const claim = await bed.acquireOne('b')
    assert.equal(claim.trigger.nextFireTimeMs, bed.now())
    assert.deepEqual(namesOf(bed.signals.misfired.map((trigger) => ({ trigger, fireInstanceId: '' }))), ['b'])
  },
  'does not touch a trigger that is claimed already': async (bed) => {
    await bed.schedule('t')
    const dueMs = bed.now()
    const claim = await bed.acquireOne('t')
    await bed.clock.advance(late)
    assert.deepEqual(await bed.acquireNames(), [])
    assert.equal((await bed.fire(claim)).scheduledFireTimeMs, dueMs)
    assert.deepEqual(bed.signals.misfired, [])
  },
})

const resuming = area('misfire: resume', {
  'moves a resumed trigger that is late': async (bed) => {
    const trigger = await bed.schedule('t')
    await bed.store.pauseTrigger(trigger.key)
    await bed.clock.advance(late)
    await bed.store.resumeTrigger(trigger.key)
    assert.equal((await bed.stored('t')).nextFireTimeMs, bed.now())
    assert.deepEqual(bed.signals.misfired, [trigger])
    assert.deepEqual(await bed.acquireNames(), ['t'])
    assert.equal(bed.signals.misfired.length, 1)
  },
  'leaves a resumed trigger alone that is late by less than the threshold': async (bed) => {
    const trigger = await bed.schedule('t')
    await bed.store.pauseTrigger(trigger.key)
    await bed.clock.advance(misfireThresholdMs - 1)
    await bed.store.resumeTrigger(trigger.key)
    assert.deepEqual(await bed.stored('t'), trigger)
    assert.deepEqual(bed.signals.misfired, [])
  },
  'completes a resumed trigger that has no time left': async (bed) => {
    const trigger = await bed.schedule('t', { misfire: 'rescheduleNextWithExistingCount' })
    await bed.store.pauseTrigger(trigger.key)
    await bed.clock.advance(late)
    await bed.store.resumeTrigger(trigger.key)
    assert.equal(await bed.state('t'), 'COMPLETE')
    assert.equal(only(bed.signals.finalized).key.name, 't')
  },
  'reaches the triggers of resumed jobs, groups and everything': async (bed) => {
    const all = GroupMatcher.anyGroup()
    const resumes = [
      () => bed.store.resumeJob(bed.job.key),
      () => bed.store.resumeTriggers(all),
      () => bed.store.resumeJobs(all),
      () => bed.store.resumeAll(),
    ]
    for (const [index, resume] of resumes.entries()) {
      const { key } = await bed.schedule('t', {
        everyMs: 3_600_000,
        misfire: 'rescheduleNextWithExistingCount',
      })
      await bed.store.pauseTrigger(key)
      await bed.clock.advance(late)
      await resume()
      assert.equal(bed.signals.misfired.length, index + 1)
      await bed.store.deleteTriggers([key])
    }
  },
  'reaches a trigger that is resumed while its job blocks it': async (bed) => {
    const job = jobDetail('j', { disallowConcurrentExecution: true })
    await bed.schedule('a', { job, everyMs: 3_600_000 })
    await bed.schedule('b', { job, inMs: 1 })
    const bundle = await bed.start('a')
    await bed.store.pauseTrigger(new TriggerKey('b'))
    await bed.clock.advance(late)
    await bed.store.resumeTrigger(new TriggerKey('b'))
    assert.equal(await bed.state('b'), 'BLOCKED')
    await bed.complete(bundle)
    assert.equal(await bed.state('b'), 'NORMAL')
    assert.equal(bed.signals.misfired.length, 1)
  },
})

export const misfireCases: readonly StoreCase[] = [...acquiring, ...resuming]
