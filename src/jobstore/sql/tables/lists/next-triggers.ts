import type { TriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import { TriggerFamilies } from '../../../../triggers/families/trigger-families.ts'
import { instantMaxMs } from '../../../../triggers/invalid-trigger.ts'
import { compareFireTimes } from '../../../../triggers/trigger.ts'
import type { FirePlace, NextTriggerQuery, TriggerSummary } from '../../../queries.ts'
import { hasKeyOf } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import {
  all,
  composed,
  first,
  type SqlProgram,
  type SqlRow,
  type SqlValue,
  sqlQuery,
} from '../../kernel/statement.ts'
import { integer, integerOrNull, readable } from '../encoding/columns.ts'
import {
  compareStoredKeys,
  jobKeyColumns,
  keyOrder,
  triggerKeyColumns,
  triggerKeyOf,
} from '../encoding/key-rows.ts'
import { type ListConditions, rowsLookedAt, triggerConditions } from './list-conditions.ts'
import type { Found, ListQuery } from './listing-query.ts'
import { summaryColumns, triggerSummary } from './summary-rows.ts'

/**
 * Triggers in the order in which they fire. Those that wait come from the index for acquiring. The few that are
 * claimed, or blocked by an execution of their job, are found by the rows of firings.
 */
export class NextTriggers {
  readonly #vocabulary: SqlVocabulary

  constructor(vocabulary: SqlVocabulary) {
    this.#vocabulary = vocabulary
  }

  /** The first triggers of a query, `limit` at most. */
  *first(query: NextTriggerQuery, limit: number): SqlProgram<Found<TriggerSummary, FirePlace>> {
    const { triggerFamilies = TriggerFamilies.ofLibrary, schedulerName } = this.#vocabulary
    const conditions = triggerConditions(this.#vocabulary, query, null)
    const values = {
      ...conditions.values,
      scheduler: schedulerName,
      ...placeValues('after', query.after),
      limit,
    }
    const last = conditions.isSifting ? yield* this.#lastLookedAt(values) : null
    const until = last === null ? {} : placeValues('until', last)
    const found = new KeyMap<TriggerKey, TriggerSummary>()
    // One that was claimed between the two statements is in both answers.
    for (const arm of nextTriggerArms) {
      const query = nextTriggersQuery(this.#vocabulary, conditions, arm, { isBounded: last !== null })
      for (const row of yield* all(query({ ...values, ...until }))) {
        const summary = triggerSummary(row, triggerFamilies)
        if (summary.nextFireTimeMs !== null) found.set(summary.key, summary)
      }
    }
    const items = [...found.values()].sort(compareSummaries).slice(0, limit)
    return { items, lookedUpTo: items.length === limit ? null : last }
  }

  *#lastLookedAt(values: Readonly<Record<string, SqlValue>>): SqlProgram<FirePlace | null> {
    const row = yield* first(lastWaitingQuery(this.#vocabulary)({ ...values, skipped: rowsLookedAt - 1 }))
    return row === null ? null : placeOf(row)
  }
}

/** As the statements order them: the next page goes on behind the last of this order. */
function compareSummaries(a: TriggerSummary, b: TriggerSummary): number {
  return compareFireTimes(a, b) || compareStoredKeys(a.key, b.key)
}

/** Triggers that wait, those that a node has claimed, and those that wait for an execution to end. */
export const nextTriggerArms = ['waiting', 'claimed', 'blocked'] as const
export type NextTriggerArm = (typeof nextTriggerArms)[number]

/** One arm of the search, after a place and, with `isBounded`, up to another one. */
export function nextTriggersQuery(
  vocabulary: SqlVocabulary,
  conditions: ListConditions,
  arm: NextTriggerArm,
  { isBounded }: { readonly isBounded: boolean },
): ListQuery {
  const { dialect, names } = vocabulary
  const waiting = `FROM ${names.triggers} AS t WHERE t.sched_name = :scheduler AND t.trigger_state = 'WAITING'`
  const source = { waiting, claimed: claimedTriggers(vocabulary), blocked: blockedTriggers(vocabulary) }[arm]
  // The order of an index that does not find the job or the calendar must not be used.
  const time = conditions.isNarrow ? 't.next_fire_time + 0' : 't.next_fire_time'
  const all = [
    source,
    isBehind(vocabulary, time),
    ...(isBounded ? [isUpTo(vocabulary)] : []),
    ...conditions.texts,
  ]
  return composed(
    sqlQuery(
      dialect,
      `SELECT ${summaryColumns.trigger} ${all.join(' AND ')}
     ORDER BY ${fireOrder(vocabulary, time)} LIMIT :limit`,
    ),
  )
}

function claimedTriggers({ dialect, names }: Pick<SqlVocabulary, 'dialect' | 'names'>): string {
  return `FROM ${names.firedTriggers} AS f CROSS JOIN ${names.triggers} AS t
    WHERE f.sched_name = :scheduler AND f.state = 'ACQUIRED' AND t.trigger_state = 'ACQUIRED'
      AND ${hasKeyOf(dialect, 't', 'f', triggerKeyColumns)}`
}

/** The triggers that wait for an execution of their job to end, `t`. */
export function blockedTriggers({ dialect, names }: Pick<SqlVocabulary, 'dialect' | 'names'>): string {
  return `FROM (
      SELECT DISTINCT f.sched_name, f.job_name, f.job_group FROM ${names.firedTriggers} AS f
      WHERE f.sched_name = :scheduler AND f.state = 'EXECUTING' AND f.is_nonconcurrent) AS f
    CROSS JOIN ${names.triggers} AS t
    WHERE ${hasKeyOf(dialect, 't', 'f', jobKeyColumns, 'job_name')} AND t.trigger_state = 'BLOCKED'`
}

/** The place of the waiting trigger that `:skipped` others come before, whether it fits the conditions or not. */
export function lastWaitingQuery(vocabulary: SqlVocabulary): ListQuery {
  return sqlQuery(
    vocabulary.dialect,
    `SELECT t.next_fire_time, t.priority, t.trigger_group, t.trigger_name FROM ${vocabulary.names.triggers} AS t
     WHERE t.sched_name = :scheduler AND t.trigger_state = 'WAITING' AND ${isBehind(vocabulary)}
     ORDER BY ${fireOrder(vocabulary)} LIMIT 1 OFFSET :skipped`,
  )
}

function fireOrder(vocabulary: SqlVocabulary, time = 't.next_fire_time'): string {
  return `${time}, t.priority DESC, ${keyOrder(vocabulary)}`
}

/** The first condition is what an index can use. */
function isBehind(vocabulary: SqlVocabulary, time = 't.next_fire_time'): string {
  return `${time} >= :afterMs AND (t.next_fire_time > :afterMs OR t.priority < :afterPriority
    OR (t.priority = :afterPriority AND (${place(vocabulary)}) > (:afterRank, :afterGroup, :afterName)))`
}

function isUpTo(vocabulary: SqlVocabulary): string {
  return `t.next_fire_time <= :untilMs AND (t.next_fire_time < :untilMs OR t.priority > :untilPriority
    OR (t.priority = :untilPriority AND (${place(vocabulary)}) <= (:untilRank, :untilGroup, :untilName)))`
}

function place({ dialect: { keyCollation } }: SqlVocabulary): string {
  return `CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group ${keyCollation},
    t.trigger_name ${keyCollation}`
}

function placeValues(
  name: 'after' | 'until',
  place: FirePlace | undefined,
): Readonly<Record<string, SqlValue>> {
  // Before all that have a fire time: Java writes -1 or 0 where there is none.
  const { nextFireTimeMs = 1, priority = 2 ** 31 - 1, key } = place ?? {}
  return {
    [`${name}Ms`]: nextFireTimeMs,
    [`${name}Priority`]: priority,
    [`${name}Rank`]: key === undefined || key.group === 'DEFAULT' ? 0 : 1,
    [`${name}Group`]: key?.group ?? '',
    [`${name}Name`]: key?.name ?? '',
  }
}

function placeOf(row: SqlRow): FirePlace {
  return {
    nextFireTimeMs: Math.min(integer(row, 'next_fire_time'), instantMaxMs),
    priority: readable(integerOrNull, row, 'priority', null) ?? 0,
    key: triggerKeyOf(row),
  }
}
