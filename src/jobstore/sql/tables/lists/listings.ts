import { defaultGroup, type JobKey, type TriggerKey } from '../../../../core/key.ts'
import { GroupMatcher } from '../../../../core/matcher.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import { TriggerFamilies } from '../../../../triggers/families/trigger-families.ts'
import {
  type JobQuery,
  type JobSummary,
  type TriggerQuery,
  type TriggerSummary,
  unknownJobTypeLimits,
} from '../../../queries.ts'
import { reportedTriggerState, storedTriggerStates, type TriggerState } from '../../../trigger-state.ts'
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
import {
  anyText,
  boolean,
  instantOrNull,
  integer,
  integerOrNull,
  readable,
  text,
  textOrNull,
} from '../encoding/columns.ts'
import { groupPredicate } from '../encoding/groups.ts'
import { jobKeyOf, triggerKeyOf } from '../encoding/key-rows.ts'

export interface StoredCounts {
  readonly jobs: number
  readonly triggers: number
  readonly calendars: number
}

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
  *jobs(query: JobQuery, limit: number): SqlProgram<readonly JobSummary[]> {
    return (yield* this.#page(jobListing(query), query.after, limit)).map(jobSummary)
  }

  /** The first triggers of a query in order of keys, `limit` at most. */
  *triggers(query: TriggerQuery, limit: number): SqlProgram<readonly TriggerSummary[]> {
    const { triggerFamilies = TriggerFamilies.ofLibrary } = this.#vocabulary
    const rows = yield* this.#page(triggerListing(query), query.after, limit)
    return rows.map((row) => triggerSummary(row, triggerFamilies))
  }

  *counts(): SqlProgram<StoredCounts> {
    const row = (yield* first(this.#statements.counts({ scheduler: this.#vocabulary.schedulerName }))) ?? {}
    return {
      jobs: integer(row, 'jobs'),
      triggers: integer(row, 'triggers'),
      calendars: integer(row, 'calendars'),
    }
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
   * The first rows after a key, in the order of keys: group `DEFAULT` first, then by group, then by name. Two
   * statements, so that each reads the key's index in its own order and stops at the limit.
   */
  *#page(
    listing: Listing,
    after: JobKey | TriggerKey | undefined,
    limit: number,
  ): SqlProgram<readonly SqlRow[]> {
    const values = { afterName: after?.name ?? '', afterGroup: after?.group ?? '' }
    const found: SqlRow[] = []
    const isInDefault = after === undefined || after.group === defaultGroup
    if (isInDefault) found.push(...(yield* this.#rows(listing, 'default', { ...values, limit })))
    if (found.length === limit) return found
    const part = isInDefault ? 'others' : 'othersAfter'
    const rest = yield* this.#rows(listing, part, { ...values, limit: limit - found.length })
    return [...found, ...rest]
  }

  *#rows(
    listing: Listing,
    part: ListingPart,
    values: Readonly<Record<string, SqlValue>>,
  ): SqlProgram<readonly SqlRow[]> {
    const { query, values: ofListing } = listingQuery(this.#vocabulary, listing, part)
    return yield* all(query({ scheduler: this.#vocabulary.schedulerName, ...ofListing, ...values }))
  }
}

/** Which rows a listing is about. */
export interface Listing {
  readonly subject: 'job' | 'trigger'
  readonly group: GroupMatcher
  /** Columns that must hold a value; those without one are not looked at. */
  readonly equals: Readonly<Record<string, string | undefined>>
  readonly state?: TriggerState | undefined
}

export function jobListing({ group = GroupMatcher.anyGroup(), jobType }: JobQuery): Listing {
  return { subject: 'job', group, equals: { job_class_name: jobType } }
}

export function triggerListing(query: TriggerQuery): Listing {
  const { group = GroupMatcher.anyGroup(), name, jobKey, calendarName, state } = query
  const ofJob = { job_name: jobKey?.name, job_group: jobKey?.group }
  const equals = { trigger_name: name, ...ofJob, calendar_name: calendarName }
  return { subject: 'trigger', group, equals, state }
}

/** Rows of group `DEFAULT` from a name on, of all other groups, or of those behind a key. */
export type ListingPart = 'default' | 'others' | 'othersAfter'

const listedColumns = {
  job: `job_name, job_group, job_class_name, description, is_durable, requests_recovery, is_nonconcurrent,
    is_update_data`,
  trigger: `trigger_name, trigger_group, job_name, job_group, trigger_type, trigger_state, description,
    calendar_name, priority, next_fire_time, prev_fire_time`,
} as const

/** One part of a listing; the values are those of its conditions. */
export function listingQuery(
  { dialect, names }: SqlVocabulary,
  { subject, group: matcher, equals, state }: Listing,
  part: ListingPart,
): {
  readonly query: SqlQuery<Readonly<Record<string, SqlValue>>>
  readonly values: Readonly<Record<string, string>>
} {
  const { keyCollation } = dialect
  const [name, group] = [`${subject}_name`, `${subject}_group`]
  const groups = groupPredicate(dialect, group, matcher)
  const values: Record<string, string> = { ...groups.values }
  // A page begins after a key, and no key sorts before a value of bytes.
  const conditions = ['sched_name = :scheduler', dialect.isText(name), dialect.isText(group), groups.text]
  for (const [column, value] of Object.entries(equals)) {
    if (value === undefined) continue
    conditions.push(`${column} = :${column}`)
    values[column] = value
  }
  if (state !== undefined) conditions.push(isReportedAs(state))
  if (part === 'default')
    conditions.push(`${group} = '${defaultGroup}' AND ${name} ${keyCollation} > :afterName`)
  else conditions.push(`${group} <> '${defaultGroup}'`)
  if (part === 'othersAfter') {
    conditions.push(`(${group} ${keyCollation}, ${name} ${keyCollation}) > (:afterGroup, :afterName)`)
  }
  const query = sqlQuery(
    dialect,
    `SELECT ${listedColumns[subject]} FROM ${subject === 'job' ? names.jobs : names.triggers}
     WHERE ${conditions.join(' AND ')}
     ORDER BY ${group} ${keyCollation}, ${name} ${keyCollation} LIMIT :limit`,
  )
  return { query, values }
}

function isReportedAs(state: TriggerState): string {
  const stored = storedTriggerStates.filter((each) => reportedTriggerState(each) === state)
  const list = stored.map((each) => `'${each}'`).join(', ')
  return stored.length === 0 ? 'false' : `trigger_state IN (${list})`
}

interface ListingStatements {
  readonly counts: SqlQuery<{ scheduler: string }>
  readonly triggerState: SqlQuery<{ scheduler: string; name: string; grp: string }>
  readonly dueByJobType: SqlQuery<{ scheduler: string; untilMs: EpochMs }>
}

export function listingStatements({ dialect, names }: SqlVocabulary): ListingStatements {
  const count = (table: string): string => `(SELECT count(*) FROM ${table} WHERE sched_name = :scheduler)`
  return {
    counts: sqlQuery(
      dialect,
      `SELECT ${count(names.jobs)} AS jobs, ${count(names.triggers)} AS triggers,
         ${count(names.calendars)} AS calendars`,
    ),
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
           SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.next_fire_time
           FROM ${names.triggers} AS t
           WHERE t.sched_name = :scheduler AND t.trigger_state = 'WAITING' AND t.next_fire_time <= :untilMs
           ORDER BY t.next_fire_time LIMIT ${unknownJobTypeLimits.triggers}
         ) AS d
         JOIN ${names.jobs} AS j
           ON j.sched_name = :scheduler AND j.job_name = d.job_name AND j.job_group = d.job_group
       ) AS p
       WHERE p.place <= ${unknownJobTypeLimits.triggersOfType}
       ORDER BY p.job_class_name, p.place`,
    ),
  }
}

// One unreadable row must not hide the others: it is listed with its readable columns.

function jobSummary(row: SqlRow): JobSummary {
  return {
    key: jobKeyOf(row),
    jobType: anyText(row, 'job_class_name'),
    description: readable(textOrNull, row, 'description', null),
    durable: readable(boolean, row, 'is_durable', false),
    requestsRecovery: readable(boolean, row, 'requests_recovery', false),
    disallowConcurrentExecution: readable(boolean, row, 'is_nonconcurrent', false),
    persistJobDataAfterExecution: readable(boolean, row, 'is_update_data', false),
    pause: null,
  }
}

function triggerSummary(row: SqlRow, families: TriggerFamilies): TriggerSummary {
  return {
    key: triggerKeyOf(row),
    jobKey: jobKeyOf(row),
    type: families.ofStoredType(anyText(row, 'trigger_type'))?.type ?? 'unknown',
    state: reportedStateOf(row),
    description: readable(textOrNull, row, 'description', null),
    calendarName: readable(textOrNull, row, 'calendar_name', null),
    priority: readable(integerOrNull, row, 'priority', null) ?? 0,
    nextFireTimeMs: readable(instantOrNull, row, 'next_fire_time', null),
    previousFireTimeMs: readable(instantOrNull, row, 'prev_fire_time', null),
    pause: null,
  }
}

/** An unknown state is listed as ERROR, because such a trigger cannot fire. */
function reportedStateOf(row: SqlRow): TriggerState {
  const stored = anyText(row, 'trigger_state')
  const state = storedTriggerStates.find((each) => each === stored)
  return state === undefined ? 'ERROR' : reportedTriggerState(state)
}

function keysOf(row: SqlRow): DueOfJobType['keys'] {
  try {
    return { triggerKey: triggerKeyOf(row), jobKey: jobKeyOf(row) }
  } catch {
    return null
  }
}
