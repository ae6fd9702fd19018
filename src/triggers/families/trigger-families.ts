import { checkObject, listOf } from '../../core/arguments.ts'
import { InvalidArgumentError } from '../../core/errors.ts'
import { describeValue, isObject } from '../../core/options.ts'
import { invalidTrigger } from '../invalid-trigger.ts'
import { misfireInstructionCode } from '../misfire-instruction.ts'
import { checkTrigger, type Trigger } from '../trigger.ts'
import { scheduleTables, type TriggerFamily } from '../trigger-family.ts'
import { cronFamily } from './cron/cron-family.ts'
import { dailyTimeIntervalFamily } from './daily/daily-time-interval-family.ts'
import { calendarIntervalFamily } from './interval/calendar-interval-family.ts'
import { fromPlainForm, plainForm, type TriggerJson } from './plain-form.ts'
import { simpleFamily } from './simple/simple-family.ts'

/** The families of this library: a further one is a folder beside this file, and a line here. */
const libraryFamilies: readonly TriggerFamily[] = [
  simpleFamily,
  cronFamily,
  calendarIntervalFamily,
  dailyTimeIntervalFamily,
]

/** The types of the trigger families of this library. */
export const triggerTypes: readonly string[] = libraryFamilies.map(({ type }) => type)

const methods = ['toJSON', 'fromJSON', 'toColumns', 'fromColumns'] as const

/** The families that a scheduler and its store know, by both of their names. Immutable. */
export class TriggerFamilies {
  /** Those of this library and no other. */
  static readonly ofLibrary: TriggerFamilies = new TriggerFamilies()
  readonly #byType = new Map<string, TriggerFamily>()
  readonly #byStoredType = new Map<string, TriggerFamily>()

  /**
   * @param more families besides those of this library. Default none.
   * @throws InvalidArgumentError ERR_INVALID_OPTION for one that lacks a part, or has a name that is taken or no name
   */
  constructor(more: readonly TriggerFamily[] = []) {
    listOf(checkObject)('TriggerFamilies', 'more', more)
    for (const family of [...libraryFamilies, ...more]) this.#add(family)
  }

  /** The words of `trigger_type` that this node can read. */
  get storedTypes(): readonly string[] {
    return [...this.#byStoredType.keys()]
  }

  /**
   * The plain form of a trigger, fire state included. The job data is shared, not copied.
   *
   * @throws InvalidArgumentError ERR_INVALID_TRIGGER for one of a family that is not known
   */
  toJSON(trigger: Trigger): TriggerJson {
    checkTrigger('TriggerFamilies.toJSON', 'trigger', trigger)
    return plainForm(trigger, this.of(trigger))
  }

  /**
   * The trigger that `toJSON` wrote down, validated.
   *
   * @throws InvalidArgumentError ERR_INVALID_TRIGGER naming the field, ERR_UNKNOWN_TIME_ZONE; CronExpressionError
   */
  fromJSON(json: unknown): Trigger {
    return fromPlainForm(json, (type) => this.ofType(type))
  }

  /** The family of a trigger. @throws InvalidArgumentError ERR_INVALID_TRIGGER for one that is not known */
  of(trigger: Pick<Trigger, 'key' | 'type'>): TriggerFamily {
    return this.#ofType(trigger.type, `Trigger '${trigger.key.toString()}'`)
  }

  /** @throws InvalidArgumentError ERR_INVALID_TRIGGER for a type that is not known */
  ofType(type: unknown): TriggerFamily {
    return this.#ofType(type, 'Trigger')
  }

  /** The family of a row, or null for one that this node cannot read. */
  ofStoredType(storedType: string): TriggerFamily | null {
    return this.#byStoredType.get(storedType) ?? null
  }

  #ofType(type: unknown, owner: string): TriggerFamily {
    const family = typeof type === 'string' ? this.#byType.get(type) : undefined
    if (family !== undefined) return family
    const known = [...this.#byType.keys()].map((name) => `'${name}'`).join(', ')
    throw invalidTrigger(
      owner,
      'type',
      `the type ${describeValue(type)} is no family that is known here (${known}). Name its family: ` +
        'createScheduler({ triggerFamilies: [...] }).',
    )
  }

  #add(family: TriggerFamily): void {
    requireFamily(family)
    const { type, storedType } = family
    if (this.#byType.has(type)) throw invalidFamily(type, `the type '${type}' is taken by another family.`)
    if (this.#byStoredType.has(storedType) || storedType === 'BLOB') {
      throw invalidFamily(type, `the stored type '${storedType}' is taken by another family.`)
    }
    this.#byType.set(type, family)
    this.#byStoredType.set(storedType, family)
  }
}

function requireFamily(family: unknown): asserts family is TriggerFamily {
  if (!isObject(family)) throw invalidFamily('', `a family is an object, got ${describeValue(family)}.`)
  const given: Partial<Record<keyof TriggerFamily, unknown>> = family
  const { type, storedType, misfireInstructions, table, columns } = given
  if (typeof type !== 'string' || type.trim() === '' || type === 'unknown') {
    throw invalidFamily('', `'type' must be a name other than 'unknown', got ${describeValue(type)}.`)
  }
  if (typeof storedType !== 'string' || !/^[A-Z][A-Z0-9_]{0,7}$/.test(storedType)) {
    throw invalidFamily(
      type,
      `'storedType' must be 1 to 8 capital letters, digits and underscores, got ${describeValue(storedType)}.`,
    )
  }
  const columnsOfTable: object | undefined = Object.entries(scheduleTables).find(
    ([name]) => name === table,
  )?.[1]
  if (columnsOfTable === undefined || !isObject(columns)) {
    throw invalidFamily(type, "'table' must be 'simprop_triggers', and 'columns' say what it holds.")
  }
  const stray = Object.keys(columns).find((column) => !(column in columnsOfTable))
  if (stray !== undefined) throw invalidFamily(type, `'${stray}' is no column that families fill.`)
  const missing = methods.find((method) => typeof given[method] !== 'function')
  if (missing !== undefined) throw invalidFamily(type, `it has no method '${missing}'.`)
  requireInstructions(type, misfireInstructions)
}

/** The numbers of instructions are all that tables keep of them, so each must mean one. */
function requireInstructions(type: string, instructions: unknown): void {
  const codes = Array.isArray(instructions)
    ? instructions.map((name: TriggerFamily['misfireInstructions'][number]) => misfireInstructionCode(name))
    : []
  if (codes.includes(0) && codes.every(Number.isInteger) && new Set(codes).size === codes.length) return
  throw invalidFamily(
    type,
    "'misfireInstructions' must be instructions of Quartz, 'smart' among them, no two of one number: " +
      `got ${Array.isArray(instructions) ? instructions.map(describeValue).join(', ') : describeValue(instructions)}.`,
  )
}

function invalidFamily(type: string, problem: string): InvalidArgumentError {
  const owner = type === '' ? 'A trigger family' : `Trigger family '${type}'`
  return new InvalidArgumentError('triggerFamilies', `${owner}: ${problem}`, 'ERR_INVALID_OPTION')
}
