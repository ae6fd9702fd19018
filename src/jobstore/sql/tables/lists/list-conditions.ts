import { GroupMatcher } from '../../../../core/matcher.ts'
import { type JobQuery, lowerAscii, type TriggerConditions } from '../../../queries.ts'
import { reportedTriggerState, storedTriggerStates, type TriggerState } from '../../../trigger-state.ts'
import { hasKeyOf } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import type { SqlValue } from '../../kernel/statement.ts'
import { groupPredicate } from '../encoding/groups.ts'
import { jobKeyColumns } from '../encoding/key-rows.ts'

/**
 * How many rows one page looks at in each part of a list, where it leaves some out: about 5 ms of SQLite, which works
 * on the event loop.
 */
export const rowsLookedAt = 10_000

/** The states of triggers that do not fire until somebody does something; others change all the time. */
const stillStates: readonly TriggerState[] = ['PAUSED', 'COMPLETE', 'ERROR']
/** The condition of the index `t_at_rest`, in the same words. */
export const isStill = `t.trigger_state <> 'WAITING' AND t.trigger_state <> 'ACQUIRED' AND t.trigger_state <> 'BLOCKED'`

/** Which rows a listing has, as conditions on `j` for jobs and `t` for triggers. */
export interface ListConditions {
  readonly texts: readonly string[]
  readonly values: Readonly<Record<string, SqlValue>>
  /** Those of the conditions that an index holds for all of its rows, so that no others are looked at. */
  readonly scope: readonly string[]
  /**
   * Whether rows are read, in the order of the list, only to be left out: then there is a bound on how many of them one
   * page looks at.
   */
  readonly isSifting: boolean
  /** Whether another index than that of the list's order finds the rows: triggers of one job, or of one calendar. */
  readonly isNarrow: boolean
}

export function jobConditions(
  { dialect }: SqlVocabulary,
  { group = GroupMatcher.anyGroup(), jobGroups, jobType, search }: JobQuery,
): ListConditions {
  const groups = groupPredicate(dialect, 'j.job_group', group)
  const texts = [dialect.isText('j.job_name'), dialect.isText('j.job_group'), groups.text]
  const values: Record<string, SqlValue> = { ...groups.values }
  if (jobGroups !== undefined) {
    texts.push(dialect.isAmongTexts('j.job_group', 'jobGroups'))
    values['jobGroups'] = JSON.stringify(jobGroups)
  }
  if (jobType !== undefined) {
    texts.push('j.job_class_name = :jobType')
    values['jobType'] = jobType
  }
  if (search !== undefined && search !== '') {
    const columns = ['j.job_name', 'j.job_group', 'j.job_class_name', 'j.description']
    texts.push(anyHolds({ dialect }, columns))
    values['search'] = searchPattern(search)
  }
  return { texts, values, scope: [], isSifting: texts.length > 3 || isPartOfGroup(group), isNarrow: false }
}

/** `states` is null for any state. */
export function triggerConditions(
  vocabulary: SqlVocabulary,
  query: TriggerConditions,
  states: readonly TriggerState[] | null,
): ListConditions {
  const { dialect } = vocabulary
  const { group = GroupMatcher.anyGroup(), name, jobKey, calendarName } = query
  const groups = groupPredicate(dialect, 't.trigger_group', group)
  const texts = [dialect.isText('t.trigger_name'), dialect.isText('t.trigger_group'), groups.text]
  const values: Record<string, SqlValue> = { ...groups.values }
  if (jobKey !== undefined) {
    texts.push('t.job_name = :jobName', 't.job_group = :jobGroup')
    values['jobName'] = jobKey.name
    values['jobGroup'] = jobKey.group
  }
  if (name !== undefined) {
    texts.push('t.trigger_name = :name')
    values['name'] = name
  }
  if (calendarName !== undefined) {
    texts.push('t.calendar_name = :calendarName')
    values['calendarName'] = calendarName
  }
  const sifting = siftingConditions(vocabulary, query, states)
  // One trigger, those of one job, and those of one calendar have an index.
  const isOne = name !== undefined && group.operator === 'equals'
  const isNarrow = isOne || jobKey !== undefined || calendarName !== undefined
  return {
    texts: [...texts, ...sifting.texts],
    values: { ...values, ...sifting.values },
    scope: states !== null && states.every((state) => stillStates.includes(state)) ? [isStill] : [],
    isSifting: !isNarrow && (name !== undefined || sifting.texts.length > 0 || isPartOfGroup(group)),
    isNarrow,
  }
}

function siftingConditions(
  { dialect, names }: SqlVocabulary,
  { jobGroups, jobType, dueBefore, search }: TriggerConditions,
  states: readonly TriggerState[] | null,
): Pick<ListConditions, 'texts' | 'values'> {
  const texts: string[] = []
  const values: Record<string, SqlValue> = {}
  if (states !== null) texts.push(isReportedAs(states))
  if (jobGroups !== undefined) {
    texts.push(dialect.isAmongTexts('t.job_group', 'jobGroups'))
    values['jobGroups'] = JSON.stringify(jobGroups)
  }
  if (jobType !== undefined) {
    texts.push(`EXISTS (
      SELECT 1 FROM ${names.jobs} AS j
      WHERE ${hasKeyOf(dialect, 'j', 't', jobKeyColumns)} AND j.job_class_name = :jobType)`)
    values['jobType'] = jobType
  }
  if (dueBefore !== undefined) {
    // Java writes -1 or 0 where there is no next fire time.
    texts.push("t.next_fire_time > 0 AND t.next_fire_time < :dueBeforeMs AND t.trigger_state <> 'COMPLETE'")
    values['dueBeforeMs'] = dueBefore.getTime()
  }
  if (search !== undefined && search !== '') {
    texts.push(anyHolds({ dialect }, ['t.trigger_name', 't.trigger_group', 't.description', 't.job_name']))
    values['search'] = searchPattern(search)
  }
  return { texts, values }
}

function isReportedAs(states: readonly TriggerState[]): string {
  const stored = storedTriggerStates.filter((each) => states.includes(reportedTriggerState(each)))
  return stored.length === 0
    ? 'false'
    : `t.trigger_state IN (${stored.map((each) => `'${each}'`).join(', ')})`
}

function isPartOfGroup({ operator }: GroupMatcher): boolean {
  return operator !== 'equals' && operator !== 'anything'
}

function anyHolds({ dialect }: Pick<SqlVocabulary, 'dialect'>, columns: readonly string[]): string {
  return `(${columns.map((column) => dialect.containsAnyCase(column, ':search')).join(' OR ')})`
}

/** As {@link SqlDialect.containsAnyCase} takes it. */
function searchPattern(search: string): string {
  // No text column holds a NUL character, and PostgreSQL refuses it.
  return `%${lowerAscii(search.replaceAll('\0', '\uFFFD')).replace(/[\\%_]/g, '\\$&')}%`
}
