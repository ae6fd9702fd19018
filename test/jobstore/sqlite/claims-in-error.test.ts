import { sqliteJobStore } from 'quartz-ts/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { jobDetail, only, Testbed } from '../../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'

test('a claim that ends in error says when the triggers that it kept back may fire', async () => {
  const bed = new Testbed(sqliteJobStore({ filename: ':memory:' }), new ManualClock(), 'node')
  await bed.store.initialize(bed.context)
  await bed.store.schedulerStarted()
  onTestFinished(() => bed.store.shutdown())
  const job = jobDetail('exclusive', { disallowConcurrentExecution: true, durable: true })
  const kept = bed.trigger('kept', { job, inMs: 1000 })
  await bed.scheduleAll([bed.trigger('failing', { job, calendar: 'missing', everyMs: 1000 }), kept], job)
  const claim = await bed.acquireOne('failing')
  bed.signals.clear()
  expect(only(await bed.store.triggersFired([claim])).kind).toBe('gone')
  expect(await bed.state('failing')).toBe('ERROR')
  expect(bed.signals.candidates).toEqual([bed.now() + 1000])
})
