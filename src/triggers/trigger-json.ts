import { emptyJobDataMap, type JobDataMap } from '../core/job-data-map.ts'
import { JobKey, TriggerKey } from '../core/key.ts'
import { describeValue } from '../core/options.ts'
import { TimeZone } from '../time/zone.ts'
import type { CalendarIntervalUnit } from './calendar-interval-schedule.ts'
import { CalendarIntervalTrigger } from './calendar-interval-trigger.ts'
import { CronExpression } from './cron/cron-expression.ts'
import type { CronExpressionJson } from './cron/cron-times.ts'
import { CronTrigger } from './cron-trigger.ts'
import type { DailyTimeIntervalUnit } from './daily-time-interval-schedule.ts'
import { DailyTimeIntervalTrigger } from './daily-time-interval-trigger.ts'
import { invalidTrigger } from './invalid-trigger.ts'
import type { CalendarMisfireInstruction, SimpleMisfireInstruction } from './misfire-instruction.ts'
import { SimpleTrigger } from './simple-trigger.ts'
import { checkTrigger, type Trigger } from './trigger.ts'
import type { FireState, TriggerFields } from './trigger-fields.ts'

interface KeyJson {
  readonly name: string
  readonly group: string
}

interface CommonJson extends Omit<TriggerFields, 'key' | 'jobKey'>, FireState {
  readonly key: KeyJson
  readonly jobKey: KeyJson | null
}

/** The plain form of a trigger, fire state included. Instants are epoch milliseconds. */
export type TriggerJson =
  | SimpleTriggerJson
  | CronTriggerJson
  | CalendarIntervalTriggerJson
  | DailyTimeIntervalTriggerJson

export interface SimpleTriggerJson extends CommonJson {
  readonly type: 'simple'
  readonly misfireInstruction: SimpleMisfireInstruction
  readonly repeatCount: number
  readonly repeatIntervalMs: number
}

export interface CronTriggerJson extends CommonJson {
  readonly type: 'cron'
  readonly misfireInstruction: CalendarMisfireInstruction
  readonly cronExpression: CronExpressionJson
}

export interface CalendarIntervalTriggerJson extends CommonJson {
  readonly type: 'calendarInterval'
  readonly misfireInstruction: CalendarMisfireInstruction
  readonly timeZone: string
  readonly repeatInterval: number
  readonly repeatIntervalUnit: CalendarIntervalUnit
  readonly preserveHourOfDayAcrossDaylightSavings: boolean
  readonly skipDayIfHourDoesNotExist: boolean
}

export interface DailyTimeIntervalTriggerJson extends CommonJson {
  readonly type: 'dailyTimeInterval'
  readonly misfireInstruction: CalendarMisfireInstruction
  readonly timeZone: string
  readonly repeatInterval: number
  readonly repeatIntervalUnit: DailyTimeIntervalUnit
  readonly repeatCount: number
  readonly startSecondOfDay: number
  readonly endSecondOfDay: number
  readonly daysOfWeekMask: number
}

/** The plain form of a trigger: `triggerFromJSON` makes an equal trigger of it. The job data is shared, not copied. */
export function triggerToJSON(trigger: Trigger): TriggerJson {
  checkTrigger('triggerToJSON', 'trigger', trigger)
  const common: CommonJson = {
    key: keyToJSON(trigger.key),
    jobKey: trigger.jobKey === null ? null : keyToJSON(trigger.jobKey),
    description: trigger.description,
    calendarName: trigger.calendarName,
    jobDataMap: trigger.jobDataMap,
    priority: trigger.priority,
    startTimeMs: trigger.startTimeMs,
    endTimeMs: trigger.endTimeMs,
    nextFireTimeMs: trigger.nextFireTimeMs,
    previousFireTimeMs: trigger.previousFireTimeMs,
    timesTriggered: trigger.timesTriggered,
    misfiredFireTimeMs: trigger.misfiredFireTimeMs,
  }
  if (trigger instanceof SimpleTrigger) {
    const { type, misfireInstruction, repeatCount, repeatIntervalMs } = trigger
    return { type, ...common, misfireInstruction, repeatCount, repeatIntervalMs }
  }
  if (trigger instanceof CronTrigger) {
    const { type, misfireInstruction, cronExpression } = trigger
    return { type, ...common, misfireInstruction, cronExpression: cronExpression.toJSON() }
  }
  if (trigger instanceof CalendarIntervalTrigger) {
    const { type, misfireInstruction, timeZone, repeatInterval, repeatIntervalUnit } = trigger
    const { preserveHourOfDayAcrossDaylightSavings, skipDayIfHourDoesNotExist } = trigger
    return {
      type,
      ...common,
      misfireInstruction,
      timeZone,
      repeatInterval,
      repeatIntervalUnit,
      preserveHourOfDayAcrossDaylightSavings,
      skipDayIfHourDoesNotExist,
    }
  }
  if (trigger instanceof DailyTimeIntervalTrigger) {
    const { type, misfireInstruction, timeZone, repeatInterval, repeatIntervalUnit, repeatCount } = trigger
    const { startSecondOfDay, endSecondOfDay, daysOfWeekMask } = trigger
    return {
      type,
      ...common,
      misfireInstruction,
      timeZone,
      repeatInterval,
      repeatIntervalUnit,
      repeatCount,
      startSecondOfDay,
      endSecondOfDay,
      daysOfWeekMask,
    }
  }
  throw invalidTrigger(trigger.key.toString(), 'type', `'${trigger.type}' is no family with a plain form.`)
}

