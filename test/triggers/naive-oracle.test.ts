import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DailyTimeIntervalScheduleBuilder } from '../../src/triggers/families/daily/daily-time-interval-trigger.ts'
import {
  type CalendarIntervalUnit,
  calendarIntervalUnits,
} from '../../src/triggers/families/interval/calendar-interval-schedule.ts'
import { CalendarIntervalScheduleBuilder } from '../../src/triggers/families/interval/calendar-interval-trigger.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { TimeOfDay } from '../../src/triggers/time-of-day.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'
import { instants, propertySeed } from '../support/trigger-arbitraries.ts'
import { fireInstants } from '../support/trigger-text.ts'

const seed = propertySeed
const count = 40
const numbers = Array.from({ length: count }, (_, index) => index)
const fractions = fc.double({ min: -0.1, max: 1, noNaN: true })

/** All fires, and the next one after an instant somewhere among them, must be what stepping along says. */
function expectFires(trigger: Trigger, expected: readonly number[], fraction: number): void {
  expect(fireInstants(trigger, expected.length)).toEqual(expected)
  const first = expected[0] ?? 0
  const last = expected.at(-1) ?? 0
  const after = Math.floor(first + fraction * (last - first - 1))
  expect(trigger.fireTimeAfterMs(after)).toBe(expected.find((fireMs) => fireMs > after))
}

const elapsed: Partial<Record<CalendarIntervalUnit, number>> = {
  SECOND: 1000,
  MINUTE: 60_000,
  HOUR: 3_600_000,
}
const daysOf: Partial<Record<CalendarIntervalUnit, number>> = { DAY: 1, WEEK: 7 }
const monthsOf: Partial<Record<CalendarIntervalUnit, number>> = { MONTH: 1, YEAR: 12 }

/** Start plus so many units in UTC, by the platform's own calendar. */
function plusUnits(startMs: number, units: number, unit: CalendarIntervalUnit): number {
  const date = new Date(startMs)
  const days = daysOf[unit]
  const months = monthsOf[unit]
  if (days !== undefined) date.setUTCDate(date.getUTCDate() + units * days)
  if (months !== undefined) {
    const month = date.getUTCMonth() + units * months
    const lastDay = new Date(Date.UTC(date.getUTCFullYear(), month + 1, 0)).getUTCDate()
    date.setUTCMonth(month, Math.min(date.getUTCDate(), lastDay))
  }
  return date.getTime() + units * (elapsed[unit] ?? 0)
}

describe(`stepping along finds the same fires (seed ${seed})`, () => {
  it('as a simple trigger', () => {
    fc.assert(
      fc.property(instants, fc.integer({ min: 1, max: 1e9 }), fractions, (startMs, intervalMs, fraction) => {
        const schedule = SimpleScheduleBuilder.simpleSchedule()
          .withIntervalInMilliseconds(intervalMs)
          .repeatForever()
        const trigger = TriggerBuilder.newTrigger().startAt(new Date(startMs)).withSchedule(schedule).build()
        const expected = numbers.map((number) => startMs + number * intervalMs)
        expectFires(trigger, expected, fraction)
      }),
      { seed, numRuns: 500 },
    )
  })

  it('as a calendar-interval trigger', () => {
    const units = fc.constantFrom(...calendarIntervalUnits)
    fc.assert(
      fc.property(
        instants,
        fc.integer({ min: 1, max: 40 }),
        units,
        fractions,
        (startMs, interval, unit, fraction) => {
          const schedule = CalendarIntervalScheduleBuilder.calendarIntervalSchedule()
            .withInterval(interval, unit)
            .inTimeZone('UTC')
          const trigger = TriggerBuilder.newTrigger()
            .startAt(new Date(startMs))
            .withSchedule(schedule)
            .build()
          const expected = numbers.map((number) => plusUnits(startMs, number * interval, unit))
          expectFires(trigger, expected, fraction)
        },
      ),
      { seed, numRuns: 1000 },
    )
  })

  it('as a daily-time-interval trigger', () => {
    const seconds = fc.integer({ min: 0, max: 86_399 })
    const weekdays = fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 })
    fc.assert(
      fc.property(
        instants,
        fc.tuple(seconds, seconds),
        fc.integer({ min: 1, max: 1440 }),
        weekdays,
        fractions,
        (startMs, window, minutes, daysOfWeek, fraction) => {
          const schedule = DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule()
            .withIntervalInMinutes(minutes)
            .startingDailyAt(TimeOfDay.ofSecondOfDay(Math.min(...window)))
            .endingDailyAt(TimeOfDay.ofSecondOfDay(Math.max(...window)))
            .onDaysOfTheWeek(...daysOfWeek)
            .inTimeZone('UTC')
          const trigger = TriggerBuilder.newTrigger()
            .startAt(new Date(startMs))
            .withSchedule(schedule)
            .build()
          const expected: number[] = []
          const midnight = new Date(startMs)
          midnight.setUTCHours(0, 0, 0, 0)
          while (expected.length < count) {
            const dayMs = midnight.getTime()
            for (let second = Math.min(...window); second <= Math.max(...window); second += minutes * 60) {
              const isAllowed = daysOfWeek.includes(midnight.getUTCDay() + 1)
              if (isAllowed && dayMs + second * 1000 >= startMs) expected.push(dayMs + second * 1000)
            }
            midnight.setUTCDate(midnight.getUTCDate() + 1)
          }
          expectFires(trigger, expected, fraction)
        },
      ),
      { seed, numRuns: 500 },
    )
  })
})
