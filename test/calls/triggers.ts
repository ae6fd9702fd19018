import {
  CalendarIntervalScheduleBuilder,
  CronScheduleBuilder,
  DailyTimeIntervalScheduleBuilder,
  DateBuilder,
  SimpleScheduleBuilder,
  TimeOfDay,
  type Trigger,
  TriggerBuilder,
  TriggerUtils,
} from '../../src/index.ts'
import { TriggerFamilies } from '../../src/spi.ts'
import { slowingFamily } from '../support/slowing-trigger.ts'
import {
  aCalendar,
  aClock,
  aTrigger,
  boolean,
  but,
  cronText,
  date,
  jobDetail,
  type Kind,
  keyOfJob,
  keyOfTrigger,
  listOf,
  name,
  named,
  number,
  object,
  oneOf,
  optional,
  options,
  orNull,
  plus,
  schedule,
  someIds,
  text,
  timeOfDay,
  zone,
} from './kinds.ts'
import type { Surface } from './surface.ts'

const invalidTrigger = 'ERR_INVALID_TRIGGER'
const called = { because: 'TriggerBuilder calls it' }
const atBuild = { because: 'checked by build, see below' }
const now = { clock: aClock, timeZone: text }
const dateOptions = options(now)
const whole = (good: number): Kind => plus({ ...number, good }, { value: 0.5 }, { value: -1 })
const time = { hour: whole(8), minute: whole(0), second: whole(0) }
const weekday = { ...number, good: 2 }
const cronTime = { hour: number, minute: number }
const weekdays = { ...weekday, wrong: weekday.wrong.map((wrong) => ({ ...wrong, field: '[0]' })) }
const instant = (field: string): Kind => named(date, { field, code: invalidTrigger })
const given = (of: Kind): Kind => ({ ...of, wrong: [] })
const count = { ...number, good: 1 }
const dayOf = (good: number): Kind => ({ ...number, good })

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
const misfire = named(oneOf('smart'), { field: 'misfireInstruction', code: invalidTrigger })
const atBuilding = (field: string): Kind => named(number, { field, code: invalidTrigger })

