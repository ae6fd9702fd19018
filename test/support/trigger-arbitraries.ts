import fc from 'fast-check'
import type { CalendarDefinition } from '../../src/triggers/calendars/calendar.ts'

/** Printed in test names; change it to look at other cases. */
export const propertySeed = 20_260_101

export const zones: fc.Arbitrary<string> = fc.constantFrom(
  'UTC',
  'America/New_York',
  'Europe/London',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Africa/Cairo',
  'America/St_Johns',
  'Pacific/Apia',
)

const clockTimes = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`)

const ownParts: fc.Arbitrary<CalendarDefinition> = fc.oneof(
  fc.record({
    type: fc.constant('weekly'),
    excludedDays: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { maxLength: 6 }),
  }),
  fc.record({
    type: fc.constant('monthly'),
    excludedDays: fc.uniqueArray(fc.integer({ min: 1, max: 31 }), { maxLength: 31 }),
  }),
  fc.record({
    type: fc.constant('annual'),
    excludedDays: fc.array(
      fc.record({ month: fc.integer({ min: 1, max: 12 }), day: fc.integer({ min: 1, max: 28 }) }),
    ),
  }),
  fc.record({
    type: fc.constant('holiday'),
    excludedDates: fc.array(
      fc.integer({ min: 0, max: 40_000 }).map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10)),
    ),
  }),
  fc
    .record({
      type: fc.constant('daily'),
      times: fc.tuple(clockTimes, clockTimes),
      invertTimeRange: fc.boolean(),
    })
    .map(({ type, times, invertTimeRange }) => {
      const [rangeStart = '', rangeEnd = ''] = [...times].sort()
      return { type, rangeStart, rangeEnd, invertTimeRange }
    }),
)

function withBase(
  own: CalendarDefinition,
  timeZone: string,
  base: CalendarDefinition | null,
): CalendarDefinition {
  return { ...own, timeZone, ...(base === null ? {} : { base }) }
}

const singleCalendars = fc.tuple(ownParts, zones).map(([own, timeZone]) => withBase(own, timeZone, null))

/** Calendars of every family in many zones, some of them standing on another. */
export const calendarDefinitions: fc.Arbitrary<CalendarDefinition> = fc
  .tuple(ownParts, zones, fc.option(singleCalendars))
  .map(([own, timeZone, base]) => withBase(own, timeZone, base))
