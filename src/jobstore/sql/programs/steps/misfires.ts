import type { TriggerKey } from '../../../../core/key.ts'
import { type MissedFires, missedFires, type Passing } from '../../../missed-fires.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { StoredTrigger, TriggerRef } from '../../tables/triggers/trigger-table.ts'
import { calendarsOf } from './calendar-lookup.ts'
import { type FaultyTrigger, putInError } from './faulty-triggers.ts'

/** Whether a trigger is misfired, so that its misfire instruction applies. */
export function isLate(
  tx: Pick<SqlTransaction, 'nowMs' | 'session'>,
  row: Pick<TriggerRef, 'nextFireTimeMs' | 'misfireIsIgnored'>,
): boolean {
  const { nextFireTimeMs, misfireIsIgnored } = row
  const latestMs = tx.nowMs - tx.session.context.misfireThresholdMs
  return nextFireTimeMs !== null && nextFireTimeMs <= latestMs && !misfireIsIgnored
}

/** Signals that a trigger was moved past planned instants, if it was. */
export function tellMissed(tx: SqlTransaction, passing: Omit<Passing, 'nowMs'>): void {
  const missed = missedFires({ ...passing, nowMs: tx.nowMs })
  if (missed !== null) tx.signals.add('firesMissed', missed)
}

/** Locked triggers as they were read, and those that cannot be read. */
export interface ReadTriggers {
  readonly stored: readonly StoredTrigger[]
  readonly broken: readonly FaultyTrigger[]
}

/** Carries out the misfire instructions of locked triggers that wait or are paused, in the order of the keys. */
export function* treatMisfires(
  tx: SqlTransaction,
  keys: readonly TriggerKey[],
  cause: MissedFires['cause'],
): SqlProgram<void> {
  if (keys.length === 0) return
  const { found, broken } = yield* tx.session.triggers.load(keys)
  const stored = keys.flatMap((key) => found.get(key) ?? [])
  yield* treatRead(tx, { stored, broken }, cause)
}

/**
 * The same for triggers that have been read, until `dueMax` of them are due at once; answers those that were handled.
 */
export function* treatRead(
  tx: SqlTransaction,
  { stored, broken }: ReadTriggers,
  cause: MissedFires['cause'],
  dueMax: number = Number.POSITIVE_INFINITY,
): SqlProgram<readonly TriggerKey[]> {
  const { session, signals, nowMs } = tx
  const calendarOf = yield* calendarsOf(
    tx,
    stored.map(({ trigger }) => trigger),
  )
  const faulty: FaultyTrigger[] = [...broken]
  const treated: TriggerKey[] = broken.map(({ key }) => key)
  const updated: StoredTrigger[] = []
  let dueCount = 0
  for (const { trigger, state } of stored) {
    if (dueCount >= dueMax) break
    treated.push(trigger.key)
    signals.add('triggerMisfired', trigger)
    try {
      const calendar = calendarOf(trigger)
      const after = trigger.updateAfterMisfire(calendar, nowMs)
      session.triggers.requireReschedulable(after)
      const isOver = after.nextFireTimeMs === null
      updated.push({ trigger: after, state: isOver ? 'COMPLETE' : state })
      tellMissed(tx, { before: trigger, after, calendar, cause, byPolicy: true })
      if (isOver) signals.add('triggerFinalized', after)
      else if (after.nextFireTimeMs <= nowMs) dueCount++
    } catch (error) {
      faulty.push({ key: trigger.key, error })
    }
  }
  yield* session.triggers.reschedule(updated)
  yield* putInError(tx, faulty)
  return treated
}

/** Moves locked paused triggers past what they have missed, whatever their misfire instructions say. */
export function* leaveOutMissed(tx: SqlTransaction, keys: readonly TriggerKey[]): SqlProgram<void> {
  if (keys.length === 0) return
  const { session, signals, nowMs } = tx
  const { found, broken } = yield* session.triggers.load(keys)
  const stored = found.values()
  const calendarOf = yield* calendarsOf(
    tx,
    stored.map(({ trigger }) => trigger),
  )
  const faulty: FaultyTrigger[] = [...broken]
  const updated: StoredTrigger[] = []
  for (const { trigger, state } of stored) {
    try {
      const calendar = calendarOf(trigger)
      const after = trigger.withoutMissed(calendar, nowMs)
      const isOver = after.nextFireTimeMs === null
      updated.push({ trigger: after, state: isOver ? 'COMPLETE' : state })
      tellMissed(tx, { before: trigger, after, calendar, cause: 'paused', byPolicy: false })
      if (isOver) signals.add('triggerFinalized', after)
    } catch (error) {
      faulty.push({ key: trigger.key, error })
    }
  }
  yield* session.triggers.advance(updated)
  yield* putInError(tx, faulty)
}
