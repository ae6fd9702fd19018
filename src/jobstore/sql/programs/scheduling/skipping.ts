import type { TriggerKey } from '../../../../core/key.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import { isMadeByScheduler } from '../../../own-triggers.ts'
import type { SkippedFire } from '../../../pauses.ts'
import { noFireIsNext, otherFireIsNext } from '../../../refusals.ts'
import { nextTriggerState, staysWithoutTime } from '../../../trigger-state.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import { calendarsOf } from '../steps/calendar-lookup.ts'
import { endStaleClaims } from '../steps/ended-claims.ts'
import { tellMissed } from '../steps/misfires.ts'
import { lockBehindJob } from '../steps/new-triggers.ts'
import { deleteTriggers } from './deleting.ts'

/** Moves a trigger on to the fire time after its next one; null when it will not fire anyway. */
export function* skipNextFire(
  tx: SqlTransaction,
  key: TriggerKey,
  expectedMs: EpochMs | null,
): SqlProgram<SkippedFire | null> {
  const { triggers } = tx.session
  const ref = yield* lockBehindJob(tx, key)
  if (ref === undefined || ref.state === 'COMPLETE' || ref.state === 'ERROR') return noFireIsNext(expectedMs)
  const { found, broken } = yield* triggers.load([key])
  const [fault] = broken
  if (fault !== undefined) throw fault.error
  const before = found.get(key)?.trigger
  if (before === undefined || before.nextFireTimeMs === null) return noFireIsNext(expectedMs)
  if (expectedMs !== null && before.nextFireTimeMs !== expectedMs)
    throw otherFireIsNext(expectedMs, before.nextFireTimeMs)
  const calendarOf = yield* calendarsOf(tx, [before])
  const calendar = calendarOf(before)
  const trigger = before.withoutNextFire(calendar)
  const free = nextTriggerState(ref.state, 'release') ?? ref.state
  // Complete it would stay for good.
  const isGone = trigger.nextFireTimeMs === null && isMadeByScheduler(before)
  const isOver = isGone || (trigger.nextFireTimeMs === null && !staysWithoutTime(free))
  const state = isOver ? (nextTriggerState(free, 'complete') ?? free) : free
  tellMissed(tx, { before, after: trigger, calendar, cause: 'skippedByHand', byPolicy: false })
  if (isOver) tx.signals.add('triggerFinalized', trigger)
  if (isGone) {
    yield* deleteTriggers(tx, [key])
  } else {
    yield* triggers.advance([{ trigger, state }])
    if (ref.state === 'ACQUIRED') yield* endStaleClaims(tx)
    if (state === 'WAITING') tx.offers.note(trigger.nextFireTimeMs)
  }
  return { skippedMs: before.nextFireTimeMs, nextMs: trigger.nextFireTimeMs }
}
