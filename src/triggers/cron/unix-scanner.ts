import { daysInMonth } from '../../time/civil.ts'
import { FieldScanner, type ValueSet } from './field-scanner.ts'
import type { UnixField, UnixFields } from './unix-fields.ts'

/** What stands in one field. */
interface FoundItems {
  readonly values: Set<number>
  /** `L` as day of the month. */
  lastDay: boolean
  /** `5L` as day of the week. */
  readonly lastWeekdays: Set<number>
  /** `1#2` as day of the week; 0 for none. */
  nth: number
}

/** Reads Unix fields with the scanner of the other dialects, and refuses what cron-parser refuses. */
export function scanUnixFields(expression: string, fields: readonly UnixField[]): UnixFields {
  const found = fields.map(({ token, spec }) => scanField(new FieldScanner(expression, token, spec)))
  const valuesAt = (index: number): readonly number[] => [...(found[index]?.values ?? [])]
  const months = valuesAt(4)
  return {
    seconds: valuesAt(0),
    minutes: valuesAt(1),
    hours: valuesAt(2),
    days: daysOfMonth(valuesAt(3), months),
    lastDay: found[3]?.lastDay ?? false,
    months,
    weekdays: valuesAt(5),
    lastWeekdays: [...(found[5]?.lastWeekdays ?? [])],
    nth: found[5]?.nth ?? 0,
  }
}

function scanField(scanner: FieldScanner): FoundItems {
  const found: FoundItems = { values: new Set(), lastDay: false, lastWeekdays: new Set(), nth: 0 }
  scanner.list(() => {
    const start = scanner.index
    if (readSpecial(scanner, found)) return
    scanner.index = start
    const item: ValueSet = { values: new Set(), all: false }
    scanner.plainItem(item)
    const { min, max } = scanner.spec
    if (item.all) for (let value = min; value <= max; value++) item.values.add(value)
    for (const value of item.values) if (hasValue(scanner, found, value)) throw namedTwice(scanner, start)
    for (const value of item.values) found.values.add(value)
  })
  return found
}

/** Steps over `L`, `5L` or `1#2`; false for anything else. */
function readSpecial(scanner: FieldScanner, found: FoundItems): boolean {
  const start = scanner.index
  const { name } = scanner.spec
  if (name === 'dayOfMonth' && scanner.take('L')) {
    if (found.lastDay) throw namedTwice(scanner, start)
    found.lastDay = true
    return true
  }
  const special = name === 'dayOfWeek' ? /^(\d|[A-Z]{3})(?:L|#([1-5]))$/.exec(scanner.itemFrom(start)) : null
  if (special === null) return false
  const [item, day = '', nth] = special
  const value = /\d/.test(day) ? scanner.numberOf(day, start) : scanner.namedBy(day, start)
  scanner.index += item.length
  if (nth === undefined) {
    if (found.lastWeekdays.has(value)) throw namedTwice(scanner, start)
    found.lastWeekdays.add(value)
    return true
  }
  if (item !== scanner.text) {
    throw scanner.error(`'#' cannot stand in a list of days of the week`, { at: start })
  }
  found.values.add(value)
  found.nth = Number(nth)
  return true
}

/** Whether an item before this one has named a value; 0 and 7 are both Sunday. */
function hasValue({ spec }: FieldScanner, { values }: FoundItems, value: number): boolean {
  if (values.has(value)) return true
  return spec.name === 'dayOfWeek' && value % 7 === 0 && (values.has(0) || values.has(7))
}

function namedTwice(scanner: FieldScanner, start: number): Error {
  const item = scanner.itemFrom(start)
  return scanner.error(`'${item}' names what stands before it in the list`, { at: start })
}

/** A single month leaves out the days that it never has; where it has none of them, the expression is impossible. */
function daysOfMonth(days: readonly number[], months: readonly number[]): readonly number[] {
  const [month] = months
  if (month === undefined || months.length > 1) return days
  const possible = days.filter((day) => day <= daysInMonth(2000, month))
  return possible.length > 0 ? possible : days
}
