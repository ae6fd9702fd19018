import assert from 'node:assert/strict'
import { JobKey, TriggerKey } from '../../core/key.ts'
import type { Misfire, MisfireCause, MisfirePolicy, MisfireQuery } from '../../jobstore/misfires.ts'
import type { EpochMs } from '../../time/clock.ts'
import { HolidayCalendar } from '../../triggers/calendars/holiday-calendar.ts'
import { CalendarIntervalScheduleBuilder } from '../../triggers/families/interval/calendar-interval-trigger.ts'
import { SimpleScheduleBuilder } from '../../triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../triggers/families/trigger-builder.ts'
import { plannedFireTimeMs, type Trigger } from '../../triggers/trigger.ts'
import { area, type StoreCase } from './store-case.ts'
import { misfireThresholdMs, type Testbed } from './testbed.ts'

const minute = 60_000
const late = misfireThresholdMs + 5 * minute

/** Fires what is due now; answers the planned instants. */
async function run(bed: Testbed): Promise<EpochMs[]> {
  const ran: EpochMs[] = []
  for (;;) {
    const [claim] = await bed.acquire({ maxCount: 1 })
    if (claim === undefined) return ran
    const bundle = await bed.fire(claim)
    ran.push(bundle.scheduledFireTimeMs)
    await bed.complete(bundle)
  }
}

/** Of the planned instants, those that the store said were missed. */
function missed(bed: Testbed, planned: readonly EpochMs[]): EpochMs[] {
  return bed.signals.missed.flatMap(({ trigger, keepsFirst, untilMs }) => {
    const nextMs = trigger.nextFireTimeMs ?? untilMs
    const firstMs = plannedFireTimeMs(trigger)
    return planned.filter(
      (timeMs) => (timeMs > nextMs && timeMs <= untilMs) || (!keepsFirst && timeMs === firstMs),
    )
  })
}

/** Asserts that each planned instant became a run or was missed, and none both, and why. */
function addsUp(
  bed: Testbed,
  planned: readonly EpochMs[],
  ran: readonly EpochMs[],
  why: { readonly cause: string; readonly policy: MisfirePolicy | null },
): void {
  const all = [...ran, ...missed(bed, planned)].sort((a, b) => a - b)
  assert.deepEqual(all, planned)
  assert.ok(bed.signals.missed.length > 0, 'the store says what was missed')
  for (const { cause, policy } of bed.signals.missed) assert.deepEqual({ cause, policy }, why)
}

/** The instants of a schedule until now, which begins `count` minutes ago. */
function eachMinute(fromMs: EpochMs, nowMs: EpochMs): EpochMs[] {
  const planned: EpochMs[] = []
  for (let timeMs = fromMs; timeMs <= nowMs; timeMs += minute) planned.push(timeMs)
  return planned
}

function coalescing(bed: Testbed): Trigger {
  return TriggerBuilder.newTrigger({ clock: bed.clock })
    .withIdentity('t')
    .forJob(bed.job)
    .startAt(new Date(bed.now()))
    .withSchedule(
      CalendarIntervalScheduleBuilder.calendarIntervalSchedule()
        .withIntervalInMinutes(1)
        .inTimeZone('UTC')
        .withMisfireInstruction('fireOnceNow'),
    )
    .build()
    .computeFirstFireTime(null)
}

