import cronstrue from 'cronstrue'
import type { CronDialect } from './cron-dialect.ts'
import { cronYearMax, dayOfMonthSpec, dayOfWeekSpec, findName, monthSpec } from './cron-fields.ts'
import { expandSpringMacro } from './spring-fields.ts'

/** What an expression is described in. */
export interface CronWording {
  /** A locale of cronstrue; but for `en`, the caller has loaded it. */
  readonly locale: string
  /** After the rest: on which days of the month. */
  onDays(days: readonly string[]): string
  day(day: string): string
  /** A range of days, of which only each so many counts. */
  days(range: string, step: string): string
  lastDay(): string
  beforeLastDay(days: string): string
  /** The weekday nearest to a day of the month. */
  weekdayNear(day: string): string
  lastWeekday(): string
  /** The weekday nearest to the day that is so many days before the last one. */
  weekdayNearBeforeLast(days: string): string
  /** After the days of the month: the weekdays, as cronstrue has them, that count as well. */
  orWeekdays(weekdays: string): string
  /** The same for weekdays that the days of the month must be. */
  andWeekdays(weekdays: string): string
}

const englishCron: CronWording = {
  locale: 'en',
  onDays(days) {
    const last = days.at(-1) ?? ''
    const text = days.length < 2 ? last : `${days.slice(0, -1).join(', ')} and ${last}`
    return `, on ${text} of the month`
  },
  day: (day) => `day ${day}`,
  days: (range, step) => (step === '' ? `days ${range}` : `days ${range} in steps of ${step}`),
  lastDay: () => 'the last day',
  beforeLastDay: (days) => `${days} ${days === '1' ? 'day' : 'days'} before the last day`,
  weekdayNear: (day) => `the weekday nearest day ${day}`,
  lastWeekday: () => 'the last weekday',
  weekdayNearBeforeLast: (days) =>
    `the weekday nearest to ${days} ${days === '1' ? 'day' : 'days'} before the last day`,
  orWeekdays: (weekdays) => `, or ${weekdays.replace(/^only /, '')}`,
  andWeekdays: (weekdays) => `, but only ${weekdays.replace(/^only /, '')}`,
}

/**
 * An expression in words. cronstrue knows neither whole names, `W` and `*` in a list nor `L` in one, and says the same
 * of days that are alternatives and of those that must both match, so these are rewritten for it or said here.
 */
export function describeCron(
  expression: string,
  dialect: CronDialect,
  wording: CronWording = englishCron,
): string {
  const text = dialect === 'spring' ? (expandSpringMacro(expression) ?? expression) : expression
  if (text.startsWith('@')) return words(text.toLowerCase(), dialect, wording)
  const fields = text
    .split(' ')
    .map((field) => everything(shortNames(field).replace(/(^|,)\//g, '$1*/')))
    .map((field, index) => (index === 6 ? field.replace(/(^|,)(\d+)\//g, `$1$2-${cronYearMax}/`) : field))
  const dayField = dialect === 'unix' ? fields.length - 3 : 3
  const [days = '', , weekdays = ''] = fields.slice(dayField)
  const isOwn = /W|,.*L|L.*,|^L-0*[01]$/.test(days) && !/^(?:LW|\d+W)$/.test(days)
  const hasBoth = restricts(days) && restricts(weekdays)
  if (!isOwn && !hasBoth) return words(fields.join(' '), dialect, wording)
  fields[dayField] = '*'
  const onDays = isOwn
    ? wording.onDays(days.split(',').map((item) => dayWords(item, wording)))
    : dayPart(`${days} * *`, dialect, wording)
  if (!hasBoth) return `${words(fields.join(' '), dialect, wording)}${onDays}`
  fields[dayField + 2] = '*'
  const onWeekdays = dayPart(`* * ${weekdays}`, dialect, wording).replace(/^, /, '')
  const areAlternatives = dialect === 'unix' && !days.startsWith('*') && !weekdays.startsWith('*')
  const withWeekdays = areAlternatives ? wording.orWeekdays(onWeekdays) : wording.andWeekdays(onWeekdays)
  return `${words(fields.join(' '), dialect, wording)}${onDays}${withWeekdays}`
}

function restricts(field: string): boolean {
  return field !== '*' && field !== '?'
}

/** What cronstrue says of the days alone. */
function dayPart(days: string, dialect: CronDialect, wording: CronWording): string {
  return words(`0 0 ${days}`, dialect, wording).slice(words('0 0 * * *', dialect, wording).length)
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
  const [, last, digits = '', nearest] = /^(L?)-?(\d*)(W?)$/.exec(item) ?? []
  if (last === undefined) return rangeWords(item, wording)
  const number = digits.replace(/^0+/, '')
  const isWeekday = nearest === 'W'
  if (last === '') return isWeekday ? wording.weekdayNear(number) : wording.day(number)
  if (number === '') return isWeekday ? wording.lastWeekday() : wording.lastDay()
  return isWeekday ? wording.weekdayNearBeforeLast(number) : wording.beforeLastDay(number)
}

function rangeWords(item: string, wording: CronWording): string {
  const { min, max } = dayOfMonthSpec
  const [days = '', step = ''] = item.split('/')
  if (days === '*') return wording.days(`${min}-${max}`, step)
  return wording.days(days.includes('-') ? days : `${days}-${max}`, step)
}
