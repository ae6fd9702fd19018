import { isNativeError } from 'node:util/types'
import { type ErrorCode, JobExecutionError, SchedulerError } from '../core/errors.ts'

/**
 * Any value in a form that structured clone takes. Errors become data, because cloning one keeps neither its own
 * fields nor its class; what cannot be cloned becomes a description.
 */
export type ValueWire =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'error'; readonly error: ErrorWire }

export interface ErrorWire {
  readonly type: ErrorType
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  readonly fields: readonly (readonly [string, ValueWire])[]
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

/** Errors within errors (causes, fields, aggregates) are followed so deep; a chain may be a circle. */
const errorDepthMax = 8

/** Own properties of errors that travel by name, not among the fields. */
const namedProperties: readonly string[] = ['name', 'message', 'stack', 'cause', 'errors']

export function encodeValue(value: unknown, depth = 0): ValueWire {
  if (isError(value)) {
    if (depth >= errorDepthMax) return { kind: 'value', value: '[an error nested too deep]' }
    try {
      return { kind: 'error', error: encodeError(value, depth + 1) }
    } catch {
      // A proxy whose traps throw: there is nothing that could be told about it.
      return { kind: 'value', value: '[an error that cannot be read]' }
    }
  }
  return { kind: 'value', value: isCloneable(value) ? value : `[${describeUncloneable(value)}]` }
}

export function decodeValue(wire: ValueWire): unknown {
  return wire.kind === 'value' ? wire.value : decodeError(wire.error)
}

export function encodeFields(fields: object): readonly (readonly [string, ValueWire])[] {
  return encodeEntries(fields, 0)
}

export function decodeFields(fields: readonly (readonly [string, ValueWire])[]): Record<string, unknown> {
  return Object.fromEntries(fields.map(([key, value]) => [key, decodeValue(value)]))
}

export function isCloneable(value: unknown): boolean {
  if (value === null) return true
  if (typeof value !== 'object') return typeof value !== 'function' && typeof value !== 'symbol'
  try {
    structuredClone(value)
    return true
  } catch {
    // Whatever a hostile getter throws, the answer is no.
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

function encodeError(error: Error, depth: number): ErrorWire {
  const cause = read(error, 'cause')
  const errors = error instanceof AggregateError ? read(error, 'errors') : null
  return {
    type: typeOf(error),
    name: text(read(error, 'name'), 'Error'),
    message: text(read(error, 'message'), ''),
    stack: text(read(error, 'stack'), undefined),
    fields: [...codeOf(error), ...encodeEntries(error, depth)],
    cause: cause === undefined ? null : encodeValue(cause, depth),
    errors: Array.isArray(errors) ? errors.map((inner) => encodeValue(inner, depth)) : [],
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
function codeOf(error: Error): readonly (readonly [string, ValueWire])[] {
  if (Object.hasOwn(error, 'code')) return []
  const code = read(error, 'code')
  return typeof code === 'string' || typeof code === 'number'
    ? [['code', { kind: 'value', value: code }]]
    : []
}

function encodeEntries(source: object, depth: number): readonly (readonly [string, ValueWire])[] {
  return Object.keys(source)
    .filter((key) => !(isError(source) && namedProperties.includes(key)))
    .map((key) => [key, encodeValue(read(source, key), depth)])
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
    // An error may have fields that its class fixes here; those are left as the class has them.
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