export const triggerSurfaces: readonly Surface[] = [
  {
    name: 'TriggerBuilder',
    subject: TriggerBuilder,
    calls: { newTrigger: { options: options({ clock: aClock, ids: someIds }) } },
  },
  {
    name: 'TriggerBuilder.prototype',
    subject: TriggerBuilder.newTrigger(),
    calls: {
      withIdentity: [
        { identity: but(keyOfTrigger, 't') },
        { name: { ...name, wrong: [{ value: '' }] }, group: optional(name) },
      ],
      forJob: [
        { job: but(keyOfJob, 'a', jobDetail) },
        { name: { ...name, wrong: [{ value: '' }] }, group: optional(name) },
      ],
      withDescription: { description: orNull(text) },
      withPriority: { priority: number },
      modifiedByCalendar: { name: orNull(text) },
      startAt: { start: instant('startTime') },
      startNow: {},
      endAt: { end: orNull(instant('endTime')) },
      withSchedule: { schedule },
      usingJobData: { data: but(named(object, { field: 'jobDataMap', code: 'ERR_INVALID_JOB_DATA' }), 'x') },
      build: {},
    },
  },
  {
    name: 'SimpleScheduleBuilder',
    subject: SimpleScheduleBuilder,
    calls: {
      simpleSchedule: {},
      of: { schedule: object },
      repeatSecondlyForever: { seconds: optional(number) },
      repeatMinutelyForever: { minutes: optional(number) },
      repeatHourlyForever: { hours: optional(number) },
      repeatSecondlyForTotalCount: {
        totalCount: named(number, { code: invalidTrigger }),
        seconds: optional(count),
      },
      repeatMinutelyForTotalCount: {
        totalCount: named(number, { code: invalidTrigger }),
        minutes: optional(count),
      },
      repeatHourlyForTotalCount: {
        totalCount: named(number, { code: invalidTrigger }),
        hours: optional(count),
      },
    },
  },
  {
    name: 'SimpleScheduleBuilder.prototype',
    subject: simple(),
    calls: {
      withInterval: {
        interval: plus(
          object,
          { value: { weeks: 1 }, field: 'weeks', code: 'ERR_INVALID_OPTION' },
          { value: { hours: '1' }, field: 'hours', code: 'ERR_INVALID_OPTION' },
        ),
      },
      withIntervalInMilliseconds: { milliseconds: number },
      withIntervalInSeconds: { seconds: number },
      withIntervalInMinutes: { minutes: number },
      withIntervalInHours: { hours: number },
      withRepeatCount: atBuild,
      repeatForever: {},
      withMisfireInstruction: atBuild,
      build: called,
    },
  },
  {
    name: 'CronScheduleBuilder',
    subject: CronScheduleBuilder,
    calls: {
      cronSchedule: {
        expression: but(schedule, '0 0 12 * * ?'),
        options: given(object),
      },
      unixCron: { expression: cronText('* * * * *') },
      dailyAtHourAndMinute: cronTime,
      atHourAndMinuteOnGivenDaysOfWeek: { ...cronTime, daysOfWeek: weekdays },
      weeklyOnDayAndHourAndMinute: { dayOfWeek: weekday, ...cronTime },
      monthlyOnDayAndHourAndMinute: { dayOfMonth: dayOf(3), ...cronTime },
      of: { schedule: object },
    },
  },
  {
    name: 'CronScheduleBuilder.prototype',
    subject: cron(),
    calls: {
      inTimeZone: { timeZone: zone },
      withDstPolicy: { dst: named(oneOf('vixie'), { code: 'ERR_INVALID_OPTION' }) },
      withMisfireInstruction: atBuild,
      build: called,
    },
  },
  {
    name: 'CalendarIntervalScheduleBuilder',
    subject: CalendarIntervalScheduleBuilder,
    calls: { calendarIntervalSchedule: {}, of: { schedule: object } },
  },
  {
    name: 'CalendarIntervalScheduleBuilder.prototype',
    subject: interval(),
    calls: {
      withInterval: { interval: number, unit: given(text) },
      ...Object.fromEntries(
        ['Seconds', 'Minutes', 'Hours', 'Days', 'Weeks', 'Months', 'Years'].map((unit) => [
          `withIntervalIn${unit}`,
          { interval: number },
        ]),
      ),
      inTimeZone: { timeZone: zone },
      preserveHourOfDayAcrossDaylightSavings: { options: options({ enabled: boolean }) },
      skipDayIfHourDoesNotExist: { options: options({ enabled: boolean }) },
      withMisfireInstruction: atBuild,
      build: called,
    },
  },
  {
    name: 'DailyTimeIntervalScheduleBuilder',
    subject: DailyTimeIntervalScheduleBuilder,
    calls: { dailyTimeIntervalSchedule: {}, of: { schedule: object } },
  },
  {
    name: 'DailyTimeIntervalScheduleBuilder.prototype',
    subject: daily(),
    calls: {
      withInterval: { interval: number, unit: given(text) },
      withIntervalInSeconds: { interval: number },
      withIntervalInMinutes: { interval: number },
      withIntervalInHours: { interval: number },
      onDaysOfTheWeek: { daysOfWeek: named(weekday, { code: invalidTrigger }) },
      onMondayThroughFriday: {},
      onSaturdayAndSunday: {},
      onEveryDay: {},
      startingDailyAt: { timeOfDay },
      endingDailyAt: { timeOfDay },
      endingDailyAfterCount: { count: number },
      withRepeatCount: atBuild,
      inTimeZone: { timeZone: zone },
      withMisfireInstruction: atBuild,
      build: called,
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
      intervalUnit: { value: named(oneOf('DAY'), { field: 'repeatIntervalUnit', code: invalidTrigger }) },
      dailyUnit: { value: named(oneOf('HOUR'), { field: 'repeatIntervalUnit', code: invalidTrigger }) },
      dailyMisfire: { value: misfire },
      dailyRepeatCount: { value: atBuilding('repeatCount') },
    },
  },
  {
    name: 'TimeOfDay',
    subject: TimeOfDay,
    calls: {
      new: {
        hour: named(whole(8), { code: invalidTrigger }),
        minute: named(whole(0), { code: invalidTrigger }),
      },
      hourAndMinuteOfDay: { hour: named(whole(8), { code: invalidTrigger }) },
      hourMinuteAndSecondOfDay: { hour: named(whole(8), { code: invalidTrigger }) },
      ofSecondOfDay: { because: 'seconds are taken apart by the constructor' },
    },
  },
  {
    name: 'TimeOfDay.prototype',
    subject: new TimeOfDay(8, 0),
    calls: { isBefore: { other: timeOfDay }, equals: { other: timeOfDay }, toString: {} },
  },
  {
    name: 'TriggerFamilies',
    subject: TriggerFamilies,
    calls: { new: { more: optional(listOf({ ...object, good: slowingFamily })) } },
  },
  {
    name: 'TriggerFamilies.prototype',
    subject: new TriggerFamilies([slowingFamily]),
    calls: {
      of: { because: 'stores call it with triggers that the scheduler has checked' },
      ofType: { because: 'stores call it' },
      ofStoredType: { because: 'stores call it with what a row holds' },
      toJSON: { trigger: aTrigger },
      fromJSON: { json: named(but(object, {}), { field: 'type', code: invalidTrigger }) },
    },
  },
  {
    name: 'TriggerUtils',
    subject: TriggerUtils,
    calls: {
      computeFireTimes: {
        trigger: aTrigger,
        calendar: orNull(aCalendar),
        count: named(count, { code: invalidTrigger }),
      },
      computeFireTimesBetween: {
        trigger: aTrigger,
        calendar: orNull(aCalendar),
        from: instant('from'),
        to: instant('to'),
      },
      computeEndTimeToAllowParticularNumberOfFirings: {
        trigger: aTrigger,
        calendar: orNull(aCalendar),
        count: named(count, { code: invalidTrigger }),
      },
    },
  },
  {
    name: 'DateBuilder',
    subject: DateBuilder,
    calls: {
      newDate: { options: dateOptions },
      futureDate: { interval: number, unit: oneOf('DAY'), options: dateOptions },
      todayAt: { ...time, options: dateOptions },
      tomorrowAt: { ...time, options: dateOptions },
      dateOf: {
        time: { ...object, good: { hour: 8, minute: 0, second: 0 } },
        date: optional(object),
        options: dateOptions,
      },
      ...Object.fromEntries(
        ['Hour', 'Minute', 'Second'].flatMap((unit) => [
          [`even${unit}Date`, { date, options: dateOptions }],
          [`even${unit}DateAfterNow`, { options: dateOptions }],
          [`even${unit}DateBefore`, { date, options: dateOptions }],
        ]),
      ),
      nextGivenMinuteDate: { date, minuteBase: whole(5), options: dateOptions },
      nextGivenSecondDate: { date, secondBase: whole(5), options: dateOptions },
      translateTime: { date, zones: { ...object, good: { from: 'UTC', to: 'UTC' } } },
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
      inTimeZone: { timeZone: zone },
      build: {},
    },
  },
]
