import { CronExpressionParser } from 'cron-parser'
import { dayOfMonthSpec } from './cron-fields.ts'
import { cronError, placeOf } from './cron-text.ts'
import type { UnixField, UnixFields } from './unix-fields.ts'
import { scanUnixFields } from './unix-scanner.ts'

/** Reads Unix fields with cron-parser. */
export function readWithCronParser(expression: string, fields: readonly UnixField[]): UnixFields {
  const text = fields.map(({ token }) => token.text).join(' ')
  try {
    // The library would otherwise ask the clock for a date to start from, which is not used.
    const read = CronExpressionParser.parse(text, { currentDate: 0, tz: 'UTC' }).fields
    return {
      seconds: numbersOf(read.second.values),
      minutes: numbersOf(read.minute.values),
      hours: numbersOf(read.hour.values),
      days: numbersOf(read.dayOfMonth.values),
      lastDay: textsOf(read.dayOfMonth.values).includes('L'),
      months: numbersOf(read.month.values),
      weekdays: numbersOf(read.dayOfWeek.values),
      lastWeekdays: textsOf(read.dayOfWeek.values).map((day) => Number.parseInt(day, 10)),
      nth: read.dayOfWeek.nthDay,
    }
  } catch (cause) {
    throw refusal(expression, fields, cause)
  }
}

/** cron-parser does not say where it met an error: the scanner, which refuses the same texts, does. */
function refusal(expression: string, fields: readonly UnixField[], cause: unknown): Error {
  scanUnixFields(expression, fields)
  // Each field is right by itself: only the day of the month and the months can contradict each other.
  const position = fields[3]?.token.position ?? 0
  const found = cause instanceof Error ? cause.message : String(cause)
  return cronError(expression, placeOf(dayOfMonthSpec, position), found, null)
}

function numbersOf(values: readonly (number | string)[]): readonly number[] {
  return values.filter((value) => typeof value === 'number')
}

function textsOf(values: readonly (number | string)[]): readonly string[] {
  return values.filter((value) => typeof value === 'string')
}
