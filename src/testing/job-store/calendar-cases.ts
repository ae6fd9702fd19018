import assert from 'node:assert/strict'
import { TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { JobStoreCapabilities } from '../../jobstore/job-store-capabilities.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import { HolidayCalendar } from '../../triggers/calendars/holiday-calendar.ts'
import { WeeklyCalendar } from '../../triggers/calendars/weekly-calendar.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { area, type StoreCase } from './store-case.ts'
import { jobDetail, misfireThresholdMs, only, refuses, type Testbed } from './testbed.ts'

const hours = 3_600_000
const day = 24 * hours
const name = 'holidays'

// The clock of a testbed starts with the first of January 2026 in UTC.
function excluding(...excludedDates: readonly string[]): Calendar {
  return new HolidayCalendar({ excludedDates, timeZone: 'UTC' })
}

function put(bed: Testbed, calendar: Calendar, options: { updateTriggers?: boolean } = {}): Promise<void> {
  return bed.store.addCalendar(name, calendar, {
    replace: true,
    updateTriggers: options.updateTriggers ?? false,
  })
}

/** Replaces the calendar by one that excludes the second of January, and moves the triggers that name it. */
function excludeSecondDay(bed: Testbed): Promise<void> {
  return put(bed, excluding('2026-01-02'), { updateTriggers: true })
}

/** A class of the user whose JSON no store can read, so that some refuse it. */
class FailingCalendar implements Calendar {
  readonly type = 'failing'
  readonly description = null
  readonly baseCalendar = null
  fails = false

  isTimeIncluded(): boolean {
    if (this.fails) throw new Error('of no use')
    return true
  }
  nextIncludedTime(timeMs: number): number {
    return timeMs + 1
  }
  toJSON(): { type: string } {
    return { type: this.type }
  }
}

const storing = area('calendars', {
  'come back as they were stored, with their base': async ({ store }) => {
    const base = new WeeklyCalendar({ timeZone: 'Europe/Paris', description: 'no weekends' })
    const calendar = new HolidayCalendar({
      excludedDates: ['2026-12-25'],
      timeZone: 'Europe/Paris',
      description: 'no Christmas',
      baseCalendar: base,
    })
    await store.addCalendar(name, calendar, { replace: false, updateTriggers: false })
    assert.deepEqual((await store.getCalendar(name))?.toJSON(), calendar.toJSON())
    assert.deepEqual(await store.getCalendarNames(), [name])
    assert.equal(await store.getCalendar('other'), null)
  },
  'of a class of the user are refused, or can be read': async (bed) => {
    const calendar = new WeeklyCalendar({ timeZone: 'UTC', baseCalendar: new FailingCalendar() })
    await put(bed, excluding())
    const isStored = await put(bed, calendar).then(
      () => true,
      (error: unknown) => {
        assert.equal((error as { readonly code?: unknown }).code, 'ERR_INVALID_CALENDAR')
        return false
      },
    )
    const expected = isStored ? calendar : excluding()
    assert.deepEqual((await bed.store.getCalendar(name))?.toJSON(), expected.toJSON())
  },
  'are refused under a name that is taken, and replaced when told to': async ({ store }) => {
    const [first, second] = [excluding('2026-01-01'), excluding('2026-01-02')]
    await store.addCalendar(name, first, { replace: false, updateTriggers: false })
    await refuses(
      store.addCalendar(name, second, { replace: false, updateTriggers: true }),
      'ERR_OBJECT_ALREADY_EXISTS',
    )
    assert.deepEqual((await store.getCalendar(name))?.toJSON(), first.toJSON())
    await store.addCalendar(name, second, { replace: true, updateTriggers: false })
    assert.deepEqual((await store.getCalendar(name))?.toJSON(), second.toJSON())
  },
  'are deleted once, and not while a trigger names them': async (bed) => {
    await put(bed, excluding())
    const { key } = await bed.schedule('t', { calendar: name })
    await refuses(bed.store.deleteCalendar(name), 'ERR_CALENDAR_IN_USE')
    assert.notEqual(await bed.store.getCalendar(name), null)
    await bed.store.deleteTriggers([key])
    assert.equal(await bed.store.deleteCalendar(name), true)
    assert.equal(await bed.store.deleteCalendar(name), false)
  },
  'are free again when a trigger is rescheduled without them or its job is deleted': async (bed) => {
    await put(bed, excluding())
    const { key } = await bed.schedule('a', { calendar: name })
    await bed.schedule('b', { calendar: name, job: jobDetail('other') })
    await bed.store.rescheduleTrigger(key, bed.trigger('a'))
    await refuses(bed.store.deleteCalendar(name), 'ERR_CALENDAR_IN_USE')
    await bed.store.deleteJobs([jobDetail('other').key])
    assert.equal(await bed.store.deleteCalendar(name), true)
  },
})

const firing = area('calendars: firing', {
  'are handed out with the firing, and skipped over for the next one': async (bed) => {
    const calendar = excluding('2026-01-02')
    await put(bed, calendar)
    await bed.schedule('t', { calendar: name, everyMs: 12 * hours, inMs: 12 * hours })
    const startMs = bed.now()
    await bed.clock.advance(12 * hours)
    const bundle = await bed.start('t')
    assert.deepEqual(bundle.calendar?.toJSON(), calendar.toJSON())
    assert.equal(bundle.nextFireTimeMs, startMs + 2 * day)
    assert.equal((await bed.stored('t')).nextFireTimeMs, startMs + 2 * day)
  },
  'are asked when a misfire moves a trigger on': async (bed) => {
    await put(bed, excluding('2026-01-02'))
    const startMs = bed.now()
    await bed.schedule('t', {
      calendar: name,
      everyMs: 12 * hours,
      misfire: 'rescheduleNextWithExistingCount',
    })
    await bed.clock.advance(13 * hours)
    assert.deepEqual(await bed.acquireNames(), [])
    assert.equal((await bed.stored('t')).nextFireTimeMs, startMs + 2 * day)
  },
  'that throw put a trigger in error, on time and late, and leave the others alone': async (bed) => {
    const calendar = new FailingCalendar()
    try {
      await bed.store.addCalendar('failing', calendar, { replace: false, updateTriggers: false })
    } catch (error) {
      // A store need not keep calendars of the user's own classes.
      assert.equal((error as { code?: unknown }).code, 'ERR_INVALID_CALENDAR')
      return
    }
    await bed.schedule('a', { calendar: 'failing', everyMs: 1000 })
    await bed.schedule('b', { everyMs: 1000 })
    await bed.schedule('c', { calendar: 'failing', everyMs: 1000, inMs: 1000 })
    calendar.fails = true
    await bed.store.triggersFired(await bed.acquire())
    assert.equal(await bed.state('a'), 'ERROR')
    await bed.clock.advance(misfireThresholdMs + 1000)
    await bed.acquire()
    await bed.clock.advance(1000)
    assert.deepEqual(await bed.acquireNames(), ['b'])
    assert.deepEqual(await bed.states('a', 'b', 'c'), ['ERROR', 'NORMAL', 'ERROR'])
    assert.deepEqual(
      bed.signals.inError.map(({ key }) => key),
      ['DEFAULT.a', 'DEFAULT.c'],
    )
  },
})

/** Has a store take a new trigger. */
type Storing = (bed: Testbed, trigger: Trigger) => Promise<unknown>

async function replaces(bed: Testbed, trigger: Trigger): Promise<unknown> {
  await bed.schedule(trigger.key.name, { everyMs: 1000 })
  return bed.store.rescheduleTrigger(trigger.key, trigger)
}

async function renames(bed: Testbed, trigger: Trigger): Promise<unknown> {
  const { key } = await bed.schedule('before', { everyMs: 1000 })
  return bed.store.rescheduleTrigger(key, trigger)
}

async function defines(bed: Testbed, trigger: Trigger): Promise<unknown> {
  await bed.store.addJob(bed.job, { replace: true })
  const entries = [{ job: null, triggers: [trigger] }]
  const removals = { removedTriggers: [], removedJobs: [], removedCalendars: [] }
  return bed.store.changeDefinitions?.({ calendars: [], entries, ...removals })
}

// Callers compute fire times before the store has its locks.
function changedMeanwhile(
  way: string,
  store: Storing,
  needs: Partial<JobStoreCapabilities> = {},
): readonly StoreCase[] {
  return area(
    `calendars: changed before a call ${way} a trigger`,
    {
      'refuse it when they are gone': async (bed) => {
        await refuses(store(bed, bed.trigger('t', { calendar: name })), 'ERR_CALENDAR_NOT_FOUND')
        assert.notEqual((await bed.store.getTrigger(new TriggerKey('t')))?.calendarName, name)
      },
      'move it on to a time that they include': async (bed) => {
        await put(bed, excluding('2026-01-02'))
        const startMs = bed.now()
        await store(bed, bed.trigger('t', { calendar: name, inMs: day, everyMs: 12 * hours }))
        assert.equal((await bed.stored('t')).nextFireTimeMs, startMs + 2 * day)
      },
      'refuse it when they leave it no time': async (bed) => {
        await put(bed, excluding('2026-01-02'))
        const trigger = bed.trigger('t', { calendar: name, inMs: day })
        await refuses(store(bed, trigger), 'ERR_TRIGGER_NEVER_FIRES')
      },
    },
    needs,
  )
}

const meanwhile = [
  ...changedMeanwhile('stores', (bed, trigger) => bed.scheduleAll([trigger])),
  ...changedMeanwhile('replaces', replaces),
  ...changedMeanwhile('renames', renames),
  ...changedMeanwhile('defines', defines, { changesDefinitions: true }),
]

const replacing = area('calendars: replacing', {
  'leaves fire times as they are unless told to update triggers': async (bed) => {
    await put(bed, excluding())
    const trigger = await bed.schedule('t', { calendar: name, inMs: 36 * hours })
    await put(bed, excluding('2026-01-02'))
    assert.deepEqual(await bed.stored('t'), trigger)
  },
  'moves the triggers that name the calendar, and no others': async (bed) => {
    await put(bed, excluding())
    const startMs = bed.now()
    await bed.schedule('t', { calendar: name, inMs: 24 * hours, everyMs: 12 * hours })
    const other = await bed.schedule('other', { inMs: 24 * hours, everyMs: 12 * hours })
    await excludeSecondDay(bed)
    assert.equal((await bed.stored('t')).nextFireTimeMs, startMs + 2 * day)
    assert.deepEqual(await bed.stored('other'), other)
    assert.deepEqual(await bed.acquireNames({ noLaterThanMs: startMs + day }), ['other'])
  },
  'keeps a trigger that fires once and has not fired from no other calendar': async (bed) => {
    await put(bed, excluding())
    const { key, startTimeMs } = await bed.schedule('t', { calendar: name, inMs: 36 * hours })
    await excludeSecondDay(bed)
    assert.equal(await bed.state('t'), 'COMPLETE')
    const without = bed.trigger('t', { inMs: 36 * hours })
    assert.equal(await bed.store.rescheduleTrigger(key, without, { goesOnFrom: 'due' }), true)
    assert.equal((await bed.stored('t')).nextFireTimeMs, startTimeMs)
    assert.deepEqual(await bed.acquireNames({ noLaterThanMs: startTimeMs }), ['t'])
  },
  'keeps a trigger that fires once from no other calendar, also where it has fired before that': async (
    bed,
  ) => {
    await put(bed, excluding())
    const { key } = await bed.schedule('t', { everyMs: hours })
    await bed.complete(await bed.start('t'))
    const once = bed.trigger('t', { calendar: name, inMs: 36 * hours })
    assert.equal(await bed.store.rescheduleTrigger(key, once, { goesOnFrom: 'start' }), true)
    await excludeSecondDay(bed)
    assert.equal(await bed.state('t'), 'COMPLETE')
    const without = bed.trigger('t', { inMs: 36 * hours })
    assert.equal(await bed.store.rescheduleTrigger(key, without, { goesOnFrom: 'due' }), true)
    assert.equal((await bed.stored('t')).nextFireTimeMs, once.startTimeMs)
  },
  'keeps a first fire that is due, where the new calendar includes it': async (bed) => {
    await put(bed, excluding())
    const startMs = bed.now()
    await bed.schedule('once', { calendar: name, inMs: hours })
    await bed.schedule('often', { calendar: name, inMs: hours, everyMs: 12 * hours })
    await bed.clock.advance(hours + 5)
    await excludeSecondDay(bed)
    assert.equal((await bed.stored('often')).nextFireTimeMs, startMs + hours)
    assert.deepEqual((await bed.acquireNames()).sort(), ['often', 'once'])
  },
  'leaves out a first fire that is due, where the new calendar excludes it': async (bed) => {
    await put(bed, excluding())
    const startMs = bed.now()
    await bed.schedule('t', { calendar: name, inMs: hours, everyMs: 12 * hours })
    await bed.clock.advance(hours)
    await put(bed, excluding('2026-01-01'), { updateTriggers: true })
    assert.equal((await bed.stored('t')).nextFireTimeMs, startMs + 25 * hours)
  },
  'keeps out what was skipped by hand, and takes in what only the former calendar excluded': async (bed) => {
    await put(bed, excluding('2026-01-02'))
    const startMs = bed.now()
    const { key } = await bed.schedule('t', { calendar: name, everyMs: 12 * hours })
    await bed.complete(await bed.start('t'))
    // Half past the first day, and the start of the third.
    await bed.store.skipNextFire(key, null)
    await bed.store.skipNextFire(key, null)
    await put(bed, excluding(), { updateTriggers: true })
    assert.equal((await bed.stored('t')).nextFireTimeMs, startMs + day)
    const { key: fresh } = await bed.schedule('fresh', { calendar: name, inMs: day, everyMs: day })
    await bed.store.skipNextFire(fresh, null)
    await put(bed, excluding('2026-03-01'), { updateTriggers: true })
    assert.equal((await bed.stored('fresh')).nextFireTimeMs, startMs + 2 * day)
  },
  'counts fires that were skipped once, however often it is replaced': async (bed) => {
    await put(bed, excluding())
    const startMs = bed.now()
    const { key } = await bed.schedule('t', { calendar: name, everyMs: hours, times: 9 })
    for (let skipped = 0; skipped < 3; skipped++) await bed.store.skipNextFire(key, null)
    const before = await bed.stored('t')
    await put(bed, excluding('2026-03-01'), { updateTriggers: true })
    await put(bed, excluding('2026-03-02'), { updateTriggers: true })
    assert.deepEqual(await bed.stored('t'), before)
    assert.equal(before.nextFireTimeMs, startMs + 3 * hours)
  },
  'keeps out any number of fires that were skipped': async (bed) => {
    await put(bed, excluding())
    const startMs = bed.now()
    const { key } = await bed.schedule('t', { calendar: name, everyMs: hours })
    await bed.complete(await bed.start('t'))
    for (let skipped = 0; skipped < 120; skipped++) await bed.store.skipNextFire(key, null)
    await put(bed, excluding('2026-03-01'), { updateTriggers: true })
    assert.equal((await bed.stored('t')).nextFireTimeMs, startMs + 121 * hours)
  },
  'keeps a late fire that its misfire policy has put off until now': async (bed) => {
    await put(bed, excluding())
    await bed.schedule('t', { calendar: name, inMs: hours, everyMs: 12 * hours, times: 4 })
    await bed.clock.advance(hours + misfireThresholdMs)
    await bed.acquire()
    assert.equal((await bed.stored('t')).nextFireTimeMs, bed.now())
    await excludeSecondDay(bed)
    assert.deepEqual(await bed.acquireNames(), ['t'])
  },
  'announces a trigger that may fire earlier than before': async (bed) => {
    await put(bed, excluding('2026-01-02'))
    const startMs = bed.now()
    await bed.schedule('t', { calendar: name, everyMs: 12 * hours })
    await bed.complete(await bed.start('t'))
    await bed.clock.advance(12 * hours)
    await bed.complete(await bed.start('t'))
    bed.signals.clear()
    await put(bed, excluding(), { updateTriggers: true })
    assert.equal((await bed.stored('t')).nextFireTimeMs, startMs + day)
    assert.ok(bed.signals.announced(startMs + day))
  },
  'keeps paused triggers paused and triggers in error in error': async (bed) => {
    await put(bed, excluding())
    const startMs = bed.now()
    const { key } = await bed.schedule('paused', { calendar: name, inMs: day, everyMs: 12 * hours })
    await bed.store.pauseTrigger(key)
    await bed.schedule('error', { calendar: name, everyMs: 12 * hours })
    await bed.putInError('error')
    await excludeSecondDay(bed)
    assert.deepEqual(await bed.states('paused', 'error'), ['PAUSED', 'ERROR'])
    assert.equal((await bed.stored('paused')).nextFireTimeMs, startMs + 2 * day)
  },
  'keeps a paused trigger paused that has no fire time left, and completes it when it is resumed': async (
    bed,
  ) => {
    await put(bed, excluding())
    const { key } = await bed.schedule('back', { calendar: name, inMs: 36 * hours })
    const over = await bed.schedule('over', { calendar: name, inMs: 36 * hours })
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('DEFAULT'))
    await excludeSecondDay(bed)
    assert.deepEqual(await bed.states('back', 'over'), ['PAUSED', 'PAUSED'])
    assert.deepEqual(bed.signals.finalized, [])
    await bed.store.resumeTrigger(over.key)
    assert.equal(await bed.state('over'), 'COMPLETE')
    await put(bed, excluding(), { updateTriggers: true })
    assert.deepEqual(await bed.states('back', 'over'), ['PAUSED', 'PAUSED'])
    await bed.store.resumeTrigger(key)
    assert.deepEqual(await bed.acquireNames({ noLaterThanMs: bed.now() + 2 * day }), ['back'])
  },
  'signals a trigger that is over when it is resumed, in whatever way': async (bed) => {
    const { store } = bed
    await put(bed, excluding())
    for (const each of ['job', 'jobs', 'until', 'all']) {
      await bed.schedule(each, { calendar: name, inMs: 36 * hours, job: jobDetail('j', { group: each }) })
      const untilMs = each === 'until' ? bed.now() + 1 : null
      await store.pauseTrigger(bed.trigger(each).key, { by: null, reason: null, untilMs })
    }
    await excludeSecondDay(bed)
    await store.resumeJob(jobDetail('j', { group: 'job' }).key)
    await store.resumeJobs(GroupMatcher.groupEquals('jobs'))
    await bed.clock.advance(1)
    await store.endPauses()
    await store.resumeAll({ withoutMissed: true })
    const over = bed.signals.finalized.map(({ key }) => key.name)
    assert.deepEqual(over, ['job', 'jobs', 'until', 'all'])
    assert.deepEqual(
      await bed.states(...over),
      over.map(() => 'COMPLETE'),
    )
  },
  'keeps a blocked trigger blocked until its job has run': async (bed) => {
    await put(bed, excluding())
    const job = jobDetail('j', { disallowConcurrentExecution: true })
    await bed.schedule('runs', { job })
    await bed.schedule('waits', { job, calendar: name, inMs: day, everyMs: 12 * hours })
    const bundle = await bed.start('runs')
    await excludeSecondDay(bed)
    assert.equal(await bed.state('waits'), 'BLOCKED')
    await bed.complete(bundle)
    assert.equal(await bed.state('waits'), 'NORMAL')
  },
  'ends a claim that was made for the former fire time': async (bed) => {
    await put(bed, excluding())
    await bed.schedule('t', { calendar: name, inMs: day, everyMs: 12 * hours })
    const claim = only(await bed.acquire({ noLaterThanMs: bed.now() + day }))
    await excludeSecondDay(bed)
    assert.equal(await bed.fireKind(claim), 'gone')
    assert.equal(await bed.state('t'), 'NORMAL')
  },
  'completes a trigger that has no fire time left, and says so': async (bed) => {
    await put(bed, excluding())
    await bed.schedule('t', { calendar: name, inMs: 36 * hours })
    await excludeSecondDay(bed)
    assert.equal(await bed.state('t'), 'COMPLETE')
    assert.deepEqual(
      bed.signals.finalized.map(({ key }) => key.name),
      ['t'],
    )
    assert.deepEqual(await bed.acquireNames({ noLaterThanMs: bed.now() + 10 * day }), [])
  },
  'leaves a trigger in error that has no fire time left, and does not finish it': async (bed) => {
    await put(bed, excluding())
    await bed.schedule('t', { calendar: name, everyMs: 36 * hours, times: 2 })
    await bed.putInError('t')
    await excludeSecondDay(bed)
    assert.equal(await bed.state('t'), 'ERROR')
    assert.deepEqual(bed.signals.finalized, [])
  },
  'revives a trigger that has a fire time again': async (bed) => {
    const startMs = bed.now()
    await put(bed, excluding('2026-01-02'))
    await bed.schedule('t', { calendar: name, everyMs: 12 * hours, times: 3 })
    await bed.complete(await bed.start('t'))
    await bed.clock.advance(12 * hours)
    await bed.complete(await bed.start('t'))
    assert.equal(await bed.state('t'), 'COMPLETE')
    await put(bed, excluding(), { updateTriggers: true })
    assert.equal(await bed.state('t'), 'NORMAL')
    assert.equal((await bed.stored('t')).nextFireTimeMs, startMs + day)
    await bed.clock.advance(12 * hours)
    assert.deepEqual(await bed.acquireNames(), ['t'])
  },
  'revives a trigger of a paused group into PAUSED': async (bed) => {
    await put(bed, excluding())
    await bed.schedule('t', { calendar: name, inMs: 36 * hours })
    await excludeSecondDay(bed)
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('DEFAULT'))
    await put(bed, excluding(), { updateTriggers: true })
    assert.equal(await bed.state('t'), 'PAUSED')
  },
  'does not revive a trigger that an instruction completed': async (bed) => {
    await put(bed, excluding())
    await bed.schedule('t', { calendar: name, everyMs: 12 * hours })
    await bed.complete(await bed.start('t'), 'setTriggerComplete')
    await excludeSecondDay(bed)
    assert.equal(await bed.state('t'), 'COMPLETE')
    assert.equal(await bed.store.resetTriggerFromErrorState(new TriggerKey('t')), false)
  },
  'spares a revived trigger when its last execution ends': async (bed) => {
    await put(bed, excluding('2026-01-02'))
    await bed.schedule('t', { calendar: name, everyMs: 12 * hours, times: 3 })
    await bed.complete(await bed.start('t'))
    await bed.clock.advance(12 * hours)
    const bundle = await bed.start('t')
    assert.equal(bundle.nextFireTimeMs, null)
    await put(bed, excluding(), { updateTriggers: true })
    await bed.complete(bundle, 'deleteTrigger')
    assert.equal(await bed.state('t'), 'NORMAL')
  },
})

export const calendarCases: readonly StoreCase[] = [...storing, ...firing, ...meanwhile, ...replacing]
