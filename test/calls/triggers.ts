import {
  CalendarIntervalScheduleBuilder,
  CalendarIntervalTrigger,
  CronScheduleBuilder,
  CronTrigger,
  DailyTimeIntervalScheduleBuilder,
  DailyTimeIntervalTrigger,
  DateBuilder,
  SimpleScheduleBuilder,
  SimpleTrigger,
  TimeOfDay,
  TimeZone,
  type Trigger,
  TriggerBuilder,
  TriggerUtils,
} from '../../src/index.ts'
import { TriggerFamilies } from '../../src/spi.ts'
import { slowingFamily } from '../support/slowing-trigger.ts'
import * as kinds from './kinds.ts'
import type { Surface } from './surface.ts'

const invalidTrigger = 'ERR_INVALID_TRIGGER'
const atBuild = { because: 'checked by build, see below' }
const now = { clock: kinds.aClock, timeZone: kinds.text }
const dateOptions = kinds.options(now)
const whole = (good: number): kinds.Kind =>
  kinds.plus({ ...kinds.number, good }, { value: 0.5 }, { value: -1 })
const time = { hour: whole(8), minute: whole(0), second: whole(0) }
const weekday = { ...kinds.number, good: 2 }
const cronTime = { hour: kinds.number, minute: kinds.number }
const weekdays = { ...weekday, wrong: weekday.wrong.map((wrong) => ({ ...wrong, field: '[0]' })) }
const instant = (field: string): kinds.Kind => kinds.named(kinds.date, { field })
const given = (of: kinds.Kind): kinds.Kind => ({ ...of, wrong: [] })
const count = { ...kinds.number, good: 1 }
const dayOf = (good: number): kinds.Kind => ({ ...kinds.number, good })

/** What the methods of a schedule builder lead to when the trigger is built. */
function built<Schedule>(make: () => Schedule, call: (schedule: Schedule, value: never) => unknown) {
  return (value: unknown): Trigger => {
    const schedule = make()
    call(schedule, value as never)
    return TriggerBuilder.newTrigger()
      .withSchedule(schedule as never)
      .build() as Trigger
  }
}

const simple = (): SimpleScheduleBuilder => SimpleScheduleBuilder.repeatHourlyForever()
const cron = (): CronScheduleBuilder => CronScheduleBuilder.dailyAtHourAndMinute(8, 0)
const interval = (): CalendarIntervalScheduleBuilder =>
  CalendarIntervalScheduleBuilder.calendarIntervalSchedule()
const daily = (): DailyTimeIntervalScheduleBuilder =>
  DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule()
const misfire = kinds.named(kinds.oneOf('smart'), { field: 'misfireInstruction', code: invalidTrigger })
const atBuilding = (field: string): kinds.Kind => kinds.named(kinds.number, { field, code: invalidTrigger })

const byHand = { fields: kinds.madeByHand, schedule: given(kinds.object) }