/**
 * The trigger that {@link triggerToJSON} wrote down, validated.
 *
 * @throws InvalidArgumentError ERR_INVALID_TRIGGER naming the field, ERR_UNKNOWN_TIME_ZONE; CronExpressionError
 */
export function triggerFromJSON(json: unknown): Trigger {
  if (typeof json !== 'object' || json === null || !('type' in json)) {
    throw invalidTrigger(
      'Trigger',
      'type',
      `the plain form of a trigger has a 'type', got ${describeValue(json)}.`,
    )
  }
  const plain = json as TriggerJson
  const trigger = fresh(plain).withFireState(requireFireState(plain))
  trigger.validate()
  return trigger
}

function fresh(json: TriggerJson): Trigger {
  const fields = requireFields(json)
  switch (json.type) {
    case 'simple':
      return new SimpleTrigger(fields, json)
    case 'cron':
      return new CronTrigger(fields, {
        cronExpression: requireCron(json.cronExpression),
        misfireInstruction: json.misfireInstruction,
      })
    case 'calendarInterval':
      return new CalendarIntervalTrigger(fields, { ...json, zone: TimeZone.of(json.timeZone) })
    case 'dailyTimeInterval':
      return new DailyTimeIntervalTrigger(fields, { ...json, zone: TimeZone.of(json.timeZone) })
    default:
      throw invalidTrigger(
        'Trigger',
        'type',
        `unknown type ${describeValue((json as { type: unknown }).type)}.`,
      )
  }
}

function requireCron(json: unknown): CronExpression {
  const { expression } = Object(json) as Partial<CronExpressionJson>
  if (typeof expression === 'string') return CronExpression.parse(expression, json as CronExpressionJson)
  throw invalidTrigger(
    'Trigger',
    'cronExpression',
    `'cronExpression' must have an 'expression', got ${describeValue(json)}.`,
  )
}

function requireFields(json: CommonJson): TriggerFields {
  const { jobDataMap } = json
  requireText('description', json.description)
  requireText('calendarName', json.calendarName)
  if (Object.prototype.toString.call(jobDataMap) !== '[object Object]') {
    throw invalidTrigger(
      'Trigger',
      'jobDataMap',
      `'jobDataMap' must be an object, got ${describeValue(jobDataMap)}.`,
    )
  }
  return {
    key: new TriggerKey(...requireKey('key', json.key)),
    jobKey: json.jobKey === null ? null : new JobKey(...requireKey('jobKey', json.jobKey)),
    description: json.description,
    calendarName: json.calendarName,
    jobDataMap: isEmpty(jobDataMap) ? emptyJobDataMap : jobDataMap,
    priority: json.priority,
    startTimeMs: json.startTimeMs,
    endTimeMs: json.endTimeMs,
  }
}

function requireText(field: string, value: unknown): void {
  if (value === null || typeof value === 'string') return
  throw invalidTrigger('Trigger', field, `'${field}' must be text or null, got ${describeValue(value)}.`)
}

function keyToJSON(key: KeyJson): KeyJson {
  return { name: key.name, group: key.group }
}

function requireKey(field: string, key: unknown): [name: string, group: string] {
  const { name, group } = Object(key) as Partial<Record<keyof KeyJson, unknown>>
  if (typeof name === 'string' && typeof group === 'string') return [name, group]
  throw invalidTrigger(
    'Trigger',
    field,
    `'${field}' must have a name and a group, got ${describeValue(key)}.`,
  )
}

function requireFireState(json: FireState): FireState {
  const { nextFireTimeMs, previousFireTimeMs, timesTriggered, misfiredFireTimeMs } = json
  const state = { nextFireTimeMs, previousFireTimeMs, timesTriggered, misfiredFireTimeMs }
  for (const [field, value] of Object.entries(state)) {
    const mayBeNull = field !== 'timesTriggered'
    if (!Number.isInteger(value) && !(mayBeNull && value === null)) {
      throw invalidTrigger(
        'Trigger',
        field,
        `'${field}' must be a whole number, got ${describeValue(value)}.`,
      )
    }
  }
  return state
}

function isEmpty(data: JobDataMap): boolean {
  return Object.keys(data).length === 0
}
