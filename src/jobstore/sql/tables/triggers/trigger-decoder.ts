import { emptyJobDataMap } from '../../../../core/job-data-map.ts'
import type { TriggerKey } from '../../../../core/key.ts'
import { describeValue } from '../../../../core/options.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import { TimeZone } from '../../../../time/zone.ts'
import { calendarIntervalUnits } from '../../../../triggers/calendar-interval-schedule.ts'
import { CalendarIntervalTrigger } from '../../../../triggers/calendar-interval-trigger.ts'
import { cronDialects } from '../../../../triggers/cron/cron-dialect.ts'
import { CronExpression } from '../../../../triggers/cron/cron-expression.ts'
import { CronTrigger } from '../../../../triggers/cron-trigger.ts'
import {
  dailyTimeIntervalUnits,
  everyDayOfWeek,
  lastSecondOfDay,
} from '../../../../triggers/daily-time-interval-schedule.ts'
import { DailyTimeIntervalTrigger } from '../../../../triggers/daily-time-interval-trigger.ts'
import {
  calendarMisfireInstructions,
  type MisfireInstruction,
  misfireInstructionOf,
  simpleMisfireInstructions,
} from '../../../../triggers/misfire-instruction.ts'
import { SimpleTrigger } from '../../../../triggers/simple-trigger.ts'
import { TimeOfDay } from '../../../../triggers/time-of-day.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import type { TriggerFields } from '../../../../triggers/trigger-fields.ts'
import { type StoredTriggerState, storedTriggerStates } from '../../../trigger-state.ts'
import type { SqlRow } from '../../kernel/statement.ts'
import { BoundedCache } from '../encoding/bounded-cache.ts'
import { brokenValue } from '../encoding/broken-row.ts'
import {
  anyText,
  boolean,
  bytesOrNull,
  instantOrNull,
  integer,
  integerOrNull,
  text,
  textOrNull,
} from '../encoding/columns.ts'
import { readJobData } from '../encoding/job-data-text.ts'
import { jobKeyColumns, jobKeyOf, requireUsableKeys, triggerKeyColumns } from '../encoding/key-rows.ts'

/** How many parsed cron expressions are kept: each is used by any number of triggers. */
const cronExpressionsKept = 2000

/** The columns of a whole trigger: `t` is `triggers`, its sub-tables are joined from the left. */
export const wholeTriggerColumns = `t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.description,
  t.next_fire_time, t.prev_fire_time, t.priority, t.trigger_state, t.trigger_type, t.start_time, t.end_time,
  t.calendar_name, t.misfire_instr, t.job_data, t.misfire_orig_fire_time,
  s.repeat_count, s.repeat_interval, s.times_triggered,
  c.cron_expression, c.time_zone_id AS cron_zone, c.times_triggered AS cron_times, c.dst_policy, c.cron_dialect,
  p.str_prop_1, p.str_prop_2, p.str_prop_3, p.int_prop_1, p.int_prop_2, p.long_prop_1, p.bool_prop_1,
  p.bool_prop_2, p.time_zone_id AS simprop_zone`

const statesByName: ReadonlyMap<string, StoredTriggerState> = new Map(
  storedTriggerStates.map((state) => [state, state]),
)

/** The state that a row holds; null for a word that is none of ours. */
export function stateOf(row: SqlRow): StoredTriggerState | null {
  return statesByName.get(anyText(row, 'trigger_state')) ?? null
}

/** Rebuilds triggers from rows. Keeps parsed cron expressions, because many triggers have the same few. */
export class TriggerDecoder {
  readonly #cronExpressions = new BoundedCache<CronExpression>(cronExpressionsKept)

  /** @throws JobPersistenceError ERR_BROKEN_ROW and what constructors of triggers throw */
  decode(key: TriggerKey, row: SqlRow): { readonly trigger: Trigger; readonly state: StoredTriggerState } {
    requireUsableKeys(row, triggerKeyColumns, jobKeyColumns)
    const state = stateOf(row)
    if (state === null) {
      const found = describeValue(row['trigger_state'])
      throw brokenValue(`'trigger_state' is ${found}, which is no state. Correct or delete the row`)
    }
    const data = bytesOrNull(row, 'job_data')
    const fields: TriggerFields = {
      key,
      jobKey: jobKeyOf(row),
      description: textOrNull(row, 'description'),
      calendarName: textOrNull(row, 'calendar_name'),
      jobDataMap: data === null ? emptyJobDataMap : readJobData(data),
      priority: integerOrNull(row, 'priority') ?? 0,
      startTimeMs: integer(row, 'start_time'),
      endTimeMs: instantOrNull(row, 'end_time'),
    }
    const trigger = this.#trigger(row, fields)
    trigger.validate()
    return { trigger, state }
  }