const signalling = area(
  'missed fires',
  {
    'are those that an instruction leaves out': async (bed) => {
      const startMs = bed.now()
      await bed.schedule('t', { everyMs: minute, misfire: 'rescheduleNextWithExistingCount' })
      const ran = await run(bed)
      await bed.clock.advance(late)
      ran.push(...(await run(bed)))
      await bed.clock.advance(2 * minute - 1)
      ran.push(...(await run(bed)))
      addsUp(bed, eachMinute(startMs, bed.now()), ran, { cause: 'late', policy: 'skipped' })
    },
    'are those for which one firing stands, also when that is late again': async (bed) => {
      const startMs = bed.now()
      await bed.scheduleAll([coalescing(bed)])
      const ran = await run(bed)
      await bed.clock.advance(late + 1)
      await bed.store.releaseAcquiredTriggers(await bed.acquire())
      await bed.clock.advance(late)
      ran.push(...(await run(bed)))
      await bed.clock.advance(minute)
      ran.push(...(await run(bed)))
      addsUp(bed, eachMinute(startMs, bed.now()), ran, { cause: 'late', policy: 'coalesced' })
      assert.equal(bed.signals.missed.length, 2)
    },
    'are all that were left when the end has passed': async (bed) => {
      const startMs = bed.now()
      await bed.schedule('t', {
        everyMs: minute,
        endsInMs: 3 * minute,
        misfire: 'rescheduleNextWithExistingCount',
      })
      await bed.clock.advance(late)
      assert.deepEqual(await run(bed), [])
      addsUp(
        bed,
        [0, 1, 2].map((count) => startMs + count * minute),
        [],
        { cause: 'late', policy: 'skipped' },
      )
    },
    'are none of a trigger that makes up for all': async (bed) => {
      const startMs = bed.now()
      await bed.schedule('once')
      await bed.schedule('ignoring', { everyMs: minute, misfire: 'ignore' })
      await bed.clock.advance(late)
      await run(bed)
      assert.deepEqual(missed(bed, [startMs]), [])
      assert.ok(bed.signals.missed.every(({ trigger }) => trigger.key.name === 'once'))
    },
    'are made up for later by a trigger that is to fire as often': async (bed) => {
      // Families of users need not know this instruction.
      const thrice = TriggerBuilder.newTrigger({ clock: bed.clock })
        .withIdentity('t')
        .forJob(bed.job)
        .startAt(new Date(bed.now()))
        .withSchedule(
          SimpleScheduleBuilder.simpleSchedule()
            .withIntervalInMinutes(1)
            .withRepeatCount(2)
            .withMisfireInstruction('rescheduleNowWithExistingRepeatCount'),
        )
        .build()
      await bed.scheduleAll([thrice.computeFirstFireTime(null)])
      await bed.clock.advance(late)
      const ran = await run(bed)
      for (let left = 2; left > 0; left--) {
        await bed.clock.advance(minute)
        ran.push(...(await run(bed)))
      }
      assert.equal(ran.length, 3)
      const why = bed.signals.missed.map(({ cause, policy }) => ({ cause, policy }))
      assert.deepEqual(why, [{ cause: 'late', policy: 'postponed' }])
    },
    'of a paused trigger are told when it is resumed': async (bed) => {
      const startMs = bed.now()
      const { key } = await bed.schedule('t', { everyMs: minute, misfire: 'rescheduleNextWithExistingCount' })
      const ran = await run(bed)
      await bed.store.pauseTrigger(key)
      await bed.clock.advance(late)
      assert.deepEqual(bed.signals.missed, [])
      await bed.store.resumeTrigger(key)
      await bed.clock.advance(minute - 1)
      ran.push(...(await run(bed)))
      addsUp(bed, eachMinute(startMs, bed.now()), ran, { cause: 'paused', policy: 'skipped' })
    },
    'of a paused trigger are all of them when it is resumed without them': async (bed) => {
      const startMs = bed.now()
      const trigger = coalescing(bed)
      await bed.scheduleAll([trigger])
      const ran = await run(bed)
      await bed.store.pauseTrigger(trigger.key)
      await bed.clock.advance(late)
      await bed.store.resumeTrigger(trigger.key, { withoutMissed: true })
      await bed.clock.advance(minute - 1)
      ran.push(...(await run(bed)))
      addsUp(bed, eachMinute(startMs, bed.now()), ran, { cause: 'paused', policy: null })
    },
    'are the one that was skipped': async (bed) => {
      const startMs = bed.now()
      const { key } = await bed.schedule('t', { everyMs: minute })
      await bed.store.skipNextFire(key, null)
      await bed.clock.advance(minute)
      const ran = await run(bed)
      addsUp(bed, eachMinute(startMs, bed.now()), ran, { cause: 'skippedByHand', policy: null })
    },
    'are those that a new version of the calendar excludes': async (bed) => {
      // The clock of a testbed starts with the first of January 2026 in UTC.
      const calendarOf = (...excludedDates: readonly string[]): HolidayCalendar =>
        new HolidayCalendar({ excludedDates, timeZone: 'UTC' })
      await bed.store.addCalendar('c', calendarOf('2027-01-01'), { replace: false, updateTriggers: false })
      const startMs = bed.now()
      await bed.schedule('t', { everyMs: 24 * 60 * minute, calendar: 'c' })
      await bed.schedule('other', { inMs: 1000 * 24 * 60 * minute, calendar: 'c' })
      const ran = await run(bed)
      await bed.store.addCalendar('c', calendarOf('2026-01-02', '2026-01-03'), {
        replace: true,
        updateTriggers: true,
      })
      await bed.clock.advance(3 * 24 * 60 * minute)
      ran.push(...(await run(bed)))
      const planned = [0, 1, 2, 3].map((day) => startMs + day * 24 * 60 * minute)
      addsUp(bed, planned, ran, { cause: 'calendar', policy: null })
      assert.equal(bed.signals.missed.length, 1)
    },
  },
  { records: true },
)

