import type { JobDetail } from '../../../../jobs/job-detail.ts'
import type { Calendar } from '../../../../triggers/calendars/calendar.ts'
import { plannedFireTimeMs, type Trigger } from '../../../../triggers/trigger.ts'
import type { TriggerFiredBundle } from '../../../fired-bundle.ts'
import type { SqlValue } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { FiredRow } from '../../tables/firings/fired-rows.ts'

/** A trigger that no other node can fire now, with everything that firing it needs. */
export interface FirableTrigger {
  readonly trigger: Trigger
  readonly jobDetail: JobDetail
  /** Its claim, or the row that a claim would have. */
  readonly row: FiredRow
  /** The id of the row of the trigger, if this transaction has found it by a search. */
  readonly rowId?: SqlValue | undefined
}

export interface Firing extends FirableTrigger {
  readonly fired: Trigger
  readonly calendar: Calendar | null
}

/** The row of a new claim, or of an execution that begins without one. */
export function newFiredRow(
  { session, nowMs }: Pick<SqlTransaction, 'nowMs' | 'session'>,
  trigger: Trigger,
  job: Pick<FiredRow, 'jobKey' | 'nonConcurrent' | 'requestsRecovery'>,
  state: FiredRow['state'],
): FiredRow {
  return {
    fireInstanceId: session.nextFireInstanceId(),
    triggerKey: trigger.key,
    jobKey: job.jobKey,
    instanceId: session.context.instanceId,
    state,
    firedTimeMs: nowMs,
    plannedTimeMs: plannedFireTimeMs(trigger) ?? nowMs,
    priority: trigger.priority,
    nonConcurrent: job.nonConcurrent,
    requestsRecovery: job.requestsRecovery,
  }
}

export function bundleOf({ nowMs }: Pick<SqlTransaction, 'nowMs'>, firing: Firing): TriggerFiredBundle {
  const { trigger: before, row, jobDetail, fired, calendar } = firing
  return {
    fireInstanceId: row.fireInstanceId,
    jobDetail,
    trigger: fired,
    calendar,
    acquiredTimeMs: row.firedTimeMs,
    fireTimeMs: nowMs,
    scheduledFireTimeMs: row.plannedTimeMs,
    previousFireTimeMs: before.previousFireTimeMs,
    nextFireTimeMs: fired.nextFireTimeMs,
  }
}
