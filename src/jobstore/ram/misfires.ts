import type { TriggerKey } from '../../core/key.ts'
import type { EpochMs } from '../../time/clock.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { type MissedFires, missedFires, type Passing } from '../missed-fires.ts'
import { isMadeByScheduler } from '../own-triggers.ts'
import type { SkippedFire } from '../pauses.ts'
import { noFireIsNext, otherFireIsNext } from '../refusals.ts'
import { staysWithoutTime } from '../trigger-state.ts'
import type { RamSession } from './ram-session.ts'
import type { TriggerRecord } from './records.ts'
import { deleteTriggers } from './scheduling.ts'

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
  session.signals.add('triggerMisfired', record.trigger)
  moveOn(session, record, { cause, byPolicy: true, nowMs })
}

/** Moves a paused trigger past what it has missed, whatever its misfire instruction says. */
export function leaveOutMissed(session: RamSession, record: TriggerRecord, nowMs: EpochMs): void {
  const { nextFireTimeMs } = record.trigger
  if (nextFireTimeMs === null || nextFireTimeMs > nowMs) return
  moveOn(session, record, { cause: 'paused', byPolicy: false, nowMs })
}

function moveOn(
  session: RamSession,
  record: TriggerRecord,
  why: Pick<Passing, 'cause' | 'byPolicy' | 'nowMs'>,
): void {
  const before = record.trigger
  let calendar: Calendar | null
  let after: Trigger
  try {
    calendar = session.data.calendars.calendarOf(before)
    after = why.byPolicy
      ? before.updateAfterMisfire(calendar, why.nowMs)
      : before.withoutMissed(calendar, why.nowMs)
  } catch (error) {
    session.putInError(record, error)
    return
  }
  change(session, record, { ...why, before, after, calendar })
}

function change(session: RamSession, record: TriggerRecord, passing: Passing): void {
  const { after } = passing
  session.data.changeTrigger(record, after)
  tellMissed(session, passing)
  if (after.nextFireTimeMs === null) finish(session, record)
}

function finish({ data, signals }: RamSession, record: TriggerRecord): void {
  data.apply(record, 'complete')
  signals.add('triggerFinalized', record.trigger)
}

/** Moves a trigger on to the fire time after its next one. */
export function skipNextFire(
  session: RamSession,
  key: TriggerKey,
  expectedMs: EpochMs | null,
): SkippedFire | null {
  const { data } = session
  const record = data.triggers.get(key)
  const skippedMs = record?.trigger.nextFireTimeMs ?? null
  if (record === undefined || skippedMs === null || record.state === 'COMPLETE' || record.state === 'ERROR')
    return noFireIsNext(expectedMs)
  if (expectedMs !== null && skippedMs !== expectedMs) throw otherFireIsNext(expectedMs, skippedMs)
  // First, so that a calendar that cannot be asked changes nothing.
  const before = record.trigger
  const calendar = session.data.calendars.calendarOf(before)
  const after = before.withoutNextFire(calendar)
  data.apply(record, 'release')
  data.changeTrigger(record, after)
  const why = { cause: 'skippedByHand', byPolicy: false, nowMs: session.now() } as const
  tellMissed(session, { ...why, before, after, calendar })
  if (after.nextFireTimeMs === null && isMadeByScheduler(after)) {
    session.signals.add('triggerFinalized', after)
    // Complete it would stay for good.
    deleteTriggers(session, [key])
  } else if (after.nextFireTimeMs === null && !staysWithoutTime(record.state)) finish(session, record)
  return { skippedMs, nextMs: after.nextFireTimeMs }
}
