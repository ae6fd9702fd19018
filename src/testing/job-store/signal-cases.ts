import assert from 'node:assert/strict'
import { TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { EpochMs } from '../../time/clock.ts'
import { HolidayCalendar } from '../../triggers/calendars/holiday-calendar.ts'
import { area, type StoreCase } from './store-case.ts'
import { jobDetail, type Testbed } from './testbed.ts'

const all = GroupMatcher.anyGroup()
const default_ = GroupMatcher.groupEquals('DEFAULT')
const exclusive = jobDetail('exclusive', { disallowConcurrentExecution: true, durable: true })
const key = (name: string): TriggerKey => new TriggerKey(name)
const second = 1000

/** The instants that the store signals during an action. */
async function toldOf(bed: Testbed, act: () => Promise<unknown>): Promise<readonly (EpochMs | null)[]> {
  bed.signals.clear()
  await act()
  return [...bed.signals.candidates]
}

async function assertSilent(bed: Testbed, act: () => Promise<unknown>, what: string): Promise<void> {
  assert.deepEqual(await toldOf(bed, act), [], what)
}

/** Each operation signals once, with the instant, when a trigger may fire earlier, and otherwise never. */
export const signalCases: readonly StoreCase[] = area('the scheduler is signalled that a trigger may fire', {
  'once for what is stored, with the earliest instant': async (bed) => {
    const triggers = [
      bed.trigger('late', { inMs: 3 * second }),
      bed.trigger('early', { inMs: second }),
      bed.trigger('middle', { inMs: 2 * second }),
    ]
    const atMs = bed.now() + second
    assert.deepEqual(await toldOf(bed, () => bed.scheduleAll(triggers)), [atMs])
    const moved = bed.trigger('early', { inMs: 5 * second })
    const told = await toldOf(bed, () => bed.store.rescheduleTrigger(key('early'), moved))
    assert.deepEqual(told, [atMs + 4 * second])
  },
  'once when something is resumed or reset': async (bed) => {
    await bed.schedule('a', { inMs: second })
    await bed.schedule('b', { inMs: 2 * second })
    const atMs = bed.now() + second
    const { store } = bed
    await store.pauseAll()
    assert.deepEqual(await toldOf(bed, () => store.resumeTrigger(key('b'))), [atMs + second])
    assert.deepEqual(await toldOf(bed, () => store.resumeAll()), [atMs])
    for (const [pause, resume] of [
      [() => store.pauseTriggers(default_), () => store.resumeTriggers(default_)],
      [() => store.pauseJob(bed.job.key), () => store.resumeJob(bed.job.key)],
      [() => store.pauseJobs(default_), () => store.resumeJobs(default_)],
    ] as const) {
      await assertSilent(bed, pause, 'a pause')
      assert.deepEqual(await toldOf(bed, resume), [atMs])
    }
  },
  'once when an execution ends that kept others back': async (bed) => {
    await bed.scheduleAll(
      [bed.trigger('a', { job: exclusive }), bed.trigger('b', { job: exclusive, inMs: second })],
      exclusive,
    )
    const bundle = await bed.start('a')
    assert.deepEqual(await toldOf(bed, () => bed.complete(bundle)), [bed.now() + second])
  },
  'once when a claim ends that kept others back': async (bed) => {
    await bed.scheduleAll(
      [bed.trigger('a', { job: exclusive }), bed.trigger('b', { job: exclusive, inMs: second })],
      exclusive,
    )
    await bed.acquireOne('a')
    const told = await toldOf(bed, () => bed.store.pauseTrigger(key('a')))
    assert.ok(told.length <= 1, 'at most once')
    assert.ok(bed.signals.announced(bed.now() + second))
  },
  'never when something is paused, deleted or merely stored': async (bed) => {
    const { store } = bed
    for (const name of ['a', 'b', 'c', 'claimed']) await bed.schedule(name, { inMs: second, everyMs: second })
    const other = jobDetail('other', { durable: true })
    await bed.schedule('elsewhere', { job: other, group: 'g', inMs: second })
    await assertSilent(
      bed,
      () => store.addJob(jobDetail('idle', { durable: true }), { replace: false }),
      'addJob',
    )
    await assertSilent(bed, () => store.addJob(bed.job, { replace: true }), 'addJob that replaces')
    const plain = { replace: false, updateTriggers: true }
    await assertSilent(
      bed,
      () =>
        store.addCalendar(
          'c',
          new HolidayCalendar({ timeZone: 'UTC', excludedDates: ['2026-12-25'] }),
          plain,
        ),
      'addCalendar',
    )
    await assertSilent(bed, () => store.deleteCalendar('c'), 'deleteCalendar')
    await assertSilent(bed, () => store.pauseTrigger(key('a')), 'pauseTrigger')
    await assertSilent(bed, () => store.pauseTrigger(key('a')), 'pauseTrigger, again')
    await assertSilent(bed, () => store.pauseTriggers(GroupMatcher.groupEquals('g')), 'pauseTriggers')
    await assertSilent(bed, () => store.pauseJob(other.key), 'pauseJob')
    await assertSilent(bed, () => store.pauseJobs(GroupMatcher.groupEquals('none')), 'pauseJobs')
    await assertSilent(bed, () => store.deleteTriggers([key('b')]), 'deleteTriggers')
    await assertSilent(bed, () => store.deleteJobs([other.key]), 'deleteJobs')
    await assertSilent(bed, () => store.resumeTrigger(key('missing')), 'resumeTrigger of nothing')
    await assertSilent(
      bed,
      () => store.resumeTriggers(GroupMatcher.groupEquals('none')),
      'resumeTriggers of nothing',
    )
    await assertSilent(bed, () => store.pauseAll(), 'pauseAll')
    await assertSilent(bed, () => store.clear(), 'clear')
    await assertSilent(bed, () => store.getTriggerKeys(all), 'a read')
  },
  'never of what its own loop does': async (bed) => {
    await bed.schedule('a', { everyMs: second })
    bed.signals.clear()
    const claim = await bed.acquireOne('a')
    await bed.store.releaseAcquiredTriggers([claim])
    await bed.acquireOne('a')
    await bed.store.releaseAllAcquiredTriggers()
    const bundle = await bed.start('a')
    await bed.complete(bundle)
    assert.deepEqual(bed.signals.candidates, [])
  },
})
