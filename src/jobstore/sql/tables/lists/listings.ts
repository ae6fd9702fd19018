import { defaultGroup, type JobKey, type TriggerKey } from '../../../../core/key.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import { TriggerFamilies } from '../../../../triggers/families/trigger-families.ts'
import {
  type GroupCount,
  type JobQuery,
  type JobSummary,
  statesOf,
  type TriggerCounts,
  type TriggerQuery,
  type TriggerSummary,
  unknownJobTypeLimits,
} from '../../../queries.ts'
import type { TriggerState } from '../../../trigger-state.ts'
import { hasKeyOf } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import {
  all,
  first,
  type SqlProgram,
  type SqlQuery,
  type SqlRow,
  type SqlValue,
  sqlQuery,
} from '../../kernel/statement.ts'
import { anyText, integer, text } from '../encoding/columns.ts'
import { jobKeyColumns, jobKeyOf, triggerKeyOf } from '../encoding/key-rows.ts'
import { isStill, jobConditions, rowsLookedAt, triggerConditions } from './list-conditions.ts'
import {
  beginningOf,
  type Found,
  type Listing,
  type ListingPart,
  lastLookedAtQuery,
  listingQuery,
  partsAfter,
} from './listing-query.ts'
import { blockedTriggers } from './next-triggers.ts'
import { jobSummary, reportedStateOf, triggerSummary } from './summary-rows.ts'

/** A trigger that is due, and how many are of its job type. */
export interface DueOfJobType {
  readonly jobType: string
  readonly waiting: number
  /** Null for keys that are none, such as blank ones. */
  readonly keys: { readonly triggerKey: TriggerKey; readonly jobKey: JobKey } | null
}

/** What users list and count, without what is known of pauses. Nothing is locked. */
export class Listings {
  readonly #vocabulary: SqlVocabulary
  readonly #statements: ListingStatements

  constructor(vocabulary: SqlVocabulary) {
    this.#vocabulary = vocabulary
    this.#statements = listingStatements(vocabulary)
  }