function misfireOf(bed: Testbed, id: string, changes: Partial<Misfire> = {}): Misfire {
  return {
    id,
    noticedTimeMs: bed.now(),
    triggerKey: new TriggerKey('t'),
    jobKey: new JobKey('j', 'g'),
    cause: 'late',
    policy: null,
    fromMs: bed.now() - 1000,
    toMs: bed.now(),
    count: 2,
    node: 'node-1',
    ...changes,
  }
}

async function write(bed: Testbed, ...misfires: readonly Misfire[]): Promise<void> {
  await bed.store.records?.write({ misfires })
}

async function ids(bed: Testbed, query: MisfireQuery = {}): Promise<string[]> {
  const page = await bed.store.records?.queryMisfires(query)
  return (page?.items ?? []).map(({ id }) => id)
}

const remembering = area(
  'misfires',
  {
    'come back as they were written, the newest first': async (bed) => {
      const first = misfireOf(bed, 'a', { policy: 'coalesced', count: null })
      const second = misfireOf(bed, 'b', { jobKey: null, cause: 'lost' })
      await write(bed, first, second)
      await bed.clock.advance(1)
      const third = misfireOf(bed, '0', { triggerKey: new TriggerKey('Ä', "o'g") })
      await write(bed, third)
      const page = await bed.store.records?.queryMisfires({})
      assert.deepEqual(page, { items: [third, second, first], next: null })
    },
    'are written once, however often they come': async (bed) => {
      await write(bed, misfireOf(bed, 'a'))
      await write(bed, misfireOf(bed, 'a'), misfireOf(bed, 'b'))
      assert.deepEqual(await ids(bed), ['b', 'a'])
    },
    'are read a page at a time': async (bed) => {
      await write(bed, ...['a', 'b', 'c', 'd'].map((id) => misfireOf(bed, id)))
      const first = await bed.store.records?.queryMisfires({ take: 3 })
      assert.deepEqual(first?.next, { noticedTimeMs: bed.now(), id: 'b' })
      assert.deepEqual(await ids(bed, { take: 3, after: first.next }), ['a'])
    },
    'are counted, those of a time or all': async (bed) => {
      const { records } = bed.store
      assert.deepEqual(await records?.countMisfires({}), { rows: 0, fires: 0, byCause: {}, isWhole: true })
      const startMs = bed.now()
      await write(
        bed,
        misfireOf(bed, 'a', { cause: 'outage', count: 60 }),
        misfireOf(bed, 'b', { count: null }),
      )
      await bed.clock.advance(1000)
      await write(bed, misfireOf(bed, 'c', { cause: 'outage', count: 3_000_000_000 }))
      const next = new Date(startMs + 1000)
      assert.deepEqual(await records?.countMisfires({}), {
        rows: 3,
        fires: 3_000_000_061,
        byCause: { outage: 2, late: 1 },
        isWhole: true,
      })
      const before = { rows: 2, fires: 61, byCause: { outage: 1, late: 1 }, isWhole: true }
      assert.deepEqual(await records?.countMisfires({ to: next }), before)
      const since = { rows: 1, fires: 3_000_000_000, byCause: { outage: 1 }, isWhole: true }
      assert.deepEqual(await records?.countMisfires({ from: next }), since)
    },
    'are found by trigger, job, group, cause and time': async (bed) => {
      const causes: readonly MisfireCause[] = ['outage', 'paused', 'vetoed']
      const startMs = bed.now()
      for (const [index, cause] of causes.entries()) {
        const name = String(index)
        const keys = { triggerKey: new TriggerKey(name, 'tg'), jobKey: new JobKey('j', name) }
        await write(bed, misfireOf(bed, name, { cause, ...keys }))
        await bed.clock.advance(1000)
      }
      assert.deepEqual(await ids(bed, { triggerKey: new TriggerKey('1', 'tg') }), ['1'])
      assert.deepEqual(await ids(bed, { triggerKey: new TriggerKey('1') }), [])
      assert.deepEqual(await ids(bed, { jobKey: new JobKey('j', '2') }), ['2'])
      assert.deepEqual(await ids(bed, { jobGroup: '0' }), ['0'])
      assert.deepEqual(await ids(bed, { cause: 'paused' }), ['1'])
      assert.deepEqual(await ids(bed, { cause: ['outage', 'vetoed'] }), ['2', '0'])
      assert.deepEqual(await ids(bed, { cause: [] }), [])
      assert.deepEqual(await ids(bed, { from: new Date(startMs + 1000) }), ['2', '1'])
      assert.deepEqual(await ids(bed, { to: new Date(startMs + 1000) }), ['0'])
    },
  },
  { records: true },
)

export const missedCases: readonly StoreCase[] = [...signalling, ...remembering]
