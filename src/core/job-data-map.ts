import { InvalidArgumentError } from './errors.ts'
import { describeValue } from './options.ts'

/** Data of a job or trigger: a plain object whose values survive a trip through JSON and between threads. */
export type JobDataMap = Readonly<Record<string, unknown>>

export const emptyJobDataMap: JobDataMap = Object.freeze({})

/** Keys with this prefix carry the scheduler's own notes (recovery, retry); jobs do not see or set them. */
export const reservedDataPrefix = 'QRTZ_'

/** Under it a trigger of `triggerJob` says who asked for it. */
export const triggeredByKey: string = `${reservedDataPrefix}TRIGGERED_BY`

/** Largest job data in bytes of UTF-8 JSON, unless the scheduler's `maxJobDataBytes` says otherwise. */
export const defaultMaxJobDataBytes = 1_048_576

/** Deepest nesting of job data. */
export const jobDataMaxDepth = 100

/** Most values in one job data map, nested ones included: bounds the walk over data that shares parts of itself. */
export const jobDataMaxValues = 1_000_000

/** A deep copy that shares nothing with the original, which must be valid job data. */
export function cloneJobData(data: JobDataMap): Record<string, unknown> {
  return cloneEntries({ ...data })
}

/** Freezes data that were just read, and that nothing else has: as frozen as those of `copyJobData`. */
export function freezeJobData<Data extends object>(data: Data): Readonly<Data> {
  for (const value of Object.values(data) as unknown[]) {
    if (typeof value === 'object' && value !== null) freezeJobData(value)
  }
  return Object.freeze(data)
}

/** The job's entries with the trigger's over them, as a copy and without the scheduler's own notes. */
export function mergeJobData(jobData: JobDataMap, triggerData: JobDataMap): Record<string, unknown> {
  if (jobData === emptyJobDataMap && triggerData === emptyJobDataMap) return {}
  const merged: Record<string, unknown> = { ...jobData, ...triggerData }
  if (!Object.keys(merged).some(isReserved)) return cloneEntries(merged)
  return cloneEntries(Object.fromEntries(Object.entries(merged).filter(([key]) => !isReserved(key))))
}

/**
 * A frozen copy of data that a store can keep and a thread can receive, without keys whose value is undefined; -0 is 0.
 * Functions, symbols, class instances, cycles, `undefined` in a list, numbers without a JSON form, dates, bigints, a
 * key named `__proto__`, accessors that throw, and data nested too deep or too large are refused. Every property is
 * read once, so that what was checked is what is kept. The error names the key.
 *
 * @param owner whose data it is, for the message, for example `job 'reports.daily'`
 * @param maxBytes most bytes of UTF-8 JSON; default: no limit but {@link jobDataMaxValues}
 * @throws InvalidArgumentError ERR_INVALID_JOB_DATA or ERR_JOB_DATA_TOO_LARGE
 */
export function copyJobData(
  owner: string,
  data: JobDataMap,
  maxBytes: number = Number.POSITIVE_INFINITY,
): JobDataMap {
  if (data === emptyJobDataMap) return data
  requirePlain(owner, data)
  const walk: Walk = { owner, valuesLeft: jobDataMaxValues, ancestors: [] }
  const copy = copyObject(walk, 'jobDataMap', data)
  if (maxBytes !== Number.POSITIVE_INFINITY) requireSize(owner, copy, maxBytes)
  return copy
}

/**
 * What a builder is given, to be put beside other entries: `copyJobData` then sees entries only, and not what held
 * them. Each is read once.
 *
 * @throws InvalidArgumentError ERR_INVALID_JOB_DATA for no plain object, a symbol as key, and an accessor that throws
 */
export function jobDataEntries(owner: string, data: object): Record<string, unknown> {
  requirePlain(owner, data)
  const walk: Walk = { owner, valuesLeft: 0, ancestors: [] }
  return Object.fromEntries(
    ownKeys(walk, 'jobDataMap', data).map((key) => {
      const path = `jobDataMap.${key}`
      return [key, reading(walk, path, (): unknown => Reflect.get(data, key))]
    }),
  )
}

