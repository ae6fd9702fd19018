import type { Calendar } from '../../../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import { calendarInUse, calendarTaken } from '../../../refusals.ts'
import { nextTriggerState, type StoredTriggerState, staysWithoutTime } from '../../../trigger-state.ts'
import { afterReplacement } from '../../../under-calendar.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { PausedGroups } from '../../tables/groups/paused-group-table.ts'
import type { StoredTrigger, TriggerRef } from '../../tables/triggers/trigger-table.ts'
import { endStaleClaims } from '../steps/ended-claims.ts'
import { forgetOverPauses, isPausedByGroup } from '../steps/group-pauses.ts'
import { tellMissed } from '../steps/misfires.ts'
import { settleJobs } from '../steps/settling.ts'
import { ForeseenUpdates } from './foreseen-updates.ts'

/** How many triggers are read and written at a time when their calendar changes. */
const triggersAtATime = 1000

export interface AddCalendarOptions {
  readonly replace: boolean
  readonly updateTriggers: boolean
  /** Default: nothing was computed before. */
  readonly foreseen?: ForeseenUpdates
}

export function* addCalendar(
  tx: SqlTransaction,
  name: string,
  calendar: Calendar,
  options: AddCalendarOptions,
): SqlProgram<void> {
  const { calendars } = tx.session
  if (!options.replace && (yield* calendars.exists(name))) throw calendarTaken(name)
  const stored = options.updateTriggers ? (yield* calendars.load([name])).get(name) : undefined
  const old = stored instanceof Error ? undefined : stored
  yield* calendars.put(name, calendar)
  if (!options.updateTriggers) return
  const { foreseen = new ForeseenUpdates(tx.session.context) } = options
  yield* updateUsers(tx, name, { calendar, old, foreseen })
}

interface CalendarChange {
  readonly calendar: Calendar
  /** The calendar before; absent when there was none or it cannot be read. */
  readonly old: Calendar | undefined
  readonly foreseen: ForeseenUpdates
}

/** Gives the triggers that name a calendar their fire times under it. */
function* updateUsers(tx: SqlTransaction, name: string, change: CalendarChange): SqlProgram<void> {
  const { session } = tx
  const users = yield* session.triggers.lockOfCalendar(name)
  if (users.length === 0) return
  const paused = yield* session.pausedGroups.load()
  const revived: TriggerRef[] = []
  for (let from = 0; from < users.length; from += triggersAtATime) {
    revived.push(...(yield* updateSome(tx, users.slice(from, from + triggersAtATime), change, paused)))
  }
  // A claim was made for a fire time that may be excluded now.
  if (users.some(({ state }) => state === 'ACQUIRED')) yield* endStaleClaims(tx)
  yield* settleJobs(
    tx,
    revived.map(({ jobKey }) => jobKey),
  )
}

/** Answers the triggers that have a fire time again. */
function* updateSome(
  tx: SqlTransaction,
  refs: readonly TriggerRef[],
  { calendar, old, foreseen }: CalendarChange,
  paused: PausedGroups,
): SqlProgram<readonly TriggerRef[]> {
  const { session, nowMs } = tx
  // Unreadable rows stay as they are: they are reported when they are due.
  const { found } = yield* session.triggers.load(refs.map(({ key }) => key))
  const changed: StoredTrigger[] = []
  const revived: TriggerRef[] = []
  for (const ref of refs) {
    const stored = found.get(ref.key)
    if (stored === undefined) continue
    const { trigger, state: before } = stored
    const recomputed = foreseen.updated(trigger, calendar, nowMs)
    const updated = afterReplacement(trigger, recomputed, { old, calendar, nowMs })
    const state = stateUnderCalendar(before, trigger, updated)
    if (state === null) continue
    // What a trigger in error misses is not due to its calendar.
    if (old !== undefined && before !== 'ERROR') {
      tellMissed(tx, { before: trigger, after: updated, calendar: old, cause: 'calendar', byPolicy: false })
    }
    const isRevived = before === 'COMPLETE'
    if (isRevived) revived.push(ref)
    const isPaused = isRevived && isPausedByGroup(paused, ref)
    changed.push({ trigger: updated, state: isPaused ? (nextTriggerState(state, 'pause') ?? state) : state })
  }
  yield* forgetOverPauses(
    tx,
    revived.filter((ref) => isPausedByGroup(paused, ref)),
  )
  yield* session.triggers.advance(changed)
  for (const { trigger, state } of changed) {
    if (state === 'WAITING') tx.offers.note(trigger.nextFireTimeMs)
    if (state === 'COMPLETE') tx.signals.add('triggerFinalized', trigger)
  }
  return revived
}

/** The state of a trigger after its fire time was computed under a new calendar; null when it stays as it is. */
function stateUnderCalendar(
  state: StoredTriggerState,
  before: Trigger,
  updated: Trigger,
): StoredTriggerState | null {
  if (state === 'COMPLETE') {
    // A trigger that an instruction ended still has its fire time, and must stay ended.
    const isBack = before.nextFireTimeMs === null && updated.nextFireTimeMs !== null
    return isBack ? nextTriggerState(state, 'revive') : null
  }
  const isOver = updated.nextFireTimeMs === null && !staysWithoutTime(state)
  if (isOver) return nextTriggerState(state, 'complete')
  return nextTriggerState(state, 'release') ?? state
}

export function* deleteCalendar(tx: SqlTransaction, name: string): SqlProgram<boolean> {
  const { session } = tx
  if (!(yield* session.calendars.exists(name))) return false
  const user = yield* session.keyLists.userOfCalendar(name)
  if (user !== null) throw calendarInUse(name, user)
  return yield* session.calendars.delete(name)
}
