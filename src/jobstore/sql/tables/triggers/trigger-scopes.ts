import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import { misfireInstructionCode } from '../../../../triggers/misfire-instruction.ts'
import type { TriggerAction } from '../../../trigger-state.ts'
import { boundRows, hasKeyOf, isRow, type KeyQuery, withScheduler, writeOver } from '../../kernel/row-set.ts'
import type { SqlDialect } from '../../kernel/sql-dialect.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import {
  all,
  first,
  later,
  type SqlProgram,
  type SqlQuery,
  type SqlValue,
  sqlQuery,
} from '../../kernel/statement.ts'
import { instantOrNull, readable } from '../encoding/columns.ts'
import { groupRows, groupsOf } from '../encoding/groups.ts'
import { jobKeyColumns, jobKeyRows, triggerKeyColumns, triggerKeyOf } from '../encoding/key-rows.ts'
import { stateAfter, statesBefore } from './transitions.ts'

/** A set of triggers that one statement can name, however many they are. */
export type TriggerScope =
  | { readonly kind: 'all' }
  | { readonly kind: 'one'; readonly key: TriggerKey }
  | { readonly kind: 'job'; readonly key: JobKey }
  /** Triggers of these groups, except those of jobs of the other groups. */
  | {
      readonly kind: 'triggerGroups'
      readonly groups: Iterable<string>
      readonly exceptJobGroups: Iterable<string>
    }
  /** Triggers of jobs of these groups, except those whose own group is among the others. */
  | {
      readonly kind: 'jobGroups'
      readonly groups: Iterable<string>
      readonly exceptTriggerGroups: Iterable<string>
    }

type SteeringAction = Extract<TriggerAction, 'pause' | 'resume'>

/** Which triggers of a scope to resume: all, or only those that no other pause holds. */
export type Whose = 'every' | 'unheld'

const ignoreCode = misfireInstructionCode('ignore')
/** A number that stands for no misfire instruction. */
const noInstruction = -999

export interface LateRequest {
  readonly latestMs: EpochMs
  /** Whether triggers that ignore misfires are looked at, too. */
  readonly whateverInstruction: boolean
  /** Only keys after this one; null: from the first one on. */
  readonly after: TriggerKey | null
  readonly limit: number
}

/** Statements about sets of triggers: for pausing and resuming, and for all triggers of jobs. */
export class TriggerScopes {
  readonly #scheduler: string
  readonly #statements: TriggerScopeStatements

  constructor(vocabulary: SqlVocabulary) {
    this.#scheduler = vocabulary.schedulerName
    this.#statements = triggerScopeStatements(vocabulary)
  }

