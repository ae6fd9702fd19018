import type { GroupMatcher } from '../../../../core/matcher.ts'
import { clearQuery } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { all, later, type SqlProgram, type SqlQuery, sqlQuery, together } from '../../kernel/statement.ts'
import { anyText } from '../encoding/columns.ts'
import { groupRows, groupsOf, groupTable } from '../encoding/groups.ts'

/** The groups that are remembered as paused. */
export interface PausedGroups {
  readonly triggerGroups: ReadonlySet<string>
  readonly jobGroups: ReadonlySet<string>
  /** `pauseAll` is in force: a new trigger group is remembered as paused. */
  readonly everyNewTriggerGroup: boolean
}

/** Quartz's row in `paused_trigger_grps` that stands for `pauseAll`. */
export const allGroupsPaused = '_$_ALL_GROUPS_PAUSED_$_'

/** The rows of `paused_trigger_grps` and `paused_job_grps`: few, so they are read whole. */
export class PausedGroupTable {
  readonly #statements: PausedGroupStatements
  readonly #scheduler: string

  constructor(vocabulary: SqlVocabulary) {
    this.#statements = pausedGroupStatements(vocabulary)
    this.#scheduler = vocabulary.schedulerName
  }

  *load(): SqlProgram<PausedGroups> {
    const [ofTriggers, ofJobs] = yield* together(
      this.#read(this.#statements.triggerGroups),
      this.#read(this.#statements.jobGroups),
    )
    const triggerGroups = new Set(ofTriggers)
    const jobGroups = new Set(ofJobs)
    const everyNewTriggerGroup = triggerGroups.delete(allGroupsPaused)
    return { triggerGroups, jobGroups, everyNewTriggerGroup }
  }

  *addTriggerGroups(groups: readonly string[]): SqlProgram<void> {
    yield* this.#add(this.#statements.triggerGroups, groups)
  }

  *addJobGroups(groups: readonly string[]): SqlProgram<void> {
    yield* this.#add(this.#statements.jobGroups, groups)
  }

  /** Forgets the matching groups and answers those that were remembered. */
  *removeTriggerGroups(matcher: GroupMatcher): SqlProgram<readonly string[]> {
    const { triggerGroups } = yield* this.load()
    return yield* this.#remove(this.#statements.triggerGroups, [...triggerGroups], matcher)
  }

  *removeJobGroups(matcher: GroupMatcher): SqlProgram<readonly string[]> {
    const { jobGroups } = yield* this.load()
    return yield* this.#remove(this.#statements.jobGroups, [...jobGroups], matcher)
  }

  *setEveryNewTriggerGroup(isPaused: boolean): SqlProgram<void> {
    if (isPaused) yield* this.#add(this.#statements.triggerGroups, [allGroupsPaused])
    else yield* later(this.#statements.triggerGroups.remove(this.#values([allGroupsPaused])))
  }

  *removeTheseTriggerGroups(groups: readonly string[]): SqlProgram<void> {
    if (groups.length > 0) yield* later(this.#statements.triggerGroups.remove(this.#values(groups)))
  }

  *removeTheseJobGroups(groups: readonly string[]): SqlProgram<void> {
    if (groups.length > 0) yield* later(this.#statements.jobGroups.remove(this.#values(groups)))
  }

  /** Forgets everything. */
  *clear(): SqlProgram<void> {
    yield* later(this.#statements.triggerGroups.clear({ scheduler: this.#scheduler }))
    yield* later(this.#statements.jobGroups.clear({ scheduler: this.#scheduler }))
  }

  *#read(statements: GroupStatements): SqlProgram<readonly string[]> {
    const rows = yield* all(statements.load({ scheduler: this.#scheduler }))
    return rows.map((row) => anyText(row, 'grp'))
  }

  *#add(statements: GroupStatements, groups: readonly string[]): SqlProgram<void> {
    if (groups.length > 0) yield* later(statements.add(this.#values(groups)))
  }

  *#remove(
    statements: GroupStatements,
    remembered: readonly string[],
    matcher: GroupMatcher,
  ): SqlProgram<readonly string[]> {
    const groups = remembered.filter((group) => matcher.isMatchGroup(group))
    if (groups.length > 0) yield* later(statements.remove(this.#values(groups)))
    return groups
  }

  #values(groups: readonly string[]): { scheduler: string; rows: string } {
    return { scheduler: this.#scheduler, rows: groupRows(groups) }
  }
}

interface PausedGroupStatements {
  readonly triggerGroups: GroupStatements
  readonly jobGroups: GroupStatements
}

interface GroupStatements {
  readonly load: SqlQuery<{ scheduler: string }>
  readonly add: SqlQuery<{ scheduler: string; rows: string }>
  readonly remove: SqlQuery<{ scheduler: string; rows: string }>
  readonly clear: SqlQuery<{ scheduler: string }>
}

export function pausedGroupStatements(vocabulary: SqlVocabulary): PausedGroupStatements {
  const { names } = vocabulary
  return {
    triggerGroups: statementsOf(vocabulary, names.pausedGroups, 'trigger_group'),
    jobGroups: statementsOf(vocabulary, names.pausedJobGroups, 'job_group'),
  }
}

function statementsOf(vocabulary: SqlVocabulary, table: string, column: string): GroupStatements {
  const { dialect } = vocabulary
  return {
    load: sqlQuery(dialect, `SELECT ${column} AS grp FROM ${table} WHERE sched_name = :scheduler`),
    add: sqlQuery(
      dialect,
      `INSERT INTO ${table} (sched_name, ${column}) SELECT :scheduler, r.grp FROM ${groupTable(dialect)} AS r WHERE true
       ON CONFLICT DO NOTHING`,
    ),
    remove: sqlQuery(
      dialect,
      `DELETE FROM ${table} WHERE sched_name = :scheduler AND ${column} IN ${groupsOf(dialect)}`,
    ),
    clear: clearQuery(vocabulary, table),
  }
}
