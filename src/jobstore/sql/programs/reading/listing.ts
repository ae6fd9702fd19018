import { defaultGroup, type JobKey, type TriggerKey } from '../../../../core/key.ts'
import { GroupMatcher } from '../../../../core/matcher.ts'
import type { TriggerType } from '../../../../triggers/trigger.ts'
import type { JobQuery, JobSummary, Page, TriggerQuery, TriggerSummary } from '../../../queries.ts'
import { pageOf, pageSize } from '../../../queries.ts'
import { reportedTriggerState, storedTriggerStates, type TriggerState } from '../../../trigger-state.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { all, first, type SqlProgram, type SqlRow, type SqlValue, sqlQuery } from '../../kernel/statement.ts'
import {
  anyText,
  boolean,
  instantOrNull,
  integer,
  integerOrNull,
  readable,
  textOrNull,
} from '../../tables/encoding/columns.ts'
import { groupPredicate } from '../../tables/encoding/group-predicate.ts'
import { jobKeyOf, triggerKeyOf } from '../../tables/encoding/key-rows.ts'

export function* queryJobs(vocabulary: SqlVocabulary, query: JobQuery): SqlProgram<Page<JobSummary, JobKey>> {
  const size = pageSize('queryJobs', query)
  const conditions = new Conditions(vocabulary, 'job')
  conditions.group(query.group)
  conditions.equals('job_class_name', query.jobType)
  const rows = yield* conditions.first(
    `job_name, job_group, job_class_name, description, is_durable, requests_recovery, is_nonconcurrent,
     is_update_data`,
    vocabulary.names.jobs,
    { after: query.after, limit: size + 1 },
  )
  return pageOf(rows.map(jobSummary), size)
}

export function* queryTriggers(
  vocabulary: SqlVocabulary,
  query: TriggerQuery,
): SqlProgram<Page<TriggerSummary, TriggerKey>> {
  const size = pageSize('queryTriggers', query)
  const conditions = new Conditions(vocabulary, 'trigger')
  conditions.group(query.group)
  conditions.equals('job_name', query.jobKey?.name)
  conditions.equals('job_group', query.jobKey?.group)
  conditions.equals('calendar_name', query.calendarName)
  conditions.reportedState(query.state)
  const rows = yield* conditions.first(
    `trigger_name, trigger_group, job_name, job_group, trigger_type, trigger_state, description, calendar_name,
     priority, next_fire_time, prev_fire_time`,
    vocabulary.names.triggers,
    { after: query.after, limit: size + 1 },
  )
  return pageOf(rows.map(triggerSummary), size)
}

export function* getCounts({ dialect, names, schedulerName: scheduler }: SqlVocabulary): SqlProgram<{
  readonly jobs: number
  readonly triggers: number
  readonly calendars: number
}> {
  const count = (table: string): string => `(SELECT count(*) FROM ${table} WHERE sched_name = :scheduler)`
  const query = sqlQuery<{ scheduler: string }>(
    dialect,
    `SELECT ${count(names.jobs)} AS jobs, ${count(names.triggers)} AS triggers,
       ${count(names.calendars)} AS calendars`,
  )
  const row = (yield* first(query({ scheduler }))) ?? {}
  return {
    jobs: integer(row, 'jobs'),
    triggers: integer(row, 'triggers'),
    calendars: integer(row, 'calendars'),
  }
}

export function* getTriggerState(
  { dialect, names, schedulerName: scheduler }: SqlVocabulary,
  key: TriggerKey,
): SqlProgram<TriggerState> {
  const query = sqlQuery<{ scheduler: string; name: string; grp: string }>(
    dialect,
    `SELECT trigger_state FROM ${names.triggers}
     WHERE sched_name = :scheduler AND trigger_name = :name AND trigger_group = :grp`,
  )
  const row = yield* first(query({ scheduler, name: key.name, grp: key.group }))
  return row === null ? 'NONE' : reportedStateOf(row)
}

/** Which rows a listing is about; every condition adds text and the values of its parameters. */
class Conditions {
  readonly #vocabulary: SqlVocabulary
  readonly #name: string
  readonly #group: string
  readonly #texts: string[] = ['sched_name = :scheduler']
  readonly #values: Record<string, SqlValue>

  constructor(vocabulary: SqlVocabulary, subject: 'job' | 'trigger') {
    this.#vocabulary = vocabulary
    this.#values = { scheduler: vocabulary.schedulerName }
    this.#name = `${subject}_name`
    this.#group = `${subject}_group`
    // A page begins behind a key, and there is no key behind which bytes would be.
    this.#texts.push(vocabulary.dialect.isText(this.#name), vocabulary.dialect.isText(this.#group))
  }

