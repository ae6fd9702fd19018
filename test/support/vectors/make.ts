import { CronExpressionError } from '../../../src/core/errors.ts'
import { AnnualCalendar } from '../../../src/triggers/calendars/annual-calendar.ts'
import type { Calendar } from '../../../src/triggers/calendars/calendar.ts'
import { CronCalendar } from '../../../src/triggers/calendars/cron-calendar.ts'
import { DailyCalendar } from '../../../src/triggers/calendars/daily-calendar.ts'
import { HolidayCalendar } from '../../../src/triggers/calendars/holiday-calendar.ts'
import { MonthlyCalendar } from '../../../src/triggers/calendars/monthly-calendar.ts'
import { WeeklyCalendar } from '../../../src/triggers/calendars/weekly-calendar.ts'
import { CronExpression } from '../../../src/triggers/cron/cron-expression.ts'
import { CronScheduleBuilder } from '../../../src/triggers/families/cron/cron-trigger.ts'
import { DailyTimeIntervalScheduleBuilder } from '../../../src/triggers/families/daily/daily-time-interval-trigger.ts'
import { CalendarIntervalScheduleBuilder } from '../../../src/triggers/families/interval/calendar-interval-trigger.ts'
import { SimpleScheduleBuilder } from '../../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../../src/triggers/families/trigger-builder.ts'
import type { ScheduleBuilder } from '../../../src/triggers/fluent-trigger-builder.ts'
import {
  calendarMisfireInstructions,
  type MisfireInstruction,
  misfireInstructionOf,
  simpleMisfireInstructions,
} from '../../../src/triggers/misfire-instruction.ts'
import { TimeOfDay } from '../../../src/triggers/time-of-day.ts'
import type { Trigger } from '../../../src/triggers/trigger.ts'
import { DayEdges } from './day-edges.ts'
import type { CalendarRow, TriggerDefinition } from './rows.ts'

/** A value that the row's type promises. */
export function present<T>(name: string, value: T | null | undefined): T {
  if (value === undefined || value === null) throw new Error(`the row has no '${name}'`)
  return value
}

export function makeCalendar(row: CalendarRow | null): Calendar | null {
  if (row === null) return null
  const common = { timeZone: row.zone, baseCalendar: makeCalendar(row.base) }
  switch (row.type) {
    case 'annual': {
      const excludedDays = present('excluded', row.excluded).map((pair) => {
        const [month = 0, day = 0] = pair as readonly number[]
        return { month, day }
      })
      return new AnnualCalendar({ ...common, excludedDays })
    }
    case 'cron':
      return new CronCalendar({ ...common, expression: present('expr', row.expr), dst: 'quartz' })
    case 'daily': {
      const rangeStart = present('start', row.start)
      const rangeEnd = present('end', row.end)
      const invertTimeRange = present('invert', row.invert)
      const baseCalendar = invertTimeRange ? common.baseCalendar : new DayEdges(row.zone, common.baseCalendar)
      return new DailyCalendar({ ...common, baseCalendar, rangeStart, rangeEnd, invertTimeRange })
    }
    case 'holiday': {
      const excludedDates = present('excludedDates', row.excludedDates).map((dateMs) => new Date(dateMs))
      return new HolidayCalendar({ ...common, excludedDates })
    }
    case 'monthly':
      return new MonthlyCalendar({
        ...common,
        excludedDays: present('excluded', row.excluded) as readonly number[],
      })
    case 'weekly':
      return new WeeklyCalendar({
        ...common,
        excludedDays: present('excluded', row.excluded) as readonly number[],
      })
    default:
      throw new Error(`unknown calendar type '${row.type}'`)
  }
}

/** The trigger of a row, or null when its cron expression can never fire, which this library refuses to build. */
export function makeTrigger(row: TriggerDefinition): Trigger | null {
  try {
    return TriggerBuilder.newTrigger()
      .withIdentity('vector')
      .modifiedByCalendar(row.calendar === null ? null : 'calendar')
      .startAt(new Date(row.start))
      .endAt(row.end === null ? null : new Date(row.end))
      .withSchedule(makeSchedule(row))
      .build()
  } catch (error) {
    if (canNeverFire(error)) return null
    throw error
  }
}

export function makeCron(expression: string, timeZone: string): CronExpression | null {
  try {
    return CronExpression.parse(expression, { timeZone, dst: 'quartz' })
  } catch (error) {
    if (canNeverFire(error)) return null
    throw error
  }
}

function canNeverFire(error: unknown): boolean {
  return error instanceof CronExpressionError && error.message.includes('can never fire')
}

function makeSchedule(row: TriggerDefinition): ScheduleBuilder<Trigger> {
  switch (row.type) {
    case 'simple':
      return SimpleScheduleBuilder.simpleSchedule()
        .withRepeatCount(row.repeatCount ?? 0)
        .withIntervalInMilliseconds(present('repeatInterval', row.repeatInterval))
        .withMisfireInstruction(instructionOf(simpleMisfireInstructions, row))
    case 'cron':
      return CronScheduleBuilder.cronSchedule(present('expr', row.expr), {
        timeZone: row.zone,
        dst: 'quartz',
      }).withMisfireInstruction(instructionOf(calendarMisfireInstructions, row))
    case 'calendarInterval':
      return CalendarIntervalScheduleBuilder.calendarIntervalSchedule()
        .withInterval(present('interval', row.interval), present('unit', row.unit) as 'DAY')
        .inTimeZone(present('zone', row.zone))
        .preserveHourOfDayAcrossDaylightSavings({
          enabled: present('preserveHourOfDay', row.preserveHourOfDay),
        })
        .skipDayIfHourDoesNotExist({ enabled: present('skipDay', row.skipDayIfHourDoesNotExist) })
        .withMisfireInstruction(instructionOf(calendarMisfireInstructions, row))
    case 'dailyTimeInterval':
      return makeDailySchedule(row)
    default:
      throw new Error(`unknown trigger type '${row.type}'`)
  }
}

/**
 * A row gives the window as it was asked for and as Java built it. The built one counts: of an interval in hours
 * Java's endingDailyAfterCount makes 24 minutes each.
 */
function makeDailySchedule(row: TriggerDefinition): DailyTimeIntervalScheduleBuilder {
  const { startTimeOfDay, endTimeOfDay, endingDailyAfterCount, daysOfWeek } = row
  const builder = DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule()
    .withInterval(present('interval', row.interval), present('unit', row.unit) as 'HOUR')
    .withRepeatCount(row.repeatCount ?? -1)
    .inTimeZone(present('zone', row.zone))
    .withMisfireInstruction(instructionOf(calendarMisfireInstructions, row))
  if (daysOfWeek) builder.onDaysOfTheWeek(...daysOfWeek)
  if (startTimeOfDay) builder.startingDailyAt(timeOfDay(startTimeOfDay))
  if (endTimeOfDay) builder.endingDailyAt(timeOfDay(endTimeOfDay))
  if (typeof endingDailyAfterCount !== 'number') return builder
  return row.unit === 'HOUR'
    ? builder.endingDailyAt(timeOfDay(present('builtEndTimeOfDay', row.builtEndTimeOfDay)))
    : builder.endingDailyAfterCount(endingDailyAfterCount)
}

function timeOfDay([hour = 0, minute = 0, second = 0]: readonly number[]): TimeOfDay {
  return new TimeOfDay(hour, minute, second)
}

function instructionOf<Instruction extends MisfireInstruction>(
  known: readonly Instruction[],
  row: TriggerDefinition,
): Instruction {
  return present('misfireInstruction', misfireInstructionOf(known, row.misfireInstruction ?? 0))
}