  #trigger(row: SqlRow, fields: TriggerFields): Trigger {
    switch (text(row, 'trigger_type')) {
      case 'SIMPLE':
        return simpleTrigger(row, fields)
      case 'CRON':
        return this.#cronTrigger(row, fields)
      case 'CAL_INT':
        return calendarIntervalTrigger(row, fields)
      case 'DAILY_I':
        return dailyTimeIntervalTrigger(row, fields)
      case 'BLOB':
        throw brokenValue(
          'it is of type BLOB, which is a Java object that only Java can read. Leave it to Java nodes, or ' +
            'schedule it anew here',
        )
      default:
        throw brokenValue(
          `its type is ${describeValue(row['trigger_type'])}, which is not known here. Leave it to the nodes that ` +
            'know it, or schedule it anew here',
        )
    }
  }

  #cronTrigger(row: SqlRow, fields: TriggerFields): CronTrigger {
    requireSubRow(row, 'cron_expression', 'cron_triggers')
    return new CronTrigger(
      fields,
      {
        cronExpression: this.#cronExpression(row),
        misfireInstruction: instructionOf(row, calendarMisfireInstructions),
      },
      instantOrNull(row, 'next_fire_time'),
      instantOrNull(row, 'prev_fire_time'),
      integerOrNull(row, 'cron_times') ?? 0,
      misfiredFireTime(row),
    )
  }

  #cronExpression(row: SqlRow): CronExpression {
    const expression = text(row, 'cron_expression')
    const timeZone = textOrNull(row, 'cron_zone') ?? TimeZone.system().name
    // Java leaves our columns empty, and computes as it does.
    const dst = textOrNull(row, 'dst_policy') ?? 'quartz'
    const dialectName = textOrNull(row, 'cron_dialect') ?? 'quartz'
    const dialect = cronDialects.find((name) => name === dialectName)
    const key = JSON.stringify([expression, timeZone, dst, dialectName])
    const known = this.#cronExpressions.get(key)
    if (known !== undefined) return known
    if (dst !== 'quartz' && dst !== 'vixie')
      throw brokenValue(`'dst_policy' is ${describeValue(dst)}. Correct it`)
    if (dialect === undefined)
      throw brokenValue(`'cron_dialect' is ${describeValue(dialectName)}. Correct it`)
    const parsed = CronExpression.parse(expression, { timeZone, dst, dialect, seconds: 'optional' })
    this.#cronExpressions.set(key, parsed)
    return parsed
  }
}

function simpleTrigger(row: SqlRow, fields: TriggerFields): SimpleTrigger {
  requireSubRow(row, 'repeat_count', 'simple_triggers')
  return new SimpleTrigger(
    fields,
    {
      repeatCount: integer(row, 'repeat_count'),
      repeatIntervalMs: integer(row, 'repeat_interval'),
      misfireInstruction: instructionOf(row, simpleMisfireInstructions),
    },
    instantOrNull(row, 'next_fire_time'),
    instantOrNull(row, 'prev_fire_time'),
    integer(row, 'times_triggered'),
    misfiredFireTime(row),
  )
}

function calendarIntervalTrigger(row: SqlRow, fields: TriggerFields): CalendarIntervalTrigger {
  requireSubRow(row, 'str_prop_1', 'simprop_triggers')
  return new CalendarIntervalTrigger(
    fields,
    {
      repeatInterval: integer(row, 'int_prop_1'),
      repeatIntervalUnit: unitOf(text(row, 'str_prop_1'), calendarIntervalUnits),
      zone: zoneOf(textOrNull(row, 'str_prop_2')),
      preserveHourOfDayAcrossDaylightSavings: boolean(row, 'bool_prop_1'),
      skipDayIfHourDoesNotExist: boolean(row, 'bool_prop_2'),
      misfireInstruction: instructionOf(row, calendarMisfireInstructions),
    },
    instantOrNull(row, 'next_fire_time'),
    instantOrNull(row, 'prev_fire_time'),
    integerOrNull(row, 'int_prop_2') ?? 0,
    misfiredFireTime(row),
  )
}

