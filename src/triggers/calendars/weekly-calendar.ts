import { weekdayOf } from '../../time/civil.ts'
import { calendarFields } from './calendar-fields.ts'
import { DayCalendar } from './day-calendar.ts'
import { requireNumbers } from './invalid-calendar.ts'
import type { CalendarOptions } from './zoned-calendar.ts'

const weekend: readonly number[] = [1, 7]

export interface WeeklyCalendarOptions extends CalendarOptions {
  /** Weekdays that are left out, 1=SUN to 7=SAT. Default: Saturday and Sunday. */
  readonly excludedDays?: readonly number[]
}

/** Leaves out days of the week. */
export class WeeklyCalendar extends DayCalendar {
  readonly excludedDays: readonly number[]
  readonly #excluded: ReadonlySet<number>

  /** @throws InvalidArgumentError ERR_INVALID_CALENDAR, ERR_UNKNOWN_TIME_ZONE */
  constructor(options: WeeklyCalendarOptions = {}) {
    super('weekly', options, calendarFields.weekly)
    this.excludedDays = requireNumbers('weekly', 'excludedDays', options.excludedDays ?? weekend, {
      min: 1,
      max: 7,
    })
    this.#excluded = new Set(this.excludedDays)
  }

  override get type(): 'weekly' {
    return 'weekly'
  }

  protected override get excludesEveryDay(): boolean {
    return this.#excluded.size === 7
  }

  protected override isDayIncluded(epochDay: number): boolean {
    return !this.#excluded.has(weekdayOf(epochDay))
  }

  protected override ownFields(): Readonly<Record<string, unknown>> {
    return { excludedDays: this.excludedDays }
  }
}
