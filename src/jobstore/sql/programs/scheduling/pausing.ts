import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { GroupMatcher } from '../../../../core/matcher.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { TriggerScope } from '../../tables/triggers/trigger-scopes.ts'
import { endStaleClaims } from '../steps/ended-claims.ts'
import { treatMisfires } from '../steps/misfires.ts'

/** How many late triggers are read and written at a time when they are resumed. */
const lateAtATime = 500

export function* pauseTrigger(tx: SqlTransaction, key: TriggerKey): SqlProgram<boolean> {
  const [ref] = yield* tx.session.triggers.lock([key])
  if (ref === undefined) return false
  yield* pause(tx, { kind: 'one', key })
  return true
}

export function* pauseTriggers(tx: SqlTransaction, matcher: GroupMatcher): SqlProgram<readonly string[]> {
  const { pausedGroups, keyLists } = tx.session
  const groups = isNamed(matcher) ? [matcher.operand] : yield* keyLists.triggerGroups(matcher)
  yield* pausedGroups.addTriggerGroups(groups)
  yield* pause(tx, { kind: 'triggerGroups', groups, exceptJobGroups: [] })
  return groups
}

export function* pauseJob(tx: SqlTransaction, key: JobKey): SqlProgram<boolean> {
  const [ref] = yield* tx.session.jobs.lock([key])
  if (ref === undefined) return false
  yield* pause(tx, { kind: 'job', key })
  return true
}

export function* pauseJobs(tx: SqlTransaction, matcher: GroupMatcher): SqlProgram<readonly string[]> {
  const { pausedGroups, keyLists } = tx.session
  const groups = isNamed(matcher) ? [matcher.operand] : yield* keyLists.jobGroups(matcher)
  yield* pausedGroups.addJobGroups(groups)
  yield* pause(tx, { kind: 'jobGroups', groups, exceptTriggerGroups: [] })
  return groups
}

export function* pauseAll(tx: SqlTransaction): SqlProgram<void> {
  yield* pauseTriggers(tx, GroupMatcher.anyGroup())
  yield* tx.session.pausedGroups.setEveryNewTriggerGroup(true)
}

// Resuming a group ends the pause of that group only: a trigger goes on when neither its group nor its job's group is
// remembered any more. Resuming one trigger or one job resumes exactly those triggers, whatever groups are paused.

export function* resumeTrigger(tx: SqlTransaction, key: TriggerKey): SqlProgram<boolean> {
  const [ref] = yield* tx.session.triggers.lock([key])
  if (ref === undefined) return false
  yield* resume(tx, { kind: 'one', key })
  return true
}

export function* resumeJob(tx: SqlTransaction, key: JobKey): SqlProgram<boolean> {
  const [ref] = yield* tx.session.jobs.lock([key])
  if (ref === undefined) return false
  yield* resume(tx, { kind: 'job', key })
  return true
}

export function* resumeTriggers(tx: SqlTransaction, matcher: GroupMatcher): SqlProgram<readonly string[]> {
  const { pausedGroups, keyLists } = tx.session
  const remembered = yield* pausedGroups.removeTriggerGroups(matcher)
  const groups = [...new Set([...remembered, ...(yield* keyLists.triggerGroups(matcher))])]
  if (matcher.operator === 'anything') yield* pausedGroups.setEveryNewTriggerGroup(false)
  const { jobGroups } = yield* pausedGroups.load()
  yield* resume(tx, { kind: 'triggerGroups', groups, exceptJobGroups: jobGroups })
  return groups
}

export function* resumeJobs(tx: SqlTransaction, matcher: GroupMatcher): SqlProgram<readonly string[]> {
  const { pausedGroups, keyLists } = tx.session
  const remembered = yield* pausedGroups.removeJobGroups(matcher)
  const groups = [...new Set([...remembered, ...(yield* keyLists.jobGroups(matcher))])]
  const { triggerGroups } = yield* pausedGroups.load()
  yield* resume(tx, { kind: 'jobGroups', groups, exceptTriggerGroups: triggerGroups })
  return groups
}

export function* resumeAll(tx: SqlTransaction): SqlProgram<void> {
  yield* tx.session.pausedGroups.clear()
  yield* resume(tx, { kind: 'all' })
}

function* pause(tx: SqlTransaction, scope: TriggerScope): SqlProgram<void> {
  yield* tx.session.scopes.apply('pause', scope)
  yield* endStaleClaims(tx)
}

function* resume(tx: SqlTransaction, scope: TriggerScope): SqlProgram<void> {
  const { scopes, context } = tx.session
  const latestMs = tx.nowMs - context.misfireThresholdMs
  let after: TriggerKey | null = null
  do {
    const late: readonly TriggerKey[] = yield* scopes.lockLate(scope, { latestMs, after, limit: lateAtATime })
    yield* treatMisfires(tx, late)
    // A trigger that its instruction left late is skipped by the search, and fires late.
    after = late.length < lateAtATime ? null : (late.at(-1) ?? null)
  } while (after !== null)
  tx.offers.note(yield* scopes.earliestAfterResume(scope))
  yield* scopes.apply('resume', scope)
}

/** A group that is named exactly is remembered also when it is empty. */
function isNamed({ operator }: GroupMatcher): boolean {
  return operator === 'equals'
}
