import { z } from 'zod'
import type { Pause } from '../../jobstore/pauses.ts'
import type { TriggerSummary } from '../../jobstore/queries.ts'
import { type TriggerState, triggerStates } from '../../jobstore/trigger-state.ts'
import { cronDialects } from '../../triggers/cron/cron-dialect.ts'
import type { CronExpressionJson } from '../../triggers/cron/cron-times.ts'
import {
  type DailyTimeIntervalUnit,
  dailyTimeIntervalUnits,
} from '../../triggers/families/daily/daily-time-interval-schedule.ts'
import {
  type CalendarIntervalUnit,
  calendarIntervalUnits,
} from '../../triggers/families/interval/calendar-interval-schedule.ts'
import type { SimpleSeries } from '../../triggers/families/simple/simple-trigger.ts'
import { triggerTypes } from '../../triggers/families/trigger-families.ts'
import { triggerFromJSON, triggerToJSON } from '../../triggers/families/trigger-json.ts'
import {
  type CalendarMisfireInstruction,
  calendarMisfireInstructions,
  type SimpleMisfireInstruction,
  simpleMisfireInstructions,
} from '../../triggers/misfire-instruction.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { defaultPriority, type FireState } from '../../triggers/trigger-fields.ts'
import { masked } from '../masking.ts'
import {
  dataJson,
  instantMs,
  instantOrNull,
  type KeyJson,
  keyJson,
  keyToJson,
  nameText,
  textUpTo,
} from './fields.ts'
import { pauseJson } from './pauses.ts'

export interface TriggerSummaryJson {
  readonly key: KeyJson
  readonly jobKey: KeyJson
  /** `simple`, `cron`, `calendarInterval`, `dailyTimeInterval`, the name of a family of your own, or `unknown`. */
  readonly type: string
  readonly state: TriggerState
  readonly description: string | null
  readonly calendarName: string | null
  readonly priority: number
  readonly nextFireTimeMs: number | null
  readonly previousFireTimeMs: number | null
  /** Why a paused trigger is paused, as far as that is known. */
  readonly pause: Pause | null
}

export const triggerSummaryJson: z.ZodType<TriggerSummaryJson> = z.strictObject({
  key: keyJson,
  jobKey: keyJson,
  type: z.string(),
  state: z.enum(triggerStates),
  description: z.string().nullable(),
  calendarName: z.string().nullable(),
  priority: z.number(),
  nextFireTimeMs: instantOrNull,
  previousFireTimeMs: instantOrNull,
  pause: pauseJson.nullable(),
})

export function triggerSummaryToJson(summary: TriggerSummary): TriggerSummaryJson {
  return { ...summary, key: keyToJson(summary.key), jobKey: keyToJson(summary.jobKey) }
}

/** What a column of databases holds. */
export const int32: z.ZodNumber = z.int().min(-2_147_483_648).max(2_147_483_647)

const common = {
  jobKey: keyJson,
  description: textUpTo(2000).nullable().default(null),
  calendarName: nameText.nullable().default(null),
  jobDataMap: dataJson.default({}),
  priority: int32.default(defaultPriority),
  startTimeMs: instantMs
    .nullable()
    .default(null)
    .describe('Null: that of the stored trigger; now when there is none.'),
  endTimeMs: instantMs.nullable().default(null),
}

const misfire = z.enum(calendarMisfireInstructions).default('smart')
const zone = textUpTo(100).min(1).describe('IANA name.')

/** A trigger of one of the four kinds without its key: what it is to be, not how far it has come. */
const definitions = [
  z.strictObject({
    type: z.literal('simple'),
    ...common,
    misfireInstruction: z.enum(simpleMisfireInstructions).default('smart'),
    repeatCount: int32.default(0),
    repeatIntervalMs: z.int().min(0).default(0),
  }),
  z.strictObject({
    type: z.literal('cron'),
    ...common,
    misfireInstruction: misfire,
    cronExpression: z.strictObject({
      expression: textUpTo(500).min(1),
      timeZone: zone,
      dst: z.enum(['vixie', 'quartz']).default('vixie'),
      dialect: z.enum(cronDialects).default('quartz'),
      seconds: z.enum(['never', 'optional']).default('never'),
    }),
  }),
  z.strictObject({
    type: z.literal('calendarInterval'),
    ...common,
    misfireInstruction: misfire,
    timeZone: zone,
    repeatInterval: int32,
    repeatIntervalUnit: z.enum(calendarIntervalUnits),
    preserveHourOfDayAcrossDaylightSavings: z.boolean().default(false),
    skipDayIfHourDoesNotExist: z.boolean().default(false),
  }),
  z.strictObject({
    type: z.literal('dailyTimeInterval'),
    ...common,
    misfireInstruction: misfire,
    timeZone: zone,
    repeatInterval: int32,
    repeatIntervalUnit: z.enum(dailyTimeIntervalUnits),
    repeatCount: int32.default(-1),
    startSecondOfDay: z.int().min(0).max(86_399),
    endSecondOfDay: z.int().min(0).max(86_399),
    daysOfWeekMask: z.int().min(0).max(255).describe('Bit n is weekday n, 1 for Sunday.'),
  }),
] as const

