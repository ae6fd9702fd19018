import type { TriggerFamilies } from '../../../../triggers/families/trigger-families.ts'
import type { JobSummary, TriggerSummary } from '../../../queries.ts'
import { reportedTriggerState, storedTriggerStates, type TriggerState } from '../../../trigger-state.ts'
import type { SqlRow } from '../../kernel/statement.ts'
import { anyText, boolean, instantOrNull, integerOrNull, readable, textOrNull } from '../encoding/columns.ts'
import { jobKeyOf, triggerKeyOf } from '../encoding/key-rows.ts'

/** The columns of summaries, of jobs `j` and of triggers `t`. */
export const summaryColumns = {
  job: `j.job_name, j.job_group, j.job_class_name, j.description, j.is_durable, j.requests_recovery,
    j.is_nonconcurrent, j.is_update_data`,
  trigger: `t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_type, t.trigger_state,
    t.description, t.calendar_name, t.priority, t.next_fire_time, t.prev_fire_time`,
} as const

// One unreadable row must not hide the others: it is listed with its readable columns.

export function jobSummary(row: SqlRow): JobSummary {
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

export function triggerSummary(row: SqlRow, families: TriggerFamilies): TriggerSummary {
  const state = reportedStateOf(row)
  return {
    key: triggerKeyOf(row),
    jobKey: jobKeyOf(row),
    type: families.ofStoredType(anyText(row, 'trigger_type'))?.type ?? 'unknown',
    state,
    description: readable(textOrNull, row, 'description', null),
    calendarName: readable(textOrNull, row, 'calendar_name', null),
    priority: readable(integerOrNull, row, 'priority', null) ?? 0,
    // A trigger that its job ended keeps its time, and does not fire then.
    nextFireTimeMs: state === 'COMPLETE' ? null : readable(instantOrNull, row, 'next_fire_time', null),
    previousFireTimeMs: readable(instantOrNull, row, 'prev_fire_time', null),
    pause: null,
  }
}

/** An unknown state is listed as ERROR, because such a trigger cannot fire. */
export function reportedStateOf(row: SqlRow): TriggerState {
  const stored = anyText(row, 'trigger_state')
  const state = storedTriggerStates.find((each) => each === stored)
  return state === undefined ? 'ERROR' : reportedTriggerState(state)
}
