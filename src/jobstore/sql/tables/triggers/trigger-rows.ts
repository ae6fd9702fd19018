import { invariant } from '../../../../core/errors.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import { CalendarIntervalTrigger } from '../../../../triggers/calendar-interval-trigger.ts'
import { CronTrigger } from '../../../../triggers/cron-trigger.ts'
import { DailyTimeIntervalTrigger } from '../../../../triggers/daily-time-interval-trigger.ts'
import { int32Max, invalidTrigger } from '../../../../triggers/invalid-trigger.ts'
import { misfireInstructionCode } from '../../../../triggers/misfire-instruction.ts'
import { SimpleTrigger } from '../../../../triggers/simple-trigger.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import type { StoredTriggerState } from '../../../trigger-state.ts'
import type { RowOf } from '../../kernel/row-set.ts'
import { type JobDataEncoding, jobDataText } from '../encoding/job-data-text.ts'
import { columnWidths, requireFits } from '../encoding/limits.ts'

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
} as const

export const simpleColumns = {
  trigger_name: 'text',
  trigger_group: 'text',
  repeat_count: 'bigint',
  repeat_interval: 'bigint',
  times_triggered: 'bigint',
} as const

export const cronColumns = {
  trigger_name: 'text',
  trigger_group: 'text',
  cron_expression: 'text',
  time_zone_id: 'text',
  times_triggered: 'bigint',
  dst_policy: 'text',
  cron_dialect: 'text',
} as const

export const simpropColumns = {
  trigger_name: 'text',
  trigger_group: 'text',
  str_prop_1: 'text',
  str_prop_2: 'text',
  str_prop_3: 'text',
  int_prop_1: 'bigint',
  int_prop_2: 'bigint',
  long_prop_1: 'bigint',
  long_prop_2: 'bigint',
  bool_prop_1: 'boolean',
  bool_prop_2: 'boolean',
  time_zone_id: 'text',
} as const

/** Quartz's words for the families that we read and write. */
type StoredType = 'SIMPLE' | 'CRON' | 'CAL_INT' | 'DAILY_I'
export type TriggerRow = RowOf<typeof triggerColumns>

const storedTypes: Readonly<Record<Trigger['type'], StoredType>> = {
  simple: 'SIMPLE',
  cron: 'CRON',
  calendarInterval: 'CAL_INT',
  dailyTimeInterval: 'DAILY_I',
}

export function storedTypeOf(trigger: Trigger): string {
  return storedTypes[trigger.type]
}

/**
 * The row of `triggers` for a trigger.
 *
 * @throws InvalidArgumentError for what the columns cannot hold
 */
