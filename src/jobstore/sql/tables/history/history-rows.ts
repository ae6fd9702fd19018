import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { beginningOf } from '../../../../core/text-beginning.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import type { ExecutionLogLine } from '../../../execution-log.ts'
import type { ExecutionTexts } from '../../../execution-report.ts'
import {
  type ExecutionCursor,
  type ExecutionOutcome,
  type ExecutionSummary,
  executionOutcomes,
  type ShardPlace,
} from '../../../queries.ts'
import type { RowOf } from '../../kernel/row-set.ts'
import type { SqlRow } from '../../kernel/statement.ts'
import {
  anyText,
  boolean,
  instant,
  instantOrNull,
  integer,
  readable,
  textOrNull,
} from '../encoding/columns.ts'
import { jobKeyOf, triggerKeyOf } from '../encoding/key-rows.ts'
import { logTextOf } from '../encoding/log-lines.ts'
import { storable } from '../encoding/storable-text.ts'

/** An execution of the history. */
export interface HistoryEntry {
  readonly fireInstanceId: string
  readonly triggerKey: TriggerKey
  readonly jobKey: JobKey
  /** Null when the job does not exist any more. */
  readonly jobType: string | null
  readonly node: string
  readonly scheduledFireTimeMs: EpochMs
  readonly fireTimeMs: EpochMs
  readonly finishedTimeMs: EpochMs | null
  readonly attempt: number
  readonly outcome: ExecutionOutcome
  readonly errorText: string | null
  readonly recovering: boolean
  readonly acquiredTimeMs?: EpochMs | null
  readonly beganTimeMs?: EpochMs | null
  readonly manual?: boolean
  readonly triggeredBy?: string | null
  readonly previousFireInstanceId?: string | null
  readonly shard?: ShardPlace | null
  readonly texts?: ExecutionTexts | null
  /** The last lines of its log. */
  readonly logLines?: readonly ExecutionLogLine[] | null
}

/** How many characters of an error are kept. */
const errorTextLength = 2000

/** The columns of a list. */
export const columns = {
  fire_instance_id: 'text',
  trigger_name: 'text',
  trigger_group: 'text',
  job_name: 'text',
  job_group: 'text',
  job_type: 'text',
  instance_name: 'text',
  planned_time: 'bigint',
  fired_time: 'bigint',
  finished_time: 'bigint',
  attempt: 'bigint',
  outcome: 'text',
  error_text: 'text',
  recovering: 'boolean',
  acquired_time: 'bigint',
  began_time: 'bigint',
  is_manual: 'boolean',
  triggered_by: 'text',
  previous_id: 'text',
  firing_id: 'text',
  shard_item: 'bigint',
} as const

/** Columns that only one execution is read with. */
export const textColumns = { progress: 'text', result: 'text', job_data: 'text' } as const

/** Read with the rest of the log of an execution. */
export const logColumns = { log_lines: 'text' } as const

/**
 * The columns of an execution that went as planned, besides {@link plainConstants}. Writing them alone takes three
 * quarters of the time.
 */
export const plainColumns = {
  fire_instance_id: 'text',
  trigger_name: 'text',
  trigger_group: 'text',
  job_name: 'text',
  job_group: 'text',
  job_type: 'text',
  instance_name: 'text',
  planned_time: 'bigint',
  fired_time: 'bigint',
  finished_time: 'bigint',
  acquired_time: 'bigint',
  began_time: 'bigint',
  log_lines: 'text',
} as const

/** What is the same for all that went as planned, as expressions. */
export const plainConstants = { attempt: '1', outcome: `'succeeded'`, recovering: 'false' } as const

/** Whether {@link plainColumns} and {@link plainConstants} say all of an execution. */
export function isPlain(entry: HistoryEntry): boolean {
  const {
    attempt,
    errorText,
    manual,
    outcome,
    previousFireInstanceId,
    recovering,
    shard,
    texts,
    triggeredBy,
  } = entry
  if (attempt !== 1 || outcome !== 'succeeded' || recovering || manual === true) return false
  const text = texts?.dataText ?? texts?.progressText ?? texts?.resultText ?? errorText
  return (text ?? triggeredBy ?? previousFireInstanceId ?? shard ?? null) === null
}

