import SQLite from 'better-sqlite3'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import {
  jobDetail,
  misfireThresholdMs,
  only,
  refuses,
  Testbed,
} from '../../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'

// Neither a store nor Java deletes a calendar that a trigger names; a person with a database client can.

async function bedWithout(): Promise<{ bed: Testbed; deleteCalendars: () => void }> {
  const database = new SQLite(':memory:')
  const bed = new Testbed(sqliteJobStore({ database }), new ManualClock(), 'node')
  await bed.store.initialize(bed.context)
  await bed.store.schedulerStarted()
  onTestFinished(async () => {
    await bed.store.shutdown()
    database.close()
  })
  await bed.addCalendars('c')
  return { bed, deleteCalendars: () => database.exec('DELETE FROM qrtz_calendars') }
}

test.each([
  ['in time', 0],
  ['late', misfireThresholdMs],
])('a trigger whose calendar is gone, %s, goes to ERROR alone, and says why', async (_, lateMs) => {
  const { bed, deleteCalendars } = await bedWithout()
  await bed.schedule('a', { calendar: 'c', everyMs: 1000 })
  await bed.schedule('b', { everyMs: 1000 })
  deleteCalendars()
  await bed.clock.advance(lateMs)
  await bed.store.triggersFired(await bed.acquire())
  expect(await bed.states('a', 'b')).toEqual(['ERROR', 'NORMAL'])
  const told = only(bed.signals.inError)
  expect(told.key).toBe('DEFAULT.a')
  expect(told.reason).toMatch(/'c'/)
})

test('when the calendar is there again, the trigger can be reset', async () => {
  const { bed, deleteCalendars } = await bedWithout()
  const { key } = await bed.schedule('t', { calendar: 'c', everyMs: 1000 })
  deleteCalendars()
  await bed.store.triggersFired(await bed.acquire())
  await bed.addCalendars('c')
  expect(await bed.store.resetTriggerFromErrorState(key)).toBe(true)
  expect((await bed.start('t')).trigger.key.name).toBe('t')
})

test('a fire is not skipped where the calendar is gone, and nothing changes', async () => {
  const { bed, deleteCalendars } = await bedWithout()
  const { key, nextFireTimeMs } = await bed.schedule('t', { inMs: 5000, everyMs: 1000, calendar: 'c' })
  deleteCalendars()
  await refuses(bed.store.skipNextFire(key, null), 'ERR_CALENDAR_NOT_FOUND')
  expect((await bed.stored('t')).nextFireTimeMs).toBe(nextFireTimeMs)
  expect(await bed.state('t')).toBe('NORMAL')
})

test('a claim that ends in error says when the triggers that it kept back may fire', async () => {
  const { bed, deleteCalendars } = await bedWithout()
  const job = jobDetail('exclusive', { disallowConcurrentExecution: true, durable: true })
  const kept = bed.trigger('kept', { job, inMs: 1000 })
  await bed.scheduleAll([bed.trigger('failing', { job, calendar: 'c', everyMs: 1000 }), kept], job)
  deleteCalendars()
  const claim = await bed.acquireOne('failing')
  bed.signals.clear()
  expect(only(await bed.store.triggersFired([claim])).kind).toBe('gone')
  expect(await bed.state('failing')).toBe('ERROR')
  expect(bed.signals.candidates).toEqual([bed.now() + 1000])
})
