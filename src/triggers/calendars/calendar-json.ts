import { describeValue, meantName } from '../../core/options.ts'
import { beginningOf } from '../../core/text-beginning.ts'
import { AnnualCalendar, type AnnualCalendarOptions } from './annual-calendar.ts'
import type { Calendar, CalendarDefinition } from './calendar.ts'
import { type CalendarType, calendarFields } from './calendar-fields.ts'
import { CronCalendar, type CronCalendarOptions } from './cron-calendar.ts'
import { DailyCalendar, type DailyCalendarOptions } from './daily-calendar.ts'
import { HolidayCalendar, type HolidayCalendarOptions } from './holiday-calendar.ts'
import { invalidCalendar, maxChainLength, tooLongChain } from './invalid-calendar.ts'
import { MonthlyCalendar, type MonthlyCalendarOptions } from './monthly-calendar.ts'
import { WeeklyCalendar, type WeeklyCalendarOptions } from './weekly-calendar.ts'
import type { CalendarOptions } from './zoned-calendar.ts'

// The constructors check their arguments, so the type is only asserted here.
type Make = (options: CalendarOptions) => Calendar
const families: Readonly<Record<CalendarType, Make>> = {
  annual: (options) => new AnnualCalendar(options as AnnualCalendarOptions),
  cron: (options) => new CronCalendar(options as CronCalendarOptions),
  daily: (options) => new DailyCalendar(options as DailyCalendarOptions),
  holiday: (options) => new HolidayCalendar(options as HolidayCalendarOptions),
  monthly: (options) => new MonthlyCalendar(options as MonthlyCalendarOptions),
  weekly: (options: WeeklyCalendarOptions) => new WeeklyCalendar(options),
}

/** Names of the calendar families that have a plain form. */
const calendarTypes: readonly string[] = Object.keys(families)

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
  requireType((value as { type?: unknown }).type)
  return value as CalendarDefinition
}

function makeCalendar(baseCalendar: Calendar | null, definition: CalendarDefinition): Calendar {
  const { timeZone } = definition
  const type = requireType(definition.type)
  refuseUnknownFields(definition, ['type', 'timeZone', ...calendarFields[type], 'description', 'base'])
  if (typeof timeZone !== 'string') {
    const found = describeValue(timeZone)
    throw invalidCalendar(type, 'timeZone', `'timeZone' must be an IANA name, got ${found}.`)
  }
  const options = Object.entries(definition).filter(([field]) => field !== 'type' && field !== 'base')
  return families[type]({ ...Object.fromEntries(options), baseCalendar })
}

/** The constructors would name their options, of which one has another name here. */
function refuseUnknownFields(definition: CalendarDefinition, known: readonly string[]): void {
  for (const field of Object.keys(definition)) {
    if (known.includes(field)) continue
    const problem = `unknown field ${describeValue(field)}.`
    throw invalidCalendar(definition.type, field, `${problem} ${unknownFieldHint(field, known)}`)
  }
}

function unknownFieldHint(field: string, known: readonly string[]): string {
  if (field === 'baseCalendar') return "In JSON the calendar that it stands on is named 'base'."
  const meant = meantName(field, known)
  return meant === null ? `Known: ${known.join(', ')}.` : `Did you mean '${meant}'?`
}

function requireType(type: unknown): CalendarType {
  if (typeof type === 'string' && Object.hasOwn(families, type)) return type as CalendarType
  throw invalidCalendar(
    typeof type === 'string' ? beginningOf(type, 60) : 'unknown',
    'type',
    `'type' must be one of ${calendarTypes.join(', ')}, got ${describeValue(type)}.`,
  )
}
