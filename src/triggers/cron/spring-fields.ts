import type { CronExpressionError } from '../../core/errors.ts'
import {
  type CronFieldSpec,
  dayOfMonthSpec,
  dayOfWeekSpec,
  hourSpec,
  isFixedField,
  minuteSpec,
  monthSpec,
  secondSpec,
  weekdayNames,
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
import { expandMacro, fieldsOfMacro } from './macros.ts'

/** Spring's ranges do not run over the end of their field. */
const straight = (spec: CronFieldSpec): CronFieldSpec => ({ ...spec, wraps: false })

/** 1=MON .. 7=SUN, and 0 is Sunday too; so names count from the second value on. */
const springDayOfWeekSpec: CronFieldSpec = {
  ...straight(dayOfWeekSpec),
  min: 0,
  wildcardMin: 1,
  names: ['', ...weekdayNames.slice(1), ...weekdayNames.slice(0, 1)],
}

const springSpecs = [secondSpec, minuteSpec, hourSpec, dayOfMonthSpec, monthSpec].map(straight)
springSpecs.push(springDayOfWeekSpec)

/** A macro's fields with the second before them. */
const withSecond = (fields: string | null): string | null => (fields === null ? null : `0 ${fields}`)

/** The six fields that a macro stands for; null for a text that is none. */
export function expandSpringMacro(text: string): string | null {
  return withSecond(fieldsOfMacro(text))
}

/** Reads an expression of Spring's dialect: six fields, of which both day fields must match, or a macro. */
export function parseSpringCron(expression: string): ParsedCron {
  refuseLongText(expression)
  const written = splitFields(expression)
  const macro = withSecond(expandMacro(expression, written, secondSpec))
  const tokens = macro === null ? written : splitFields(macro)
  const [second, minute, hour, dayOfMonth, month, dayOfWeek, extra] = tokens.map((token, index) => ({
    token,
    scanner: new FieldScanner(expression, token, springSpecs[index] ?? springDayOfWeekSpec),
  }))
  if (
    second === undefined ||
    minute === undefined ||
    hour === undefined ||
    dayOfMonth === undefined ||
    month === undefined ||
    dayOfWeek === undefined ||
    extra !== undefined
  ) {
    throw wrongFieldCount(expression, tokens)
  }
  const [anyMonthDay, anyWeekDay] = [isUnspecified(dayOfMonth.token), isUnspecified(dayOfWeek.token)]
  // In the order of the text, so that the first mistake is the one that is reported.
  const seconds = second.scanner.values()
  const minutes = minute.scanner.values()
  const hours = hour.scanner.values()
  const monthDays = anyMonthDay ? null : parseMonthDays(dayOfMonth.scanner)
  const months = month.scanner.values()
  const weekDays = anyWeekDay ? null : parseSpringWeekDays(dayOfWeek.scanner)
  const unspecified = anyWeekDay ? 'dayOfWeek' : anyMonthDay ? 'dayOfMonth' : null
  const restricting = anyMonthDay || dayOfMonth.token.text === '*' ? dayOfWeek : dayOfMonth
  return {
    text: macro === null ? joinFields(written) : joinFields(written).toLowerCase(),
    fields: {
      seconds,
      minutes,
      hours,
      days: { monthDays, weekDays, combine: 'and', unspecified },
      months,
      years: null,
      fixedTimes: [second, minute, hour].every(({ token }) => isFixedField(token.text)),
    },
    dayField: placeOf(restricting.scanner.spec, macro === null ? restricting.token.position : 0),
  }
}

/** Lists may mix plain days with `5L` and `1#2`; an `L` needs a day before it. */
function parseSpringWeekDays(scanner: FieldScanner): WeekDays | null {
  const { plain, lastDays, nthDays, specials } = parseWeekDayItems(scanner)
  const bare = specials.find((special) => special.bare)
  if (bare !== undefined) {
    const suggestion = scanner.write('SAT')
    throw scanner.error(`'L' needs a day of the week before it`, { at: bare.at, suggestion })
  }
  if (plain.all) return null
  return {
    days: ascending(new Set([...plain.values].map(fromSunday))),
    lastDays: lastDays.map(fromSunday),
    nthDays: nthDays.map(({ day, nth }) => ({ day: fromSunday(day), nth })),
  }
}

/** From 0 and 7=SUN to 1=SUN. */
function fromSunday(day: number): number {
  return (day % 7) + 1
}

function wrongFieldCount(expression: string, tokens: readonly CronToken[]): CronExpressionError {
  const extra = tokens[springSpecs.length]
  const spec = springSpecs[Math.min(tokens.length, springSpecs.length - 1)] ?? springDayOfWeekSpec
  const where = placeOf(spec, extra?.position ?? expression.trimEnd().length)
  const advice =
    tokens.length === 5
      ? 'Put the second first: 0 for a five-field Unix expression.'
      : tokens.length === 7
        ? `Spring's expressions have no year.`
        : null
  return cronError(expression, where, `it has ${tokens.length} fields, needed are 6`, advice)
}
