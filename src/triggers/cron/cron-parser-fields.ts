import { CronExpressionParser } from 'cron-parser'
import { dayOfMonthSpec } from './cron-fields.ts'
import { placeOf } from './cron-text.ts'
import { impossibleDay } from './impossible.ts'
import type { SixTokens } from './six-fields.ts'
import type { UnixFields } from './unix-scanner.ts'

/** Reads the values of Unix fields with cron-parser, which alone would also take `1JAN` or `H`. */
export function readWithCronParser(expression: string, tokens: SixTokens, scanned: UnixFields): UnixFields {
  try {
    const lists = listsOf(scanned)
    const text = tokens
      .map((token, place) => (token.text.includes(',') ? lists[place] : token.text))
      .join(' ')
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

/** The fields as lists that name each value once, because cron-parser refuses a value that is named twice. */
function listsOf(scanned: UnixFields): readonly string[] {
  const { seconds, minutes, hours, days, lastDay, months, weekdays, lastWeekdays } = scanned
  return [
    seconds,
    minutes,
    hours,
    lastDay ? [...days, 'L'] : days,
    months,
    // 0 and 7 are one day.
    [...weekdays.map((day) => day % 7), ...lastWeekdays.map((day) => `${day % 7}L`)],
  ].map((values) => [...new Set<number | string>(values)].join(','))
}

function numbersOf(values: readonly (number | string)[]): readonly number[] {
  return values.filter((value) => typeof value === 'number')
}

function textsOf(values: readonly (number | string)[]): readonly string[] {
  return values.filter((value) => typeof value === 'string')
}
