import type { EpochMs } from '../../time/clock.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { calendarInUse, calendarTaken } from '../refusals.ts'
import { staysWithoutTime } from '../trigger-state.ts'
import { afterReplacement } from '../under-calendar.ts'
import { tellMissed } from './misfires.ts'
import type { RamData } from './ram-data.ts'
import type { RamSession } from './ram-session.ts'
import type { TriggerRecord } from './records.ts'

export interface CalendarOptions {
  readonly replace: boolean
  readonly updateTriggers: boolean
  /** Default: nothing was computed before. */
  readonly foreseen?: ForeseenUpdates
}

/** What becomes of triggers under new calendars, with the trigger of which it was computed. */
export type ForeseenUpdates = Map<TriggerRecord, { readonly before: Trigger; readonly after: Trigger }>

/** The longest that triggers are looked at before others have their turn. */
const turnMs = 3

/**
 * Computes what becomes of the triggers that name calendars. Each step goes as far as one turn of the event loop does:
 * of a trigger to which a calendar leaves little, a hundred years are searched.
 */
export function* foresee(
  session: RamSession,
  calendars: ReadonlyMap<string, Calendar>,
  foreseen: ForeseenUpdates,
): Generator<void, void> {
  const { clock, misfireThresholdMs } = session.context
  let endMs = clock.elapsedMs() + turnMs
  for (const [name, calendar] of calendars) {
    // A copy: triggers that come while others have their turn must not draw this out.
    for (const record of [...session.data.calendars.usersOf(name)]) {
      const before = record.trigger
      const after = before.updateWithNewCalendar(calendar, session.now(), misfireThresholdMs)
      foreseen.set(record, { before, after })
      if (clock.elapsedMs() < endMs) continue
      yield
      endMs = clock.elapsedMs() + turnMs
    }
  }
}

/** @throws ObjectAlreadyExistsError for a name that is taken and is not to be replaced */
export function refuseTaken(data: RamData, name: string, { replace }: CalendarOptions): void {
  if (!replace && data.calendars.calendars.has(name)) throw calendarTaken(name)
}

export function addCalendar(
  session: RamSession,
  name: string,
  calendar: Calendar,
  options: CalendarOptions,
): void {
  prepareCalendar(session, name, calendar, options).store()
}

export interface PreparedCalendar {
  /** What becomes of the triggers that name it. */
  readonly updates: ReadonlyMap<TriggerRecord, Trigger>
  /** Stores the calendar and the triggers, in the same turn of the event loop. */
  readonly store: () => void
}

/** Computes and refuses. */
export function prepareCalendar(
  session: RamSession,
  name: string,
  calendar: Calendar,
  options: CalendarOptions,
): PreparedCalendar {
  const { data, context } = session
  const { calendars } = data.calendars
  refuseTaken(data, name, options)
  const nowMs = session.now()
  const old = calendars.get(name)
  const users = options.updateTriggers ? [...data.calendars.usersOf(name)] : []
  // All new values are computed before the first is kept: a calendar that throws changes nothing.
  const updates = new Map(
    users.map((record): [TriggerRecord, Trigger] => {
      const { trigger } = record
      const known = options.foreseen?.get(record)
      // It may have fired, or have been replaced, since it was looked at, or its time may have passed.
      const updated =
        known?.before === trigger && isAhead(known.after, nowMs)
          ? known.after
          : trigger.updateWithNewCalendar(calendar, nowMs, context.misfireThresholdMs)
      return [record, afterReplacement(trigger, updated, { old, calendar, nowMs })]
    }),
  )
  const store = (): void => {
    calendars.set(name, calendar)
    for (const [record, updated] of updates) {
      const before = record.trigger
      // What a trigger in error or at its end misses is not due to its calendar.
      if (old !== undefined && record.state !== 'ERROR' && record.state !== 'COMPLETE') {
        const why = { cause: 'calendar', byPolicy: false, nowMs } as const
        tellMissed(session, { ...why, before, after: updated, calendar: old })
      }
      update(session, record, updated)
    }
  }
  return { updates, store }
}

function isAhead({ nextFireTimeMs }: Trigger, nowMs: EpochMs): boolean {
  return nextFireTimeMs === null || nextFireTimeMs > nowMs
}

/** Gives a trigger its fire time under the new calendar; pauses and errors stay as they are. */
function update(session: RamSession, record: TriggerRecord, updated: Trigger): void {
  const { data, signals } = session
  if (record.state === 'COMPLETE') {
    // A trigger that an instruction ended still has its fire time, and must stay ended.
    if (record.trigger.nextFireTimeMs !== null || updated.nextFireTimeMs === null) return
    data.changeTrigger(record, updated)
    data.apply(record, 'revive')
    data.pauseAsGroupsSay(record)
    return
  }
  // A claim was made for a fire time that may be excluded now.
  data.apply(record, 'release')
  data.changeTrigger(record, updated)
  if (updated.nextFireTimeMs !== null || staysWithoutTime(record.state)) return
  data.apply(record, 'complete')
  signals.add('triggerFinalized', updated)
}

export function deleteCalendar(data: RamData, name: string): boolean {
  const { calendars } = data.calendars
  if (!calendars.has(name)) return false
  const [user] = data.calendars.usersOf(name)
  if (user !== undefined) throw calendarInUse(name, user.trigger.key)
  return calendars.delete(name)
}
