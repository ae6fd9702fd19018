import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { describeValue } from '../../../../core/options.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import type { RowOf } from '../../kernel/row-set.ts'
import type { SqlRow } from '../../kernel/statement.ts'
import { brokenRow, brokenValue } from '../encoding/broken-row.ts'
import { anyText, boolean, instant, integerOrNull, readable, text } from '../encoding/columns.ts'
import {
  jobKeyColumns,
  jobKeyOf,
  requireUsableKeys,
  triggerKeyColumns,
  triggerKeyOf,
} from '../encoding/key-rows.ts'

/** A row of `fired_triggers`. */
export interface FiredRow {
  readonly fireInstanceId: string
  readonly triggerKey: TriggerKey
  readonly jobKey: JobKey | null
  readonly instanceId: string
  readonly state: 'ACQUIRED' | 'EXECUTING'
  readonly firedTimeMs: EpochMs
  readonly plannedTimeMs: EpochMs
  readonly priority: number
  readonly nonConcurrent: boolean
  readonly requestsRecovery: boolean
  /** Why the row cannot be read; absent in a readable one. */
  readonly fault?: Error
}

export const amendable = { is_nonconcurrent: 'boolean', requests_recovery: 'boolean' } as const
export const firedColumns = {
  entry_id: 'text',
  trigger_name: 'text',
  trigger_group: 'text',
  instance_name: 'text',
  fired_time: 'bigint',
  sched_time: 'bigint',
  priority: 'bigint',
  state: 'text',
  job_name: 'text',
  job_group: 'text',
  is_nonconcurrent: 'boolean',
  requests_recovery: 'boolean',
} as const

/** A row as it is bound. */
export function encodedFiring(row: FiredRow): RowOf<typeof firedColumns> {
  return {
    entry_id: row.fireInstanceId,
    trigger_name: row.triggerKey.name,
    trigger_group: row.triggerKey.group,
    instance_name: row.instanceId,
    fired_time: row.firedTimeMs,
    sched_time: row.plannedTimeMs,
    priority: row.priority,
    state: row.state,
    job_name: row.jobKey?.name ?? null,
    job_group: row.jobKey?.group ?? null,
    is_nonconcurrent: row.nonConcurrent,
    requests_recovery: row.requestsRecovery,
  }
}

/** The rows of a reply; one that cannot be read says why. */
export function decodedFirings(rows: readonly SqlRow[]): FiredRow[] {
  return rows.map((row) => {
    const names = {
      fireInstanceId: anyText(row, 'entry_id'),
      triggerKey: triggerKeyOf(row),
      // Java writes the job only when the trigger has fired.
      jobKey: (row['job_name'] ?? null) === null ? null : jobKeyOf(row),
      instanceId: anyText(row, 'instance_name'),
      state: firingStateOf(row),
    }
    try {
      return decoded(row, names)
    } catch (error) {
      return { ...names, ...leastKnown(row), fault: brokenRow('Firing', names.fireInstanceId, error) }
    }
  })
}

type Names = Pick<FiredRow, 'fireInstanceId' | 'triggerKey' | 'jobKey' | 'instanceId' | 'state'>

/** @throws JobPersistenceError ERR_BROKEN_ROW */
function decoded(row: SqlRow, names: Names): FiredRow {
  requireUsableKeys(row, triggerKeyColumns)
  if (names.jobKey !== null) requireUsableKeys(row, jobKeyColumns)
  const state = text(row, 'state')
  if (state !== names.state) throw brokenValue(`'state' is ${describeValue(state)}, which means nothing here`)
  const { fireInstanceId, triggerKey, jobKey, instanceId } = names
  // Field by field, because spreading takes ten times as long, and this is done for each firing.
  return {
    fireInstanceId,
    triggerKey,
    jobKey,
    instanceId,
    state: names.state,
    firedTimeMs: instant(row, 'fired_time'),
    plannedTimeMs: instant(row, 'sched_time'),
    priority: integerOrNull(row, 'priority') ?? 0,
    nonConcurrent: boolean(row, 'is_nonconcurrent'),
    requestsRecovery: boolean(row, 'requests_recovery'),
  }
}

/** The reading of an unreadable row: a firing that may have blocked its job, and is not run again. */
function leastKnown(
  row: SqlRow,
): Pick<FiredRow, 'firedTimeMs' | 'plannedTimeMs' | 'priority' | 'nonConcurrent' | 'requestsRecovery'> {
  return {
    firedTimeMs: readable(instant, row, 'fired_time', 0),
    plannedTimeMs: readable(instant, row, 'sched_time', 0),
    priority: 0,
    nonConcurrent: true,
    requestsRecovery: false,
  }
}

/** A row in an unknown state counts as an execution, because it may block its job. */
export function firingStateOf(row: SqlRow): FiredRow['state'] {
  return row['state'] === 'ACQUIRED' ? 'ACQUIRED' : 'EXECUTING'
}
