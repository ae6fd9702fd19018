import { describeValue } from '../../core/options.ts'
import { civilFromDays, daysInMonth } from '../../time/civil.ts'
import { calendarFields } from './calendar-fields.ts'
import { DayCalendar } from './day-calendar.ts'
import { invalidCalendar, requireList } from './invalid-calendar.ts'
import type { CalendarOptions } from './zoned-calendar.ts'

/** A day of every year. */
export interface MonthDay {
  /** 1 to 12 */
  readonly month: number
  /** 1 to the length of the month; 29 February counts in leap years. */
  readonly day: number
}

export interface AnnualCalendarOptions extends CalendarOptions {
  /** Days that are left out in every year. */
  readonly excludedDays: readonly MonthDay[]
}

const leapYear = 2000

/** Leaves out days of every year, such as 25 December. */
export class AnnualCalendar extends DayCalendar {
  readonly excludedDays: readonly MonthDay[]
  readonly #excluded: ReadonlySet<number>

  /** @throws InvalidArgumentError ERR_INVALID_CALENDAR, ERR_UNKNOWN_TIME_ZONE */
  constructor(options: AnnualCalendarOptions) {
    super('annual', options, calendarFields.annual)
    const days = requireList('annual', 'excludedDays', options.excludedDays).map(requireMonthDay)
    this.#excluded = new Set(days.map(({ month, day }) => slotOf(month, day)).sort((a, b) => a - b))
    this.excludedDays = [...this.#excluded].map((slot) => ({ month: slot >> 5, day: slot & 31 }))
  }

  override get type(): 'annual' {
    return 'annual'
  }

  protected override get excludesEveryDay(): boolean {
    return this.#excluded.size === 366
  }

  protected override isDayIncluded(epochDay: number): boolean {
    const { month, day } = civilFromDays(epochDay)
    return !this.#excluded.has(slotOf(month, day))
  }

  protected override ownFields(): Readonly<Record<string, unknown>> {
    return { excludedDays: this.excludedDays }
  }
}

function slotOf(month: number, day: number): number {
  return month * 32 + day
}

function requireMonthDay(value: unknown): MonthDay {
  const { month, day } = Object(value) as { month?: unknown; day?: unknown }
  if (
    typeof month === 'number' &&
    typeof day === 'number' &&
    Number.isInteger(month) &&
    Number.isInteger(day) &&
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= daysInMonth(leapYear, month)
  ) {
    return { month, day }
  }
  throw invalidCalendar(
    'annual',
    'excludedDays',
    `'excludedDays' must hold days of the year such as { month: 12, day: 25 }, ` +
      `found month ${describeValue(month)}, day ${describeValue(day)}.`,
  )
}
