import { dayMs, floorMod } from '../../../src/time/civil.ts'
import { TimeZone } from '../../../src/time/zone.ts'
import type { Calendar, CalendarDefinition } from '../../../src/triggers/calendars/calendar.ts'

/**
 * Leaves out the first and the last millisecond of every day. Java's daily calendar does so on top of its range, this
 * library's does not; rows whose fires fall on midnight were written by Java.
 */
export class DayEdges implements Calendar {
  readonly type = 'dayEdges'
  readonly description = null
  readonly baseCalendar: Calendar | null
  readonly #zone: TimeZone

  constructor(timeZone: string, baseCalendar: Calendar | null) {
    this.#zone = TimeZone.of(timeZone)
    this.baseCalendar = baseCalendar
  }

  isTimeIncluded(timeMs: number): boolean {
    return this.#isInside(timeMs) && (this.baseCalendar?.isTimeIncluded(timeMs) ?? true)
  }

  nextIncludedTime(timeMs: number): number | null {
    let nextMs: number | null = timeMs
    do {
      nextMs = this.baseCalendar === null ? nextMs + 1 : this.baseCalendar.nextIncludedTime(nextMs)
    } while (nextMs !== null && !this.#isInside(nextMs))
    return nextMs
  }

  toJSON(): CalendarDefinition {
    return { type: this.type }
  }

  #isInside(timeMs: number): boolean {
    const timeOfDayMs = floorMod(this.#zone.toLocalMs(timeMs), dayMs)
    return timeOfDayMs > 0 && timeOfDayMs < dayMs - 1
  }
}
