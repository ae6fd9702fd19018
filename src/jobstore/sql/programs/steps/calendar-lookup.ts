import type { Calendar } from '../../../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import { calendarNotFound } from '../../../refusals.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'

/** Reads the calendars of triggers; answers a function that gives a trigger's calendar, or null when it names none. */
export function* calendarsOf(
  tx: SqlTransaction,
  triggers: readonly Trigger[],
): SqlProgram<(trigger: Trigger) => Calendar | null> {
  const names = new Set<string>()
  for (const { calendarName } of triggers) if (calendarName !== null) names.add(calendarName)
  const calendars: ReadonlyMap<string, Calendar | Error> =
    names.size === 0 ? new Map<string, Calendar>() : yield* tx.session.calendars.load([...names])
  return ({ key, calendarName }) => {
    if (calendarName === null) return null
    const calendar = calendars.get(calendarName)
    if (calendar instanceof Error) throw calendar
    if (calendar !== undefined) return calendar
    throw calendarNotFound(key, calendarName)
  }
}
