import { describe, expect, onTestFinished, test } from 'vitest'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { Testbed } from '../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'

const hour = 3_600_000

async function bedOf(store: JobStore): Promise<Testbed> {
  const bed = new Testbed(store, new ManualClock(), 'node')
  await bed.store.initialize(bed.context)
  onTestFinished(() => bed.store.shutdown())
  return bed
}

// A simple trigger counts what was left out by hand. Families that count no fires cannot tell it from what their
// calendar has left out.
describe.each<[string, () => JobStore]>([
  ['memory', () => new RAMJobStore()],
  ['SQLite', () => sqliteJobStore({ filename: ':memory:' })],
])('an edit, in %s,', (_, store) => {
  test('does not bring back the one fire that was left out by hand', async () => {
    const bed = await bedOf(store())
    const never = new HolidayCalendar({ excludedDates: [], timeZone: 'UTC' })
    await bed.store.addCalendar('none', never, { replace: false, updateTriggers: false })
    const { key } = await bed.schedule('t', { inMs: hour, calendar: 'none' })
    await bed.store.skipNextFire(key, null)
    for (const edited of [{ calendar: 'none', priority: 6 }, {}]) {
      const trigger = bed.trigger('t', { inMs: hour, ...edited })
      await expect(bed.store.rescheduleTrigger(key, trigger, { goesOnFrom: 'due' })).rejects.toMatchObject({
        code: 'ERR_TRIGGER_NEVER_FIRES',
      })
    }
    expect(await bed.state('t')).toBe('COMPLETE')
  })

  test.each([undefined, 5])(
    'does not leave only the fire that was left out, of a series of %s',
    async (times) => {
      const bed = await bedOf(store())
      const series = { inMs: hour, everyMs: hour, ...(times !== undefined && { times }) }
      const { key } = await bed.schedule('t', series)
      const once = bed.trigger('t', { inMs: hour })
      await bed.store.skipNextFire(key, null)
      await expect(bed.store.rescheduleTrigger(key, once, { goesOnFrom: 'due' })).rejects.toMatchObject({
        code: 'ERR_TRIGGER_NEVER_FIRES',
      })
      const untouched = await bed.schedule('untouched', series)
      const earlier = bed.trigger('untouched', { inMs: hour })
      await bed.store.rescheduleTrigger(untouched.key, earlier, { goesOnFrom: 'due' })
      expect((await bed.stored('untouched')).nextFireTimeMs).toBe(once.startTimeMs)
    },
  )
})