interface CommonFields {
  readonly jobKey: KeyJson
  readonly description: string | null
  readonly calendarName: string | null
  /** Values under keys that look secret are `***`; sent back, they stand for the stored ones. */
  readonly jobDataMap: Readonly<Record<string, unknown>>
  readonly priority: number
  /** Null: that of the stored trigger, or from now on. */
  readonly startTimeMs: number | null
  readonly endTimeMs: number | null
}

export interface SimpleFieldsJson extends CommonFields {
  readonly type: 'simple'
  readonly misfireInstruction: SimpleMisfireInstruction
  /** -1 for ever. */
  readonly repeatCount: number
  readonly repeatIntervalMs: number
}

export interface CronFieldsJson extends CommonFields {
  readonly type: 'cron'
  readonly misfireInstruction: CalendarMisfireInstruction
  readonly cronExpression: CronExpressionJson
}

export interface CalendarIntervalFieldsJson extends CommonFields {
  readonly type: 'calendarInterval'
  readonly misfireInstruction: CalendarMisfireInstruction
  readonly timeZone: string
  readonly repeatInterval: number
  readonly repeatIntervalUnit: CalendarIntervalUnit
  readonly preserveHourOfDayAcrossDaylightSavings: boolean
  readonly skipDayIfHourDoesNotExist: boolean
}

export interface DailyTimeIntervalFieldsJson extends CommonFields {
  readonly type: 'dailyTimeInterval'
  readonly misfireInstruction: CalendarMisfireInstruction
  readonly timeZone: string
  readonly repeatInterval: number
  readonly repeatIntervalUnit: DailyTimeIntervalUnit
  /** Fires after the first one; -1 for ever. */
  readonly repeatCount: number
  readonly startSecondOfDay: number
  readonly endSecondOfDay: number
  /** Bit n is weekday n, 1 for Sunday. */
  readonly daysOfWeekMask: number
}

/** What a trigger is to be, without its key: the body of `triggers.put`. */
export type TriggerFieldsJson =
  | SimpleFieldsJson
  | CronFieldsJson
  | CalendarIntervalFieldsJson
  | DailyTimeIntervalFieldsJson

export const triggerFieldsJson: z.ZodType<TriggerFieldsJson> = z.discriminatedUnion('type', definitions)

/** A trigger and how far it has come. */
export interface TriggerDetailJson {
  readonly key: KeyJson
  readonly state: TriggerState
  readonly pause: Pause | null
  /** Null for a trigger of a family of your own, and for one that cannot be read. */
  readonly definition: TriggerFieldsJson | null
  /** Why it cannot be read; null for one that can. */
  readonly problem: string | null
  readonly nextFireTimeMs: number | null
  readonly previousFireTimeMs: number | null
  readonly finalFireTimeMs: number | null
  /** Its fires, and those missed ones that its misfire instruction counts. */
  readonly timesTriggered: number
  /** The schedule of a cron trigger in English words; null for other kinds. */
  readonly words: string | null
}

export const triggerDetailJson: z.ZodType<TriggerDetailJson> = z.strictObject({
  key: keyJson,
  state: z.enum(triggerStates),
  pause: pauseJson.nullable(),
  definition: triggerFieldsJson.nullable(),
  problem: z.string().nullable().describe('Why it cannot be read; null for one that can.'),
  nextFireTimeMs: instantOrNull,
  previousFireTimeMs: instantOrNull,
  finalFireTimeMs: instantOrNull,
  timesTriggered: z
    .number()
    .describe('Its fires, and those missed ones that its misfire instruction counts.'),
  words: z.string().nullable(),
})

const stateFields: readonly string[] = [
  'key',
  'nextFireTimeMs',
  'previousFireTimeMs',
  'timesTriggered',
  'misfiredFireTimeMs',
] satisfies (keyof FireState | 'key')[]

/**
 * The definition of a trigger that has been stored, as it was before misfires; null for a family that is not of this
 * library.
 */
export function definitionOf(
  trigger: Trigger,
  options: { readonly secrets?: boolean } = {},
): TriggerFieldsJson | null {
  if (!triggerTypes.includes(trigger.type)) return null
  const { movedFrom, ...plain } = triggerToJSON(trigger)
  const fields = Object.entries({ ...plain, ...(movedFrom as Partial<SimpleSeries>) }).filter(
    ([field]) => !stateFields.includes(field),
  )
  return {
    // What is left is what the type says: the fields of one kind of trigger.
    ...(Object.fromEntries(fields) as unknown as TriggerFieldsJson),
    jobKey: keyToJson(plain.jobKey ?? plain.key),
    jobDataMap: options.secrets === true ? plain.jobDataMap : masked(plain.jobDataMap),
  }
}

/**
 * A trigger as it is before it is scheduled.
 *
 * @throws InvalidArgumentError ERR_INVALID_TRIGGER, ERR_UNKNOWN_TIME_ZONE; CronExpressionError
 */
export function triggerOf(key: KeyJson, definition: TriggerFieldsJson, startTimeMs: number): Trigger {
  return triggerFromJSON({
    ...definition,
    key,
    startTimeMs,
    nextFireTimeMs: null,
    previousFireTimeMs: null,
    timesTriggered: 0,
    misfiredFireTimeMs: null,
  })
}
