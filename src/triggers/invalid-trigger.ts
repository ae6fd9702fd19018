import { type ArgumentCheck, checkMethods } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { isTriggerKey } from '../core/key.ts'
import { describeValue, isObject } from '../core/options.ts'
import type { TriggerFields } from './trigger-fields.ts'

/** The largest and smallest epoch millisecond that a Date can hold. */
export const instantMaxMs = 8_640_000_000_000_000

/** The largest repeat count, interval and priority: what a database column and Java's int hold. */
export const int32Max: number = 2 ** 31 - 1

export function invalidTrigger(owner: string, field: string, problem: string): InvalidArgumentError {
  return new InvalidArgumentError(field, `${owner}: ${problem}`, 'ERR_INVALID_TRIGGER')
}

/**
 * The fields that the constructor of a trigger was given. Only a builder has them: who calls the constructor, or
 * `build()` of a schedule, gets told so.
 */
export function checkedFields(owner: string, fields: TriggerFields, schedule: object): TriggerFields {
  if (isObject(fields) && isTriggerKey(fields.key) && isObject(schedule)) return fields
  const problem = `${owner}: 'fields' must be what TriggerBuilder gives, got ${describeValue(fields)}.`
  const remedy = 'Build one by TriggerBuilder.newTrigger().withSchedule(schedule).build().'
  throw new InvalidArgumentError('fields', `${problem} ${remedy}`)
}

const checkZone: ArgumentCheck = checkMethods(
  'a TimeZone',
  ['toLocalMs', 'firstInstantAtOrAfter'],
  "Make one with TimeZone.of('Europe/Paris').",
)

/** Refuses a name where the zone itself is needed. */
export function requireZone(owner: string, zone: unknown): void {
  checkZone(owner, 'zone', zone, 'ERR_INVALID_TRIGGER')
}

/** Refuses a number that is not whole or lies outside its bounds, naming both. */
export function requireWhole(
  owner: string,
  field: string,
  value: number,
  bounds: { readonly min: number; readonly max: number },
): number {
  if (Number.isInteger(value) && value >= bounds.min && value <= bounds.max) return value
  throw invalidTrigger(
    owner,
    field,
    `'${field}' must be a whole number from ${bounds.min} to ${bounds.max}, got ${describeValue(value)}.`,
  )
}

/** Refuses a value that is not one of a closed list. */
export function requireOneOf<Known extends string>(
  owner: string,
  field: string,
  value: string,
  known: readonly Known[],
): Known {
  const found = known.find((name) => name === value)
  if (found !== undefined) return found
  throw invalidTrigger(
    owner,
    field,
    `'${field}' must be one of ${known.map((name) => `'${name}'`).join(', ')}, got ${describeValue(value)}.`,
  )
}

/** The instant of a Date that is an argument, refused when it is none. */
export function requireInstantMs(owner: string, field: string, date: Date): number {
  const ms = date instanceof Date ? date.getTime() : Number.NaN
  if (!Number.isNaN(ms)) return ms
  throw new InvalidArgumentError(
    field,
    `${owner}: '${field}' must be a valid Date, got ${describeValue(date)}.`,
  )
}
