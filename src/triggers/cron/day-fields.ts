import type { CronExpressionError } from '../../core/errors.ts'
import { findName } from './cron-fields.ts'
import type { CronToken } from './cron-text.ts'
import type { MonthDays, NthWeekday } from './day-rule.ts'
import { ascending, type FieldScanner, type ValueSet } from './field-scanner.ts'

/*
 * What the two day fields take beyond plain values, in the dialects that have it: Quartz's and Spring's.
 */

/** The furthest that `L-n` may look back from the last day. */
const lastDayOffsetMax = 30

/** `?`: this day field does not restrict the days. */
export function isUnspecified(token: CronToken): boolean {
  return token.text === '?'
}

/** Day-of-month: plain values as in any field, `L`, `L-n`, `LW`, `L-nW` and `nW`; `null` when a bare `*` allows all. */
export function parseMonthDays(scanner: FieldScanner): MonthDays | null {
  const plain: ValueSet = { values: new Set(), all: false }
  const lastDayOffsets = new Set<number>()
  const nearestWeekdays = new Set<number>()
  const nearestWeekdayOffsets = new Set<number>()
  scanner.list(() => {
    const start = scanner.index
    if (scanner.char === 'L') {
      const last = parseLast(scanner)
      if (last.weekday) nearestWeekdayOffsets.add(last.offset)
      else lastDayOffsets.add(last.offset)
      return
    }
    refuseMisplacedLetters(scanner)
    const digits = scanner.takeDigits()
    if (digits !== '' && scanner.char === 'W') {
      nearestWeekdays.add(scanner.numberOf(digits, start))
      scanner.index += 1
      return
    }
    scanner.index = start
    scanner.plainItem(plain)
    if (!scanner.isItemEnd()) throw afterDay(scanner, start)
  })
  if (plain.all) return null
  return {
    days: ascending(plain.values),
    lastDayOffsets: [...lastDayOffsets],
    nearestWeekdays: [...nearestWeekdays],
    nearestWeekdayOffsets: [...nearestWeekdayOffsets],
  }
}

/** `L`, `L-n`, `LW` or `L-nW`. */
function parseLast(scanner: FieldScanner): { offset: number; weekday: boolean } {
  const start = scanner.index
  scanner.index += 1
  const offset = scanner.take('-') ? parseLastOffset(scanner) : 0
  const weekday = scanner.take('W')
  if (scanner.isItemEnd()) return { offset, weekday }
  const rest = scanner.itemFrom(scanner.index)
  if (offset === 0 && /^-?\d{1,2}$/.test(rest)) {
    const suggestion = scanner.write(`L-${rest.replace('-', '')}${weekday ? 'W' : ''}`)
    throw scanner.error(`days before the last one are written after 'L-'`, { at: start, suggestion })
  }
  throw scanner.unexpected()
}

function parseLastOffset(scanner: FieldScanner): number {
  const start = scanner.index
  const digits = scanner.takeDigits()
  if (digits === '') throw scanner.error(`'L-' must be followed by a number of days`)
  const offset = Number(digits)
  if (offset <= lastDayOffsetMax) return offset
  throw scanner.error(`'L-' takes 0 to ${lastDayOffsetMax} days`, { at: start })
}

/** Letters other than L: `W` before its day, or a name. */
function refuseMisplacedLetters(scanner: FieldScanner): void {
  const start = scanner.index
  if (scanner.char !== 'W') return
  const rest = scanner.itemFrom(start + 1)
  const plain = rest === 'L' || /^\d{1,2}$/.test(rest)
  throw scanner.error(`'W' follows the day that it belongs to`, {
    at: start,
    suggestion: plain ? scanner.write(`${rest}W`) : null,
  })
}

/** The error for a character after a day or a range of days. */
function afterDay(scanner: FieldScanner, start: number): CronExpressionError {
  const before = scanner.text.slice(start, scanner.index)
  if (scanner.char === 'L' && /^\d+$/.test(before)) {
    const suggestion = Number(before) <= lastDayOffsetMax ? scanner.write(`L-${Number(before)}`) : null
    return scanner.error(`'L' does not follow a day of the month`, { suggestion })
  }
  if (scanner.char === 'W') {
    return scanner.error(`'W' belongs to a single day, not to a range or a step`, {
      suggestion: 'List the days, each with its own W.',
    })
  }
  return scanner.unexpected()
}

/** The items of a day-of-week field, in the numbers of its spec. */
export interface WeekDayItems {
  readonly plain: ValueSet
  readonly lastDays: readonly number[]
  readonly nthDays: readonly NthWeekday[]
  /** Every item that is no plain value. The meaning of a bare `L` depends on the dialect. */
  readonly specials: readonly { readonly at: number; readonly char: 'L' | '#'; readonly bare: boolean }[]
}

/** The items of a day-of-week field: plain values, `L`, `nL`, `FRIL`, `n#k` and `FRI#k`. */
export function parseWeekDayItems(scanner: FieldScanner): WeekDayItems {
  const plain: ValueSet = { values: new Set(), all: false }
  const lastDays: number[] = []
  const nthDays: NthWeekday[] = []
  const specials: WeekDayItems['specials'][number][] = []
  scanner.list(() => {
    const start = scanner.index
    const day = specialDay(scanner)
    if (day === null) {
      scanner.index = start
      scanner.plainItem(plain)
      if (!scanner.isItemEnd()) throw afterWeekday(scanner)
      return
    }
    specials.push({ at: start, char: scanner.char === '#' ? '#' : 'L', bare: day === 'none' })
    if (day !== 'none') {
      if (scanner.take('L')) lastDays.push(day)
      else nthDays.push({ day, nth: parseNth(scanner) })
    }
    if (!scanner.isItemEnd()) throw scanner.unexpected()
  })
  return { plain, lastDays, nthDays, specials }
}

/**
 * Reads the day of `nL`, `FRIL`, `n#k` and `FRI#k` and stops at the `L` or `#`; `none` for a bare `L`, which it steps
 * over, and null for anything else.
 */
function specialDay(scanner: FieldScanner): number | 'none' | null {
  const start = scanner.index
  const digits = scanner.takeDigits()
  if (digits !== '') {
    if (scanner.char !== 'L' && scanner.char !== '#') return null
    return scanner.numberOf(digits, start)
  }
  const letters = scanner.takeLetters()
  if (letters === 'L') {
    if (scanner.char !== '-') return 'none'
    throw scanner.error(`'L' does not take an offset in the day-of-week field`, { at: start })
  }
  if (scanner.char === '#' && letters !== '') return scanner.namedBy(letters, start)
  if (!letters.endsWith('L')) return null
  const day = findName(scanner.spec, letters.slice(0, -1))
  if (day === null) return null
  scanner.index -= 1
  return day
}

/** `#k`: which of the days of the month. */
function parseNth(scanner: FieldScanner): number {
  scanner.index += 1
  const start = scanner.index
  const digits = scanner.takeDigits()
  const nth = Number(digits)
  if (digits !== '' && nth >= 1 && nth <= 5) return nth
  throw scanner.error(`'#' must be followed by a number from 1 to 5`, { at: start })
}

function afterWeekday(scanner: FieldScanner): CronExpressionError {
  if (scanner.char === '#' || scanner.char === 'L') {
    return scanner.error(`'${scanner.char}' belongs to a single day, not to a range or a step`, {
      suggestion: 'Use one trigger per day.',
    })
  }
  return scanner.unexpected()
}