  /** The first jobs of a query in order of keys, `limit` at most. */
  *jobs(query: JobQuery, limit: number): SqlProgram<Found<JobSummary, JobKey>> {
    const listing: Listing = { subject: 'job', conditions: jobConditions(this.#vocabulary, query) }
    const { rows, lastLookedAt } = yield* this.#page(listing, query.after, limit)
    return { items: rows.map(jobSummary), lookedUpTo: lastLookedAt && jobKeyOf(lastLookedAt) }
  }

  /** The first triggers of a query in order of keys, `limit` at most. */
  *triggers(query: TriggerQuery, limit: number): SqlProgram<Found<TriggerSummary, TriggerKey>> {
    const { triggerFamilies = TriggerFamilies.ofLibrary } = this.#vocabulary
    const conditions = triggerConditions(this.#vocabulary, query, statesOf(query))
    const { rows, lastLookedAt } = yield* this.#page({ subject: 'trigger', conditions }, query.after, limit)
    const items = rows.map((row) => triggerSummary(row, triggerFamilies))
    return { items, lookedUpTo: lastLookedAt && triggerKeyOf(lastLookedAt) }
  }

  /** How many triggers there are of each state. */
  *triggerCounts(): SqlProgram<TriggerCounts> {
    const counts: Partial<Record<TriggerState, number>> = {}
    const statement = this.#statements.triggerCounts({ scheduler: this.#vocabulary.schedulerName })
    for (const row of yield* all(statement)) {
      const count = integer(row, 'triggers')
      const state = reportedStateOf(row)
      if (count > 0) counts[state] = (counts[state] ?? 0) + count
    }
    return counts
  }

  /** How many jobs, or triggers, each group has; in no order. */
  *groupCounts(of: 'jobs' | 'triggers'): SqlProgram<readonly GroupCount[]> {
    const { jobGroupCounts, triggerGroupCounts } = this.#statements
    const values = { scheduler: this.#vocabulary.schedulerName }
    const rows = yield* all(of === 'jobs' ? jobGroupCounts(values) : triggerGroupCounts(values))
    return rows.map((row) => ({ group: anyText(row, 'grp'), count: integer(row, 'members') }))
  }

  *triggerState({ name, group }: TriggerKey): SqlProgram<TriggerState> {
    const values = { scheduler: this.#vocabulary.schedulerName, name, grp: group }
    const row = yield* first(this.#statements.triggerState(values))
    return row === null ? 'NONE' : reportedStateOf(row)
  }

  /** The first triggers of each job type among those that are due. */
  *dueByJobType(untilMs: EpochMs): SqlProgram<readonly DueOfJobType[]> {
    const values = { scheduler: this.#vocabulary.schedulerName, untilMs }
    return (yield* all(this.#statements.dueByJobType(values))).map((row) => ({
      jobType: text(row, 'job_class_name'),
      waiting: integer(row, 'waiting'),
      keys: keysOf(row),
    }))
  }

  /**
   * The first rows after a key, in the order of keys. A statement for each part, so that each reads the key's index in
   * its own order and stops at the limit.
   */
  *#page(
    listing: Listing,
    after: JobKey | TriggerKey | undefined,
    limit: number,
  ): SqlProgram<{ readonly rows: readonly SqlRow[]; readonly lastLookedAt: SqlRow | null }> {
    const rows: SqlRow[] = []
    const parts = partsAfter(after?.group ?? defaultGroup, listing.conditions)
    for (const [index, part] of parts.entries()) {
      const isOfAfter = after !== undefined && index === 0
      const values = {
        scheduler: this.#vocabulary.schedulerName,
        ...(isOfAfter ? { afterGroup: after.group, afterName: after.name } : beginningOf(part)),
        afterRank: after === undefined || after.group === defaultGroup ? 0 : 1,
      }
      const last = yield* this.#lastLookedAt(listing, part, values)
      const query = listingQuery(this.#vocabulary, listing, part, { isBounded: last !== null })
      const found = yield* all(
        query({
          ...listing.conditions.values,
          ...values,
          untilName: last === null ? '' : anyText(last, `${listing.subject}_name`),
          untilGroup: last === null ? '' : anyText(last, `${listing.subject}_group`),
          limit: limit - rows.length,
        }),
      )
      rows.push(...found)
      if (rows.length === limit) break
      if (last !== null) return { rows, lastLookedAt: last }
    }
    return { rows, lastLookedAt: null }
  }

  /** The last row of a part that a listing looks at; null when it looks at all of them. */
  *#lastLookedAt(
    listing: Listing,
    part: ListingPart,
    values: Readonly<Record<string, SqlValue>>,
  ): SqlProgram<SqlRow | null> {
    if (!listing.conditions.isSifting) return null
    const query = lastLookedAtQuery(this.#vocabulary, listing, part)
    return yield* first(query({ ...values, skipped: rowsLookedAt - 1 }))
  }
}

interface ListingStatements {
  readonly triggerCounts: SqlQuery<{ scheduler: string }>
  readonly jobGroupCounts: SqlQuery<{ scheduler: string }>
  readonly triggerGroupCounts: SqlQuery<{ scheduler: string }>
  readonly triggerState: SqlQuery<{ scheduler: string; name: string; grp: string }>
  readonly dueByJobType: SqlQuery<{ scheduler: string; untilMs: EpochMs }>
}

export function listingStatements({ dialect, names }: SqlVocabulary): ListingStatements {
  const count = (table: string): string => `(SELECT count(*) FROM ${table} WHERE sched_name = :scheduler)`
  const blocked = blockedTriggers({ dialect, names })
  const membersOf = (subject: string, table: string): SqlQuery<{ scheduler: string }> =>
    sqlQuery(
      dialect,
      `SELECT ${subject}_group AS grp, count(*) AS members FROM ${table}
       WHERE sched_name = :scheduler GROUP BY ${subject}_group`,
    )
  return {
    // From indexes alone. Those that wait or are claimed are what is left of all.
    triggerCounts: sqlQuery(
      dialect,
      `SELECT 'WAITING' AS trigger_state, ${count(names.triggers)} - (
         SELECT count(*) FROM ${names.triggers} AS t WHERE t.sched_name = :scheduler AND ${isStill})
         - (SELECT count(*) ${blocked}) AS triggers
       UNION ALL SELECT 'BLOCKED', count(*) ${blocked}
       UNION ALL SELECT t.trigger_state, count(*) FROM ${names.triggers} AS t
       WHERE t.sched_name = :scheduler AND ${isStill} GROUP BY t.trigger_state`,
    ),
    jobGroupCounts: membersOf('job', names.jobs),
    triggerGroupCounts: membersOf('trigger', names.triggers),
    triggerState: sqlQuery(
      dialect,
      `SELECT trigger_state FROM ${names.triggers}
       WHERE sched_name = :scheduler AND trigger_name = :name AND trigger_group = :grp`,
    ),
    // From the index on waiting triggers, as far as the limit goes.
    dueByJobType: sqlQuery(
      dialect,
      `SELECT p.job_class_name, p.waiting, p.trigger_name, p.trigger_group, p.job_name, p.job_group
       FROM (
         SELECT j.job_class_name, d.trigger_name, d.trigger_group, d.job_name, d.job_group,
           count(*) OVER (PARTITION BY j.job_class_name) AS waiting,
           row_number() OVER (PARTITION BY j.job_class_name ORDER BY d.next_fire_time, d.trigger_name) AS place
         FROM (
           SELECT t.sched_name, t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.next_fire_time
           FROM ${names.triggers} AS t
           WHERE t.sched_name = :scheduler AND t.trigger_state = 'WAITING' AND t.next_fire_time <= :untilMs
           ORDER BY t.next_fire_time LIMIT ${unknownJobTypeLimits.triggers}
         ) AS d
         JOIN ${names.jobs} AS j ON ${hasKeyOf(dialect, 'j', 'd', jobKeyColumns)}
       ) AS p
       WHERE p.place <= ${unknownJobTypeLimits.triggersOfType}
       ORDER BY p.job_class_name, p.place`,
    ),
  }
}

function keysOf(row: SqlRow): DueOfJobType['keys'] {
  try {
    return { triggerKey: triggerKeyOf(row), jobKey: jobKeyOf(row) }
  } catch {
    return null
  }
}
