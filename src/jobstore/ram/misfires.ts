import type { EpochMs } from '../../time/clock.ts'
import type { Trigger } from '../../triggers/trigger.ts'
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
  const { data, signals } = session
  signals.add('triggerMisfired', record.trigger)
  let updated: Trigger
  try {
    updated = record.trigger.updateAfterMisfire(session.calendarOf(record.trigger), nowMs)
  } catch (error) {
    session.putInError(record, error)
    return
  }
  data.changeTrigger(record, updated)
  if (updated.nextFireTimeMs !== null) return
  data.apply(record, 'complete')
  signals.add('triggerFinalized', updated)
}
