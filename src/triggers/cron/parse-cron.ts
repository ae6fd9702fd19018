import type { CronExpressionError } from '../../core/errors.ts'
import {
  type CronFieldName,
  type CronFieldSpec,
  type CronFields,
  cronFieldSpecs,
  dayOfMonthSpec,
  dayOfWeekSpec,
  hourSpec,
  isFixedField,
  minuteSpec,
  monthSpec,
  secondSpec,
  yearSpec,
} from './cron-fields.ts'
import { type CronToken, cronError, cronTextMaxLength, FieldScanner, splitFields } from './field-scanner.ts'
import { parseMonthDays, parseWeekDays } from './parse-days.ts'
import { parseValues } from './parse-field.ts'

/** An expression taken apart: its fields and its text as it is kept. */
export interface ParsedCron {
  /** Upper case, single spaces. */
  readonly text: string
  readonly fields: CronFields
  /** The day field that restricts the days, and where it stands in the text that was given. */
  readonly dayField: { readonly field: CronFieldName; readonly label: string; readonly position: number }
}

const requiredFields = 6

/** Reads an expression of Quartz's dialect: six or seven fields, exactly one of the two day fields `?`. */
export function parseQuartzCron(expression: string): ParsedCron {
  refuseLongText(expression)
  const tokens = splitFields(expression)
  const [second, minute, hour, dayOfMonth, month, dayOfWeek, year, extra] = tokens
  if (
    second === undefined ||
    minute === undefined ||
    hour === undefined ||
    dayOfMonth === undefined ||
    month === undefined ||
    dayOfWeek === undefined
  ) {
    throw tooFewFields(expression, tokens)
  }
  if (extra !== undefined) throw tooManyFields(expression, tokens, extra)
  const scan = (spec: CronFieldSpec, token: CronToken): FieldScanner =>
    new FieldScanner(expression, token, spec)
  // In the order of the text, so that the first mistake is the one that is reported.
  const seconds = parseValues(scan(secondSpec, second))
  const minutes = parseValues(scan(minuteSpec, minute))
  const hours = parseValues(scan(hourSpec, hour))
  const monthDays = isUnspecified(dayOfMonth) ? null : parseMonthDays(scan(dayOfMonthSpec, dayOfMonth))
  const months = parseValues(scan(monthSpec, month))
  const weekDays = isUnspecified(dayOfWeek) ? null : parseWeekDays(scan(dayOfWeekSpec, dayOfWeek))
  const years = year === undefined ? null : parseValues(scan(yearSpec, year))
  if (isUnspecified(dayOfMonth) === isUnspecified(dayOfWeek)) {
    const found = isUnspecified(dayOfMonth) ? `both day fields are '?'` : `neither day field is '?'`
    const suggestion = dayFieldAdvice(tokens, dayOfMonth, dayOfWeek)
    throw scan(dayOfWeekSpec, dayOfWeek).error(found, { at: 0, suggestion })
  }
  const unspecified = isUnspecified(dayOfMonth) ? 'dayOfMonth' : 'dayOfWeek'
  const restricting = unspecified === 'dayOfMonth' ? dayOfWeekSpec : dayOfMonthSpec
  return {
    text: tokens.map((token) => token.text).join(' '),
    fields: {
      seconds,
      minutes,
      hours,
      days: { monthDays, weekDays, combine: 'and', unspecified },
      months,
      years,
      fixedTimes: [second, minute, hour].every((token) => isFixedField(token.text)),
    },
    dayField: {
      field: restricting.name,
      label: restricting.label,
      position: (unspecified === 'dayOfMonth' ? dayOfWeek : dayOfMonth).position,
    },
  }
}

/** `?`: this day field leaves the days to the other one. */
export function isUnspecified(token: CronToken): boolean {
  return token.text === '?'
}

/** Refuses hostile lengths before anything reads the text. */
export function refuseLongText(expression: string): void {
  if (typeof expression !== 'string') {
    throw wholeError(String(expression), 'it is not a string', null)
  }
  if (expression.length <= cronTextMaxLength) return
  const found = `it has ${expression.length} characters, at most ${cronTextMaxLength} are read`
  throw wholeError(expression, found, 'Use ranges and steps instead of long lists.')
}

function dayFieldAdvice(tokens: readonly CronToken[], dayOfMonth: CronToken, dayOfWeek: CronToken): string {
  const rewritten = (replaced: CronToken, text: string): string =>
    tokens.map((token) => (token === replaced ? text : token.text)).join(' ')
  const rule = `Put '?' in exactly one day field`
  if (isUnspecified(dayOfMonth)) return `${rule}: '${rewritten(dayOfWeek, '*')}'.`
  if (dayOfWeek.text === '*') return `${rule}: '${rewritten(dayOfWeek, '?')}'.`
  if (dayOfMonth.text === '*') return `${rule}: '${rewritten(dayOfMonth, '?')}'.`
  return `${rule}; for days that match both or either use two triggers or a calendar.`
}

function tooFewFields(expression: string, tokens: readonly CronToken[]): CronExpressionError {
  const missing = cronFieldSpecs[tokens.length] ?? yearSpec
  const where = { field: missing.name, label: missing.label, position: expression.trimEnd().length }
  const first = tokens[0]?.text ?? ''
  if (first.startsWith('@')) {
    const macroWhere = { field: secondSpec.name, label: secondSpec.label, position: tokens[0]?.position ?? 0 }
    return cronError(expression, macroWhere, 'macros are not part of this dialect', 'Use parseUnixCron.')
  }
  const count = tokens.length === 1 ? '1 field' : `${tokens.length} fields`
  const found = `it has ${count}, needed are ${requiredFields} or ${requiredFields + 1}`
  const advice = tokens.length === 5 ? 'For a five-field Unix expression use parseUnixCron.' : null
  return cronError(expression, where, found, advice)
}

function tooManyFields(
  expression: string,
  tokens: readonly CronToken[],
  extra: CronToken,
): CronExpressionError {
  const where = { field: yearSpec.name, label: yearSpec.label, position: extra.position }
  const found = `it has ${tokens.length} fields, at most ${cronFieldSpecs.length} are allowed`
  return cronError(expression, where, found, `Nothing may follow the year.`)
}

function wholeError(expression: string, found: string, suggestion: string | null): CronExpressionError {
  const where = { field: secondSpec.name, label: secondSpec.label, position: 0 }
  return cronError(expression, where, found, suggestion)
}
