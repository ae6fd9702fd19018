import { describe, expect, it } from 'vitest'
import { WeeklyCalendar } from '../../src/triggers/calendars/weekly-calendar.ts'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { DailyTimeIntervalScheduleBuilder } from '../../src/triggers/families/daily/daily-time-interval-trigger.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'
import { TriggerUtils } from '../../src/triggers/trigger-utils.ts'

const from = (text: string): Date => new Date(`2026-01-${text}Z`)
const workdays = new WeeklyCalendar({ timeZone: 'UTC' })
const base = () => TriggerBuilder.newTrigger().startAt(from('01T00:00:00'))
const everyDay = (count = -1): Trigger =>
  base().withSchedule(SimpleScheduleBuilder.repeatHourlyForever(24).withRepeatCount(count)).build()
const noon = base().withSchedule(CronScheduleBuilder.dailyAtHourAndMinute(12, 0).inTimeZone('UTC')).build()
const counted = base()
  .withSchedule(
    DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule()
      .withIntervalInHours(24)
      .withRepeatCount(4)
      .inTimeZone('UTC'),
  )
  .build()
const days = (dates: readonly Date[]): number[] => dates.map((date) => date.getUTCDate())

describe('fire times ahead', () => {
  it('are as many as asked for, or as there are', () => {
    expect(days(TriggerUtils.computeFireTimes(everyDay(), null, 3))).toEqual([1, 2, 3])
    expect(days(TriggerUtils.computeFireTimes(everyDay(1), null, 3))).toEqual([1, 2])
  })

  it('leave out what the calendar leaves out', () => {
    expect(days(TriggerUtils.computeFireTimes(everyDay(), workdays, 4))).toEqual([1, 2, 5, 6])
  })

  it('go on from where a trigger is, and leave it as it is', () => {
    const fired = noon.computeFirstFireTime(null).triggered(null)
    expect(days(TriggerUtils.computeFireTimes(fired, null, 2))).toEqual([2, 3])
    expect(fired.nextFireTime).toEqual(from('02T12:00:00'))
  })

  it('are none when the trigger is finished', () => {
    const finished = everyDay(0).computeFirstFireTime(null).triggered(null)
    expect(TriggerUtils.computeFireTimes(finished, null, 2)).toEqual([])
  })

  it.each([0, -1, 1.5, 1_000_001])('are not counted by %d', (count) => {
    expect(() => TriggerUtils.computeFireTimes(noon, null, count)).toThrow(
      expect.objectContaining({ field: 'count' }),
    )
  })
})

describe('fire times between two instants', () => {
  it.each<[string, Trigger, number[]]>([
    ['keep the phase of a simple trigger', everyDay(), [5, 6, 7]],
    ['end with its count', everyDay(5), [5, 6]],
    ['include both ends', noon, [5, 6]],
    ['count what a counting trigger fired before', counted, [5, 6, 7]],
  ])('%s', (_name, trigger, expected) => {
    const calendar = trigger === counted ? workdays : null
    const fires = TriggerUtils.computeFireTimesBetween(
      trigger,
      calendar,
      from('04T12:00:01'),
      from('07T00:00:00'),
    )
    expect(days(fires)).toEqual(expected)
  })

  it('are refused beyond a million', () => {
    const often = base()
      .withSchedule(SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(1).repeatForever())
      .build()
    const until = (count: number): Date => new Date(often.startTimeMs + count - 1)
    expect(TriggerUtils.computeFireTimesBetween(often, null, often.startTime, until(1_000_000))).toHaveLength(
      1_000_000,
    )
    expect(() =>
      TriggerUtils.computeFireTimesBetween(often, null, often.startTime, until(1_000_001)),
    ).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', field: 'to' }))
  })

  it('are refused beyond a million that a counting trigger has before them', () => {
    const secondly = base()
      .withSchedule(
        DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule()
          .withIntervalInSeconds(1)
          .withRepeatCount(1_000_000_000)
          .inTimeZone('UTC'),
      )
      .build()
    const fireTimesOn = (date: Date): Date[] =>
      TriggerUtils.computeFireTimesBetween(secondly, null, date, new Date(date.getTime() + 1000))
    expect(fireTimesOn(from('02T00:00:00'))).toHaveLength(2)
    expect(() => fireTimesOn(from('31T00:00:00'))).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', field: 'from' }),
    )
  })

  it('are found far ahead at once', () => {
    const secondly = base().withSchedule(SimpleScheduleBuilder.repeatSecondlyForever()).build()
    const start = new Date(Date.UTC(2500, 0, 1))
    const end = new Date(start.getTime() + 2000)
    expect(TriggerUtils.computeFireTimesBetween(secondly, null, start, end).length).toBe(3)
  })
})

describe('the end time for a number of fires', () => {
  it.each<[string, Trigger]>([
    ['simple', everyDay()],
    ['cron', noon],
  ])('of a %s trigger allows that many and not one more', (_name, trigger) => {
    const end = TriggerUtils.computeEndTimeToAllowParticularNumberOfFirings(trigger, workdays, 5)
    const limited = trigger.getTriggerBuilder().endAt(end).build()
    expect(days(TriggerUtils.computeFireTimes(limited, workdays, 99))).toEqual([1, 2, 5, 6, 7])
  })

  it('is none when the trigger fires less often', () => {
    expect(TriggerUtils.computeEndTimeToAllowParticularNumberOfFirings(everyDay(2), null, 4)).toBeNull()
  })
})
