import { expect, test } from 'vitest'
import { jobKey } from '../../../src/core/key.ts'
import type { JobStoreContext } from '../../../src/jobstore/job-store.ts'
import { ForeseenUpdates } from '../../../src/jobstore/sql/programs/scheduling/foreseen-updates.ts'
import type { Calendar } from '../../../src/triggers/calendars/calendar.ts'
import { SimpleScheduleBuilder } from '../../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../../src/triggers/families/trigger-builder.ts'
import { TriggerFamilies } from '../../../src/triggers/families/trigger-families.ts'

/** A calendar that takes `tookMs` by the clock to answer, and counts its questions. */
function slowCalendar(tookMs: number) {
  const seen = { questions: 0, elapsedMs: 0 }
  const calendar: Calendar = {
    type: 'slow',
    description: null,
    baseCalendar: null,
    isTimeIncluded: () => {
      seen.questions++
      seen.elapsedMs += tookMs
      return true
    },
    nextIncludedTime: (timeMs) => timeMs + 1,
    toJSON: () => ({ type: 'slow' }),
  }
  const context = {
    clock: { now: () => 0, elapsedMs: () => seen.elapsedMs },
    misfireThresholdMs: 60_000,
    triggerFamilies: new TriggerFamilies(),
  } as unknown as JobStoreContext
  return { seen, calendar, foreseen: new ForeseenUpdates(context) }
}

const minutely = TriggerBuilder.newTrigger()
  .withIdentity('t')
  .forJob(jobKey('j'))
  .startAt(new Date(60_000))
  .withSchedule(SimpleScheduleBuilder.repeatMinutelyForever())
  .build()
  .computeFirstFireTime(null)

test('what took long is not computed again where it is stored, and what did not is', () => {
  for (const [tookMs, again] of [
    [90, 0],
    [0, 1],
  ] as const) {
    const { seen, calendar, foreseen } = slowCalendar(tookMs)
    foreseen.foresee(minutely, calendar)
    const before = seen.questions
    expect(foreseen.updated(minutely, calendar, 0).nextFireTimeMs).toBe(60_000)
    expect(seen.questions - before).toBe(again)
  }
})

test('what was foreseen is computed again when its time has passed', () => {
  const { seen, calendar, foreseen } = slowCalendar(90)
  foreseen.foresee(minutely, calendar)
  const before = seen.questions
  // The misfire threshold is a minute: what is missed by more is left out.
  expect(foreseen.updated(minutely, calendar, 59_999).nextFireTimeMs).toBe(60_000)
  expect(seen.questions - before).toBe(0)
  expect(foreseen.updated(minutely, calendar, 150_000).nextFireTimeMs).toBe(180_000)
  expect(seen.questions - before).toBeGreaterThan(0)
})

test('a trigger that has fired or was replaced since is computed as it is now', () => {
  const { seen, calendar, foreseen } = slowCalendar(90)
  foreseen.foresee(minutely, calendar)
  const before = seen.questions
  expect(foreseen.updated(minutely.triggered(null), calendar, 60_000).nextFireTimeMs).toBe(120_000)
  const half = SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(30_000).repeatForever()
  const other = minutely.getTriggerBuilder().withSchedule(half).build().computeFirstFireTime(null)
  foreseen.updated(other.triggered(null), calendar, 60_000)
  expect(seen.questions - before).toBe(2)
  expect(foreseen.updated(minutely, { ...calendar }, 0).nextFireTimeMs).toBe(60_000)
  expect(seen.questions - before).toBe(3)
})