function requirePlain(owner: string, data: object): void {
  const kind = prototypeKind(data)
  if (kind === 'plain') return
  if (kind === otherObject) throw refusePrototype(owner, 'jobDataMap')
  throw new InvalidArgumentError(
    'jobDataMap',
    `Job data of ${owner} must be a plain object, got ${describeValue(data)}.`,
    'ERR_INVALID_JOB_DATA',
  )
}

/** Checks data as {@link copyJobData} does, with a limit on its size. */
export function validateJobData(
  owner: string,
  data: JobDataMap,
  maxBytes: number = defaultMaxJobDataBytes,
): void {
  copyJobData(owner, data, maxBytes)
}

/** @throws InvalidArgumentError ERR_INVALID_JOB_DATA for a key that is kept for the scheduler */
export function refuseReservedKeys(owner: string, keys: readonly string[]): void {
  const reserved = keys.find(isReserved)
  if (reserved === undefined) return
  throw new InvalidArgumentError(
    `jobDataMap.${reserved}`,
    `Job data of ${owner}: '${reserved}' begins with '${reservedDataPrefix}', which is kept for the scheduler. ` +
      'Use another key.',
    'ERR_INVALID_JOB_DATA',
  )
}

/** Whether there are notes of the scheduler among the entries. */
export function hasReservedData(data: JobDataMap): boolean {
  return Object.keys(data).some(isReserved)
}

function isReserved(key: string): boolean {
  return key.startsWith(reservedDataPrefix)
}

/** Replaces nested values by copies, in place: the entries exist, so even one named `__proto__` stays an entry. */
function cloneEntries(data: Record<string, unknown>): Record<string, unknown> {
  for (const key of Object.keys(data)) {
    const value = data[key]
    if (typeof value === 'object' && value !== null) data[key] = cloneNested(value)
  }
  return data
}

function cloneNested(value: object): unknown {
  if (!Array.isArray(value)) return cloneEntries({ ...value })
  return value.map((element: unknown) =>
    typeof element === 'object' && element !== null ? cloneNested(element) : element,
  )
}

interface Walk {
  readonly owner: string
  valuesLeft: number
  readonly ancestors: object[]
}

function copyValue(walk: Walk, path: string, value: unknown): unknown {
  if (--walk.valuesLeft < 0) {
    throw new InvalidArgumentError(
      path,
      `Job data of ${walk.owner} holds more than ${jobDataMaxValues} values; ` +
        `'${path}' is the first too many. Store the bulk elsewhere and pass a reference.`,
      'ERR_JOB_DATA_TOO_LARGE',
    )
  }
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') {
    // JSON has no -0: in memory it would stay one, and become 0 in a database.
    if (Number.isFinite(value)) return value === 0 ? 0 : value
    throw refuse(walk, path, `the number ${String(value)}, which JSON cannot hold`, 'use null or a string')
  }
  if (typeof value !== 'object') {
    const remedies: Record<string, string> = {
      undefined: 'use null',
      bigint: 'use a string',
    }
    const remedy = remedies[typeof value] ?? 'pass plain data'
    throw refuse(walk, path, `a value of type ${typeof value}`, remedy)
  }
  if (walk.ancestors.includes(value)) {
    throw refuse(walk, path, 'a reference back to itself', 'break the cycle')
  }
  if (walk.ancestors.length >= jobDataMaxDepth) {
    throw refuse(walk, path, `data nested deeper than ${jobDataMaxDepth} levels`, 'make it flatter')
  }
  const kind = prototypeKind(value)
  if (kind === 'plain') return copyObject(walk, path, value)
  if (kind === 'array') return copyArray(walk, path, value as readonly unknown[])
  if (kind === otherObject) throw refusePrototype(walk.owner, path)
  const remedy =
    kind === 'Date'
      ? 'store its ISO text (toISOString()) or its milliseconds (getTime())'
      : 'use a plain object'
  throw refuse(walk, path, `an instance of ${kind}`, remedy)
}

