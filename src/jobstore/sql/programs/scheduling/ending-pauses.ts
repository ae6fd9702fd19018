import type { PauseTarget } from '../../../pauses.ts'
import type { TransactionLock } from '../../kernel/sql-runner.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { PausedGroups } from '../../tables/groups/paused-group-table.ts'
import type { TimedPause } from '../../tables/triggers/pause-table.ts'
import type { TriggerScope } from '../../tables/triggers/trigger-scopes.ts'
import { lockBehindJob } from '../steps/new-triggers.ts'
import { resumeScope } from '../steps/resuming.ts'

/** What the transaction of {@link endPause} may do to others. */
export function lockOfPause({ scope }: PauseTarget): TransactionLock {
  return scope === 'trigger' || scope === 'job' ? 'shared' : 'exclusive'
}

/**
 * Ends a pause whose time is over: triggers go on that no other pause holds. False when another node has ended or
 * changed it.
 */
export function* endPause(tx: SqlTransaction, pause: TimedPause): SqlProgram<boolean> {
  const { target } = pause
  const { jobs, pauses } = tx.session
  // Before the row of the pause, as everywhere. No other pause that may hold one of the triggers is made meanwhile.
  if (target.scope === 'trigger') yield* lockBehindJob(tx, target.key)
  if (target.scope === 'job') yield* jobs.lock([target.key])
  const isInForce = (yield* pauses.load([target])).size > 0
  if (!(yield* pauses.end(pause)) || !isInForce) return false
  yield* forgetGroups(tx, target)
  yield* resumeScope(tx, scopeOf(target), { whose: 'unheld', withoutMissed: false })
  return true
}

function* forgetGroups(tx: SqlTransaction, target: PauseTarget): SqlProgram<void> {
  const { pausedGroups } = tx.session
  if (target.scope === 'jobGroup') yield* pausedGroups.removeTheseJobGroups([target.group])
  if (target.scope !== 'triggerGroup' && target.scope !== 'all') return
  const paused = yield* pausedGroups.load()
  if (target.scope === 'all') yield* forgetEverything(tx, paused)
  // By the same row the pause of everything holds the group.
  else if (!paused.everyNewTriggerGroup) yield* pausedGroups.removeTheseTriggerGroups([target.group])
}

/** Groups that were paused on their own stay paused. */
function* forgetEverything({ session }: SqlTransaction, { triggerGroups }: PausedGroups): SqlProgram<void> {
  const { pausedGroups, pauses } = session
  const held = new Set(yield* pauses.triggerGroups())
  yield* pausedGroups.setEveryNewTriggerGroup(false)
  yield* pausedGroups.removeTheseTriggerGroups([...triggerGroups].filter((group) => !held.has(group)))
}

function scopeOf(target: PauseTarget): TriggerScope {
  switch (target.scope) {
    case 'trigger':
      return { kind: 'one', key: target.key }
    case 'job':
      return { kind: 'job', key: target.key }
    case 'triggerGroup':
      return { kind: 'triggerGroups', groups: [target.group], exceptJobGroups: [] }
    case 'jobGroup':
      return { kind: 'jobGroups', groups: [target.group], exceptTriggerGroups: [] }
    case 'all':
      return { kind: 'all' }
  }
}
