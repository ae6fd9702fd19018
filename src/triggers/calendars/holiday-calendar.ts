import { describeValue } from '../../core/options.ts'
import { civilFromDays, dayMs, daysFromCivil, epochDayOf } from '../../time/civil.ts'
import type { TimeZone } from '../../time/zone.ts'
import { calendarFields } from './calendar-fields.ts'
import { DayCalendar } from './day-calendar.ts'
import { invalidCalendar, requireList } from './invalid-calendar.ts'
import type { CalendarOptions } from './zoned-calendar.ts'

export interface HolidayCalendarOptions extends CalendarOptions {
  /** Dates that are left out: `'2026-12-25'`, or a Date, which means the day it falls on in the calendar's zone. */
  readonly excludedDates: readonly (string | Date)[]
}

/** Leaves out single dates. */
export class HolidayCalendar extends DayCalendar {
  /** As `YYYY-MM-DD`, ascending. */
  readonly excludedDates: readonly string[]
  readonly #excluded: ReadonlySet<number>

  /** @throws InvalidArgumentError ERR_INVALID_CALENDAR, ERR_UNKNOWN_TIME_ZONE */
  constructor(options: HolidayCalendarOptions) {
    super('holiday', options, calendarFields.holiday)
    const days = requireList('holiday', 'excludedDates', options.excludedDates).map((date) =>
      requireEpochDay(date, this.zone),
    )
    this.#excluded = new Set(days.sort((a, b) => a - b))
    this.excludedDates = [...this.#excluded].map(formatDay)
  }

  override get type(): 'holiday' {
    return 'holiday'
  }

  protected override get excludesEveryDay(): boolean {
    return false
  }

  protected override isDayIncluded(epochDay: number): boolean {
    return !this.#excluded.has(epochDay)
  }

  protected override ownFields(): Readonly<Record<string, unknown>> {
    return { excludedDates: this.excludedDates }
  }
}

function requireEpochDay(value: unknown, timeZone: TimeZone): number {
  if (value instanceof Date && !Number.isNaN(value.getTime())) {
    return epochDayOf(timeZone.toLocalMs(value.getTime()))
  }
  const match = typeof value === 'string' ? /^(\d{4})-(\d{2})-(\d{2})$/.exec(value) : null
  if (match !== null) {
    const epochDay = daysFromCivil(Number(match[1]), Number(match[2]), Number(match[3]))
    if (formatDay(epochDay) === value) return epochDay
  }
  throw invalidCalendar(
    'holiday',
    'excludedDates',
    `'excludedDates' must hold dates such as '2026-12-25', found ${describeValue(value)}.`,
  )
}

function formatDay(epochDay: number): string {
  const { year } = civilFromDays(epochDay)
  if (year < 0 || year > 9999) {
    throw invalidCalendar(
      'holiday',
      'excludedDates',
      `a date in the year ${year} cannot be written as YYYY-MM-DD.`,
    )
  }
  return new Date(epochDay * dayMs).toISOString().slice(0, 10)
}
