import { type CronValues, fromSunday, minuteSpec } from './cron-fields.ts'
import {
  type CronToken,
  cronError,
  joinFields,
  type ParsedCron,
  placeOf,
  refuseLongText,
  splitFields,
  wrongFieldCount,
} from './cron-text.ts'
import type { DayRule, MonthDays, WeekDays } from './day-rule.ts'
import { ascending } from './field-scanner.ts'
import { expandMacro, rebootMacro } from './macros.ts'
import {
  hasFixedTimes,
  isSix,
  restrictingDay,
  type SixSpecs,
  type SixTokens,
  straightSpecs,
} from './six-fields.ts'
import { scanUnixFields, type UnixFields } from './unix-scanner.ts'

const [second, minute, hour, dayOfMonth, month, dayOfWeek] = straightSpecs

/** 0 and 7 are Sunday. */
const unixSpecs: SixSpecs = [second, minute, hour, dayOfMonth, month, { ...dayOfWeek, min: 0 }]

/** Reads the values of fields that the scanner has found right. */
export type UnixReader = (expression: string, tokens: SixTokens, scanned: UnixFields) => UnixFields

/** Reads a five-field expression (six with seconds, when those are allowed) or a macro. */
export function parseUnixFields(
  expression: string,
  seconds: 'never' | 'optional',
  read: UnixReader,
): ParsedCron {
  refuseLongText(expression)
  const written = splitFields(expression)
  refuseReboot(expression, written)
  const macro = expandMacro(expression, written, minuteSpec)
  const tokens = macro === null ? written : splitFields(macro)
  const six = tokens.length === 6 && seconds === 'optional' ? tokens : [{ text: '0', position: 0 }, ...tokens]
  if (!isSix(six)) {
    throw wrongFieldCount(expression, tokens, unixSpecs.slice(1), {
      most: seconds === 'optional' ? 6 : 5,
      needed: seconds === 'optional' ? '5, or 6 with seconds' : '5',
      advice: fieldCountAdvice(tokens.length),
    })
  }
  const values = read(expression, six, scanUnixFields(expression, six, unixSpecs))
  return {
    text: joinFields(written),
    fields: {
      seconds: valuesOf(six[0], values.seconds),
      minutes: valuesOf(six[1], values.minutes),
      hours: valuesOf(six[2], values.hours),
      days: dayRule(values, six[3].text, six[5].text),
      months: valuesOf(six[4], values.months),
      years: null,
      fixedTimes: hasFixedTimes(six),
    },
    dayField: restrictingDay(six),
  }
}

function refuseReboot(expression: string, tokens: readonly CronToken[]): void {
  const [first] = tokens
  if (first?.text.toLowerCase() !== rebootMacro) return
  const where = placeOf(minuteSpec, first.position)
  const advice = 'Run the job when the program starts.'
  throw cronError(expression, where, '@reboot is an event, not a schedule', advice)
}

function fieldCountAdvice(count: number): string | null {
  if (count === 6) return "Allow seconds with { seconds: 'optional' }, or use dialect: 'quartz'."
  return count === 7 ? "Use dialect: 'quartz', which has years." : null
}

function valuesOf({ text }: CronToken, values: readonly number[]): CronValues {
  return text === '*' ? null : ascending(values)
}

/** Two restricting fields are alternatives. Where one begins with `*`, also with a step, both must match. */
function dayRule(values: UnixFields, dayOfMonth: string, dayOfWeek: string): DayRule {
  const alternatives = !dayOfMonth.startsWith('*') && !dayOfWeek.startsWith('*')
  return {
    monthDays: dayOfMonth === '*' ? null : monthDaysOf(values),
    weekDays: dayOfWeek === '*' ? null : weekDaysOf(values),
    combine: alternatives ? 'or' : 'and',
    unspecified: null,
  }
}

function monthDaysOf({ days, lastDay }: UnixFields): MonthDays {
  return {
    days: ascending(days),
    lastDayOffsets: lastDay ? [0] : [],
    nearestWeekdays: [],
    nearestWeekdayOffsets: [],
  }
}

function weekDaysOf({ weekdays, lastWeekdays, nth }: UnixFields): WeekDays {
  const days = ascending(new Set(weekdays.map(fromSunday)))
  const lastDays = ascending(lastWeekdays).map(fromSunday)
  if (nth === 0) return { days, lastDays, nthDays: [] }
  return { days: [], lastDays, nthDays: days.map((day) => ({ day, nth })) }
}