  equals(column: string, value: string | undefined): void {
    if (value === undefined) return
    this.#texts.push(`${column} = :${column}`)
    this.#values[column] = value
  }

  group(matcher: GroupMatcher = GroupMatcher.anyGroup()): void {
    const predicate = groupPredicate(this.#vocabulary.dialect, this.#group, matcher)
    this.#texts.push(predicate.text)
    Object.assign(this.#values, predicate.values)
  }

  reportedState(state: TriggerState | undefined): void {
    if (state === undefined) return
    const stored = storedTriggerStates.filter((each) => reportedTriggerState(each) === state)
    const list = stored.map((each) => `'${each}'`).join(', ')
    this.#texts.push(stored.length === 0 ? 'false' : `trigger_state IN (${list})`)
  }

  /**
   * The first rows after a key, in the order of keys: group `DEFAULT` first, then by group, then by name. Two
   * statements, so that each reads the key's index in its own order and stops at the limit.
   */
  *first(
    columns: string,
    table: string,
    { after, limit }: { readonly after: JobKey | TriggerKey | undefined; readonly limit: number },
  ): SqlProgram<readonly SqlRow[]> {
    const { keyCollation } = this.#vocabulary.dialect
    const [name, group] = [this.#name, this.#group]
    const values = { afterName: after?.name ?? '', afterGroup: after?.group ?? '' }
    const found: SqlRow[] = []
    if (after === undefined || after.group === defaultGroup) {
      const condition = `${group} = '${defaultGroup}' AND ${name} ${keyCollation} > :afterName`
      found.push(...(yield* this.#select(columns, table, condition, { ...values, limit })))
    }
    if (found.length === limit) return found
    const condition =
      after === undefined || after.group === defaultGroup
        ? `${group} <> '${defaultGroup}'`
        : `${group} <> '${defaultGroup}'
            AND (${group} ${keyCollation}, ${name} ${keyCollation}) > (:afterGroup, :afterName)`
    const rest = yield* this.#select(columns, table, condition, { ...values, limit: limit - found.length })
    return [...found, ...rest]
  }

  *#select(
    columns: string,
    table: string,
    condition: string,
    values: Readonly<Record<string, SqlValue>>,
  ): SqlProgram<readonly SqlRow[]> {
    const { dialect } = this.#vocabulary
    const query = sqlQuery(
      dialect,
      `SELECT ${columns} FROM ${table} WHERE ${[...this.#texts, condition].join(' AND ')}
       ORDER BY ${this.#group} ${dialect.keyCollation}, ${this.#name} ${dialect.keyCollation} LIMIT :limit`,
    )
    return yield* all(query({ ...this.#values, ...values }))
  }
}

// One row that cannot be read must not hide the others: it is listed with what of it can.

function jobSummary(row: SqlRow): JobSummary {
  return {
    key: jobKeyOf(row),
    jobType: anyText(row, 'job_class_name'),
    description: readable(textOrNull, row, 'description', null),
    durable: readable(boolean, row, 'is_durable', false),
    requestsRecovery: readable(boolean, row, 'requests_recovery', false),
    disallowConcurrentExecution: readable(boolean, row, 'is_nonconcurrent', false),
    persistJobDataAfterExecution: readable(boolean, row, 'is_update_data', false),
  }
}

function triggerSummary(row: SqlRow): TriggerSummary {
  return {
    key: triggerKeyOf(row),
    jobKey: jobKeyOf(row),
    type: triggerTypes.get(anyText(row, 'trigger_type')) ?? 'unknown',
    state: reportedStateOf(row),
    description: readable(textOrNull, row, 'description', null),
    calendarName: readable(textOrNull, row, 'calendar_name', null),
    priority: readable(integerOrNull, row, 'priority', null) ?? 0,
    nextFireTimeMs: readable(instantOrNull, row, 'next_fire_time', null),
    previousFireTimeMs: readable(instantOrNull, row, 'prev_fire_time', null),
  }
}

/** Quartz's words for kinds of triggers. */
const triggerTypes: ReadonlyMap<string, TriggerType> = new Map<string, TriggerType>([
  ['SIMPLE', 'simple'],
  ['CRON', 'cron'],
  ['CAL_INT', 'calendarInterval'],
  ['DAILY_I', 'dailyTimeInterval'],
])

/** A word that is no state of ours is reported as an error of the trigger, as it cannot fire. */
function reportedStateOf(row: SqlRow): TriggerState {
  const stored = anyText(row, 'trigger_state')
  const state = storedTriggerStates.find((each) => each === stored)
  return state === undefined ? 'ERROR' : reportedTriggerState(state)
}
