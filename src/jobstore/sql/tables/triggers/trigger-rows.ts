import { invariant } from '../../../../core/errors.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import { misfireInstructionCode } from '../../../../triggers/misfire-instruction.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import type { TriggerFamily } from '../../../../triggers/trigger-family.ts'
import { firingPartOf } from '../../../firing-part.ts'
import type { StoredTriggerState } from '../../../trigger-state.ts'
import type { RowOf } from '../../kernel/row-set.ts'
import { jobDataText, type WrittenJobData } from '../encoding/job-data-text.ts'
import { columnWidths, requireFits } from '../encoding/limits.ts'
import { nodeAffinityText } from '../jobs/node-affinity.ts'
import { scheduleValues, timesValue } from './schedule-values.ts'

export const triggerColumns = {
  trigger_name: 'text',
  trigger_group: 'text',
  job_name: 'text',
  job_group: 'text',
  description: 'text',
  next_fire_time: 'bigint',
  prev_fire_time: 'bigint',
  priority: 'bigint',
  trigger_state: 'text',
  trigger_type: 'text',
  start_time: 'bigint',
  end_time: 'bigint',
  calendar_name: 'text',
  misfire_instr: 'bigint',
  job_data: 'bytes',
  misfire_orig_fire_time: 'bigint',
  node_affinity: 'text',
} as const

export type TriggerRow = RowOf<typeof triggerColumns>

/**
 * The row of `triggers` for a trigger.
 *
 * @throws InvalidArgumentError for values that do not fit their columns
 */
export function triggerRow(
  family: TriggerFamily,
  trigger: Trigger,
  state: StoredTriggerState,
  encoding: WrittenJobData,
): TriggerRow {
  const { key, jobKey } = trigger
  invariant(jobKey !== null, 'a stored trigger names its job')
  requireWidths(trigger)
  const times = fireTimeColumns(trigger)
  // Column by column, because spreading takes several times as long, and a firing may wait for many rows.
  return {
    trigger_name: key.name,
    trigger_group: key.group,
    job_name: jobKey.name,
    job_group: jobKey.group,
    description: trigger.description,
    next_fire_time: times.next_fire_time,
    prev_fire_time: times.prev_fire_time,
    priority: trigger.priority,
    trigger_state: state,
    trigger_type: family.storedType,
    start_time: trigger.startTimeMs,
    end_time: instantColumn(trigger.endTimeMs) ?? 0,
    calendar_name: trigger.calendarName,
    misfire_instr: misfireInstructionCode(trigger.misfireInstruction),
    job_data: jobDataText(encoding, { kind: 'Trigger', identity: key }, trigger.jobDataMap),
    misfire_orig_fire_time: times.misfire_orig_fire_time,
    node_affinity: nodesOf(trigger),
  }
}

/** The owner of an item of a sharded firing. */
function nodesOf({ jobDataMap }: Trigger): string | null {
  return nodeAffinityText(firingPartOf(jobDataMap)?.nodes ?? null)
}

/** The columns of `triggers` that firing changes, besides the state. */
export function fireTimeColumns(trigger: Trigger): {
  readonly next_fire_time: number | null
  readonly prev_fire_time: number
  readonly misfire_orig_fire_time: number | null
} {
  return {
    next_fire_time: instantColumn(trigger.nextFireTimeMs),
    prev_fire_time: instantColumn(trigger.previousFireTimeMs) ?? -1,
    misfire_orig_fire_time: trigger.misfiredFireTimeMs,
  }
}

/** Whether a trigger has fired once and for the last time. */
export function hasFiredOnce({ timesTriggered, nextFireTimeMs, previousFireTimeMs }: Trigger): boolean {
  return timesTriggered === 1 && nextFireTimeMs === null && previousFireTimeMs !== null
}

/**
 * The same columns for a trigger that has fired once and for the last time. Most such triggers are deleted a moment
 * later, so their count, which is in another table, is not written. The time that a misfire policy replaced means
 * nothing any more, and says so instead: it is the time of that firing.
 */
export function firedOnceColumns(trigger: Trigger): ReturnType<typeof fireTimeColumns> {
  const columns = fireTimeColumns(trigger)
  return {
    next_fire_time: columns.next_fire_time,
    prev_fire_time: columns.prev_fire_time,
    misfire_orig_fire_time: columns.prev_fire_time,
  }
}

/** In these columns 0 and below mean "none", so an earlier instant becomes the first that they can hold. */
function instantColumn(ms: EpochMs | null): number | null {
  return ms === null ? null : Math.max(1, ms)
}

function requireWidths(trigger: Trigger): void {
  const { key, jobKey } = trigger
  const owner = { kind: 'Trigger', identity: key }
  requireFits(owner, 'name', key.name, columnWidths.keyPart)
  requireFits(owner, 'group', key.group, columnWidths.keyPart)
  requireFits(owner, 'jobKey.name', jobKey?.name ?? null, columnWidths.keyPart)
  requireFits(owner, 'jobKey.group', jobKey?.group ?? null, columnWidths.keyPart)
  requireFits(owner, 'description', trigger.description, columnWidths.description)
  requireFits(owner, 'calendarName', trigger.calendarName, columnWidths.calendarName)
}

/**
 * The row of the table of its family.
 *
 * @throws InvalidArgumentError for values that do not fit their columns
 */
export function scheduleRow(family: TriggerFamily, trigger: Trigger): object {
  const { name, group } = trigger.key
  return Object.assign(
    { trigger_name: name, trigger_group: group },
    scheduleValues(family, trigger),
    timesValue(trigger, family.table),
  )
}
