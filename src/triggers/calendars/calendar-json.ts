import { describeValue } from '../../core/options.ts'
import { beginningOf } from '../../core/text-beginning.ts'
import { AnnualCalendar, type AnnualCalendarOptions } from './annual-calendar.ts'
import type { Calendar, CalendarDefinition } from './calendar.ts'
import { CronCalendar, type CronCalendarOptions } from './cron-calendar.ts'
import { DailyCalendar, type DailyCalendarOptions } from './daily-calendar.ts'
import { HolidayCalendar, type HolidayCalendarOptions } from './holiday-calendar.ts'
import { invalidCalendar, maxChainLength, tooLongChain } from './invalid-calendar.ts'
import { MonthlyCalendar, type MonthlyCalendarOptions } from './monthly-calendar.ts'
import { WeeklyCalendar, type WeeklyCalendarOptions } from './weekly-calendar.ts'
import type { CalendarOptions } from './zoned-calendar.ts'

// The constructors check their arguments, so the type is only asserted here.
type Make = (options: CalendarOptions) => Calendar
const families: ReadonlyMap<string, Make> = new Map<string, Make>([
  ['annual', (options) => new AnnualCalendar(options as AnnualCalendarOptions)],
  ['cron', (options) => new CronCalendar(options as CronCalendarOptions)],
  ['daily', (options) => new DailyCalendar(options as DailyCalendarOptions)],
  ['holiday', (options) => new HolidayCalendar(options as HolidayCalendarOptions)],
  ['monthly', (options) => new MonthlyCalendar(options as MonthlyCalendarOptions)],
  ['weekly', (options: WeeklyCalendarOptions) => new WeeklyCalendar(options)],
])

/** Names of the calendar families that have a plain form. */
const calendarTypes: readonly string[] = [...families.keys()]

/**
 * The calendar of a plain form that `calendar.toJSON()` made.
 *
 * @throws InvalidArgumentError ERR_INVALID_CALENDAR naming the field, ERR_UNKNOWN_TIME_ZONE; CronExpressionError
 */
export function calendarFromJSON(json: unknown): Calendar {
  // From the innermost base outwards, so that a long chain does not overflow the call stack.
  const chain: CalendarDefinition[] = []
  for (let definition = json; definition !== undefined; ) {
    const checked = requireDefinition(definition)
    chain.push(checked)
    if (chain.length > maxChainLength) throw tooLongChain(checked.type, 'base')
    definition = checked.base ?? undefined
  }
  const made = chain.reduceRight<Calendar | null>(makeCalendar, null)
  if (made === null) throw invalidCalendar('unknown', 'type', 'the definition is empty.')
  return made
}

function requireDefinition(value: unknown): CalendarDefinition {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidCalendar('unknown', 'type', `a calendar must be an object, got ${describeValue(value)}.`)
  }
  requireFamily((value as { type?: unknown }).type)
  return value as CalendarDefinition
}

function makeCalendar(baseCalendar: Calendar | null, definition: CalendarDefinition): Calendar {
  const { type, timeZone } = definition
  if (typeof timeZone !== 'string') {
    const found = describeValue(timeZone)
    throw invalidCalendar(type, 'timeZone', `'timeZone' must be an IANA name, got ${found}.`)
  }
  const options = Object.entries(definition).filter(([field]) => field !== 'type' && field !== 'base')
  return requireFamily(type)({ ...Object.fromEntries(options), baseCalendar })
}

function requireFamily(type: unknown): Make {
  const make = typeof type === 'string' ? families.get(type) : undefined
  if (make !== undefined) return make
  throw invalidCalendar(
    typeof type === 'string' ? beginningOf(type, 60) : 'unknown',
    'type',
    `'type' must be one of ${calendarTypes.join(', ')}, got ${describeValue(type)}.`,
  )
}
