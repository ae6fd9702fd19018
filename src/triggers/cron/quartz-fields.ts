import type { CronExpressionError } from '../../core/errors.ts'
import {
  type CronFieldSpec,
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
import {
  type CronToken,
  cronError,
  joinFields,
  type ParsedCron,
  placeOf,
  refuseLongText,
  splitFields,
} from './cron-text.ts'
import { isUnspecified, parseMonthDays, parseWeekDayItems } from './day-fields.ts'
import type { WeekDays } from './day-rule.ts'
import { ascending, FieldScanner } from './field-scanner.ts'

const requiredFields = 6
const saturday = 7

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
  const seconds = scan(secondSpec, second).values()
  const minutes = scan(minuteSpec, minute).values()
  const hours = scan(hourSpec, hour).values()
  const monthDays = isUnspecified(dayOfMonth) ? null : parseMonthDays(scan(dayOfMonthSpec, dayOfMonth))
  const months = scan(monthSpec, month).values()
  const weekDays = isUnspecified(dayOfWeek) ? null : parseWeekDays(scan(dayOfWeekSpec, dayOfWeek))
  const years = year === undefined ? null : scan(yearSpec, year).values()
  if (isUnspecified(dayOfMonth) === isUnspecified(dayOfWeek)) {
    const found = isUnspecified(dayOfMonth) ? `both day fields are '?'` : `neither day field is '?'`
    const suggestion = dayFieldAdvice(tokens, dayOfMonth, dayOfWeek)
    throw scan(dayOfWeekSpec, dayOfWeek).error(found, { at: 0, suggestion })
  }
  const unspecified = isUnspecified(dayOfMonth) ? 'dayOfMonth' : 'dayOfWeek'
  return {
    text: joinFields(tokens),
    fields: {
      seconds,
      minutes,
      hours,
      days: { monthDays, weekDays, combine: 'and', unspecified },
      months,
      years,
      fixedTimes: [second, minute, hour].every((token) => isFixedField(token.text)),
    },
    dayField:
      unspecified === 'dayOfMonth'
        ? placeOf(dayOfWeekSpec, dayOfWeek.position)
        : placeOf(dayOfMonthSpec, dayOfMonth.position),
  }
}

/**
 * Day-of-week: plain values as in any field, or one of `L` (Saturday), `nL` and `n#k` as the whole field; `null` when
 * a bare `*` allows all.
 */
function parseWeekDays(scanner: FieldScanner): WeekDays | null {
  const { plain, lastDays, nthDays, specials } = parseWeekDayItems(scanner)
  const [special] = specials
  if (special !== undefined && scanner.text.includes(',')) {
    throw scanner.error(`'${special.char}' cannot stand in a list of days of the week`, {
      at: special.at,
      suggestion: 'Use one trigger per day.',
    })
  }
  if (special?.bare === true) plain.values.add(saturday)
  return plain.all ? null : { days: ascending(plain.values), lastDays, nthDays }
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
  const [first] = tokens
  if (first?.text.startsWith('@') === true) {
    const where = placeOf(secondSpec, first.position)
    return cronError(expression, where, 'macros are not part of this dialect', 'Use parseUnixCron.')
  }
  const count = tokens.length === 1 ? '1 field' : `${tokens.length} fields`
  const found = `it has ${count}, needed are ${requiredFields} or ${requiredFields + 1}`
  const advice = tokens.length === 5 ? 'For a five-field Unix expression use parseUnixCron.' : null
  return cronError(expression, placeOf(missing, expression.trimEnd().length), found, advice)
}

function tooManyFields(
  expression: string,
  tokens: readonly CronToken[],
  extra: CronToken,
): CronExpressionError {
  const found = `it has ${tokens.length} fields, at most ${cronFieldSpecs.length} are allowed`
  return cronError(expression, placeOf(yearSpec, extra.position), found, `Nothing may follow the year.`)
}