function copyObject(walk: Walk, path: string, source: object): Record<string, unknown> {
  walk.ancestors.push(source)
  const copy: Record<string, unknown> = {}
  for (const key of ownKeys(walk, path, source)) {
    const inner = `${path}.${key}`
    if (key === '__proto__') throw refuse(walk, inner, "a key named '__proto__'", 'rename it')
    const value = reading(walk, inner, (): unknown => Reflect.get(source, key))
    // As in JSON and in options: the key is left out.
    if (value !== undefined) copy[key] = copyValue(walk, inner, value)
  }
  walk.ancestors.pop()
  return Object.freeze(copy)
}

function ownKeys(walk: Walk, path: string, source: object): string[] {
  return reading(walk, path, () => Reflect.ownKeys(source)).map((key) => {
    if (typeof key === 'symbol') throw refuse(walk, path, `the key ${String(key)}`, 'use a string as key')
    return key
  })
}

function copyArray(walk: Walk, path: string, source: readonly unknown[]): readonly unknown[] {
  walk.ancestors.push(source)
  const copy: unknown[] = []
  const length = reading(walk, path, () => source.length)
  for (let index = 0; index < length; index++) {
    const inner = `${path}[${index}]`
    copy.push(
      copyValue(
        walk,
        inner,
        reading(walk, inner, () => source[index]),
      ),
    )
  }
  walk.ancestors.pop()
  return Object.freeze(copy)
}

/** Reads from an object of the caller's, whose accessors or proxy traps may throw anything. */
function reading<Value>(walk: Walk, path: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw refuse(walk, path, 'a value that throws when it is read', 'pass plain data', error)
  }
}

/** Of an object whose prototype is another object, and not that of a class. */
const otherObject = 'another object'

/** `plain`, `array`, {@link otherObject}, or the name of the class. */
function prototypeKind(value: unknown): string {
  if (typeof value !== 'object' || value === null) return 'no object'
  try {
    if (Array.isArray(value)) return 'array'
    const prototype = Object.getPrototypeOf(value) as { readonly constructor?: unknown } | null
    if (prototype === Object.prototype || prototype === null) return 'plain'
    if (!Object.hasOwn(prototype, 'constructor')) return otherObject
    const constructor: unknown = prototype.constructor
    const name = typeof constructor === 'function' ? constructor.name : ''
    // The plain objects of another realm (a vm context, as some test runners use) are plain too.
    if (name === 'Object' && Object.getPrototypeOf(prototype) === null) return 'plain'
    return name === '' ? 'an unnamed class' : name
  } catch {
    // A revoked proxy, or a prototype with a throwing accessor.
    return 'an unreadable class'
  }
}

function requireSize(owner: string, data: JobDataMap, maxBytes: number): void {
  let largestKey = ''
  let largestBytes = -1
  let bytes = 2
  for (const key of Object.keys(data)) {
    const entryBytes =
      Buffer.byteLength(JSON.stringify(key)) + Buffer.byteLength(JSON.stringify(data[key])) + 1
    bytes += bytes === 2 ? entryBytes : entryBytes + 1
    if (entryBytes > largestBytes) {
      largestKey = key
      largestBytes = entryBytes
    }
  }
  if (bytes <= maxBytes) return
  throw new InvalidArgumentError(
    'jobDataMap',
    `Job data of ${owner} takes ${bytes} bytes, more than the ${maxBytes} allowed; ` +
      `its largest entry is '${largestKey}'. Store the bulk elsewhere and pass a reference, or raise ` +
      'maxJobDataBytes.',
    'ERR_JOB_DATA_TOO_LARGE',
  )
}

/** Where the entries of JSON are assigned, one named `__proto__` becomes the prototype instead of an entry. */
function refusePrototype(owner: string, path: string): InvalidArgumentError {
  const remedy = "use a plain object, and no key named '__proto__'"
  return refuse({ owner }, `${path}.__proto__`, `${otherObject} as prototype`, remedy)
}

function refuse(
  walk: Pick<Walk, 'owner'>,
  path: string,
  found: string,
  remedy: string,
  cause?: unknown,
): InvalidArgumentError {
  return new InvalidArgumentError(
    path,
    `Job data of ${walk.owner} cannot be stored: '${path}' holds ${found}; ${remedy}.`,
    'ERR_INVALID_JOB_DATA',
    cause === undefined ? undefined : { cause },
  )
}
