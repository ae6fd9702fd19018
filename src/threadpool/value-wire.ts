import { isNativeError } from 'node:util/types'
import { type ErrorCode, JobExecutionError, SchedulerError } from '../core/errors.ts'

/**
 * Any value in a form that structured clone takes. Errors become data, because cloning one keeps neither its own
 * fields nor its class; so do lists and records within errors that hold errors, or parts that cannot be cloned. What
 * cannot be cloned becomes a description.
 */
export type ValueWire =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'error'; readonly error: ErrorWire }
  | { readonly kind: 'list'; readonly items: readonly ValueWire[] }
  | { readonly kind: 'record'; readonly fields: FieldsWire }

export type FieldsWire = readonly (readonly [string, ValueWire])[]

export interface ErrorWire {
  readonly type: ErrorType
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  readonly fields: FieldsWire
  readonly cause: ValueWire | null
  /** What an AggregateError holds. */
  readonly errors: readonly ValueWire[]
}

type BuiltInType = 'EvalError' | 'RangeError' | 'ReferenceError' | 'SyntaxError' | 'TypeError' | 'URIError'
type ErrorType = BuiltInType | 'AggregateError' | 'JobExecutionError' | 'SchedulerError' | 'Error'

const builtInErrors: Readonly<Record<BuiltInType, ErrorConstructor>> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
}

/** Errors within errors (causes, fields, lists) are followed so deep; a chain may be a circle. */
const errorDepthMax = 8

/** Most values that one message carries for all errors together: errors that hold each other would else multiply. */
export const errorValuesMax = 1000

/** How many parts of a value are looked at to see whether it is flat. */
const flatKeysMax = 16

const leftOut: ValueWire = {
  kind: 'value',
  value: `[left out: an error holds more than ${errorValuesMax} values]`,
}

/** Own properties of errors that travel by name, not among the fields. */
const namedProperties: readonly string[] = ['name', 'message', 'stack', 'cause']

export function encodeValue(value: unknown): ValueWire {
  return new ValueEncoder().finish((encoder) => encoder.encode(value, 0))
}

export function decodeValue(wire: ValueWire): unknown {
  switch (wire.kind) {
    case 'value':
      return wire.value
    case 'error':
      return decodeError(wire.error)
    case 'list':
      return wire.items.map(decodeValue)
    case 'record':
      return decodeFields(wire.fields)
  }
}

export function encodeFields(fields: object): FieldsWire {
  return new ValueEncoder().finish((encoder) => encoder.encodeFields(fields, 0))
}

export function decodeFields(fields: FieldsWire): Record<string, unknown> {
  return Object.fromEntries(fields.map(([key, value]) => [key, decodeValue(value)]))
}

/** Encodes one value with all that it holds, breadth first, because there may be too much. */
class ValueEncoder {
  #left = errorValuesMax
  /** The result of each attempt to clone, because errors often hold the same large object. */
  readonly #cloneable = new Map<object, boolean>()
  /** Fill in what errors, lists and records hold. */
  readonly #fillers: (() => void)[] = []

  finish<Wire>(begin: (encoder: ValueEncoder) => Wire): Wire {
    const wire = begin(this)
    // Each step may add further ones.
    for (const fill of this.#fillers) fill()
    return wire
  }

  /** `depth` is 0 outside of errors. */
  encode(value: unknown, depth: number): ValueWire {
    // Numbers and texts (a code, a status) are small and most useful.
    if (depth > 0 && this.#left-- <= 0 && isObject(value)) return leftOut
    if (isError(value)) return this.#encodeError(value, depth)
    const cloneable = this.#isCloneable(value)
    const apart = depth > 0 && depth < errorDepthMax ? this.#takeApart(value, cloneable, depth + 1) : null
    return apart ?? { kind: 'value', value: cloneable ? value : `[${describeUncloneable(value)}]` }
  }

  encodeFields(source: object, depth: number): FieldsWire {
    return Object.keys(source).map((key) => [key, this.encode(read(source, key), depth)])
  }

  /** A list or record that cannot cross as it is; null for anything else. */
  #takeApart(value: unknown, cloneable: boolean, depth: number): ValueWire | null {
    try {
      if (Array.isArray(value)) {
        if (cloneable && !value.some(isError)) return null
        return { kind: 'list', items: this.#encodeList(value, depth) }
      }
      if (!isRecord(value)) return null
      const keys = Object.keys(value)
      if (cloneable && !keys.some((key) => isError(read(value, key)))) return null
      const fields: [string, ValueWire][] = []
      this.#fillers.push(() => {
        for (const key of keys.slice(0, Math.max(this.#left, 0)))
          fields.push([key, this.encode(read(value, key), depth)])
      })
      return { kind: 'record', fields }
    } catch {
      // A proxy whose traps throw.
      return null
    }
  }

  #encodeList(list: readonly unknown[], depth: number): ValueWire[] {
    const { length } = list
    const items: ValueWire[] = []
    this.#fillers.push(() => {
      const end = Math.min(length, this.#left)
      for (let index = 0; index < end; index++) items.push(this.encode(read(list, String(index)), depth))
      if (end < length) items.push(leftOut)
    })
    return items
  }

  #encodeError(error: Error, depth: number): ValueWire {
    if (depth >= errorDepthMax) return { kind: 'value', value: '[an error nested too deep]' }
    try {
      return { kind: 'error', error: this.#partsOf(error, depth + 1) }
    } catch {
      // A proxy whose traps throw: nothing of it can be read.
      return { kind: 'value', value: '[an error that cannot be read]' }
    }
  }

  #partsOf(error: Error, depth: number): ErrorWire {
    const type = typeOf(error)
    const fields = [...codeOf(error)]
    const keys = Object.keys(error).filter((key) => !namedProperties.includes(key))
    // Only AggregateError takes `errors` in its constructor; for any other error `errors` is a field.
    const isAggregate = type === 'AggregateError'
    const errors = isAggregate ? read(error, 'errors') : null
    const parts = {
      type,
      name: text(read(error, 'name'), 'Error'),
      message: text(read(error, 'message'), ''),
      stack: text(read(error, 'stack'), undefined),
      fields,
      cause: null as ValueWire | null,
      errors: Array.isArray(errors) ? this.#encodeList(errors, depth) : [],
    }
    this.#fillers.push(() => {
      for (const key of keys) {
        if (!isAggregate || key !== 'errors') fields.push([key, this.encode(read(error, key), depth)])
      }
      const cause = read(error, 'cause')
      if (cause !== undefined) parts.cause = this.encode(cause, depth)
    })
    return parts
  }

  #isCloneable(value: unknown): boolean {
    if (!isObject(value)) return isCloneable(value)
    let cloneable = this.#cloneable.get(value)
    if (cloneable === undefined) {
      cloneable = isCloneable(value)
      this.#cloneable.set(value, cloneable)
    }
    return cloneable
  }
}

