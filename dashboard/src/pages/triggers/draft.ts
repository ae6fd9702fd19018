import type { TriggerFieldsJson } from '../../../../src/server/wire/triggers.ts'
import { dataText, readData } from '../../parts/data-editor.tsx'
import { browserZone } from '../../state/preferences.ts'
import { localText, msOfLocal } from '../../time/local-input.ts'
import { presetsOf } from '../cron/cron-text.ts'

export type TriggerType = TriggerFieldsJson['type']
type FieldsOf<Type extends TriggerType> = Extract<TriggerFieldsJson, { readonly type: Type }>
export type MisfireInstruction = TriggerFieldsJson['misfireInstruction']

export const triggerTypes = ['cron', 'simple', 'calendarInterval', 'dailyTimeInterval'] as const

const calendarMisfires = ['smart', 'fireOnceNow', 'doNothing', 'ignore'] as const
const simpleMisfires = [
  'smart',
  'fireNow',
  'rescheduleNowWithExistingRepeatCount',
  'rescheduleNowWithRemainingRepeatCount',
  'rescheduleNextWithRemainingCount',
  'rescheduleNextWithExistingCount',
  'ignore',
] as const

export function misfiresOf(type: TriggerType): readonly MisfireInstruction[] {
  return type === 'simple' ? simpleMisfires : calendarMisfires
}

const calendarUnits = ['SECOND', 'MINUTE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'] as const
const dailyUnits = ['SECOND', 'MINUTE', 'HOUR'] as const
const simpleUnits = ['MILLISECOND', 'SECOND', 'MINUTE', 'HOUR', 'DAY'] as const
export type Unit = (typeof calendarUnits)[number] | 'MILLISECOND'

export function unitsOf(type: TriggerType): readonly Unit[] {
  return type === 'simple' ? simpleUnits : type === 'dailyTimeInterval' ? dailyUnits : calendarUnits
}

const unitMs: Readonly<Record<(typeof simpleUnits)[number], number>> = {
  MILLISECOND: 1,
  SECOND: 1000,
  MINUTE: 60_000,
  HOUR: 3_600_000,
  DAY: 86_400_000,
}

/** What the fields of the editor hold: those of all kinds, so that a change of the kind loses nothing. */
export interface Draft {
  readonly type: TriggerType
  readonly group: string
  readonly name: string
  readonly jobGroup: string
  readonly jobName: string
  readonly description: string
  readonly calendarName: string
  readonly priority: string
  readonly start: string
  readonly end: string
  readonly misfire: MisfireInstruction
  readonly data: string
  readonly timeZone: string
  readonly expression: string
  readonly dialect: FieldsOf<'cron'>['cronExpression']['dialect']
  readonly dst: FieldsOf<'cron'>['cronExpression']['dst']
  readonly seconds: FieldsOf<'cron'>['cronExpression']['seconds']
  readonly interval: string
  readonly unit: Unit
  readonly isForever: boolean
  readonly repeatCount: string
  readonly preserveHour: boolean
  readonly skipDay: boolean
  readonly dailyStart: string
  readonly dailyEnd: string
  readonly daysMask: number
}

/** Bits 1 to 7, Sunday first. */
export const everyDay = 254

export const newDraft: Draft = {
  type: 'cron',
  group: 'DEFAULT',
  name: '',
  jobGroup: 'DEFAULT',
  jobName: '',
  description: '',
  calendarName: '',
  priority: '5',
  start: '',
  end: '',
  misfire: 'smart',
  data: '{}',
  timeZone: browserZone,
  expression: presetsOf('quartz').weekdays,
  dialect: 'quartz',
  dst: 'vixie',
  seconds: 'never',
  interval: '1',
  unit: 'HOUR',
  isForever: true,
  repeatCount: '0',
  preserveHour: false,
  skipDay: false,
  dailyStart: '08:00:00',
  dailyEnd: '18:00:00',
  daysMask: everyDay,
}

/** What the editor of a stored trigger begins with. */
export function draftOf(
  key: { readonly group: string; readonly name: string },
  fields: TriggerFieldsJson,
): Draft {
  return {
    ...newDraft,
    ...key,
    type: fields.type,
    jobGroup: fields.jobKey.group,
    jobName: fields.jobKey.name,
    description: fields.description ?? '',
    calendarName: fields.calendarName ?? '',
    priority: String(fields.priority),
    start: fields.startTimeMs === null ? '' : localText(fields.startTimeMs),
    end: fields.endTimeMs === null ? '' : localText(fields.endTimeMs),
    misfire: fields.misfireInstruction,
    data: dataText(fields.jobDataMap),
    ...ownDraft(fields),
  }
}

