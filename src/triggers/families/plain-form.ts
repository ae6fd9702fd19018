import { emptyJobDataMap, type JobDataMap } from '../../core/job-data-map.ts'
import { JobKey, TriggerKey } from '../../core/key.ts'
import { describeValue } from '../../core/options.ts'
import { instantMaxMs, invalidTrigger, requireOneOf, requireWhole } from '../invalid-trigger.ts'
import type { MisfireInstruction } from '../misfire-instruction.ts'
import type { Trigger } from '../trigger.ts'
import type { TriggerFamily } from '../trigger-family.ts'
import type { FireState, TriggerFields } from '../trigger-fields.ts'

export interface KeyJson {
  readonly name: string
  readonly group: string
}

export interface CommonJson extends Omit<TriggerFields, 'key' | 'jobKey'>, FireState {
  /** The name of the family, which adds the fields of its schedule. */
  readonly type: string
  readonly key: KeyJson
  readonly jobKey: KeyJson | null
  readonly misfireInstruction: MisfireInstruction
}

/** The plain form of a trigger, fire state included. Instants are epoch milliseconds. */
export type TriggerJson = CommonJson & Readonly<Record<string, unknown>>

/** The plain form of a trigger, without the fields of its schedule, which its family adds. The job data is shared. */
export function plainForm(trigger: Trigger, family: TriggerFamily): TriggerJson {
  return {
    type: trigger.type,
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
    misfireInstruction: trigger.misfireInstruction,
    ...family.toJSON(trigger),
  }
}

/** The trigger of a plain form that {@link plainForm} made, validated; its family is found by its type. */
export function fromPlainForm(json: unknown, familyOf: (type: unknown) => TriggerFamily): Trigger {
  if (typeof json !== 'object' || json === null || !('type' in json)) {
    throw invalidTrigger(
      'Trigger',
      'type',
      `the plain form of a trigger has a 'type', got ${describeValue(json)}.`,
    )
  }
  const plain = json as TriggerJson
  const family = familyOf(plain.type)
  const { misfireInstructions } = family
  const fields = requireFields(plain)
  const instruction = requireOneOf(
    'Trigger',
    'misfireInstruction',
    plain.misfireInstruction,
    misfireInstructions,
  )
  const trigger = family.fromJSON(fields, plain, instruction).withFireState(requireFireState(plain))
  trigger.validate()
  return trigger
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
  requireWhole('Trigger', 'timesTriggered', timesTriggered, { min: 0, max: Number.MAX_SAFE_INTEGER })
  for (const [field, value] of Object.entries({ nextFireTimeMs, previousFireTimeMs, misfiredFireTimeMs })) {
    if (value !== null) requireWhole('Trigger', field, value, { min: -instantMaxMs, max: instantMaxMs })
  }
  return state
}

function isEmpty(data: JobDataMap): boolean {
  return Object.keys(data).length === 0
}
