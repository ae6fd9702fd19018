import { civilFromDays } from '../../time/civil.ts'
import { calendarFields } from './calendar-fields.ts'
import { DayCalendar } from './day-calendar.ts'
import { requireNumbers } from './invalid-calendar.ts'
import type { CalendarOptions } from './zoned-calendar.ts'

export interface MonthlyCalendarOptions extends CalendarOptions {
  /** Days of the month that are left out, 1 to 31. */
  readonly excludedDays: readonly number[]
}

/** Leaves out days of every month. */
export class MonthlyCalendar extends DayCalendar {
  readonly excludedDays: readonly number[]
  readonly #excluded: ReadonlySet<number>

  /** @throws InvalidArgumentError ERR_INVALID_CALENDAR, ERR_UNKNOWN_TIME_ZONE */
  constructor(options: MonthlyCalendarOptions) {
    super('monthly', options, calendarFields.monthly)
    this.excludedDays = requireNumbers('monthly', 'excludedDays', options.excludedDays, { min: 1, max: 31 })
    this.#excluded = new Set(this.excludedDays)
  }

  override get type(): 'monthly' {
    return 'monthly'
  }

  protected override get excludesEveryDay(): boolean {
    return this.#excluded.size === 31
  }

  protected override isDayIncluded(epochDay: number): boolean {
    return !this.#excluded.has(civilFromDays(epochDay).day)
  }

  protected override ownFields(): Readonly<Record<string, unknown>> {
    return { excludedDays: this.excludedDays }
  }
}
