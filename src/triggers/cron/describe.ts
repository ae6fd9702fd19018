import cronstrue from 'cronstrue'
import type { CronDialect } from './cron-dialect.ts'
import { dayOfWeekSpec, findName, monthSpec } from './cron-fields.ts'
import { expandSpringMacro } from './spring-fields.ts'

/** What an expression is described in. */
export interface CronWording {
  /** A locale of cronstrue; but for `en`, the caller has loaded it. */
  readonly locale: string
  /** After the rest: on which days of the month. */
  onDays(days: readonly string[]): string
  day(day: string): string
  /** A range of days. */
  days(range: string): string
  lastDay(): string
  beforeLastDay(days: string): string
  /** The weekday nearest to a day of the month. */
  weekdayNear(day: string): string
  lastWeekday(): string
  /** The weekday nearest to the day that is so many days before the last one. */
  weekdayNearBeforeLast(days: string): string
}

const englishCron: CronWording = {
  locale: 'en',
  onDays(days) {
    const last = days.at(-1) ?? ''
    const text = days.length < 2 ? last : `${days.slice(0, -1).join(', ')} and ${last}`
    return `, on ${text} of the month`
  },
  day: (day) => `day ${day}`,
  days: (range) => `days ${range}`,
  lastDay: () => 'the last day',
  beforeLastDay: (days) => `${days} days before the last day`,
  weekdayNear: (day) => `the weekday nearest day ${day}`,
  lastWeekday: () => 'the last weekday',
  weekdayNearBeforeLast: (days) => `the weekday nearest to ${days} days before the last day`,
}

/**
 * An expression in words. cronstrue knows neither whole names nor `W` or `*` in a list, so these are rewritten for it.
 */
export function describeCron(
  expression: string,
  dialect: CronDialect,
  wording: CronWording = englishCron,
): string {
  if (dialect === 'unix') return words(expression.toLowerCase(), dialect, wording)
  const text = dialect === 'spring' ? (expandSpringMacro(expression) ?? expression) : expression
  const fields = text.split(' ').map((field) => everything(shortNames(field).replace(/(^|,)\//g, '$1*/')))
  const monthDays = fields[3] ?? ''
  if (!monthDays.includes('W') || /^(?:LW|\d+W)$/.test(monthDays)) {
    return words(fields.join(' '), dialect, wording)
  }
  fields[3] = '*'
  const days = monthDays.split(',').map((item) => dayWords(item, wording))
  return `${words(fields.join(' '), dialect, wording)}${wording.onDays(days)}`
}

function words(expression: string, dialect: CronDialect, { locale }: CronWording): string {
  // It reads `007` as no day of the week.
  return cronstrue.toString(expression.replace(/\b0+(?=\d)/g, ''), {
    dayOfWeekStartIndexZero: dialect !== 'quartz',
    use24HourTimeFormat: true,
    locale,
  })
}

/** A list that contains `*` is `*`; cronstrue knows `*` only as a whole field. */
function everything(field: string): string {
  return field.split(',').some((item) => item === '*' || item === '*/1') ? '*' : field
}

/** Month and weekday names cut to three letters; an L may follow a weekday. */
function shortNames(field: string): string {
  return field.replace(/[A-Z]{4,}/g, (letters) => {
    if (isName(letters)) return letters.slice(0, 3)
    return letters.endsWith('L') && isName(letters.slice(0, -1)) ? `${letters.slice(0, 3)}L` : letters
  })
}

function isName(letters: string): boolean {
  return findName(monthSpec, letters) !== null || findName(dayOfWeekSpec, letters) !== null
}

/** One item of a day-of-month list. */
function dayWords(item: string, wording: CronWording): string {
  const [, last, number = '', nearest] = /^(L?)-?(\d*)(W?)$/.exec(item) ?? []
  if (last === undefined) return wording.days(item)
  const isWeekday = nearest === 'W'
  if (last === '') return isWeekday ? wording.weekdayNear(number) : wording.day(number)
  if (number === '') return isWeekday ? wording.lastWeekday() : wording.lastDay()
  return isWeekday ? wording.weekdayNearBeforeLast(number) : wording.beforeLastDay(number)
}
