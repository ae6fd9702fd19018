import { dayOfWeekSpec, secondSpec, yearSpec } from './cron-fields.ts'
import {
  type CronToken,
  cronError,
  joinFields,
  type ParsedCron,
  placeOf,
  refuseLongText,
  splitFields,
  wrongFieldCount,
} from './cron-text.ts'
import { isUnspecified, parseWeekDayItems } from './day-fields.ts'
import type { WeekDays } from './day-rule.ts'
import { ascending, FieldScanner } from './field-scanner.ts'
import {
  hasFixedTimes,
  isSix,
  readSixFields,
  restrictingDay,
  type SixTokens,
  sixSpecs,
} from './six-fields.ts'

const saturday = 7

const useUnix = "Use dialect: 'unix', as CronScheduleBuilder.unixCron and parseUnixCron do."

/** Reads an expression of Quartz's dialect: six or seven fields, exactly one of the two day fields `?`. */
export function parseQuartzCron(expression: string): ParsedCron {
  refuseLongText(expression)
  const tokens = splitFields(expression)
  const [first, year, extra] = [tokens[0], tokens[6], tokens[7]]
  const six = tokens.slice(0, 6)
  if (!isSix(six) || extra !== undefined) {
    if (first?.text.startsWith('@') === true) {
      const where = placeOf(secondSpec, first.position)
      throw cronError(expression, where, 'macros are not part of this dialect', useUnix)
    }
    throw wrongFieldCount(expression, tokens, [...sixSpecs, yearSpec], {
      most: 7,
      needed: '6 or 7',
      advice: fieldCountAdvice(tokens.length),
    })
  }
  const fields = readSixFields(expression, six, sixSpecs, parseWeekDays)
  const years = year === undefined ? null : new FieldScanner(expression, year, yearSpec).values()
  const anyMonthDay = isUnspecified(six[3])
  if (anyMonthDay === isUnspecified(six[5])) {
    const found = anyMonthDay ? `both day fields are '?'` : `neither day field is '?'`
    throw cronError(expression, placeOf(dayOfWeekSpec, six[5].position), found, dayFieldAdvice(six, year))
  }
  const { monthDays, weekDays, ...others } = fields
  return {
    text: joinFields(tokens),
    fields: {
      ...others,
      days: { monthDays, weekDays, combine: 'and', unspecified: anyMonthDay ? 'dayOfMonth' : 'dayOfWeek' },
      years,
      fixedTimes: hasFixedTimes(six),
    },
    dayField: restrictingDay(six),
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

function dayFieldAdvice(six: SixTokens, year: CronToken | undefined): string {
  const tokens = year === undefined ? six : [...six, year]
  const [, , , dayOfMonth, , dayOfWeek] = six
  const rewritten = (replaced: CronToken, text: string, days = dayOfWeek.text): string =>
    tokens.map((token) => (token === replaced ? text : token === dayOfWeek ? days : token.text)).join(' ')
  const rule = `Put '?' in exactly one day field`
  if (isUnspecified(dayOfMonth)) return `${rule}: '${rewritten(dayOfWeek, '*')}'.`
  if (dayOfWeek.text === '*') return `${rule}: '${rewritten(dayOfWeek, '?')}'.`
  if (dayOfMonth.text === '*') {
    const days = asNames(dayOfWeek.text)
    const why =
      days === dayOfWeek.text ? '' : ' Days are named because 1 is Sunday here, and Monday in other crons.'
    return `${rule}: '${rewritten(dayOfMonth, '?', days)}'.${why}`
  }
  return `${rule}; for days that match both or either use two triggers or a calendar.`
}

function fieldCountAdvice(count: number): string | null {
  if (count > 7) return 'Nothing may follow the year.'
  return count === 5 ? useUnix : null
}

/** Days of the week as other crons count them, 0 and 7 for Sunday: an expression without `?` was written for those. */
function asNames(dayOfWeek: string): string {
  const names = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN']
  return dayOfWeek.replaceAll(/(?<![#/\d])\d+/g, (digits) => names[Number(digits)] ?? digits)
}
