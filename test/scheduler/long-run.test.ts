import { describe, expect, it } from 'vitest'
import {
  CalendarIntervalScheduleBuilder,
  CronScheduleBuilder,
  DailyTimeIntervalScheduleBuilder,
  defineJob,
  JobBuilder,
  type ScheduleBuilder,
  SimpleScheduleBuilder,
  TimeOfDay,
  type Trigger,
  TriggerBuilder,
  TriggerUtils,
} from '../../src/index.ts'
import { seededIds } from '../../src/testing.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { shellRig } from '../support/shell-rig.ts'

const seed = 20_260_308
const triggerCount = 1000
const dayMs = 86_400_000
/** The day on which New York's clocks go forward. */
const startMs = Date.UTC(2026, 2, 8)
const endMs = startMs + dayMs
const zones = ['UTC', 'America/New_York', 'Europe/London', 'Asia/Kolkata', 'Australia/Lord_Howe']

/** Schedules of every family, of the seed's choice. */
function schedules(): (() => ScheduleBuilder<Trigger>)[] {
  const ids = seededIds(seed)
  const upTo = (max: number): number => Math.floor(ids.random() * max)
  const zone = (): string => zones[upTo(zones.length)] ?? 'UTC'
  return [
    () => SimpleScheduleBuilder.repeatMinutelyForever(5 + upTo(55)),
    () =>
      SimpleScheduleBuilder.simpleSchedule()
        .withIntervalInMilliseconds(250_000 + upTo(4_000_000))
        .repeatForever(),
    () => SimpleScheduleBuilder.repeatHourlyForTotalCount(1 + upTo(30)),
    () => SimpleScheduleBuilder.simpleSchedule(),
    () => CronScheduleBuilder.cronSchedule(`${upTo(60)} ${upTo(15)}/15 * * * ?`).inTimeZone(zone()),
    () => CronScheduleBuilder.cronSchedule(`0 ${upTo(60)} 0-5,12,20 ? * SUN,MON`).inTimeZone(zone()),
    () => CronScheduleBuilder.dailyAtHourAndMinute(upTo(24), upTo(60)).inTimeZone(zone()),
    () => CronScheduleBuilder.cronSchedule('0 0/20 * * * ?').inTimeZone(zone()),
    () =>
      CalendarIntervalScheduleBuilder.calendarIntervalSchedule()
        .withIntervalInMinutes(7 + upTo(50))
        .inTimeZone(zone()),
    () => CalendarIntervalScheduleBuilder.calendarIntervalSchedule().withIntervalInDays(1).inTimeZone(zone()),
    () =>
      DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule()
        .withIntervalInMinutes(5 + upTo(40))
        .startingDailyAt(TimeOfDay.hourAndMinuteOfDay(upTo(10), upTo(60)))
        .endingDailyAt(TimeOfDay.hourAndMinuteOfDay(12 + upTo(12), upTo(60)))
        .inTimeZone(zone()),
  ]
}

function triggers(): Trigger[] {
  const ids = seededIds(seed + 1)
  const makers = schedules()
  return Array.from({ length: triggerCount }, (_, index) => {
    const make = makers[index % makers.length] ?? (() => SimpleScheduleBuilder.simpleSchedule())
    return TriggerBuilder.newTrigger()
      .withIdentity(`t${index}`)
      .startAt(new Date(startMs + Math.floor(ids.random() * 3_600_000)))
      .withSchedule(make())
      .withPriority(1 + (index % 10))
      .build()
  })
}

describe('a day of a thousand triggers', () => {
  it(`fires each planned instant once and on time (seed ${seed})`, async () => {
    const clock = new ManualClock(startMs)
    const fired = new Map<string, number[]>()
    let late = 0
    const job = defineJob('note', (context) => {
      const plannedMs = context.scheduledFireTime.getTime()
      if (clock.now() !== plannedMs) late++
      const times = fired.get(context.triggerKey.name)
      if (times === undefined) fired.set(context.triggerKey.name, [plannedMs])
      else times.push(plannedMs)
    })
    const { scheduler, errors } = await shellRig([job], { clock })
    const all = triggers()
    await scheduler.scheduleJob(JobBuilder.newJob(job).withIdentity('note').storeDurably().build(), all)

    await clock.advance(dayMs)

    let planned = 0
    for (const trigger of all) {
      const times = TriggerUtils.computeFireTimesBetween(trigger, null, new Date(startMs), new Date(endMs))
      planned += times.length
      expect(fired.get(trigger.key.name) ?? [], trigger.key.name).toEqual(times.map(Number))
    }
    expect(planned).toBeGreaterThan(30 * triggerCount)
    expect(scheduler.getMetaData().numberOfJobsExecuted).toBe(planned)
    expect(late).toBe(0)
    expect(errors).toEqual([])
    await scheduler.shutdown({ waitForJobsToComplete: true })
    expect(clock.timerCount).toBe(0)
  })
})
