import { fromSunday, secondSpec, weekdayNames } from './cron-fields.ts'
import { joinFields, type ParsedCron, refuseLongText, splitFields, wrongFieldCount } from './cron-text.ts'
import { isUnspecified, parseWeekDayItems } from './day-fields.ts'
import type { WeekDays } from './day-rule.ts'
import { ascending, type FieldScanner } from './field-scanner.ts'
import { expandMacro, fieldsOfMacro } from './macros.ts'
import {
  hasFixedTimes,
  isSix,
  readSixFields,
  restrictingDay,
  type SixSpecs,
  straightSpecs,
} from './six-fields.ts'

const [second, minute, hour, dayOfMonth, month, dayOfWeek] = straightSpecs

/** 1=MON .. 7=SUN, and 0 is Sunday too; so names count from the second value on. */
const springSpecs: SixSpecs = [
  second,
  minute,
  hour,
  dayOfMonth,
  month,
  {
    ...dayOfWeek,
    min: 0,
    wildcardMin: 1,
    names: ['', ...weekdayNames.slice(1), ...weekdayNames.slice(0, 1)],
  },
]

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
  if (!isSix(tokens)) {
    throw wrongFieldCount(expression, tokens, springSpecs, {
      most: 6,
      needed: '6',
      advice: fieldCountAdvice(tokens.length),
    })
  }
  const { monthDays, weekDays, ...others } = readSixFields(
    expression,
    tokens,
    springSpecs,
    parseSpringWeekDays,
  )
  const unspecified = isUnspecified(tokens[5]) ? 'dayOfWeek' : isUnspecified(tokens[3]) ? 'dayOfMonth' : null
  return {
    text: joinFields(written),
    fields: {
      ...others,
      days: { monthDays, weekDays, combine: 'and', unspecified },
      years: null,
      fixedTimes: hasFixedTimes(tokens),
    },
    dayField: restrictingDay(tokens),
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

function fieldCountAdvice(count: number): string | null {
  if (count === 5) return 'Put the second first: 0 for a five-field Unix expression.'
  return count === 7 ? `Spring's expressions have no year.` : null
}
