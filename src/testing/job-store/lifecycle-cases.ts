import assert from 'node:assert/strict'
import { JobKey, TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import { HolidayCalendar } from '../../triggers/calendars/holiday-calendar.ts'
import { area, type StoreCase } from './store-case.ts'
import { pausedJobGroups, pausedTriggerGroups, storedCounts } from './stored.ts'
import { jobDetail, refuses } from './testbed.ts'

const any = GroupMatcher.anyGroup()

export const lifecycleCases: readonly StoreCase[] = area('lifecycle', {
  'declares a name and the capabilities that were promised for it': async ({ store }, { capabilities }) => {
    assert.match(store.name, /\S/)
    for (const [name, value] of Object.entries(capabilities)) {
      assert.equal(Reflect.get(store.capabilities, name), value, name)
    }
    assert.equal(store.records !== null, store.capabilities.records ?? false)
    assert.equal(store.acquireAndFire !== undefined, store.capabilities.firesAtOnce ?? false)
    assert.equal(store.scheduleAndFire !== undefined, store.capabilities.firesOnSchedule ?? false)
    assert.equal(store.changeDefinitions !== undefined, store.capabilities.changesDefinitions ?? false)
  },
  'is certain of its firings when it has started': async ({ store }) => {
    await store.schedulerStarted()
    await store.cluster?.confirmFirings?.()
    // A job is asked about again and again for as long as there is something to wait for.
    assert.equal(store.cluster?.confirmFirings?.(), undefined)
  },
  'is empty at first': async ({ store }) => {
    assert.deepEqual(await storedCounts(store), { jobs: 0, triggers: 0, calendars: 0 })
    assert.deepEqual(await store.getJobGroupNames(), [])
    assert.deepEqual(await store.getTriggerGroupNames(), [])
    assert.deepEqual(await pausedTriggerGroups(store), [])
    assert.deepEqual(await pausedJobGroups(store), [])
    assert.deepEqual(await store.getCalendarNames(), [])
    assert.deepEqual(await store.queryJobs({}), { items: [], next: null })
    assert.deepEqual(await store.queryTriggers({}), { items: [], next: null })
    assert.deepEqual(await store.queryExecutions({}), { items: [], next: null })
  },
  'refuses a second scheduler, and goes on for the first': async (bed) => {
    await refuses(bed.store.initialize(bed.context), 'ERR_STORE_IN_USE')
    await bed.schedule('a')
    assert.deepEqual(await bed.acquireNames(), ['a'])
  },
  'answers null, false, NONE or nothing for what it does not know': async ({ store }) => {
    const job = new JobKey('missing')
    const trigger = new TriggerKey('missing')
    assert.equal(await store.getJob(job), null)
    assert.equal(await store.getTrigger(trigger), null)
    assert.equal(await store.getCalendar('none'), null)
    assert.deepEqual(await store.getTriggersOfJob(job), [])
    assert.equal(await store.getTriggerState(trigger), 'NONE')
    assert.equal(await store.resetTriggerFromErrorState(trigger), false)
    assert.equal(await store.pauseTrigger(trigger), false)
    assert.equal(await store.resumeTrigger(trigger), false)
    assert.equal(await store.pauseJob(job), false)
    assert.equal(await store.resumeJob(job), false)
    assert.deepEqual(await store.deleteJobs([job]), [])
    assert.deepEqual(await store.deleteTriggers([trigger]), [])
    assert.equal(await store.deleteCalendar('none'), false)
    assert.deepEqual(await store.getJobKeys(any), [])
    assert.deepEqual(await store.getTriggerKeys(any), [])
  },
  'takes empty lists': async ({ store, signals }) => {
    await store.scheduleJobs([], { replace: false })
    assert.deepEqual(await store.deleteJobs([]), [])
    assert.deepEqual(await store.deleteTriggers([]), [])
    assert.deepEqual(await store.triggersFired([]), [])
    assert.deepEqual(await store.releaseAcquiredTriggers([]), [])
    assert.deepEqual(await store.triggeredJobsComplete([]), { locked: [], passedOver: [] })
    assert.deepEqual(signals.errors, [])
  },
  'counts jobs, triggers and calendars': async (bed) => {
    await bed.scheduleAll([bed.trigger('a'), bed.trigger('b')])
    await bed.store.addJob(jobDetail('other'), { replace: false })
    await bed.store.addCalendar('holidays', new HolidayCalendar({ excludedDates: [] }), {
      replace: false,
      updateTriggers: false,
    })
    assert.deepEqual(await storedCounts(bed.store), { jobs: 2, triggers: 2, calendars: 1 })
  },
  'keeps what it holds when the scheduler starts': async (bed) => {
    const trigger = await bed.schedule('t')
    await bed.store.schedulerStarted()
    assert.deepEqual(await bed.stored('t'), trigger)
    assert.deepEqual(await bed.acquireNames(), ['t'])
  },
  'shuts down twice without complaint': async ({ store }) => {
    await store.shutdown()
    await store.shutdown()
  },
  'shuts down without complaint when it was never initialized': async (_bed, { createRaw }) => {
    const { store } = await createRaw()
    await store.shutdown()
  },
  'waits a while, and not for ever, after failed acquisitions': async ({ store }) => {
    for (const failures of [1, 2, 5, 100, 10_000]) {
      const delayMs = store.acquireRetryDelayMs(failures)
      assert.ok(delayMs > 0 && delayMs <= 600_000, `${delayMs} ms after ${failures} failures`)
    }
  },
  'clears jobs, triggers, calendars and remembered pauses': async (bed) => {
    const { store } = bed
    await bed.schedule('t')
    await store.addCalendar('holidays', new HolidayCalendar({ excludedDates: [] }), {
      replace: false,
      updateTriggers: false,
    })
    await store.pauseAll()
    await store.pauseJobs(GroupMatcher.groupEquals('paused'))
    await store.clear()
    assert.deepEqual(await storedCounts(store), { jobs: 0, triggers: 0, calendars: 0 })
    assert.deepEqual(await pausedTriggerGroups(store), [])
    assert.deepEqual(await pausedJobGroups(store), [])
    assert.deepEqual(await bed.acquireNames(), [])
    await bed.schedule('t')
    assert.equal(await bed.state('t'), 'NORMAL', 'no pause is left over')
  },
  'clears without signals for deleted jobs or finished triggers': async (bed) => {
    await bed.schedule('t', { job: jobDetail('non-durable') })
    await bed.store.clear()
    assert.deepEqual(bed.signals.deletedJobs, [])
    assert.deepEqual(bed.signals.finalized, [])
  },
})
