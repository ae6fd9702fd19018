import { CronExpressionParser } from 'cron-parser'
import { dayOfMonthSpec } from './cron-fields.ts'
import { placeOf } from './cron-text.ts'
import { impossibleDay } from './impossible.ts'
import type { SixTokens } from './six-fields.ts'
import type { UnixFields } from './unix-scanner.ts'

/** Reads the values of Unix fields with cron-parser, which alone would also take `1JAN` or `H`. */
export function readWithCronParser(expression: string, tokens: SixTokens): UnixFields {
  try {
    const text = tokens.map((token) => token.text).join(' ')
    // cron-parser would otherwise read the clock for a start date that is not used.
    const { second, minute, hour, dayOfMonth, month, dayOfWeek } = CronExpressionParser.parse(text, {
      currentDate: 0,
      tz: 'UTC',
    }).fields
    return {
      seconds: numbersOf(second.values),
      minutes: numbersOf(minute.values),
      hours: numbersOf(hour.values),
      days: numbersOf(dayOfMonth.values),
      lastDay: textsOf(dayOfMonth.values).includes('L'),
      months: numbersOf(month.values),
      weekdays: numbersOf(dayOfWeek.values),
      lastWeekdays: textsOf(dayOfWeek.values).map((day) => Number.parseInt(day, 10)),
      nth: dayOfWeek.nthDay,
    }
  } catch {
    // Each field alone is valid: only the day of the month and the months can contradict each other.
    throw impossibleDay(expression, placeOf(dayOfMonthSpec, tokens[3].position))
  }
}

function numbersOf(values: readonly (number | string)[]): readonly number[] {
  return values.filter((value) => typeof value === 'number')
}

function textsOf(values: readonly (number | string)[]): readonly string[] {
  return values.filter((value) => typeof value === 'string')
}