function dailyTimeIntervalTrigger(row: SqlRow, fields: TriggerFields): DailyTimeIntervalTrigger {
  requireSubRow(row, 'str_prop_1', 'simprop_triggers')
  const window = windowOf(textOrNull(row, 'str_prop_3'))
  return new DailyTimeIntervalTrigger(
    fields,
    {
      repeatInterval: integer(row, 'int_prop_1'),
      repeatIntervalUnit: unitOf(text(row, 'str_prop_1'), dailyTimeIntervalUnits),
      repeatCount: integer(row, 'long_prop_1'),
      startSecondOfDay: window.startSecond,
      endSecondOfDay: window.endSecond,
      daysOfWeekMask: weekdaysOf(textOrNull(row, 'str_prop_2')),
      zone: zoneOf(textOrNull(row, 'simprop_zone')),
      misfireInstruction: instructionOf(row, calendarMisfireInstructions),
    },
    instantOrNull(row, 'next_fire_time'),
    instantOrNull(row, 'prev_fire_time'),
    integerOrNull(row, 'int_prop_2') ?? 0,
    misfiredFireTime(row),
  )
}

/**
 * The time that a misfire instruction moved, until the trigger has fired. Java does not know the column and leaves it
 * as it is when it fires the trigger; then the previous fire time has passed it.
 */
function misfiredFireTime(row: SqlRow): EpochMs | null {
  const misfiredMs = instantOrNull(row, 'misfire_orig_fire_time')
  const previousMs = instantOrNull(row, 'prev_fire_time')
  return misfiredMs !== null && previousMs !== null && previousMs >= misfiredMs ? null : misfiredMs
}

/** Refuses a trigger without its sub-row, which shows in a column that every such row fills. */
function requireSubRow(row: SqlRow, column: string, table: string): void {
  const value = row[column]
  if (value !== null && value !== undefined) return
  throw brokenValue(`it has no row in '${table}'. Delete it, or schedule it anew`)
}

function instructionOf<Instruction extends MisfireInstruction>(
  row: SqlRow,
  known: readonly Instruction[],
): Instruction {
  const code = integerOrNull(row, 'misfire_instr') ?? 0
  const instruction = misfireInstructionOf(known, code)
  if (instruction !== null) return instruction
  throw brokenValue(`'misfire_instr' is ${code}, which means nothing for its type. Correct it`)
}

/** Java means the zone of its process where it writes none. */
function zoneOf(name: string | null): TimeZone {
  return name === null ? TimeZone.system() : TimeZone.of(name)
}

function unitOf<Unit extends string>(value: string, known: readonly Unit[]): Unit {
  const unit = known.find((name) => name === value)
  if (unit !== undefined) return unit
  throw brokenValue(`'str_prop_1' is ${describeValue(value)}, which is no unit of its type. Correct it`)
}

/** `2,4,6`, 1=SUN; nothing means every day. */
function weekdaysOf(list: string | null): number {
  if (list === null || list === '') return everyDayOfWeek
  let mask = 0
  for (const part of list.split(',')) {
    const weekday = Number(part)
    if (!Number.isInteger(weekday) || weekday < 1 || weekday > 7) {
      throw brokenValue(`'str_prop_2' is ${describeValue(list)}, which is no list of weekdays. Correct it`)
    }
    mask |= 1 << weekday
  }
  return mask
}

/** `8,5,3,17,30,0`: start and end of the day's window; what is left out is that end of the day. */
function windowOf(list: string | null): { readonly startSecond: number; readonly endSecond: number } {
  const parts = (list ?? '')
    .replace(/,+$/, '')
    .split(',')
    .filter((part) => part !== '')
    .map(Number)
  const [startHour, startMinute, startSecond, endHour, endMinute, endSecond] = parts
  return {
    startSecond: secondOfDay(startHour, startMinute, startSecond) ?? 0,
    endSecond: secondOfDay(endHour, endMinute, endSecond) ?? lastSecondOfDay,
  }
}

function secondOfDay(
  hour: number | undefined,
  minute: number | undefined,
  second: number | undefined,
): number | null {
  if (hour === undefined || minute === undefined || second === undefined) return null
  return new TimeOfDay(hour, minute, second).secondOfDay
}