export function triggerRow(
  trigger: Trigger,
  state: StoredTriggerState,
  encoding: JobDataEncoding,
): TriggerRow {
  const { key, jobKey } = trigger
  invariant(jobKey !== null, 'a stored trigger names its job')
  requireWidths(trigger)
  return {
    trigger_name: key.name,
    trigger_group: key.group,
    job_name: jobKey.name,
    job_group: jobKey.group,
    description: trigger.description,
    ...fireTimeColumns(trigger),
    priority: trigger.priority,
    trigger_state: state,
    trigger_type: storedTypeOf(trigger),
    start_time: trigger.startTimeMs,
    end_time: instantColumn(trigger.endTimeMs) ?? 0,
    calendar_name: trigger.calendarName,
    misfire_instr: misfireInstructionCode(trigger.misfireInstruction),
    job_data: jobDataText(encoding, { kind: 'Trigger', identity: key }, trigger.jobDataMap),
  }
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

/** In these columns 0 and below mean "none", so an instant before 1971 becomes the first that they can hold. */
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

/** The row of the sub-table that a trigger of its family has. */
export type SubRow =
  | { readonly table: 'simple'; readonly row: RowOf<typeof simpleColumns> }
  | { readonly table: 'cron'; readonly row: RowOf<typeof cronColumns> }
  | { readonly table: 'simprop'; readonly row: RowOf<typeof simpropColumns> }

/** @throws InvalidArgumentError for what the columns cannot hold */
export function subRow(trigger: Trigger): SubRow {
  if (trigger instanceof SimpleTrigger) return { table: 'simple', row: simpleRow(trigger) }
  if (trigger instanceof CronTrigger) return { table: 'cron', row: cronRow(trigger) }
  if (trigger instanceof CalendarIntervalTrigger)
    return { table: 'simprop', row: calendarIntervalRow(trigger) }
  if (trigger instanceof DailyTimeIntervalTrigger) return { table: 'simprop', row: dailyRow(trigger) }
  throw invalidTrigger(
    `Trigger '${trigger.key.toString()}'`,
    'type',
    `'${trigger.type}' is no family that tables can hold. Use one of the four families of this library.`,
  )
}

function simpleRow(trigger: SimpleTrigger): RowOf<typeof simpleColumns> {
  return {
    trigger_name: trigger.key.name,
    trigger_group: trigger.key.group,
    repeat_count: trigger.repeatCount,
    repeat_interval: trigger.repeatIntervalMs,
    times_triggered: trigger.timesTriggered,
  }
}

function cronRow(trigger: CronTrigger): RowOf<typeof cronColumns> {
  const { key, cronExpression } = trigger
  const { expression, timeZone, dst, dialect } = cronExpression
  const owner = { kind: 'Trigger', identity: key }
  requireFits(owner, 'cronExpression', expression, columnWidths.cronExpression)
  requireFits(owner, 'timeZone', timeZone, columnWidths.timeZone)
  return {
    trigger_name: key.name,
    trigger_group: key.group,
    cron_expression: expression,
    time_zone_id: timeZone,
    times_triggered: trigger.timesTriggered,
    dst_policy: dst,
    cron_dialect: dialect === 'quartz' ? null : dialect,
  }
}

function calendarIntervalRow(trigger: CalendarIntervalTrigger): RowOf<typeof simpropColumns> {
  requireFits({ kind: 'Trigger', identity: trigger.key }, 'timeZone', trigger.timeZone, columnWidths.property)
  return {
    trigger_name: trigger.key.name,
    trigger_group: trigger.key.group,
    str_prop_1: trigger.repeatIntervalUnit,
    str_prop_2: trigger.timeZone,
    str_prop_3: null,
    int_prop_1: trigger.repeatInterval,
    int_prop_2: intTimes(trigger),
    long_prop_1: 0,
    long_prop_2: 0,
    bool_prop_1: trigger.preserveHourOfDayAcrossDaylightSavings,
    bool_prop_2: trigger.skipDayIfHourDoesNotExist,
    time_zone_id: null,
  }
}

function dailyRow(trigger: DailyTimeIntervalTrigger): RowOf<typeof simpropColumns> {
  requireFits({ kind: 'Trigger', identity: trigger.key }, 'timeZone', trigger.timeZone, columnWidths.timeZone)
  return {
    trigger_name: trigger.key.name,
    trigger_group: trigger.key.group,
    str_prop_1: trigger.repeatIntervalUnit,
    str_prop_2: weekdaysText(trigger.daysOfWeekMask),
    str_prop_3: `${clockText(trigger.startSecondOfDay)},${clockText(trigger.endSecondOfDay)}`,
    int_prop_1: trigger.repeatInterval,
    int_prop_2: intTimes(trigger),
    long_prop_1: trigger.repeatCount,
    long_prop_2: 0,
    bool_prop_1: false,
    bool_prop_2: false,
    // Java's daily-time-interval triggers have no zone, so none of Quartz's columns is one.
    time_zone_id: trigger.timeZone,
  }
}

/** The column of the sub-row that counts fires. */
export function timesColumn(trigger: Trigger): Readonly<Record<string, number>> {
  const isProperty = trigger.type === 'calendarInterval' || trigger.type === 'dailyTimeInterval'
  if (!isProperty) return { times_triggered: trigger.timesTriggered }
  return { int_prop_2: intTimes(trigger) }
}

/** `int_prop_2` is an int. */
function intTimes(trigger: Trigger): number {
  return Math.min(trigger.timesTriggered, int32Max)
}

function weekdaysText(mask: number): string {
  return [1, 2, 3, 4, 5, 6, 7].filter((weekday) => (mask & (1 << weekday)) !== 0).join(',')
}

function clockText(secondOfDay: number): string {
  const minuteOfDay = Math.floor(secondOfDay / 60)
  return `${Math.floor(minuteOfDay / 60)},${minuteOfDay % 60},${secondOfDay % 60}`
}
