import type { Calendar } from '../../triggers/calendars/calendar.ts'
import type { SqlProgram } from './statement.ts'

/** The rows of `calendars`. */
export interface CalendarTable {
  /** The calendars of these names; a name that does not exist is left out, one that cannot be read is an error. */
  load(names: readonly string[]): SqlProgram<ReadonlyMap<string, Calendar | Error>>
  exists(name: string): SqlProgram<boolean>
  put(name: string, calendar: Calendar): SqlProgram<void>
  /** False when there is no such calendar. */
  delete(name: string): SqlProgram<boolean>
  names(): SqlProgram<readonly string[]>
}
