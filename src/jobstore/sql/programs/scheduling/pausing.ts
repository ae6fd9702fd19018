import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { GroupMatcher } from '../../../../core/matcher.ts'
import type { PauseNote, PauseTarget, ResumeManner } from '../../../pauses.ts'
import { isPausedState, nextTriggerState } from '../../../trigger-state.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import { columnWidths, requireFits } from '../../tables/encoding/limits.ts'
import type { TriggerScope } from '../../tables/triggers/trigger-scopes.ts'
import { endStaleClaims } from '../steps/ended-claims.ts'
import { lockBehindJob } from '../steps/new-triggers.ts'
import { resumeScope } from '../steps/resuming.ts'

export function* pauseTrigger(tx: SqlTransaction, key: TriggerKey, note: PauseNote): SqlProgram<boolean> {
  const { pauses } = tx.session
  // Its note is a row that operations on its job delete, or look for, without a lock on the trigger.
  const ref = yield* lockBehindJob(tx, key)
  if (ref === undefined) return false
  const target: PauseTarget = { scope: 'trigger', key }
  yield* pauses.forgetStale([target, { scope: 'job', key: ref.jobKey }])
  yield* pause(tx, { kind: 'one', key })
  const isPaused = isPausedState(nextTriggerState(ref.state, 'pause') ?? ref.state)
  if (isPaused) yield* pauses.note([target], note, tx.nowMs)
  return true
}

export function* pauseTriggers(
  tx: SqlTransaction,
  matcher: GroupMatcher,
  note: PauseNote,
): SqlProgram<readonly string[]> {
  const groups = yield* pauseTriggerGroups(tx, matcher)
  const targets = groups.map((group): PauseTarget => ({ scope: 'triggerGroup', group }))
  yield* tx.session.pauses.note(targets, note, tx.nowMs)
  return groups
}

/** A group that may have no member yet. Those of stored rows may be longer than they should be, and are paused, too. */
function storable(group: string): string {
  requireFits({ kind: 'Group', identity: group }, 'group', group, columnWidths.keyPart)
  return group
}

function* pauseTriggerGroups(tx: SqlTransaction, matcher: GroupMatcher): SqlProgram<readonly string[]> {
  const { pausedGroups, pauses, keyLists } = tx.session
  const groups = isNamed(matcher) ? [storable(matcher.operand)] : yield* keyLists.triggerGroups(matcher)
  yield* pauses.forgetAllStale()
  yield* pausedGroups.addTriggerGroups(groups)
  yield* pause(tx, { kind: 'triggerGroups', groups, exceptJobGroups: [] })
  return groups
}

export function* pauseJob(tx: SqlTransaction, key: JobKey, note: PauseNote): SqlProgram<boolean> {
  const { jobs, pauses } = tx.session
  const [ref] = yield* jobs.lock([key])
  if (ref === undefined) return false
  const target: PauseTarget = { scope: 'job', key }
  yield* pauses.forgetStale([target])
  yield* pauses.forgetStaleOfJob(key)
  yield* pause(tx, { kind: 'job', key })
  yield* pauses.note([target], note, tx.nowMs)
  // It was a pause of nothing where the job has no trigger that can be paused.
  yield* pauses.forgetStale([target])
  return true
}

export function* pauseJobs(
  tx: SqlTransaction,
  matcher: GroupMatcher,
  note: PauseNote,
): SqlProgram<readonly string[]> {
  const { pausedGroups, pauses, keyLists } = tx.session
  const groups = isNamed(matcher) ? [storable(matcher.operand)] : yield* keyLists.jobGroups(matcher)
  yield* pauses.forgetAllStale()
  yield* pausedGroups.addJobGroups(groups)
  yield* pause(tx, { kind: 'jobGroups', groups, exceptTriggerGroups: [] })
  const targets = groups.map((group): PauseTarget => ({ scope: 'jobGroup', group }))
  yield* pauses.note(targets, note, tx.nowMs)
  return groups
}

export function* pauseAll(tx: SqlTransaction, note: PauseNote): SqlProgram<void> {
  yield* pauseTriggerGroups(tx, GroupMatcher.anyGroup())
  yield* tx.session.pausedGroups.setEveryNewTriggerGroup(true)
  yield* tx.session.pauses.note([{ scope: 'all' }], note, tx.nowMs)
}

// Resuming a group ends the pause of that group only: a trigger goes on when neither its group nor its job's group is
// remembered any more. Resuming one trigger or one job resumes exactly those triggers, whatever groups are paused.

export function* resumeTrigger(
  tx: SqlTransaction,
  key: TriggerKey,
  manner: ResumeManner,
): SqlProgram<boolean> {
  const [ref] = yield* tx.session.triggers.lock([key])
  if (ref === undefined) return false
  yield* resume(tx, { kind: 'one', key }, manner)
  return true
}

export function* resumeJob(tx: SqlTransaction, key: JobKey, manner: ResumeManner): SqlProgram<boolean> {
  const [ref] = yield* tx.session.jobs.lock([key])
  if (ref === undefined) return false
  yield* resume(tx, { kind: 'job', key }, manner)
  yield* tx.session.pauses.forget([{ scope: 'job', key }])
  return true
}

export function* resumeTriggers(
  tx: SqlTransaction,
  matcher: GroupMatcher,
  manner: ResumeManner,
): SqlProgram<readonly string[]> {
  const { pausedGroups, pauses, keyLists } = tx.session
  const remembered = yield* pausedGroups.removeTriggerGroups(matcher)
  const groups = [...new Set([...remembered, ...(yield* keyLists.triggerGroups(matcher))])]
  const targets = groups.map((group): PauseTarget => ({ scope: 'triggerGroup', group }))
  if (matcher.operator === 'anything') {
    yield* pausedGroups.setEveryNewTriggerGroup(false)
    targets.push({ scope: 'all' })
  }
  const { jobGroups } = yield* pausedGroups.load()
  yield* resume(tx, { kind: 'triggerGroups', groups, exceptJobGroups: jobGroups }, manner)
  yield* pauses.forget(targets)
  return groups
}

export function* resumeJobs(
  tx: SqlTransaction,
  matcher: GroupMatcher,
  manner: ResumeManner,
): SqlProgram<readonly string[]> {
  const { pausedGroups, pauses, keyLists } = tx.session
  const remembered = yield* pausedGroups.removeJobGroups(matcher)
  const groups = [...new Set([...remembered, ...(yield* keyLists.jobGroups(matcher))])]
  const { triggerGroups } = yield* pausedGroups.load()
  yield* resume(tx, { kind: 'jobGroups', groups, exceptTriggerGroups: triggerGroups }, manner)
  yield* pauses.forget(groups.map((group): PauseTarget => ({ scope: 'jobGroup', group })))
  return groups
}

export function* resumeAll(tx: SqlTransaction, manner: ResumeManner): SqlProgram<void> {
  yield* tx.session.pausedGroups.clear()
  yield* resume(tx, { kind: 'all' }, manner)
  yield* tx.session.pauses.clear()
}

function* pause(tx: SqlTransaction, scope: TriggerScope): SqlProgram<void> {
  yield* tx.session.scopes.pause(scope)
  yield* endStaleClaims(tx)
}

function* resume(tx: SqlTransaction, scope: TriggerScope, manner: ResumeManner): SqlProgram<void> {
  yield* resumeScope(tx, scope, { ...manner, whose: 'every' })
  yield* tx.session.pauses.forgetOfTriggers(scope)
}

/** A group that is named exactly is remembered also when it is empty. */
function isNamed({ operator }: GroupMatcher): boolean {
  return operator === 'equals'
}
