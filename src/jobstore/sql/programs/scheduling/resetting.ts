import type { TriggerKey } from '../../../../core/key.ts'
import { nextTriggerState } from '../../../trigger-state.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import { forgetOverPauses, isPausedByGroup } from '../steps/group-pauses.ts'
import { lockBehindJob } from '../steps/new-triggers.ts'
import { settleJobs } from '../steps/settling.ts'

/** Clears an error; false when the trigger is in another state or does not exist. */
export function* resetTriggerFromErrorState(tx: SqlTransaction, key: TriggerKey): SqlProgram<boolean> {
  const { triggers, pausedGroups } = tx.session
  const ref = yield* lockBehindJob(tx, key)
  const reset = ref === undefined ? null : nextTriggerState(ref.state, 'reset')
  if (ref === undefined || reset === null) return false
  if (ref.nextFireTimeMs === null) {
    yield* triggers.setStates([{ key, state: nextTriggerState(reset, 'complete') ?? reset }])
    return true
  }
  const isPaused = isPausedByGroup(yield* pausedGroups.load(), ref)
  const state = isPaused ? (nextTriggerState(reset, 'pause') ?? reset) : reset
  if (isPaused) yield* forgetOverPauses(tx, [ref])
  yield* triggers.setStates([{ key, state }])
  if (state === 'WAITING') tx.offers.note(ref.nextFireTimeMs)
  yield* settleJobs(tx, [ref.jobKey])
  return true
}
