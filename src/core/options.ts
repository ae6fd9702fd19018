import { type ErrorCode, InvalidArgumentError } from './errors.ts'
import { withoutSecrets } from './secrets.ts'
import { beginningOf } from './text-beginning.ts'

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Whether a value can be job data: an object whose fields are the data. What keeps its content elsewhere, such as a Map
 * or a promise, would be stored empty.
 */
export function isDataObject(value: unknown): value is object {
  if (!isObject(value)) return false
  return Object.keys(value).length > 0 || Object.prototype.toString.call(value) === '[object Object]'
}

/**
 * Refuses a value that is no object, and unknown keys; the message names the nearest known key.
 *
 * @param argument what the method calls the options
 * @param path what fields of errors begin with, such as `retry.`
 */
export function refuseUnknownKeys(
  what: string,
  options: unknown,
  known: readonly string[],
  argument: string = 'options',
  path: string = '',
): asserts options is object {
  if (!isObject(options)) {
    const found = describeValue(options)
    // What was left out has to be there.
    const remedy = options === undefined ? 'Known:' : 'Leave it out, or use'
    throw new InvalidArgumentError(
      argument,
      `${what}: '${argument}' must be an object, got ${found}. ${remedy} ${known.join(', ')}.`,
    )
  }
  for (const key of Object.keys(options)) {
    if (known.includes(key)) continue
    const nearest = meantName(key, known)
    const hint = nearest === null ? `Known: ${known.join(', ')}.` : `Did you mean '${nearest}'?`
    const field = `${path}${key}`
    throw new InvalidArgumentError(field, `${what}: unknown option '${field}'. ${hint}`, 'ERR_INVALID_OPTION')
  }
}

/**
 * Checks that an option, or with another `code` an argument, is a whole number within its bounds; the message names it,
 * bounds and value.
 */
export function requireInteger(
  what: string,
  field: string,
  value: unknown,
  bounds: { min: number; max?: number; code?: ErrorCode },
): number {
  const max = bounds.max ?? Number.MAX_SAFE_INTEGER
  if (typeof value !== 'number' || !Number.isInteger(value) || value < bounds.min || value > max) {
    const range = bounds.max === undefined ? `of at least ${bounds.min}` : `from ${bounds.min} to ${max}`
    throw new InvalidArgumentError(
      field,
      `${what}: '${field}' must be a whole number ${range}, got ${describeValue(value)}.`,
      bounds.code ?? 'ERR_INVALID_OPTION',
    )
  }
  return value
}

/** A short, safe rendering of any value for an error message. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') {
    // A text in the wrong place may be the address of a database.
    const shown = withoutSecrets(value.slice(0, 10_000))
    return shown.length > 60 ? `'${beginningOf(shown, 60)}...'` : `'${shown}'`
  }
  if (typeof value === 'number' || typeof value === 'boolean' || value === undefined || value === null) {
    return String(value)
  }
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? describeObject(value) : `a value of type ${typeof value}`
}

/** By its class, as far as that has a name: `a JobBuilder`. */
function describeObject(value: object): string {
  if (value instanceof Date && Number.isNaN(value.getTime())) return 'an invalid Date'
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return 'a plain object'
  const name: unknown = Reflect.get(Object(value.constructor), 'name')
  if (typeof name !== 'string' || !/^\w{1,60}$/.test(name)) return 'an object'
  return `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`
}

/** What other libraries call options, in lower case, and what they may be here. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  concurrency: ['threadPool', 'size'],
  id: ['key'],
  instanceid: ['node'],
  limit: ['take'],
  name: ['key', 'schedulerName'],
  size: ['threadPool'],
  store: ['jobStore'],
  threadcount: ['threadPool', 'size'],
  threads: ['threadPool', 'size'],
  timezone: ['zone', 'timeZone'],
  tz: ['zone', 'timeZone'],
  zone: ['timeZone'],
}

/** The known option that was meant: by what other libraries call it, or the nearest name. Null when there is none. */
export function meantName(name: string, known: readonly string[]): string | null {
  const lower = name.toLowerCase().replaceAll('-', '')
  const elsewhere = Object.hasOwn(otherNames, lower) ? otherNames[lower] : undefined
  return elsewhere?.find((own) => known.includes(own)) ?? nearestName(name, known)
}

/**
 * The known name that was most likely meant: one that differs by a third of its letters or fewer, at most three, or the
 * only one that begins with what was typed. Null when there is none.
 */
export function nearestName(name: string, known: readonly string[]): string | null {
  let best: string | null = null
  let bestDistance = Math.min(3, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  if (best !== null || name.length < minBeginning) return best
  const begun = known.filter((candidate) => candidate.toLowerCase().startsWith(name.toLowerCase()))
  return begun.length === 1 ? (begun[0] ?? null) : null
}

/** Fewer letters than this are not taken for the beginning of a longer name. */
const minBeginning = 3

/** Two letters that changed places are one difference. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = isSwapped ? (beforeLast[j - 2] ?? 0) + 1 : substitution
      current.push(Math.min(substitution, swap, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1))
    }
    beforeLast = previous
    previous = current
  }
  return previous[b.length] ?? 0
}
