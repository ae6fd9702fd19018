import { TimeZone } from '../../../time/zone.ts'
import { calendarMisfireInstructions } from '../../misfire-instruction.ts'
import type { ScheduleRow, TriggerFamily } from '../../trigger-family.ts'
import { dailyTimeIntervalUnits, everyDayOfWeek, lastSecondOfDay } from './daily-time-interval-schedule.ts'
import {
  DailyTimeIntervalTrigger,
  type DailyTimeIntervalTriggerFields,
} from './daily-time-interval-trigger.ts'

interface Json extends Omit<DailyTimeIntervalTriggerFields, 'zone' | 'misfireInstruction'> {
  readonly timeZone: string
}

export const dailyTimeIntervalFamily: TriggerFamily<DailyTimeIntervalTrigger> = {
  type: 'dailyTimeInterval',
  storedType: 'DAILY_I',
  misfireInstructions: calendarMisfireInstructions,
  table: 'simprop_triggers',
  columns: {
    str_prop_1: 'repeatIntervalUnit',
    str_prop_2: 'daysOfWeek',
    str_prop_3: 'startTimeOfDay, endTimeOfDay',
    int_prop_1: 'repeatInterval',
    long_prop_1: 'repeatCount',
    // Java's daily-time-interval triggers have no zone, so none of Quartz's columns is one.
    time_zone_id: 'timeZone',
  },
  keepsScheduleOnMisfire: true,

  toJSON({
    timeZone,
    repeatInterval,
    repeatIntervalUnit,
    repeatCount,
    startSecondOfDay,
    endSecondOfDay,
    daysOfWeekMask,
  }): Json {
    return {
      timeZone,
      repeatInterval,
      repeatIntervalUnit,
      repeatCount,
      startSecondOfDay,
      endSecondOfDay,
      daysOfWeekMask,
    }
  },

  fromJSON(fields, json, misfireInstruction) {
    const plain = json as unknown as Json
    return new DailyTimeIntervalTrigger(fields, {
      ...plain,
      zone: TimeZone.of(plain.timeZone),
      misfireInstruction,
    })
  },

  toColumns(trigger) {
    return {
      str_prop_1: trigger.repeatIntervalUnit,
      str_prop_2: weekdaysText(trigger.daysOfWeekMask),
      str_prop_3: `${clockText(trigger.startSecondOfDay)},${clockText(trigger.endSecondOfDay)}`,
      int_prop_1: trigger.repeatInterval,
      long_prop_1: trigger.repeatCount,
      time_zone_id: trigger.timeZone,
    }
  },

  fromColumns(fields, row, misfireInstruction) {
    const window = windowOf(row)
    return new DailyTimeIntervalTrigger(fields, {
      repeatInterval: row.integer('int_prop_1'),
      repeatIntervalUnit: row.oneOf('str_prop_1', dailyTimeIntervalUnits),
      repeatCount: row.integer('long_prop_1'),
      startSecondOfDay: window.startSecond,
      endSecondOfDay: window.endSecond,
      daysOfWeekMask: weekdaysOf(row),
      zone: row.zone('time_zone_id'),
      misfireInstruction,
    })
  },
}

function weekdaysText(mask: number): string {
  return [1, 2, 3, 4, 5, 6, 7].filter((weekday) => (mask & (1 << weekday)) !== 0).join(',')
}

/** `2,4,6`, 1=SUN; nothing means every day. */
function weekdaysOf(row: ScheduleRow): number {
  const list = row.textOrNull('str_prop_2')
  if (list === null || list === '') return everyDayOfWeek
  let mask = 0
  for (const part of list.split(',')) {
    const weekday = Number(part)
    if (!Number.isInteger(weekday) || weekday < 1 || weekday > 7) {
      throw row.broken('str_prop_2', 'is no list of weekdays')
    }
    mask |= 1 << weekday
  }
  return mask
}

function clockText(secondOfDay: number): string {
  const minuteOfDay = Math.floor(secondOfDay / 60)
  return `${Math.floor(minuteOfDay / 60)},${minuteOfDay % 60},${secondOfDay % 60}`
}

/** `8,5,3,17,30,0`: start and end of the day's window; Java leaves the places of one that is null empty. */
function windowOf(row: ScheduleRow): { readonly startSecond: number; readonly endSecond: number } {
  const parts = (row.textOrNull('str_prop_3') ?? '').replace(/,+$/, '').split(',')
  const startSecond = secondOfDay(parts.slice(0, 3))
  const endSecond = secondOfDay(parts.slice(3))
  if (startSecond === undefined || endSecond === undefined) {
    throw row.broken('str_prop_3', 'is no window of a day')
  }
  return { startSecond: startSecond ?? 0, endSecond: endSecond ?? lastSecondOfDay }
}

/** Null when it is left out, undefined when it is no time of day. */
function secondOfDay(parts: readonly string[]): number | null | undefined {
  if (parts.every((part) => part === '')) return null
  if (parts.length !== 3 || !parts.every((part) => /^\d{1,2}$/.test(part))) return undefined
  const [hour = 0, minute = 0, second = 0] = parts.map(Number)
  return hour < 24 && minute < 60 && second < 60 ? (hour * 60 + minute) * 60 + second : undefined
}
