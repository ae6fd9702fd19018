import type { TriggerKey } from '../../core/key.ts'
import type { EpochMs } from '../../time/clock.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { type MissedFires, missedFires, type Passing } from '../missed-fires.ts'
import type { SkippedFire } from '../pauses.ts'
import type { RamSession } from './ram-session.ts'
import type { TriggerRecord } from './records.ts'

/** Whether a trigger is misfired, so that its misfire instruction applies. */
export function isMisfired(session: RamSession, trigger: Trigger, nowMs: EpochMs): boolean {
  const { nextFireTimeMs } = trigger
  return (
    nextFireTimeMs !== null &&
    nextFireTimeMs <= nowMs - session.context.misfireThresholdMs &&
    trigger.misfireInstruction !== 'ignore'
  )
}

/** Signals that a trigger was moved past planned instants, if it was. */
export function tellMissed({ signals }: RamSession, passing: Passing): void {
  const missed = missedFires(passing)
  if (missed !== null) signals.add('firesMissed', missed)
}

/** Carries out the misfire instruction of a trigger that waits or is paused. */
export function applyMisfire(
  session: RamSession,
  record: TriggerRecord,
  nowMs: EpochMs,
  cause: MissedFires['cause'],
): void {
  const { trigger } = record
  session.signals.add('triggerMisfired', trigger)
  change(session, record, { cause, byPolicy: true, nowMs }, (calendar) =>
    trigger.updateAfterMisfire(calendar, nowMs),
  )
}

/** Moves a paused trigger past what it has missed, whatever its misfire instruction says. */
export function leaveOutMissed(session: RamSession, record: TriggerRecord, nowMs: EpochMs): void {
  const { trigger } = record
  if (trigger.nextFireTimeMs === null || trigger.nextFireTimeMs > nowMs) return
  change(session, record, { cause: 'paused', byPolicy: false, nowMs }, (calendar) =>
    trigger.withoutMissed(calendar, nowMs),
  )
}

function change(
  session: RamSession,
  record: TriggerRecord,
  why: Pick<Passing, 'cause' | 'byPolicy' | 'nowMs'>,
  compute: (calendar: Calendar | null) => Trigger,
): void {
  const { data, signals } = session
  const before = record.trigger
  let calendar: Calendar | null
  let updated: Trigger
  try {
    calendar = session.calendarOf(before)
    updated = compute(calendar)
  } catch (error) {
    session.putInError(record, error)
    return
  }
  data.changeTrigger(record, updated)
  tellMissed(session, { ...why, before, after: updated, calendar })
  if (updated.nextFireTimeMs !== null) return
  data.apply(record, 'complete')
  signals.add('triggerFinalized', updated)
}

/** Moves a trigger on to the fire time after its next one. */
export function skipNextFire(session: RamSession, key: TriggerKey): SkippedFire | null {
  const { data, signals } = session
  const record = data.triggers.get(key)
  const skippedMs = record?.trigger.nextFireTimeMs ?? null
  if (record === undefined || skippedMs === null || record.state === 'COMPLETE' || record.state === 'ERROR')
    return null
  // First, so that a calendar that cannot be asked changes nothing.
  const before = record.trigger
  const calendar = session.calendarOf(before)
  const updated = before.withoutNextFire(calendar)
  data.apply(record, 'release')
  data.changeTrigger(record, updated)
  const why = { cause: 'skippedByHand', byPolicy: false, nowMs: session.now() } as const
  tellMissed(session, { ...why, before, after: updated, calendar })
  const nextMs = updated.nextFireTimeMs
  if (nextMs === null) {
    data.apply(record, 'complete')
    signals.add('triggerFinalized', updated)
  }
  return { skippedMs, nextMs }
}
