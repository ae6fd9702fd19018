import type { TriggerKey } from '../../core/key.ts'
import type { EpochMs } from '../../time/clock.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../triggers/trigger.ts'
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

/** Carries out the misfire instruction of a trigger that waits or is paused. */
export function applyMisfire(session: RamSession, record: TriggerRecord, nowMs: EpochMs): void {
  const { signals } = session
  signals.add('triggerMisfired', record.trigger)
  change(session, record, (calendar) => record.trigger.updateAfterMisfire(calendar, nowMs))
}

/** Moves a paused trigger past what it has missed, whatever its misfire instruction says. */
export function leaveOutMissed(session: RamSession, record: TriggerRecord, nowMs: EpochMs): void {
  const { nextFireTimeMs } = record.trigger
  if (nextFireTimeMs === null || nextFireTimeMs > nowMs) return
  change(session, record, (calendar) => record.trigger.withoutMissed(calendar, nowMs))
}

function change(
  session: RamSession,
  record: TriggerRecord,
  compute: (calendar: Calendar | null) => Trigger,
): void {
  const { data, signals } = session
  let updated: Trigger
  try {
    updated = compute(session.calendarOf(record.trigger))
  } catch (error) {
    session.putInError(record, error)
    return
  }
  data.changeTrigger(record, updated)
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
  const updated = record.trigger.withoutNextFire(session.calendarOf(record.trigger))
  data.apply(record, 'release')
  data.changeTrigger(record, updated)
  const nextMs = updated.nextFireTimeMs
  if (nextMs === null) {
    data.apply(record, 'complete')
    signals.add('triggerFinalized', updated)
  }
  return { skippedMs, nextMs }
}
