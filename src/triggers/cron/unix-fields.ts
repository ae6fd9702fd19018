import { CronExpressionParser } from 'cron-parser'
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
import type { DayRule, MonthDays, WeekDays } from './day-rule.ts'
import { type CronToken, cronError, splitFields } from './field-scanner.ts'
import { type ParsedCron, refuseLongText } from './parse-cron.ts'

/** The macros that stand for a time; `@reboot` stands for none. */
const macros: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** Crontab's macro for "once, when the daemon starts". */
export const rebootMacro = '@reboot'

/** Minutes to days of the week; a field of seconds may stand before them. */
const unixSpecs: readonly CronFieldSpec[] = [minuteSpec, hourSpec, dayOfMonthSpec, monthSpec, dayOfWeekSpec]

/** What one list item may look like; cron-parser alone would also take `1JAN` or `H`, and read them somehow. */
const plainItem = /^(?:\*|(?:\d{1,4}|[A-Z]{3})(?:-(?:\d{1,4}|[A-Z]{3}))?)(?:\/(\d{1,4}))?$/
const monthDayItem = /^L$/
const weekDayItem = /^(?:[0-7]|[A-Z]{3})(?:L|#[1-5])$/

type UnixFields = ReturnType<typeof CronExpressionParser.parse>['fields']

/** Reads a five-field expression (six with seconds, when those are allowed) or a macro. */
export function parseUnixFields(expression: string, seconds: 'never' | 'optional'): ParsedCron {
  refuseLongText(expression)
  const written = splitFields(expression)
  const [first] = written
  const macro = first?.text.startsWith('@') === true ? expandMacro(expression, written) : null
  const tokens = macro === null ? written : splitFields(macro)
  if (tokens.length !== 5 && !(tokens.length === 6 && seconds === 'optional')) {
    throw wrongFieldCount(expression, tokens, seconds)
  }
  const specs = tokens.length === 6 ? [secondSpec, ...unixSpecs] : unixSpecs
  tokens.forEach((token, index) => {
    checkItems(expression, token, specs[index] ?? minuteSpec)
  })
  const fields = parseWithLibrary(expression, tokens, specs)
  const [minute, hour, dayOfMonth, month, dayOfWeek] = tokens.slice(-5).map((token) => token.text)
  const second = tokens.length === 6 ? tokens[0]?.text : '0'
  const daySpec = dayOfMonth === '*' ? dayOfWeekSpec : dayOfMonthSpec
  return {
    text: macro === null ? written.map((token) => token.text).join(' ') : (first?.text ?? '').toLowerCase(),
    fields: {
      seconds: valuesOf(second, fields.second.values),
      minutes: valuesOf(minute, fields.minute.values),
      hours: valuesOf(hour, fields.hour.values),
      days: dayRule(fields, dayOfMonth ?? '*', dayOfWeek ?? '*'),
      months: valuesOf(month, fields.month.values),
      years: null,
      fixedTimes: [second, minute, hour].every((text) => isFixedField(text ?? '')),
    },
    dayField: {
      field: daySpec.name,
      label: daySpec.label,
      position: written.at(dayOfMonth === '*' ? -1 : -3)?.position ?? 0,
    },
  }
}

function expandMacro(expression: string, tokens: readonly CronToken[]): string {
  const name = (tokens[0]?.text ?? '').toLowerCase()
  const expanded = macros[name]
  if (expanded !== undefined && tokens.length === 1) return expanded
  const where = { field: minuteSpec.name, label: minuteSpec.label, position: tokens[0]?.position ?? 0 }
  if (name === rebootMacro) {
    const advice = 'Run the job when the program starts.'
    throw cronError(expression, where, '@reboot is an event, not a schedule', advice)
  }
  const known = `Known macros: ${Object.keys(macros).join(', ')}.`
  throw cronError(expression, where, 'a macro must be known and stand alone', known)
}

function wrongFieldCount(
  expression: string,
  tokens: readonly CronToken[],
  seconds: 'never' | 'optional',
): Error {
  const extra = tokens[seconds === 'optional' ? 6 : 5]
  const spec = unixSpecs[Math.min(tokens.length, unixSpecs.length - 1)] ?? minuteSpec
  const position = extra?.position ?? expression.trimEnd().length
  const needed = seconds === 'optional' ? '5, or 6 with seconds' : '5'
  const advice =
    tokens.length === 6 || tokens.length === 7
      ? `Allow seconds with { seconds: 'optional' }, or read Quartz's dialect with CronExpression.parse.`
      : null
  const where = { field: spec.name, label: spec.label, position }
  return cronError(expression, where, `it has ${tokens.length} fields, needed are ${needed}`, advice)
}

function checkItems(expression: string, token: CronToken, spec: CronFieldSpec): void {
  let offset = 0
  for (const item of token.text.split(',')) {
    const where = { field: spec.name, label: spec.label, position: token.position + offset }
    const special =
      (spec.name === 'dayOfMonth' && monthDayItem.test(item)) ||
      (spec.name === 'dayOfWeek' && weekDayItem.test(item))
    const plain = special ? null : plainItem.exec(item)
    if (!special && plain === null) {
      const advice = item === '?' ? `Write '*': '?' belongs to Quartz's dialect.` : null
      throw cronError(
        expression,
        where,
        item === '' ? 'a list has an empty item' : `'${item}' is no item of it`,
        advice,
      )
    }
    const step = plain?.[1]
    if (step !== undefined && !(Number(step) >= 1 && Number(step) <= spec.stepMax)) {
      throw cronError(
        expression,
        where,
        `the ${spec.label} step must be from 1 to ${spec.stepMax}, found ${step}`,
        null,
      )
    }
    offset += item.length + 1
  }
}

/** cron-parser does not say which field is wrong: reading each alone tells. */
function parseWithLibrary(
  expression: string,
  tokens: readonly CronToken[],
  specs: readonly CronFieldSpec[],
): UnixFields {
  try {
    return readFields(tokens.map((token) => token.text))
  } catch (cause) {
    const culprit = tokens.findIndex((token, index) => {
      try {
        readFields(tokens.map((_, other) => (other === index ? token.text : '*')))
        return false
      } catch {
        return true
      }
    })
    // Each field reads well alone: only the day of the month and the months can contradict each other.
    const index = culprit < 0 ? tokens.length - 3 : culprit
    const spec = specs[index] ?? minuteSpec
    const where = { field: spec.name, label: spec.label, position: tokens[index]?.position ?? 0 }
    throw cronError(expression, where, messageOf(cause), null)
  }
}

function readFields(texts: readonly string[]): UnixFields {
  // The library would otherwise ask the clock for a date to start from, which nobody reads.
  return CronExpressionParser.parse(texts.join(' '), { currentDate: 0, tz: 'UTC' }).fields
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

function valuesOf(text: string | undefined, values: readonly (number | string)[]): CronValues {
  return text === '*' ? null : numbersOf(values)
}

function numbersOf(values: readonly (number | string)[]): number[] {
  return values.filter((value) => typeof value === 'number').sort((a, b) => a - b)
}

/** Two fields that both restrict are alternatives; one that begins with `*` restricts nothing, whatever its step. */
function dayRule(fields: UnixFields, dayOfMonth: string, dayOfWeek: string): DayRule {
  const alternatives = !dayOfMonth.startsWith('*') && !dayOfWeek.startsWith('*')
  return {
    monthDays: dayOfMonth === '*' ? null : monthDaysOf(fields.dayOfMonth.values),
    weekDays: dayOfWeek === '*' ? null : weekDaysOf(fields.dayOfWeek.values, fields.dayOfWeek.nthDay),
    combine: alternatives ? 'or' : 'and',
    unspecified: null,
  }
}

function monthDaysOf(values: readonly (number | string)[]): MonthDays {
  return {
    days: numbersOf(values),
    lastDayOffsets: values.includes('L') ? [0] : [],
    nearestWeekdays: [],
    nearestWeekdayOffsets: [],
  }
}

/** From 0 or 7=SUN to 1=SUN. */
function weekDaysOf(values: readonly (number | string)[], nth: number): WeekDays {
  const days = [...new Set(numbersOf(values).map((day) => (day % 7) + 1))].sort((a, b) => a - b)
  const lastDays = values
    .filter((value) => typeof value === 'string')
    .map((value) => (Number.parseInt(value, 10) % 7) + 1)
  if (nth === 0) return { days, lastDays, nthDays: [] }
  return { days: [], lastDays, nthDays: days.map((day) => ({ day, nth })) }
}
