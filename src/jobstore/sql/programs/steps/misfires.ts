import type { TriggerKey } from '../../../../core/key.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import { missedFires, type Passing } from '../../../missed-fires.ts'
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

/** The same for a trigger that was read. */
export function isMisfired(
  tx: Pick<SqlTransaction, 'nowMs' | 'session'>,
  { nextFireTimeMs, misfireInstruction }: Trigger,
): boolean {
  return isLate(tx, { nextFireTimeMs, misfireIsIgnored: misfireInstruction === 'ignore' })
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

/** How triggers are moved past what they have missed. */
export interface MisfireManner extends Pick<Passing, 'cause'> {
  /** Whether as their misfire instructions say, whose outcome may be due at once; otherwise to later instants. */
  readonly byPolicy: boolean
  /** Stops when so many are due at once. Default: no limit. */
  readonly dueMax?: number
}

/**
 * Moves triggers that wait or are paused past what they have missed, in order. Answers those that were handled, with
 * those that cannot be read.
 */
export function* treatRead(
  tx: SqlTransaction,
  { stored, broken }: ReadTriggers,
  { cause, byPolicy, dueMax = Number.POSITIVE_INFINITY }: MisfireManner,
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
    if (byPolicy) signals.add('triggerMisfired', trigger)
    try {
      const calendar = calendarOf(trigger)
      const after = byPolicy
        ? trigger.updateAfterMisfire(calendar, nowMs)
        : trigger.withoutMissed(calendar, nowMs)
      if (byPolicy) session.triggers.requireReschedulable(after)
      const isOver = after.nextFireTimeMs === null
      updated.push({ trigger: after, state: isOver ? 'COMPLETE' : state })
      tellMissed(tx, { before: trigger, after, calendar, cause, byPolicy })
      if (isOver) signals.add('triggerFinalized', after)
      else if (after.nextFireTimeMs <= nowMs) dueCount++
    } catch (error) {
      faulty.push({ key: trigger.key, error })
    }
  }
  yield* byPolicy ? session.triggers.reschedule(updated) : session.triggers.advance(updated)
  yield* putInError(tx, faulty)
  return treated
}