  /** Pauses every trigger of the scope that can be paused. */
  *pause(scope: TriggerScope): SqlProgram<void> {
    yield* later(this.#statements.pause[scope.kind](scopeValues(this.#scheduler, scope)))
  }

  *resume(scope: TriggerScope, whose: Whose): SqlProgram<void> {
    yield* later(this.#statements.resume[whose][scope.kind](scopeValues(this.#scheduler, scope)))
  }

  /** The earliest fire time of triggers that become WAITING by {@link resume}. */
  *earliestAfterResume(scope: TriggerScope, whose: Whose): SqlProgram<EpochMs | null> {
    return yield* earliest(this.#statements.earliest[whose][scope.kind](scopeValues(this.#scheduler, scope)))
  }

  /** Locks paused triggers that are late, or over, and need to be looked at before they go on, in order of keys. */
  *lockLate(scope: TriggerScope, whose: Whose, request: LateRequest): SqlProgram<readonly TriggerKey[]> {
    const { latestMs, whateverInstruction, after, limit } = request
    const values = {
      ...scopeValues(this.#scheduler, scope),
      latestMs,
      ignored: whateverInstruction ? noInstruction : ignoreCode,
      afterName: after?.name ?? '',
      afterGroup: after?.group ?? '',
      limit,
    }
    return (yield* all(this.#statements.late[whose][scope.kind](values))).map(triggerKeyOf)
  }

  /**
   * Releases the triggers of jobs that have changed, so that claims on them are void. Afterwards no other session has
   * taken one by what the job was before and is still to store its claim or its execution.
   */
  *release(keys: readonly JobKey[]): SqlProgram<void> {
    yield* writeOver(jobKeyRows(this.#scheduler, keys), (rows) => this.#statements.release({ rows }))
  }

  /** The earliest fire time of waiting triggers of these jobs. */
  *earliestOfJobs(keys: readonly JobKey[]): SqlProgram<EpochMs | null> {
    if (keys.length === 0) return null
    const rows = jobKeyRows(this.#scheduler, keys)
    return yield* earliest(this.#statements.earliestOfJobs({ rows }))
  }

  /** The earliest fire time of triggers that waited because of a claim that has ended. */
  *earliestBehindStaleClaims(): SqlProgram<EpochMs | null> {
    return yield* earliest(this.#statements.earliestBehindStaleClaims({ scheduler: this.#scheduler }))
  }
}

type Values = Readonly<Record<string, SqlValue>>

/** The values of the conditions of a scope. */
export function scopeValues(scheduler: string, scope: TriggerScope): Values {
  switch (scope.kind) {
    case 'all':
      return { scheduler }
    case 'one':
    case 'job':
      return { scheduler, name: scope.key.name, grp: scope.key.group }
    case 'triggerGroups':
      return { scheduler, groups: groupRows(scope.groups), others: groupRows(scope.exceptJobGroups) }
    case 'jobGroups':
      return { scheduler, groups: groupRows(scope.groups), others: groupRows(scope.exceptTriggerGroups) }
  }
}

type OfScopes = Readonly<Record<TriggerScope['kind'], SqlQuery<Values>>>

interface TriggerScopeStatements {
  readonly pause: OfScopes
  readonly resume: Readonly<Record<Whose, OfScopes>>
  readonly earliest: Readonly<Record<Whose, OfScopes>>
  readonly late: Readonly<Record<Whose, OfScopes>>
  readonly release: KeyQuery
  readonly earliestOfJobs: KeyQuery
  readonly earliestBehindStaleClaims: SqlQuery<{ scheduler: string }>
}

export function triggerScopeStatements(vocabulary: SqlVocabulary): TriggerScopeStatements {
  const { dialect } = vocabulary
  const conditions = scopeConditions(vocabulary)
  const each = (textOf: (scope: string) => string): OfScopes => {
    const queryOf = (kind: TriggerScope['kind']): SqlQuery<Values> =>
      sqlQuery(dialect, textOf(conditions[kind]))
    return {
      all: queryOf('all'),
      one: queryOf('one'),
      job: queryOf('job'),
      triggerGroups: queryOf('triggerGroups'),
      jobGroups: queryOf('jobGroups'),
    }
  }
  const both = (textOf: (scope: string) => string): Readonly<Record<Whose, OfScopes>> => ({
    every: each(textOf),
    unheld: each((scope) => textOf(`${scope} AND ${isUnheld(vocabulary)}`)),
  })
  return {
    pause: each((scope) => updateText(vocabulary, scope, 'pause')),
    resume: both((scope) => updateText(vocabulary, scope, 'resume')),
    earliest: both((scope) => earliestText(vocabulary, scope)),
    late: both((scope) => lateText(vocabulary, scope)),
    release: sqlQuery(dialect, releaseText(vocabulary)),
    earliestOfJobs: sqlQuery(dialect, earliestOfJobs(vocabulary)),
    earliestBehindStaleClaims: sqlQuery(dialect, earliestBehindStaleClaims(vocabulary)),
  }
}

/** The condition of each kind of scope on a row `t` of `triggers`. */
export function scopeConditions({ dialect }: SqlVocabulary): Readonly<Record<TriggerScope['kind'], string>> {
  return {
    all: 'true',
    one: 't.trigger_name = :name AND t.trigger_group = :grp',
    job: 't.job_name = :name AND t.job_group = :grp',
    triggerGroups: groupsBut(dialect, 't.trigger_group', 't.job_group'),
    jobGroups: groupsBut(dialect, 't.job_group', 't.trigger_group'),
  }
}

/** Whether no pause holds a trigger: neither its own, nor that of its job, nor a remembered group. */
function isUnheld({ names }: SqlVocabulary): string {
  const none = (table: string, condition: string): string =>
    `NOT EXISTS (SELECT 1 FROM ${table} h WHERE h.sched_name = t.sched_name AND ${condition})`
  return [
    none(
      names.pauses,
      `h.pause_scope = 'trigger' AND h.pause_group = t.trigger_group AND h.pause_name = t.trigger_name`,
    ),
    none(names.pauses, `h.pause_scope = 'job' AND h.pause_group = t.job_group AND h.pause_name = t.job_name`),
    none(names.pausedGroups, 'h.trigger_group = t.trigger_group'),
    none(names.pausedJobGroups, 'h.job_group = t.job_group'),
  ].join(' AND ')
}

/** The triggers of a scope in whose state the action does something. */
function inStateFor(action: SteeringAction, scope: string): string {
  return `t.sched_name = :scheduler AND ${scope} AND t.trigger_state IN (${statesBefore(action)})`
}

function updateText({ names }: SqlVocabulary, scope: string, action: SteeringAction): string {
  const after = stateAfter(action, 't.trigger_state')
  // A calendar may have left a paused trigger no fire time.
  const state =
    action === 'pause' ? after : `CASE WHEN t.next_fire_time > 0 THEN ${after} ELSE 'COMPLETE' END`
  return `
    UPDATE ${names.triggers} AS t SET trigger_state = ${state}
    WHERE ${inStateFor(action, scope)}`
}

function earliestText({ names }: SqlVocabulary, scope: string): string {
  return `
    SELECT min(t.next_fire_time) AS earliest FROM ${names.triggers} t
    WHERE ${inStateFor('resume', scope)} AND ${stateAfter('resume', 't.trigger_state')} = 'WAITING'
      AND t.next_fire_time > 0`
}

function lateText({ dialect, names }: SqlVocabulary, scope: string): string {
  const { keyCollation } = dialect
  return `
    SELECT t.trigger_name, t.trigger_group FROM ${names.triggers} t
    WHERE ${inStateFor('resume', scope)}
      AND (COALESCE(t.next_fire_time, 0) <= 0
        OR t.next_fire_time <= :latestMs AND COALESCE(t.misfire_instr, 0) <> :ignored)
      AND (t.trigger_group ${keyCollation}, t.trigger_name ${keyCollation}) > (:afterGroup, :afterName)
    ORDER BY t.trigger_group ${keyCollation}, t.trigger_name ${keyCollation}
    LIMIT :limit ${dialect.forUpdate('t')}`
}

function groupsBut(dialect: SqlDialect, column: string, otherColumn: string): string {
  return `${column} IN ${groupsOf(dialect, 'groups')} AND ${otherColumn} NOT IN ${groupsOf(dialect, 'others')}`
}

/**
 * A search locks triggers and not their jobs. Where others write as well, all triggers are therefore written, most of
 * them as they are: this waits for searches that have taken one, and a search that has read the job as it was before
 * takes no row that has been written since.
 */
function releaseText({ dialect, names }: SqlVocabulary): string {
  const whichever =
    dialect.excludesWriters === true ? `AND t.trigger_state IN (${statesBefore('release')})` : ''
  return `
    UPDATE ${names.triggers} AS t SET trigger_state = ${stateAfter('release', 't.trigger_state')}
    FROM ${boundRows(dialect, withScheduler(jobKeyColumns))} AS r
    WHERE ${isRow(dialect, 't', jobKeyColumns, 'job_name')} ${whichever}`
}

function earliestOfJobs({ dialect, names }: SqlVocabulary): string {
  return `
    SELECT min(t.next_fire_time) AS earliest
    FROM ${boundRows(dialect, withScheduler(jobKeyColumns))} AS r CROSS JOIN ${names.triggers} AS t
    WHERE ${isRow(dialect, 't', jobKeyColumns, 'job_name')} AND t.trigger_state = 'WAITING' AND t.next_fire_time > 0`
}

/** SQLite keeps the order of a CROSS JOIN, so the few claims come first; each goes to the triggers of its job. */
function earliestBehindStaleClaims({ dialect, names }: SqlVocabulary): string {
  return `
    SELECT min(t.next_fire_time) AS earliest
    FROM ${names.firedTriggers} AS f CROSS JOIN ${names.triggers} AS t
    WHERE f.sched_name = :scheduler AND f.state = 'ACQUIRED' AND f.is_nonconcurrent
      AND ${hasKeyOf(dialect, 't', 'f', jobKeyColumns, 'job_name')}
      AND t.trigger_state = 'WAITING' AND t.next_fire_time + 0 > 0
      AND NOT EXISTS (
        SELECT 1 FROM ${names.triggers} AS claimed
        WHERE ${hasKeyOf(dialect, 'claimed', 'f', triggerKeyColumns)} AND claimed.trigger_state = 'ACQUIRED')`
}

function* earliest(statement: ReturnType<SqlQuery<Values>>): SqlProgram<EpochMs | null> {
  const row = yield* first(statement)
  return row === null ? null : readable(instantOrNull, row, 'earliest', null)
}
