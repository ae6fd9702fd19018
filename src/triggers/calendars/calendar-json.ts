import { describeValue, meantName } from '../../core/options.ts'
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

interface Family {
  // The constructors check their arguments, so the type is only asserted below.
  readonly make: (options: CalendarOptions) => Calendar
  /** What its plain form has beside the common fields. */
  readonly fields: readonly string[]
}

const families: ReadonlyMap<string, Family> = new Map<string, Family>([
  [
    'annual',
    { make: (options) => new AnnualCalendar(options as AnnualCalendarOptions), fields: ['excludedDays'] },
  ],
  [
    'cron',
    {
      make: (options) => new CronCalendar(options as CronCalendarOptions),
      fields: ['expression', 'dst', 'dialect', 'seconds'],
    },
  ],
  [
    'daily',
    {
      make: (options) => new DailyCalendar(options as DailyCalendarOptions),
      fields: ['rangeStart', 'rangeEnd', 'invertTimeRange'],
    },
  ],
  [
    'holiday',
    { make: (options) => new HolidayCalendar(options as HolidayCalendarOptions), fields: ['excludedDates'] },
  ],
  [
    'monthly',
    { make: (options) => new MonthlyCalendar(options as MonthlyCalendarOptions), fields: ['excludedDays'] },
  ],
  [
    'weekly',
    { make: (options: WeeklyCalendarOptions) => new WeeklyCalendar(options), fields: ['excludedDays'] },
  ],
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
  const { make, fields } = requireFamily(type)
  refuseUnknownFields(definition, ['type', 'timeZone', ...fields, 'description', 'base'])
  if (typeof timeZone !== 'string') {
    const found = describeValue(timeZone)
    throw invalidCalendar(type, 'timeZone', `'timeZone' must be an IANA name, got ${found}.`)
  }
  const options = Object.entries(definition).filter(([field]) => field !== 'type' && field !== 'base')
  return make({ ...Object.fromEntries(options), baseCalendar })
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

function requireFamily(type: unknown): Family {
  const family = typeof type === 'string' ? families.get(type) : undefined
  if (family !== undefined) return family
  throw invalidCalendar(
    typeof type === 'string' ? beginningOf(type, 60) : 'unknown',
    'type',
    `'type' must be one of ${calendarTypes.join(', ')}, got ${describeValue(type)}.`,
  )
}
