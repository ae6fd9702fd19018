import assert from 'node:assert/strict'
import { TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { DefinitionChanges, RemovedDefinitions } from '../../jobstore/definition-changes.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import { HolidayCalendar } from '../../triggers/calendars/holiday-calendar.ts'
import { area, type StoreCase } from './store-case.ts'
import { jobDetail, refuses, type Testbed, textsOf } from './testbed.ts'

const hours = 3_600_000
const day = 24 * hours
const name = 'holidays'
const old = 'old'
const job = jobDetail('made')

// The clock of a testbed starts with the first of January 2026 in UTC.
function excluding(...excludedDates: readonly string[]): Calendar {
  return new HolidayCalendar({ excludedDates, timeZone: 'UTC' })
}

const secondDay = { name, calendar: excluding('2026-01-02') }

async function change(bed: Testbed, changes: Partial<DefinitionChanges>): Promise<RemovedDefinitions> {
  const all = { calendars: [], entries: [], removedTriggers: [], removedJobs: [], removedCalendars: [] }
  const removed = await bed.store.changeDefinitions?.({ ...all, ...changes })
  assert.ok(removed !== undefined, 'a store that changes definitions has changeDefinitions')
  return removed
}

/** A calendar with a trigger that it moves, a calendar to remove, and a trigger and a job to remove. */
async function populate(bed: Testbed): Promise<void> {
  for (const each of [name, old]) {
    await bed.store.addCalendar(each, excluding(), { replace: false, updateTriggers: false })
  }
  await bed.schedule('moved', { calendar: name, inMs: day, everyMs: 12 * hours })
  await bed.schedule('gone', { inMs: day })
  await bed.schedule('of gone job', { inMs: day, job: jobDetail('gone job') })
}

/** All that a change can have done, in order. */
async function everything({ store }: Testbed): Promise<object> {
  const calendars: unknown[] = []
  for (const each of await store.getCalendarNames()) calendars.push((await store.getCalendar(each))?.toJSON())
  const { items } = await store.queryTriggers({ take: 100 })
  const jobs = await store.queryJobs({ take: 100 })
  return {
    calendars,
    jobs: textsOf(jobs.items.map(({ key }) => key)),
    triggers: items.map(({ key, state, nextFireTimeMs }) => ({ key: key.toString(), state, nextFireTimeMs })),
  }
}

function wholeChange(bed: Testbed): DefinitionChanges {
  return {
    calendars: [secondDay, { name: 'new', calendar: excluding() }],
    entries: [
      { job, triggers: [bed.trigger('made', { job, calendar: 'new', inMs: hours })] },
      { job: null, triggers: [bed.trigger('made too', { inMs: 2 * hours })] },
    ],
    removedTriggers: [new TriggerKey('gone'), new TriggerKey('nowhere')],
    removedJobs: [jobDetail('gone job').key, jobDetail('nowhere').key],
    removedCalendars: [old, 'nowhere'],
  }
}

async function refusesWhole(
  bed: Testbed,
  changes: (whole: DefinitionChanges) => Partial<DefinitionChanges>,
  code: string,
): Promise<void> {
  await populate(bed)
  const before = await everything(bed)
  bed.signals.clear()
  const whole = wholeChange(bed)
  await refuses(change(bed, { ...whole, ...changes(whole) }), code)
  assert.deepEqual(await everything(bed), before)
  assert.deepEqual([bed.signals.candidates, bed.signals.deletedJobs, bed.signals.missed], [[], [], []])
  assert.deepEqual(textsOf((await change(bed, whole)).removedJobs), ['DEFAULT.gone job'])
}

export const definitionCases: readonly StoreCase[] = area(
  'changes of definitions',
  {
    'store calendars, jobs and triggers and remove what is named, in one step': async (bed) => {
      await populate(bed)
      const startMs = bed.now()
      const claim = await bed.acquire({ noLaterThanMs: startMs + day, timeWindowMs: 0 })
      assert.equal(claim.length, 3)
      bed.signals.clear()
      const removed = await change(bed, wholeChange(bed))
      assert.deepEqual(textsOf(removed.removedTriggers), ['DEFAULT.gone'])
      assert.deepEqual(textsOf(removed.removedJobs), ['DEFAULT.gone job'])
      assert.deepEqual((await bed.store.getCalendar(name))?.toJSON(), secondDay.calendar.toJSON())
      assert.deepEqual(textsOf(await bed.store.getCalendarNames()), [name, 'new'])
      assert.equal((await bed.stored('moved')).nextFireTimeMs, startMs + 2 * day)
      assert.equal((await bed.stored('made')).nextFireTimeMs, startMs + hours)
      assert.deepEqual(await bed.states('made', 'made too', 'gone', 'of gone job'), [
        'NORMAL',
        'NORMAL',
        'NONE',
        'NONE',
      ])
      for (const each of claim) assert.equal(await bed.fireKind(each), 'gone')
    },
    'tell the loop once, of the earliest fire time': async (bed) => {
      await populate(bed)
      bed.signals.clear()
      await change(bed, wholeChange(bed))
      assert.deepEqual(bed.signals.candidates, [bed.now() + hours])
    },
    'keep the first fire time of a trigger that comes with its calendar': async (bed) => {
      await populate(bed)
      const trigger = bed.trigger('made', { job, calendar: name, everyMs: day })
      await change(bed, { calendars: [secondDay], entries: [{ job, triggers: [trigger] }] })
      assert.equal((await bed.stored('made')).nextFireTimeMs, bed.now())
      assert.deepEqual(await bed.acquireNames(), ['made'])
    },
    'keep the pause of a trigger that is stored over itself, and what was due': async (bed) => {
      await bed.schedule('changed', { inMs: hours, everyMs: hours })
      await bed.schedule('moved', { inMs: hours, everyMs: hours })
      const { key } = await bed.stored('changed')
      await bed.store.pauseTrigger(key, { reason: 'incident', by: 'ann', untilMs: null })
      await bed.clock.advance(2 * hours)
      const before = await bed.stored('changed')
      const triggers = [
        bed.trigger('changed', { inMs: -hours, everyMs: hours, priority: 7 }),
        bed.trigger('moved', { inMs: day, everyMs: hours }),
        bed.trigger('added', { inMs: day }),
      ]
      await change(bed, { entries: [{ job: null, triggers }] })
      const { items } = await bed.store.queryTriggers({ take: 100 })
      const changed = items.find((each) => each.key.equals(key))
      assert.deepEqual([changed?.priority, changed?.state, changed?.pause?.reason], [7, 'PAUSED', 'incident'])
      assert.equal(changed?.nextFireTimeMs, before.nextFireTimeMs)
      assert.equal((await bed.stored('moved')).nextFireTimeMs, bed.now() + day)
      assert.deepEqual(await bed.states('moved', 'added'), ['NORMAL', 'NORMAL'])
    },
    'let a trigger that its job ended go on with its next time after now': async (bed) => {
      await populate(bed)
      const startMs = bed.now()
      const spec = { everyMs: hours, calendar: name }
      await bed.schedule('ended', spec)
      // Also where the same change gives its calendar anew.
      const replaced = { name, calendar: excluding('2026-01-03') }
      for (const [calendars, nextHour] of [[[], 3] as const, [[replaced], 6] as const]) {
        await bed.complete(await bed.start('ended'), 'setTriggerComplete')
        await bed.clock.advance(2.5 * hours)
        const trigger = bed.trigger('ended', { ...spec, inMs: startMs - bed.now(), priority: nextHour })
        await change(bed, { calendars, entries: [{ job: null, triggers: [trigger] }] })
        assert.equal((await bed.stored('ended')).nextFireTimeMs, startMs + nextHour * hours)
        assert.equal(await bed.state('ended'), 'NORMAL')
        await bed.clock.advance(hours / 2)
      }
    },
    'pause what is new in a paused group, and what comes to another job': async (bed) => {
      await bed.schedule('a', { inMs: day })
      await bed.schedule('b', { inMs: day })
      await bed.store.pauseTriggers(GroupMatcher.anyGroup(), { reason: 'group', by: null, untilMs: null })
      for (const paused of ['a', 'b']) await bed.store.resumeTrigger((await bed.stored(paused)).key)
      const triggers = [bed.trigger('a', { inMs: day }), bed.trigger('c', { inMs: day })]
      const toOther = { job, triggers: [bed.trigger('b', { job, inMs: day })] }
      await change(bed, { entries: [{ job: null, triggers }, toOther] })
      assert.deepEqual(await bed.states('a', 'b', 'c'), ['NORMAL', 'PAUSED', 'PAUSED'])
    },
    'change nothing when a trigger names a job that is not there': (bed) =>
      refusesWhole(
        bed,
        ({ entries }) => ({
          entries: [...entries, { job: null, triggers: [bed.trigger('lost', { job: jobDetail('lost') })] }],
        }),
        'ERR_JOB_NOT_FOUND',
      ),
    'change nothing when a stored trigger goes on with a removed calendar': (bed) =>
      refusesWhole(
        bed,
        ({ calendars, removedCalendars }) => ({
          calendars: calendars.filter((each) => each.name !== name),
          removedCalendars: [...removedCalendars, name],
        }),
        'ERR_CALENDAR_IN_USE',
      ),
    'change nothing when a new trigger names a removed calendar': (bed) =>
      refusesWhole(
        bed,
        ({ entries }) => ({
          entries: [...entries, { job: null, triggers: [bed.trigger('late', { calendar: old })] }],
        }),
        'ERR_CALENDAR_IN_USE',
      ),
    'remove a calendar with the last triggers that name it': async (bed) => {
      await populate(bed)
      await bed.schedule('a', { calendar: old, inMs: day })
      await bed.schedule('b', { calendar: old, inMs: day, job: jobDetail('other') })
      await bed.schedule('c', { calendar: old, inMs: day })
      await change(bed, {
        entries: [{ job: null, triggers: [bed.trigger('c', { inMs: day })] }],
        removedTriggers: [new TriggerKey('a')],
        removedJobs: [jobDetail('other').key],
        removedCalendars: [old],
      })
      assert.deepEqual(await bed.store.getCalendarNames(), [name])
      assert.deepEqual(await bed.states('a', 'b', 'c'), ['NONE', 'NONE', 'NORMAL'])
    },
    'keep a job whose only trigger is replaced by another one': async (bed) => {
      const short = jobDetail('short')
      await bed.schedule('before', { job: short, inMs: day })
      await change(bed, {
        entries: [{ job: null, triggers: [bed.trigger('after', { job: short, inMs: day })] }],
        removedTriggers: [new TriggerKey('before')],
      })
      assert.deepEqual(await bed.states('before', 'after'), ['NONE', 'NORMAL'])
      assert.notEqual(await bed.store.getJob(short.key), null)
      await change(bed, { removedTriggers: [new TriggerKey('after')] })
      assert.equal(await bed.store.getJob(short.key), null)
      assert.deepEqual(bed.signals.deletedJobs, ['DEFAULT.short'])
    },
    'keep the data of jobs that persist theirs, where that is asked for': async (bed) => {
      const persists = { persistJobDataAfterExecution: true, durable: true }
      const stored = jobDetail('keeps', { ...persists, jobDataMap: { last: 3 } })
      const plain = jobDetail('plain', { durable: true, jobDataMap: { last: 3 } })
      for (const each of [stored, plain]) await bed.store.addJob(each, { replace: false })
      const entries = [stored, plain].map((each) => ({
        job: { ...each, description: 'changed', jobDataMap: { last: 0 } },
        triggers: [],
      }))
      const lastOf = async (): Promise<unknown[]> => {
        const jobs = await Promise.all(entries.map(({ job: { key } }) => bed.store.getJob(key)))
        return jobs.map((job) => [job?.description, job?.jobDataMap])
      }
      await change(bed, { entries, keepsJobData: true })
      assert.deepEqual(await lastOf(), [
        ['changed', { last: 3 }],
        ['changed', { last: 0 }],
      ])
      await change(bed, { entries })
      assert.deepEqual(await lastOf(), [
        ['changed', { last: 0 }],
        ['changed', { last: 0 }],
      ])
    },
    'may be none': async (bed) => {
      assert.deepEqual(await change(bed, {}), { removedTriggers: [], removedJobs: [] })
      assert.deepEqual(bed.signals.candidates, [])
    },
  },
  { changesDefinitions: true },
)
