import type { Calendar } from '../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { calendarNotFound } from '../refusals.ts'
import type { TriggerRecord } from './records.ts'

/** The calendars, and the triggers that name each calendar (also a calendar that is not stored). */
export class CalendarTable {
  readonly calendars: Map<string, Calendar> = new Map<string, Calendar>()
  readonly #users = new Map<string, Set<TriggerRecord>>()

  register(record: TriggerRecord): void {
    const { calendarName } = record.trigger
    if (calendarName === null) return
    const users = this.#users.get(calendarName)
    if (users === undefined) this.#users.set(calendarName, new Set([record]))
    else users.add(record)
  }

  unregister(record: TriggerRecord): void {
    const { calendarName } = record.trigger
    if (calendarName === null) return
    const users = this.#users.get(calendarName)
    users?.delete(record)
    if (users?.size === 0) this.#users.delete(calendarName)
  }

  /**
   * The calendar that a trigger names, or null when it names none.
   *
   * @throws JobPersistenceError ERR_CALENDAR_NOT_FOUND
   */
  calendarOf({ key, calendarName }: Trigger): Calendar | null {
    if (calendarName === null) return null
    const calendar = this.calendars.get(calendarName)
    if (calendar !== undefined) return calendar
    throw calendarNotFound(key, calendarName)
  }

  usersOf(calendarName: string): ReadonlySet<TriggerRecord> {
    return this.#users.get(calendarName) ?? new Set()
  }

  clear(): void {
    this.calendars.clear()
    this.#users.clear()
  }
}
