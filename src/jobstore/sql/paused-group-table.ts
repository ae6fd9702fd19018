import type { GroupMatcher } from '../../core/matcher.ts'
import type { SqlProgram } from './statement.ts'

/** Which groups are remembered as paused. */
export interface PausedGroups {
  readonly triggerGroups: ReadonlySet<string>
  readonly jobGroups: ReadonlySet<string>
  /** `pauseAll` is in force: a trigger group that comes into being is remembered as paused. */
  readonly everyNewTriggerGroup: boolean
}

/** The rows of `paused_trigger_grps` (Quartz's marker row for `pauseAll` included) and `paused_job_grps`. */
export interface PausedGroupTable {
  load(): SqlProgram<PausedGroups>
  addTriggerGroups(groups: readonly string[]): SqlProgram<void>
  addJobGroups(groups: readonly string[]): SqlProgram<void>
  /** Forgets the groups and answers those that were remembered. */
  removeTriggerGroups(matcher: GroupMatcher): SqlProgram<readonly string[]>
  removeJobGroups(matcher: GroupMatcher): SqlProgram<readonly string[]>
  setEveryNewTriggerGroup(isPaused: boolean): SqlProgram<void>
}