export const triggerSurfaces: readonly Surface[] = [
  ...[SimpleTrigger, CronTrigger, CalendarIntervalTrigger, DailyTimeIntervalTrigger].map((subject) => ({
    name: subject.name,
    subject,
    calls: { new: byHand },
  })),
  {
    name: 'TimeZone',
    subject: TimeZone,
    calls: {
      new: { name: given(kinds.text), source: kinds.madeByHand },
      of: { timeZone: kinds.zone },
      isKnown: { name: given(kinds.text) },
      system: {},
    },
  },
  {
    name: 'TriggerBuilder',
    subject: TriggerBuilder,
    calls: { newTrigger: { options: kinds.options({ clock: kinds.aClock, ids: kinds.someIds }) } },
  },
  {
    name: 'TriggerBuilder.prototype',
    subject: TriggerBuilder.newTrigger(),
    calls: {
      withIdentity: [
        { identity: kinds.but(kinds.keyOfTrigger, 't') },
        { name: { ...kinds.name, wrong: [{ value: '' }] }, group: kinds.optional(kinds.name) },
      ],
      forJob: [
        { job: kinds.but(kinds.keyOfJob, 'a', kinds.jobDetail) },
        { name: { ...kinds.name, wrong: [{ value: '' }] }, group: kinds.optional(kinds.name) },
      ],
      withDescription: { description: kinds.orNull(kinds.text) },
      withPriority: { priority: kinds.number },
      modifiedByCalendar: { name: kinds.orNull(kinds.text) },
      startAt: { start: instant('startAt') },
      startNow: {},
      endAt: { end: kinds.orNull(instant('endAt')) },
      withSchedule: { schedule: kinds.schedule },
      usingJobData: {
        data: kinds.but(
          kinds.named(kinds.object, { field: 'jobDataMap', code: 'ERR_INVALID_JOB_DATA' }),
          'x',
        ),
      },
      build: {},
    },
  },
  {
    name: 'SimpleScheduleBuilder',
    subject: SimpleScheduleBuilder,
    calls: {
      simpleSchedule: {},
      of: { schedule: kinds.object },
      repeatSecondlyForever: { seconds: kinds.optional(kinds.number) },
      repeatMinutelyForever: { minutes: kinds.optional(kinds.number) },
      repeatHourlyForever: { hours: kinds.optional(kinds.number) },
      repeatSecondlyForTotalCount: {
        totalCount: kinds.named(kinds.number, { code: invalidTrigger }),
        seconds: kinds.optional(count),
      },
      repeatMinutelyForTotalCount: {
        totalCount: kinds.named(kinds.number, { code: invalidTrigger }),
        minutes: kinds.optional(count),
      },
      repeatHourlyForTotalCount: {
        totalCount: kinds.named(kinds.number, { code: invalidTrigger }),
        hours: kinds.optional(count),
      },
    },
  },
  {
    name: 'SimpleScheduleBuilder.prototype',
    subject: simple(),
    calls: {
      withInterval: {
        interval: kinds.plus(
          kinds.object,
          { value: { weeks: 1 }, field: 'weeks', code: 'ERR_INVALID_OPTION' },
          { value: { hours: '1' }, field: 'hours', code: 'ERR_INVALID_OPTION' },
        ),
      },
      withIntervalInMilliseconds: { milliseconds: kinds.number },
      withIntervalInSeconds: { seconds: kinds.number },
      withIntervalInMinutes: { minutes: kinds.number },
      withIntervalInHours: { hours: kinds.number },
      withRepeatCount: atBuild,
      repeatForever: {},
      withMisfireInstruction: atBuild,
      build: { fields: kinds.madeByHand },
    },
  },
  {
    name: 'CronScheduleBuilder',
    subject: CronScheduleBuilder,
    calls: {
      new: { cronExpression: kinds.madeByHand },
      cronSchedule: {
        expression: kinds.but(kinds.schedule, '0 0 12 * * ?'),
        options: given(kinds.object),
      },
      unixCron: { expression: kinds.cronText('* * * * *'), options: given(kinds.object) },
      dailyAtHourAndMinute: cronTime,
      atHourAndMinuteOnGivenDaysOfWeek: { ...cronTime, daysOfWeek: weekdays },
      weeklyOnDayAndHourAndMinute: { dayOfWeek: weekday, ...cronTime },
      monthlyOnDayAndHourAndMinute: { dayOfMonth: dayOf(3), ...cronTime },
      of: { schedule: kinds.object },
    },
  },
  {
    name: 'CronScheduleBuilder.prototype',
    subject: cron(),
    calls: {
      inTimeZone: { timeZone: kinds.zone },
      withDstPolicy: { dst: kinds.named(kinds.oneOf('vixie'), { code: 'ERR_INVALID_OPTION' }) },
      withMisfireInstruction: atBuild,
      build: { fields: kinds.madeByHand },
    },
  },
  {
    name: 'CalendarIntervalScheduleBuilder',
    subject: CalendarIntervalScheduleBuilder,
    calls: { calendarIntervalSchedule: {}, of: { schedule: kinds.object } },
  },
  {
    name: 'CalendarIntervalScheduleBuilder.prototype',
    subject: interval(),
    calls: {
      withInterval: { interval: kinds.number, unit: given(kinds.text) },
      ...Object.fromEntries(
        ['Seconds', 'Minutes', 'Hours', 'Days', 'Weeks', 'Months', 'Years'].map((unit) => [
          `withIntervalIn${unit}`,
          { interval: kinds.number },
        ]),
      ),
      inTimeZone: { timeZone: kinds.zone },
      preserveHourOfDayAcrossDaylightSavings: { options: kinds.options({ enabled: kinds.boolean }) },
      skipDayIfHourDoesNotExist: { options: kinds.options({ enabled: kinds.boolean }) },
      withMisfireInstruction: atBuild,
      build: { fields: kinds.madeByHand },
    },
  },
  {
    name: 'DailyTimeIntervalScheduleBuilder',
    subject: DailyTimeIntervalScheduleBuilder,
    calls: { dailyTimeIntervalSchedule: {}, of: { schedule: kinds.object } },
  },
  {
    name: 'DailyTimeIntervalScheduleBuilder.prototype',
    subject: daily(),
    calls: {
      withInterval: { interval: kinds.number, unit: given(kinds.text) },
      withIntervalInSeconds: { interval: kinds.number },
      withIntervalInMinutes: { interval: kinds.number },
      withIntervalInHours: { interval: kinds.number },
      onDaysOfTheWeek: { daysOfWeek: kinds.named(weekday, { code: invalidTrigger }) },
      onMondayThroughFriday: {},
      onSaturdayAndSunday: {},
      onEveryDay: {},
      startingDailyAt: { timeOfDay: kinds.timeOfDay },
      endingDailyAt: { timeOfDay: kinds.timeOfDay },
      endingDailyAfterCount: { count: kinds.number },
      withRepeatCount: atBuild,
      inTimeZone: { timeZone: kinds.zone },
      withMisfireInstruction: atBuild,
      build: { fields: kinds.madeByHand },
    },
  },
  {
    name: 'built',
    subject: {
      simpleRepeatCount: built(simple, (builder, value) => builder.withRepeatCount(value)),
      simpleMisfire: built(simple, (builder, value) => builder.withMisfireInstruction(value)),
      cronMisfire: built(cron, (builder, value) => builder.withMisfireInstruction(value)),
      intervalMisfire: built(interval, (builder, value) => builder.withMisfireInstruction(value)),
      intervalUnit: built(interval, (builder, value) => builder.withInterval(1, value)),
      dailyUnit: built(daily, (builder, value) => builder.withInterval(1, value)),
      dailyMisfire: built(daily, (builder, value) => builder.withMisfireInstruction(value)),
      dailyRepeatCount: built(daily, (builder, value) => builder.withRepeatCount(value)),
    },
    calls: {
      simpleRepeatCount: { value: atBuilding('repeatCount') },
      simpleMisfire: { value: misfire },
      cronMisfire: { value: misfire },
      intervalMisfire: { value: misfire },
      intervalUnit: {
        value: kinds.named(kinds.oneOf('DAY'), { field: 'repeatIntervalUnit', code: invalidTrigger }),
      },
      dailyUnit: {
        value: kinds.named(kinds.oneOf('HOUR'), { field: 'repeatIntervalUnit', code: invalidTrigger }),
      },
      dailyMisfire: { value: misfire },
      dailyRepeatCount: { value: atBuilding('repeatCount') },
    },
  },
  {
    name: 'TimeOfDay',
    subject: TimeOfDay,
    calls: {
      new: {
        hour: kinds.named(whole(8), { code: invalidTrigger }),
        minute: kinds.named(whole(0), { code: invalidTrigger }),
      },
      hourAndMinuteOfDay: { hour: kinds.named(whole(8), { code: invalidTrigger }) },
      hourMinuteAndSecondOfDay: { hour: kinds.named(whole(8), { code: invalidTrigger }) },
      ofSecondOfDay: { because: 'seconds are taken apart by the constructor' },
    },
  },
  {
    name: 'TimeOfDay.prototype',
    subject: new TimeOfDay(8, 0),
    calls: { isBefore: { other: kinds.timeOfDay }, equals: { other: kinds.timeOfDay }, toString: {} },
  },
  {
    name: 'TriggerFamilies',
    subject: TriggerFamilies,
    calls: { new: { more: kinds.optional(kinds.listOf({ ...kinds.object, good: slowingFamily })) } },
  },
  {
    name: 'TriggerFamilies.prototype',
    subject: new TriggerFamilies([slowingFamily]),
    calls: {
      of: { because: 'stores call it with triggers that the scheduler has checked' },
      ofType: { because: 'stores call it' },
      ofStoredType: { because: 'stores call it with what a row holds' },
      toJSON: { trigger: kinds.aTrigger },
      fromJSON: { json: kinds.named(kinds.but(kinds.object, {}), { field: 'type', code: invalidTrigger }) },
    },
  },
  {
    name: 'TriggerUtils',
    subject: TriggerUtils,
    calls: {
      computeFireTimes: {
        trigger: kinds.aTrigger,
        calendar: kinds.orNull(kinds.aCalendar),
        count: count,
      },
      computeFireTimesBetween: {
        trigger: kinds.aTrigger,
        calendar: kinds.orNull(kinds.aCalendar),
        from: instant('from'),
        to: instant('to'),
      },
      computeEndTimeToAllowParticularNumberOfFirings: {
        trigger: kinds.aTrigger,
        calendar: kinds.orNull(kinds.aCalendar),
        count: count,
      },
    },
  },
  {
    name: 'DateBuilder',
    subject: DateBuilder,
    calls: {
      newDate: { options: dateOptions },
      futureDate: { interval: kinds.number, unit: kinds.oneOf('DAY'), options: dateOptions },
      todayAt: { ...time, options: dateOptions },
      tomorrowAt: { ...time, options: dateOptions },
      dateOf: {
        time: { ...kinds.object, good: { hour: 8, minute: 0, second: 0 } },
        date: kinds.optional(kinds.object),
        options: dateOptions,
      },
      ...Object.fromEntries(
        ['Hour', 'Minute', 'Second'].flatMap((unit) => [
          [`even${unit}Date`, { date: kinds.date, options: dateOptions }],
          [`even${unit}DateAfterNow`, { options: dateOptions }],
          [`even${unit}DateBefore`, { date: kinds.date, options: dateOptions }],
        ]),
      ),
      nextGivenMinuteDate: { date: kinds.date, minuteBase: whole(5), options: dateOptions },
      nextGivenSecondDate: { date: kinds.date, secondBase: whole(5), options: dateOptions },
      translateTime: { date: kinds.date, zones: { ...kinds.object, good: { from: 'UTC', to: 'UTC' } } },
      validateHour: { hour: whole(8) },
      validateMinute: { minute: whole(8) },
      validateSecond: { second: whole(8) },
      validateDayOfMonth: { day: whole(8) },
      validateDayOfWeek: { dayOfWeek: whole(8) },
      validateMonth: { month: whole(8) },
      validateYear: { year: whole(8) },
    },
  },
  {
    name: 'DateBuilder.prototype',
    subject: DateBuilder.newDate(),
    calls: {
      atHourOfDay: { hour: whole(8) },
      atMinute: { minute: whole(8) },
      atSecond: { second: whole(8) },
      atHourMinuteAndSecond: time,
      onDay: { day: whole(8) },
      inMonth: { month: whole(8) },
      inMonthOnDay: { month: whole(8), day: whole(8) },
      inYear: { year: whole(8) },
      inTimeZone: { timeZone: kinds.zone },
      build: {},
    },
  },
]