export function plainRowOf(entry: HistoryEntry): RowOf<typeof plainColumns> {
  return {
    fire_instance_id: entry.fireInstanceId,
    trigger_name: entry.triggerKey.name,
    trigger_group: entry.triggerKey.group,
    job_name: entry.jobKey.name,
    job_group: entry.jobKey.group,
    job_type: entry.jobType ?? '',
    instance_name: entry.node,
    planned_time: entry.scheduledFireTimeMs,
    fired_time: entry.fireTimeMs,
    finished_time: entry.finishedTimeMs,
    acquired_time: entry.acquiredTimeMs ?? null,
    began_time: entry.beganTimeMs ?? null,
    log_lines: entry.logLines ? logTextOf(entry.logLines) : null,
  }
}

/** What is null is left out: a text of many rows is shorter without it. */
export function rowOf(entry: HistoryEntry): object {
  return {
    fire_instance_id: entry.fireInstanceId,
    trigger_name: entry.triggerKey.name,
    trigger_group: entry.triggerKey.group,
    job_name: entry.jobKey.name,
    job_group: entry.jobKey.group,
    job_type: entry.jobType ?? '',
    instance_name: entry.node,
    planned_time: entry.scheduledFireTimeMs,
    fired_time: entry.fireTimeMs,
    finished_time: entry.finishedTimeMs,
    attempt: entry.attempt,
    outcome: entry.outcome,
    error_text: storableOrNone(entry.errorText && beginningOf(entry.errorText, errorTextLength)),
    recovering: entry.recovering,
    acquired_time: entry.acquiredTimeMs ?? null,
    began_time: entry.beganTimeMs ?? null,
    is_manual: entry.manual ?? false,
    triggered_by: storableOrNone(entry.triggeredBy),
    previous_id: entry.previousFireInstanceId ?? undefined,
    firing_id: entry.shard?.firingId ?? undefined,
    shard_item: entry.shard?.item ?? undefined,
    progress: storableOrNone(entry.texts?.progressText),
    result: storableOrNone(entry.texts?.resultText),
    job_data: storableOrNone(entry.texts?.dataText),
    log_lines: entry.logLines ? logTextOf(entry.logLines) : undefined,
  }
}

function storableOrNone(text: string | null | undefined): string | undefined {
  return text === null || text === undefined ? undefined : storable(text)
}

export function summaryOf(row: SqlRow): ExecutionSummary {
  const jobType = anyText(row, 'job_type')
  return {
    fireInstanceId: anyText(row, 'fire_instance_id'),
    jobKey: jobKeyOf(row),
    jobType: jobType === '' ? null : jobType,
    triggerKey: triggerKeyOf(row),
    node: anyText(row, 'instance_name'),
    scheduledFireTimeMs: readable(instant, row, 'planned_time', 0),
    fireTimeMs: readable(instant, row, 'fired_time', 0),
    finishedTimeMs: readable(instantOrNull, row, 'finished_time', null),
    attempt: readable(integer, row, 'attempt', 1),
    recovering: readable(boolean, row, 'recovering', false),
    outcome: executionOutcomes.find((outcome) => outcome === row['outcome']) ?? 'lost',
    errorText: readable(textOrNull, row, 'error_text', null),
    acquiredTimeMs: readable(instantOrNull, row, 'acquired_time', null),
    beganTimeMs: readable(instantOrNull, row, 'began_time', null),
    manual: readable(boolean, row, 'is_manual', false),
    triggeredBy: readable(textOrNull, row, 'triggered_by', null),
    previousFireInstanceId: readable(textOrNull, row, 'previous_id', null),
    shard: shardOf(row),
  }
}

function shardOf(row: SqlRow): ShardPlace | null {
  const firingId = readable(textOrNull, row, 'firing_id', null)
  return firingId === null ? null : { firingId, item: readable(integer, row, 'shard_item', 0) }
}

export function cursorOf(row: SqlRow): ExecutionCursor {
  return { fireTimeMs: instant(row, 'fired_time'), fireInstanceId: anyText(row, 'fire_instance_id') }
}
