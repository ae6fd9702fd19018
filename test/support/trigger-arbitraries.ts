import fc from 'fast-check'
import type { CalendarDefinition } from '../../src/triggers/calendars/calendar.ts'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { DailyTimeIntervalScheduleBuilder } from '../../src/triggers/families/daily/daily-time-interval-trigger.ts'
import { calendarIntervalUnits } from '../../src/triggers/families/interval/calendar-interval-schedule.ts'
import { CalendarIntervalScheduleBuilder } from '../../src/triggers/families/interval/calendar-interval-trigger.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { ScheduleBuilder } from '../../src/triggers/fluent-trigger-builder.ts'
import {
  calendarMisfireInstructions,
  simpleMisfireInstructions,
} from '../../src/triggers/misfire-instruction.ts'
import { TimeOfDay } from '../../src/triggers/time-of-day.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'

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

const calendarInstructions = fc.constantFrom(...calendarMisfireInstructions)

const simpleSchedules: fc.Arbitrary<ScheduleBuilder<Trigger>> = fc
  .tuple(
    fc.oneof(fc.constant(-1), fc.integer({ min: 0, max: 50 })),
    fc.oneof(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 400_000_000 })),
    fc.constantFrom(...simpleMisfireInstructions),
  )
  .map(([count, intervalMs, instruction]) =>
    SimpleScheduleBuilder.simpleSchedule()
      .withRepeatCount(count)
      .withIntervalInMilliseconds(intervalMs)
      .withMisfireInstruction(instruction),
  )

const cronSchedules: fc.Arbitrary<ScheduleBuilder<Trigger>> = fc
  .tuple(
    fc.constantFrom(
      '0 30 2 * * ?',
      '0/7 * * * * ?',
      '0 0 0 L * ?',
      '15,45 10-20/3 1,2 ? * MON-FRI',
      '0 0 12 29 2 ?',
    ),
    zones,
    fc.constantFrom('vixie' as const, 'quartz' as const),
    calendarInstructions,
  )
  .map(([expression, zone, dst, instruction]) =>
    CronScheduleBuilder.cronSchedule(expression, { timeZone: zone, dst }).withMisfireInstruction(instruction),
  )

const calendarIntervalSchedules: fc.Arbitrary<ScheduleBuilder<Trigger>> = fc
  .record({
    interval: fc.integer({ min: 1, max: 60 }),
    unit: fc.constantFrom(...calendarIntervalUnits),
    zone: zones,
    preserve: fc.boolean(),
    skip: fc.boolean(),
    instruction: calendarInstructions,
  })
  .map(({ interval, unit, zone, preserve, skip, instruction }) =>
    CalendarIntervalScheduleBuilder.calendarIntervalSchedule()
      .withInterval(interval, unit)
      .inTimeZone(zone)
      .preserveHourOfDayAcrossDaylightSavings({ enabled: preserve })
      .skipDayIfHourDoesNotExist({ enabled: skip })
      .withMisfireInstruction(instruction),
  )

const dailySchedules: fc.Arbitrary<ScheduleBuilder<Trigger>> = fc
  .record({
    interval: fc.integer({ min: 1, max: 1440 }),
    unit: fc.constantFrom('SECOND' as const, 'MINUTE' as const),
    window: fc.tuple(fc.integer({ min: 0, max: 86_399 }), fc.integer({ min: 0, max: 86_399 })),
    days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
    count: fc.oneof(fc.constant(-1), fc.integer({ min: 0, max: 50 })),
    zone: zones,
    instruction: calendarInstructions,
  })
  .map(({ interval, unit, window, days, count, zone, instruction }) =>
    DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule()
      .withInterval(interval, unit)
      .startingDailyAt(TimeOfDay.ofSecondOfDay(Math.min(...window)))
      .endingDailyAt(TimeOfDay.ofSecondOfDay(Math.max(...window)))
      .onDaysOfTheWeek(...days)
      .withRepeatCount(count)
      .inTimeZone(zone)
      .withMisfireInstruction(instruction),
  )

/** Instants from 1990 to 2060. */
export const instants: fc.Arbitrary<number> = fc.integer({
  min: Date.UTC(1990, 0, 1),
  max: Date.UTC(2060, 0, 1),
})

/** Triggers of every family with every field, that have not fired. */
export const triggers: fc.Arbitrary<Trigger> = fc
  .record({
    schedule: fc.oneof(simpleSchedules, cronSchedules, calendarIntervalSchedules, dailySchedules),
    startMs: instants,
    durationMs: fc.option(fc.integer({ min: 0, max: 40_000_000_000 })),
    group: fc.constantFrom('DEFAULT', 'reports'),
    job: fc.option(fc.constantFrom('mail', 'clean')),
    description: fc.option(fc.string()),
    calendarName: fc.option(fc.constantFrom('holidays', 'nights')),
    priority: fc.integer({ min: -10, max: 10 }),
    data: fc
      .dictionary(
        fc.string(),
        fc.json().map((text): unknown => JSON.parse(text)),
      )
      .filter((data) => !JSON.stringify(data).includes('"__proto__"')),
  })
  .map((parts) => {
    const builder = TriggerBuilder.newTrigger()
      .withIdentity('trigger', parts.group)
      .withDescription(parts.description)
      .withPriority(parts.priority)
      .modifiedByCalendar(parts.calendarName)
      .startAt(new Date(parts.startMs))
      .endAt(parts.durationMs === null ? null : new Date(parts.startMs + parts.durationMs))
      .usingJobData(parts.data)
    if (parts.job !== null) builder.forJob(parts.job, 'jobs')
    return builder.withSchedule(parts.schedule).build()
  })