function ownDraft(fields: TriggerFieldsJson): Partial<Draft> {
  switch (fields.type) {
    case 'cron':
      return fields.cronExpression
    case 'simple':
      return {
        ...intervalOf(fields.repeatIntervalMs),
        isForever: fields.repeatCount === -1,
        repeatCount: String(Math.max(0, fields.repeatCount)),
      }
    case 'calendarInterval':
      return {
        timeZone: fields.timeZone,
        interval: String(fields.repeatInterval),
        unit: fields.repeatIntervalUnit,
        preserveHour: fields.preserveHourOfDayAcrossDaylightSavings,
        skipDay: fields.skipDayIfHourDoesNotExist,
      }
    case 'dailyTimeInterval':
      return {
        timeZone: fields.timeZone,
        interval: String(fields.repeatInterval),
        unit: fields.repeatIntervalUnit,
        isForever: fields.repeatCount === -1,
        repeatCount: String(Math.max(0, fields.repeatCount)),
        dailyStart: timeOfDay(fields.startSecondOfDay),
        dailyEnd: timeOfDay(fields.endSecondOfDay),
        daysMask: fields.daysOfWeekMask,
      }
  }
}

/** The largest unit that says it without a fraction. */
export function intervalOf(ms: number): { readonly interval: string; readonly unit: Unit } {
  const unit = [...simpleUnits].reverse().find((each) => ms > 0 && ms % unitMs[each] === 0) ?? 'SECOND'
  return { interval: String(ms / unitMs[unit]), unit }
}

export function timeOfDay(second: number): string {
  return new Date(second * 1000).toISOString().slice(11, 19)
}

/** NaN for what is none, such as an empty text. */
export function wholeNumber(text: string): number {
  return /^\s*-?\d+\s*$/.test(text) ? Number(text) : Number.NaN
}

/** NaN for an empty text. */
function secondOfDay(text: string): number {
  if (text === '') return Number.NaN
  const [hour = 0, minute = 0, second = 0] = text.split(':').map(Number)
  return hour * 3600 + minute * 60 + second
}

/** Null for what cannot be sent, because a field has no number, no time or no object. */
export function fieldsOfDraft(draft: Draft, stored: TriggerFieldsJson | null): TriggerFieldsJson | null {
  const { data } = readData(draft.data)
  const priority = wholeNumber(draft.priority)
  const own = ownFields(draft, {
    interval: wholeNumber(draft.interval),
    count: draft.isForever ? -1 : wholeNumber(draft.repeatCount),
  })
  const startTimeMs = instantOf(draft.start, stored?.startTimeMs)
  const endTimeMs = instantOf(draft.end, stored?.endTimeMs)
  const numbers = [priority, startTimeMs, endTimeMs, ...Object.values(own)]
  if (data === null || numbers.some(Number.isNaN)) return null
  const base = {
    jobKey: { group: draft.jobGroup, name: draft.jobName },
    description: draft.description === '' ? null : draft.description,
    calendarName: draft.calendarName === '' ? null : draft.calendarName,
    jobDataMap: data,
    priority,
    startTimeMs,
    endTimeMs,
  }
  return { ...base, ...own } as TriggerFieldsJson
}

function ownFields(
  draft: Draft,
  { interval, count }: { readonly interval: number; readonly count: number },
): Readonly<Record<string, unknown>> & { readonly type: TriggerType } {
  const { type, timeZone, unit } = draft
  const allowed: readonly MisfireInstruction[] = misfiresOf(type)
  const misfireInstruction = allowed.includes(draft.misfire) ? draft.misfire : 'smart'
  switch (type) {
    case 'cron': {
      const { expression, dialect, dst, seconds } = draft
      return { type, misfireInstruction, cronExpression: { expression, timeZone, dialect, dst, seconds } }
    }
    case 'simple': {
      const factor = unitMs[simpleUnits.find((each) => each === unit) ?? 'HOUR']
      return { type, misfireInstruction, repeatCount: count, repeatIntervalMs: interval * factor }
    }
    case 'calendarInterval':
      return {
        type,
        misfireInstruction,
        timeZone,
        repeatInterval: interval,
        repeatIntervalUnit: unit,
        preserveHourOfDayAcrossDaylightSavings: draft.preserveHour,
        skipDayIfHourDoesNotExist: draft.skipDay,
      }
    case 'dailyTimeInterval':
      return {
        type,
        misfireInstruction,
        timeZone,
        repeatInterval: interval,
        repeatIntervalUnit: unit,
        repeatCount: count,
        startSecondOfDay: secondOfDay(draft.dailyStart),
        endSecondOfDay: secondOfDay(draft.dailyEnd),
        daysOfWeekMask: draft.daysMask,
      }
  }
}

/** The stored instant where its text was not changed: the field has no milliseconds. NaN for a text that is none. */
function instantOf(text: string, stored: number | null | undefined): number | null {
  if (text === '') return null
  if (stored !== null && stored !== undefined && localText(stored) === text) return stored
  return msOfLocal(text) ?? Number.NaN
}
