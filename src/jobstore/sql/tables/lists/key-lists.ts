import { type JobKey, storedJobKey, storedTriggerKey, type TriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import type { GroupMatcher } from '../../../../core/matcher.ts'
import { boundRows, isRow, type KeyQuery, runOver, withScheduler } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { all, type SqlProgram, sqlQuery } from '../../kernel/statement.ts'
import { anyText, text } from '../encoding/columns.ts'
import { groupPredicate } from '../encoding/group-predicate.ts'
import { jobKeyOf, triggerKeyColumns, triggerKeyOf, triggerKeyRows } from '../encoding/key-rows.ts'

/** Which keys and groups there are. Nothing is locked. */
export class KeyLists {
  readonly #vocabulary: SqlVocabulary
  /** Made once: every schedule call asks. */
  readonly #jobsOfTriggers: KeyQuery

  constructor(vocabulary: SqlVocabulary) {
    const { dialect, names } = vocabulary
    this.#vocabulary = vocabulary
    this.#jobsOfTriggers = sqlQuery(
      dialect,
      `SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group
       FROM ${boundRows(dialect, withScheduler(triggerKeyColumns))} AS r CROSS JOIN ${names.triggers} AS t
       WHERE ${isRow(dialect, 't', triggerKeyColumns)}`,
    )
  }

  *jobKeys(matcher: GroupMatcher): SqlProgram<readonly JobKey[]> {
    const { names } = this.#vocabulary
    const found = yield* this.#list('job_name AS name, job_group AS grp', names.jobs, 'job_group', matcher)
    return found.map(({ name, group }) => storedJobKey(name, group))
  }

  *triggerKeys(matcher: GroupMatcher): SqlProgram<readonly TriggerKey[]> {
    const { names } = this.#vocabulary
    const columns = 'trigger_name AS name, trigger_group AS grp'
    const found = yield* this.#list(columns, names.triggers, 'trigger_group', matcher)
    return found.map(({ name, group }) => storedTriggerKey(name, group))
  }

  /** The jobs of those triggers that exist. */
  *jobsOfTriggers(keys: readonly TriggerKey[]): SqlProgram<KeyMap<TriggerKey, JobKey>> {
    const found = new KeyMap<TriggerKey, JobKey>()
    const keyRows = triggerKeyRows(this.#vocabulary.schedulerName, keys)
    for (const row of yield* runOver(keyRows, (rows) => this.#jobsOfTriggers({ rows })))
      found.set(triggerKeyOf(row), jobKeyOf(row))
    return found
  }

  /** The matching groups that hold a job. */
  *jobGroups(matcher: GroupMatcher): SqlProgram<readonly string[]> {
    const { names } = this.#vocabulary
    const found = yield* this.#list(`DISTINCT '' AS name, job_group AS grp`, names.jobs, 'job_group', matcher)
    return found.map(({ group }) => group)
  }

  /** The matching groups that hold a trigger. */
  *triggerGroups(matcher: GroupMatcher): SqlProgram<readonly string[]> {
    const { names } = this.#vocabulary
    const columns = `DISTINCT '' AS name, trigger_group AS grp`
    const found = yield* this.#list(columns, names.triggers, 'trigger_group', matcher)
    return found.map(({ group }) => group)
  }

  /** Which of these groups hold a trigger. */
  *triggerGroupsAmong(groups: Iterable<string>): SqlProgram<readonly string[]> {
    const { dialect, names, schedulerName } = this.#vocabulary
    const query = sqlQuery<{ scheduler: string; rows: string }>(
      dialect,
      `SELECT r.grp FROM ${dialect.rowSet('rows', { grp: 'text' })} AS r
       WHERE EXISTS (
         SELECT 1 FROM ${names.triggers} t WHERE t.sched_name = :scheduler AND t.trigger_group = r.grp)`,
    )
    const rows = JSON.stringify(Array.from(groups, (grp) => ({ grp })))
    const found = yield* all(query({ scheduler: schedulerName, rows }))
    return found.map((row) => text(row, 'grp'))
  }

  *#list(
    columns: string,
    table: string,
    groupColumn: string,
    matcher: GroupMatcher,
  ): SqlProgram<readonly { readonly name: string; readonly group: string }[]> {
    const { dialect, schedulerName } = this.#vocabulary
    const predicate = groupPredicate(dialect, groupColumn, matcher)
    const query = sqlQuery(
      dialect,
      `SELECT ${columns} FROM ${table} WHERE sched_name = :scheduler AND ${predicate.text}`,
    )
    const found = yield* all(query({ scheduler: schedulerName, ...predicate.values }))
    return found.map((row) => ({ name: anyText(row, 'name'), group: anyText(row, 'grp') }))
  }
}
