import { type JobKey, storedJobKey, storedTriggerKey, type TriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import type { GroupMatcher } from '../../../../core/matcher.ts'
import { instantMaxMs } from '../../../../triggers/invalid-trigger.ts'
import { storedTriggerStates } from '../../../trigger-state.ts'
import { boundRows, isRow, type KeyQuery, runOver, withScheduler } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { all, first, type SqlProgram, type SqlQuery, sqlQuery } from '../../kernel/statement.ts'
import { anyText, text, textOrNull } from '../encoding/columns.ts'
import { groupPredicate, groupRows, groupTable } from '../encoding/groups.ts'
import { jobKeyOf, triggerKeyColumns, triggerKeyOf, triggerKeyRows } from '../encoding/key-rows.ts'
import { isStill } from './list-conditions.ts'

/** What a list is of. */
export type ListSubject = 'jobKeys' | 'triggerKeys' | 'jobGroups' | 'triggerGroups'

/** The stored keys and groups. Nothing is locked. */
export class KeyLists {
  readonly #vocabulary: SqlVocabulary
  readonly #statements: KeyListStatements

  constructor(vocabulary: SqlVocabulary) {
    this.#vocabulary = vocabulary
    this.#statements = keyListStatements(vocabulary)
  }

  *jobKeys(matcher: GroupMatcher): SqlProgram<readonly JobKey[]> {
    return (yield* this.#list('jobKeys', matcher)).map(({ name, group }) => storedJobKey(name, group))
  }

  *triggerKeys(matcher: GroupMatcher): SqlProgram<readonly TriggerKey[]> {
    return (yield* this.#list('triggerKeys', matcher)).map(({ name, group }) => storedTriggerKey(name, group))
  }

  /** The matching groups that hold a job. */
  *jobGroups(matcher: GroupMatcher): SqlProgram<readonly string[]> {
    return (yield* this.#list('jobGroups', matcher)).map(({ group }) => group)
  }

  /** The matching groups that hold a trigger. */
  *triggerGroups(matcher: GroupMatcher): SqlProgram<readonly string[]> {
    return (yield* this.#list('triggerGroups', matcher)).map(({ group }) => group)
  }

  /** The jobs of those triggers that exist. */
  *jobsOfTriggers(keys: readonly TriggerKey[]): SqlProgram<KeyMap<TriggerKey, JobKey>> {
    const found = new KeyMap<TriggerKey, JobKey>()
    const keyRows = triggerKeyRows(this.#vocabulary.schedulerName, keys)
    for (const row of yield* runOver(keyRows, (rows) => this.#statements.jobsOfTriggers({ rows })))
      found.set(triggerKeyOf(row), jobKeyOf(row))
    return found
  }

  /** The groups among these that have a trigger. */
  *triggerGroupsAmong(groups: Iterable<string>): SqlProgram<readonly string[]> {
    const values = { scheduler: this.#vocabulary.schedulerName, rows: groupRows(groups) }
    const found = yield* all(this.#statements.triggerGroupsAmong(values))
    return found.map((row) => text(row, 'grp'))
  }

  /** A trigger that names the calendar, or null. */
  *userOfCalendar(name: string): SqlProgram<TriggerKey | null> {
    const user = yield* first(
      this.#statements.userOfCalendar({ scheduler: this.#vocabulary.schedulerName, name }),
    )
    return user === null ? null : triggerKeyOf(user)
  }

  /**
   * Whether there is a trigger that {@link acquiredWithoutClaim}, {@link blockedWithoutExecution},
   * {@link waitingForNoTime} or {@link inNoState} would find.
   */
  *hasStuck(): SqlProgram<boolean> {
    const { schedulerName: scheduler } = this.#vocabulary
    return (yield* first(this.#statements.stuck({ scheduler }))) !== null
  }

  /** Triggers that are ACQUIRED although no claim names them; `limit` at most. */
  *acquiredWithoutClaim(limit: number): SqlProgram<readonly TriggerKey[]> {
    const values = { scheduler: this.#vocabulary.schedulerName, limit }
    return (yield* all(this.#statements.acquiredWithoutClaim(values))).map(triggerKeyOf)
  }

  /** Triggers that wait for a value that is no time; `limit` at most. */
  *waitingForNoTime(limit: number): SqlProgram<readonly TriggerKey[]> {
    const values = { scheduler: this.#vocabulary.schedulerName, limit }
    return (yield* all(this.#statements.waitingForNoTime(values))).map(triggerKeyOf)
  }

  /** Triggers whose state is a word that is none, with that; `limit` at most. */
  *inNoState(limit: number): SqlProgram<readonly { readonly key: TriggerKey; readonly word: string }[]> {
    const values = { scheduler: this.#vocabulary.schedulerName, limit }
    const found = yield* all(this.#statements.inNoState(values))
    return found.map((row) => ({ key: triggerKeyOf(row), word: anyText(row, 'trigger_state') }))
  }

  /** Jobs with blocked triggers although no execution of them is in flight; `limit` at most. */
  *blockedWithoutExecution(limit: number): SqlProgram<readonly JobKey[]> {
    const values = { scheduler: this.#vocabulary.schedulerName, limit }
    return (yield* all(this.#statements.blockedWithoutExecution(values))).map(jobKeyOf)
  }

  /**
   * The first names of schedulers that jobs, nodes or executions are stored of, where none are of this one's name; else
   * none.
   */
  *otherSchedulers(limit: number): SqlProgram<readonly string[]> {
    const { schedulerName: scheduler } = this.#vocabulary
    // One by one: a statement waits for a lock of any table that it names, and most schedulers have a job.
    const { ownJob, ownNode, ownExecution } = this.#statements
    for (const ownRow of [ownJob, ownNode, ownExecution]) {
      if ((yield* first(ownRow({ scheduler }))) !== null) return []
    }
    const found: string[] = []
    while (found.length < limit) {
      const row = yield* first(this.#statements.nextScheduler({ after: found.at(-1) ?? '' }))
      const name = row === null ? null : textOrNull(row, 'sched_name')
      if (name === null) break
      found.push(name)
    }
    return found
  }

  *#list(
    subject: ListSubject,
    matcher: GroupMatcher,
  ): SqlProgram<readonly { readonly name: string; readonly group: string }[]> {
    const { query, values } = listQuery(this.#vocabulary, subject, matcher)
    const found = yield* all(query({ scheduler: this.#vocabulary.schedulerName, ...values }))
    return found.map((row) => ({ name: anyText(row, 'name'), group: anyText(row, 'grp') }))
  }
}

/** Names or groups of a matcher, as `name` and `grp`. */
export function listQuery(
  { dialect, names }: SqlVocabulary,
  subject: ListSubject,
  matcher: GroupMatcher,
): {
  readonly query: SqlQuery<Readonly<Record<string, string>>>
  readonly values: Readonly<Record<string, string>>
} {
  const of = subject === 'jobKeys' || subject === 'jobGroups' ? 'job' : 'trigger'
  const isOfKeys = subject === 'jobKeys' || subject === 'triggerKeys'
  const columns = isOfKeys
    ? `${of}_name AS name, ${of}_group AS grp`
    : `DISTINCT '' AS name, ${of}_group AS grp`
  const predicate = groupPredicate(dialect, `${of}_group`, matcher)
  const query = sqlQuery(
    dialect,
    `SELECT ${columns} FROM ${of === 'job' ? names.jobs : names.triggers}
     WHERE sched_name = :scheduler AND ${predicate.text}`,
  )
  return { query, values: predicate.values }
}

interface KeyListStatements {
  readonly jobsOfTriggers: KeyQuery
  readonly triggerGroupsAmong: SqlQuery<{ scheduler: string; rows: string }>
  readonly userOfCalendar: SqlQuery<{ scheduler: string; name: string }>
  readonly stuck: SqlQuery<{ scheduler: string }>
  readonly acquiredWithoutClaim: SqlQuery<{ scheduler: string; limit: number }>
  readonly blockedWithoutExecution: SqlQuery<{ scheduler: string; limit: number }>
  readonly waitingForNoTime: SqlQuery<{ scheduler: string; limit: number }>
  readonly inNoState: SqlQuery<{ scheduler: string; limit: number }>
  readonly ownJob: SqlQuery<{ scheduler: string }>
  readonly ownNode: SqlQuery<{ scheduler: string }>
  readonly ownExecution: SqlQuery<{ scheduler: string }>
  readonly nextScheduler: SqlQuery<{ after: string }>
}

export function keyListStatements(vocabulary: SqlVocabulary): KeyListStatements {
  const { dialect, names } = vocabulary
  return {
    jobsOfTriggers: sqlQuery(
      dialect,
      `SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group
       FROM ${boundRows(dialect, withScheduler(triggerKeyColumns))} AS r CROSS JOIN ${names.triggers} AS t
       WHERE ${isRow(dialect, 't', triggerKeyColumns)}`,
    ),
    triggerGroupsAmong: sqlQuery(
      dialect,
      `SELECT r.grp FROM ${groupTable(dialect)} AS r
       WHERE EXISTS (
         SELECT 1 FROM ${names.triggers} t WHERE t.sched_name = :scheduler AND t.trigger_group = r.grp)`,
    ),
    userOfCalendar: sqlQuery(
      dialect,
      `SELECT trigger_name, trigger_group FROM ${names.triggers}
       WHERE sched_name = :scheduler AND calendar_name = :name LIMIT 1`,
    ),
    ...stuckStatements(vocabulary),
    ...schedulerStatements(vocabulary),
  }
}

/** Triggers that no node would ever fire. */
function stuckStatements({
  dialect,
  names,
}: SqlVocabulary): Pick<
  KeyListStatements,
  'stuck' | 'acquiredWithoutClaim' | 'blockedWithoutExecution' | 'waitingForNoTime' | 'inNoState'
> {
  const isAcquiredWithoutClaim = `t.trigger_state = 'ACQUIRED' AND NOT EXISTS (
    SELECT 1 FROM ${names.firedTriggers} f
    WHERE f.sched_name = t.sched_name AND f.trigger_name = t.trigger_name
      AND f.trigger_group = t.trigger_group AND f.state = 'ACQUIRED')`
  const isBlockedWithoutExecution = `t.trigger_state IN ('BLOCKED', 'PAUSED_BLOCKED') AND NOT EXISTS (
    SELECT 1 FROM ${names.firedTriggers} f
    WHERE f.sched_name = t.sched_name AND f.job_name = t.job_name AND f.job_group = t.job_group
      AND f.state = 'EXECUTING')`
  // Java writes 0 or -1 where there is no time, also into a trigger that waits: its calendar may give it one again.
  const waitingForNoTime = (columns: string): string =>
    // Apart, so that each is a range of the index.
    ['< -1', `> ${instantMaxMs}`]
      .map((isNoTime) => {
        return `SELECT ${columns} FROM ${names.triggers} t
           WHERE t.sched_name = :scheduler AND t.trigger_state = 'WAITING' AND t.next_fire_time ${isNoTime}`
      })
      .join('\n         UNION ALL\n         ')
  const isInNoState = `t.sched_name = :scheduler AND ${isStill}
           AND t.trigger_state NOT IN (${storedTriggerStates.map((state) => `'${state}'`).join(', ')})`
  return {
    stuck: sqlQuery(
      dialect,
      `SELECT 1 AS found FROM (
         SELECT 1 FROM ${names.triggers} t WHERE t.sched_name = :scheduler
           AND t.trigger_state IN ('ACQUIRED', 'BLOCKED', 'PAUSED_BLOCKED')
           AND ((${isAcquiredWithoutClaim}) OR (${isBlockedWithoutExecution}))
         UNION ALL
         ${waitingForNoTime('1')}
         UNION ALL
         SELECT 1 FROM ${names.triggers} t WHERE ${isInNoState}) AS s
       LIMIT 1`,
    ),
    waitingForNoTime: sqlQuery(
      dialect,
      `SELECT s.trigger_name, s.trigger_group FROM (
         ${waitingForNoTime('t.trigger_name, t.trigger_group')}) AS s
       LIMIT :limit`,
    ),
    inNoState: sqlQuery(
      dialect,
      `SELECT t.trigger_name, t.trigger_group, t.trigger_state FROM ${names.triggers} t
       WHERE ${isInNoState} LIMIT :limit`,
    ),
    acquiredWithoutClaim: sqlQuery(
      dialect,
      `SELECT t.trigger_name, t.trigger_group FROM ${names.triggers} t
       WHERE t.sched_name = :scheduler AND ${isAcquiredWithoutClaim} LIMIT :limit`,
    ),
    blockedWithoutExecution: sqlQuery(
      dialect,
      `SELECT DISTINCT t.job_name, t.job_group FROM ${names.triggers} t
       WHERE t.sched_name = :scheduler AND ${isBlockedWithoutExecution} LIMIT :limit`,
    ),
  }
}

/** Of which schedulers there is anything. */
function schedulerStatements({
  dialect,
  names,
}: SqlVocabulary): Pick<KeyListStatements, 'ownJob' | 'ownNode' | 'ownExecution' | 'nextScheduler'> {
  // A trigger has a job.
  const tables = [names.jobs, names.schedulerState, names.history]
  const ownRow = (table: string): SqlQuery<{ scheduler: string }> =>
    sqlQuery(dialect, `SELECT 1 AS found FROM ${table} WHERE sched_name = :scheduler LIMIT 1`)
  return {
    ownJob: ownRow(names.jobs),
    ownNode: ownRow(names.schedulerState),
    ownExecution: ownRow(names.history),
    // Each smallest name is one look into an index, however many rows there are.
    nextScheduler: sqlQuery(
      dialect,
      `SELECT min(n.sched_name) AS sched_name FROM (${tables
        .map((table) => `SELECT min(sched_name) AS sched_name FROM ${table} WHERE sched_name > :after`)
        .join(' UNION ALL ')}) AS n`,
    ),
  }
}
