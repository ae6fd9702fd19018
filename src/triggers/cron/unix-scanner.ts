import { daysInMonth } from '../../time/civil.ts'
import { type CronFieldSpec, findName } from './cron-fields.ts'
import type { CronToken } from './cron-text.ts'
import { FieldScanner, type ValueSet } from './field-scanner.ts'
import type { SixSpecs, SixTokens } from './six-fields.ts'

/** The values of the fields of a Unix expression. */
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

/** The values of one field. */
interface FoundItems {
  readonly values: Set<number>
  lastDay: boolean
  readonly lastWeekdays: Set<number>
  nth: number
}

/** A plain item; the scanner alone would also take a step without a star, whole names and longer numbers. */
const plainItem = /^(?:\*|(?:\d{1,4}|[A-Z]{3})(?:-(?:\d{1,4}|[A-Z]{3}))?)(?:\/(\d{1,4}))?$/
const weekdayItem = /^([0-7]|[A-Z]{3})(?:L|#([1-5]))$/

/**
 * Reads the fields of a Unix expression, and refuses what cron-parser refuses, but for values that are named twice in a
 * list: crontab files have them, as in `0-10,5` or `0,7`.
 */
export function scanUnixFields(expression: string, tokens: SixTokens, specs: SixSpecs): UnixFields {
  const scan = (token: CronToken, spec: CronFieldSpec): FoundItems =>
    scanField(new FieldScanner(expression, token, spec))
  // In the order of the text, so that the first mistake is the one that is reported.
  const seconds = [...scan(tokens[0], specs[0]).values]
  const minutes = [...scan(tokens[1], specs[1]).values]
  const hours = [...scan(tokens[2], specs[2]).values]
  const monthDay = scan(tokens[3], specs[3])
  const months = [...scan(tokens[4], specs[4]).values]
  const weekday = scan(tokens[5], specs[5])
  return {
    seconds,
    minutes,
    hours,
    days: possibleDays([...monthDay.values], months),
    lastDay: monthDay.lastDay,
    months,
    weekdays: [...weekday.values],
    lastWeekdays: [...weekday.lastWeekdays],
    nth: weekday.nth,
  }
}

function scanField(scanner: FieldScanner): FoundItems {
  const found: FoundItems = { values: new Set(), lastDay: false, lastWeekdays: new Set(), nth: 0 }
  scanner.list(() => {
    const start = scanner.index
    const item = scanner.itemFrom(start)
    const { name } = scanner.spec
    const weekday = name === 'dayOfWeek' ? weekdayItem.exec(item) : null
    if (weekday !== null) {
      readSpecialWeekday(scanner, found, weekday)
    } else if (name === 'dayOfMonth' && item === 'L') {
      found.lastDay = true
    } else {
      readPlainItem(scanner, found, item)
    }
    scanner.index = start + item.length
  })
  return found
}

/** `5L`, `FRIL`, `1#2` or `MON#2`. */
function readSpecialWeekday(scanner: FieldScanner, found: FoundItems, parts: RegExpExecArray): void {
  const start = scanner.index
  const [item, day = '', nth] = parts
  const value = day.length === 1 ? Number(day) : scanner.namedBy(day, start)
  if (nth !== undefined) {
    const alone = item === scanner.text
    if (!alone) throw scanner.error(`'#' cannot stand in a list of days of the week`, { at: start })
    found.values.add(value)
    found.nth = Number(nth)
    return
  }
  found.lastWeekdays.add(value)
}

function readPlainItem(scanner: FieldScanner, found: FoundItems, item: string): void {
  const { min, max, stepMax, label } = scanner.spec
  const plain = plainItem.exec(item)
  if (plain === null) {
    const short = scanner.text.replaceAll(/[A-Z]{4,}/g, (name) => {
      return findName(scanner.spec, name) === null ? name : name.slice(0, 3)
    })
    const named = short === scanner.text ? null : scanner.write(short)
    const suggestion = item === '?' ? `Write '*': '?' belongs to Quartz's dialect.` : named
    throw scanner.error(`'${item}' is no item of it`, { suggestion })
  }
  const [, step] = plain
  if (step !== undefined && !(Number(step) >= 1 && Number(step) <= stepMax)) {
    throw scanner.error(`the ${label} step must be from 1 to ${stepMax}, found ${step}`)
  }
  const set: ValueSet = { values: new Set(), all: false }
  scanner.plainItem(set)
  if (set.all) for (let value = min; value <= max; value++) set.values.add(value)
  for (const value of set.values) found.values.add(value)
}

/** A single month leaves out the days that it never has; where it has none of them, the expression is impossible. */
function possibleDays(days: readonly number[], months: readonly number[]): readonly number[] {
  const [month] = months
  if (month === undefined || months.length > 1) return days
  const leapYear = 2000
  const possible = days.filter((day) => day <= daysInMonth(leapYear, month))
  return possible.length > 0 ? possible : days
}
