import type { CronExpressionError } from '../../core/errors.ts'
import {
  type CronFieldSpec,
  type CronValues,
  dayOfMonthSpec,
  dayOfWeekSpec,
  hourSpec,
  isFixedField,
  minuteSpec,
  monthSpec,
  secondSpec,
} from './cron-fields.ts'
import {
  type CronToken,
  cronError,
  joinFields,
  type ParsedCron,
  placeOf,
  refuseLongText,
  splitFields,
} from './cron-text.ts'
import type { DayRule, MonthDays, WeekDays } from './day-rule.ts'
import { ascending } from './field-scanner.ts'
import { expandMacro, rebootMacro } from './macros.ts'

/** What stands in the fields of a Unix expression, value by value. */
export interface UnixFields {
  readonly seconds: readonly number[]
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly days: readonly number[]
  /** `L` is among the days of the month. */
  readonly lastDay: boolean
  readonly months: readonly number[]
  /** 0-7, where 0 and 7 are Sunday. */
  readonly weekdays: readonly number[]
  /** `5L` is 5. */
  readonly lastWeekdays: readonly number[]
  /** `1#2` is 2: the days of the week are those of that week only. 0 for every week. */
  readonly nth: number
}

/**
 * Reads the values of fields whose items look right, and throws where they are not. Two readers give the same answers:
 * cron-parser's and the scanner of the other dialects.
 */
export type UnixReader = (expression: string, fields: readonly UnixField[]) => UnixFields

/** A field as it is written and what it may hold: always six of them, the second first. */
export interface UnixField {
  readonly token: CronToken
  readonly spec: CronFieldSpec
}

/** 0 to 7, where 0 and 7 are Sunday. */
const unixDayOfWeekSpec: CronFieldSpec = { ...dayOfWeekSpec, min: 0 }

/** A range that ends before it begins is refused. */
const unixSpecs: readonly CronFieldSpec[] = [
  secondSpec,
  minuteSpec,
  hourSpec,
  dayOfMonthSpec,
  monthSpec,
  unixDayOfWeekSpec,
].map((spec) => ({ ...spec, wraps: false }))

/** What one list item may look like; cron-parser alone would also take `1JAN` or `H`, and read them somehow. */
const plainItem = /^(?:\*|(?:\d{1,4}|[A-Z]{3})(?:-(?:\d{1,4}|[A-Z]{3}))?)(?:\/(\d{1,4}))?$/
const monthDayItem = /^L$/
const weekDayItem = /^(?:[0-7]|[A-Z]{3})(?:L|#[1-5])$/

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
  const withSecond = tokens.length === 6 && seconds === 'optional'
  if (tokens.length !== 5 && !withSecond) throw wrongFieldCount(expression, tokens, seconds)
  const all = withSecond ? tokens : [{ text: '0', position: 0 }, ...tokens]
  const fields = unixSpecs.flatMap((spec, index) => {
    const token = all[index]
    return token === undefined ? [] : [{ spec, token }]
  })
  for (const field of fields) checkItems(expression, field)
  const values = read(expression, fields)
  const [second = '', minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = all.map(
    (token) => token.text,
  )
  const daySpec = dayOfMonth === '*' ? dayOfWeekSpec : dayOfMonthSpec
  return {
    text: macro === null ? joinFields(written) : joinFields(written).toLowerCase(),
    fields: {
      seconds: valuesOf(second, values.seconds),
      minutes: valuesOf(minute, values.minutes),
      hours: valuesOf(hour, values.hours),
      days: dayRule(values, dayOfMonth, dayOfWeek),
      months: valuesOf(month, values.months),
      years: null,
      fixedTimes: [second, minute, hour].every(isFixedField),
    },
    dayField: placeOf(daySpec, written.at(dayOfMonth === '*' ? -1 : -3)?.position ?? 0),
  }
}

function refuseReboot(expression: string, tokens: readonly CronToken[]): void {
  const [first] = tokens
  if (first?.text.toLowerCase() !== rebootMacro) return
  const where = placeOf(minuteSpec, first.position)
  const advice = 'Run the job when the program starts.'
  throw cronError(expression, where, '@reboot is an event, not a schedule', advice)
}

function wrongFieldCount(
  expression: string,
  tokens: readonly CronToken[],
  seconds: 'never' | 'optional',
): CronExpressionError {
  const extra = tokens[seconds === 'optional' ? 6 : 5]
  const spec = unixSpecs[Math.min(tokens.length + 1, unixSpecs.length - 1)] ?? minuteSpec
  const position = extra?.position ?? expression.trimEnd().length
  const needed = seconds === 'optional' ? '5, or 6 with seconds' : '5'
  const advice =
    tokens.length === 6 || tokens.length === 7
      ? `Allow seconds with { seconds: 'optional' }, or read Quartz's dialect with CronExpression.parse.`
      : null
  const found = `it has ${tokens.length} fields, needed are ${needed}`
  return cronError(expression, placeOf(spec, position), found, advice)
}

function checkItems(expression: string, { token, spec }: UnixField): void {
  let offset = 0
  for (const item of token.text.split(',')) {
    const where = placeOf(spec, token.position + offset)
    const special =
      (spec.name === 'dayOfMonth' && monthDayItem.test(item)) ||
      (spec.name === 'dayOfWeek' && weekDayItem.test(item))
    const plain = special ? null : plainItem.exec(item)
    if (!special && plain === null) {
      const found = item === '' ? 'a list has an empty item' : `'${item}' is no item of it`
      const advice = item === '?' ? `Write '*': '?' belongs to Quartz's dialect.` : null
      throw cronError(expression, where, found, advice)
    }
    const step = plain?.[1]
    if (step !== undefined && !(Number(step) >= 1 && Number(step) <= spec.stepMax)) {
      const found = `the ${spec.label} step must be from 1 to ${spec.stepMax}, found ${step}`
      throw cronError(expression, where, found, null)
    }
    offset += item.length + 1
  }
}

function valuesOf(text: string, values: readonly number[]): CronValues {
  return text === '*' ? null : ascending(values)
}

/** Two fields that both restrict are alternatives; one that begins with `*` restricts nothing, whatever its step. */
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

/** From 0 and 7=SUN to 1=SUN. */
function fromSunday(day: number): number {
  return (day % 7) + 1
}