export function isCloneable(value: unknown): boolean {
  if (value === null) return true
  if (typeof value !== 'object') return typeof value !== 'function' && typeof value !== 'symbol'
  try {
    structuredClone(value)
    return true
  } catch {
    // A getter that throws makes the answer false.
    return false
  }
}

/** Whether a value is no object, or a small list or record without objects within. */
export function isFlat(value: unknown): boolean {
  if (!isObject(value)) return true
  try {
    if (!Array.isArray(value) && !isRecord(value)) return false
    let left = flatKeysMax
    for (const key in value) {
      if (left-- === 0 || isObject(Reflect.get(value, key))) return false
    }
    return true
  } catch {
    // A getter or a trap of a proxy that throws.
    return false
  }
}

/** What a value is that cannot be cloned, for a message. */
export function describeUncloneable(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'symbol') return 'a symbol'
  const constructor = typeof value === 'object' && value !== null ? read(value, 'constructor') : undefined
  const name = typeof constructor === 'function' ? constructor.name : ''
  return name === '' ? 'an object' : `an instance of ${name}`
}

function isError(value: unknown): value is Error {
  if (isNativeError(value)) return true
  try {
    return value instanceof Error
  } catch {
    // A proxy whose getPrototypeOf trap throws.
    return false
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** An object of no class of its own. */
export function isRecord(value: unknown): value is object {
  if (!isObject(value)) return false
  try {
    const prototype: unknown = Object.getPrototypeOf(value)
    return prototype === Object.prototype || prototype === null
  } catch {
    // A proxy whose getPrototypeOf trap throws.
    return false
  }
}

function typeOf(error: Error): ErrorType {
  if (SchedulerError.is(error)) return 'refireImmediately' in error ? 'JobExecutionError' : 'SchedulerError'
  if (error instanceof AggregateError) return 'AggregateError'
  for (const [type, builtIn] of Object.entries(builtInErrors)) {
    if (error instanceof builtIn) return type as BuiltInType
  }
  return 'Error'
}

/** A code that the error's class defines (DOMException, for one) is not an own property, but part of its identity. */
function codeOf(error: Error): FieldsWire {
  if (Object.hasOwn(error, 'code')) return []
  const code = read(error, 'code')
  return typeof code === 'string' || typeof code === 'number'
    ? [['code', { kind: 'value', value: code }]]
    : []
}

/** Reads a property of an object that may answer with anything, an exception included. */
function read(source: object, key: string): unknown {
  try {
    return Reflect.get(source, key) as unknown
  } catch {
    return '[a getter that throws]'
  }
}

function text<Fallback>(value: unknown, fallback: Fallback): string | Fallback {
  return typeof value === 'string' ? value : fallback
}

function decodeError(wire: ErrorWire): Error {
  const fields = decodeFields(wire.fields)
  const error = construct(wire, fields)
  // The stack says where the job failed; the one made here would only show this function.
  define(error, 'stack', wire.stack)
  if (error.name !== wire.name) define(error, 'name', wire.name)
  if (wire.cause !== null) define(error, 'cause', decodeValue(wire.cause))
  for (const [key, value] of Object.entries(fields)) {
    // Fields that the error's class makes read-only keep the value that the class gave them.
    Reflect.defineProperty(error, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return error
}

function construct(wire: ErrorWire, fields: Record<string, unknown>): Error {
  const { type, message } = wire
  switch (type) {
    case 'JobExecutionError':
      return new JobExecutionError(message)
    case 'SchedulerError':
      return new SchedulerError(fields['code'] as ErrorCode, message)
    case 'AggregateError':
      return new AggregateError(wire.errors.map(decodeValue), message)
    case 'Error':
      return new Error(message)
    default:
      return new builtInErrors[type](message)
  }
}

function define(error: Error, key: string, value: unknown): void {
  Reflect.defineProperty(error, key, { value, enumerable: false, configurable: true, writable: true })
}
