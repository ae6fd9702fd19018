import { InvalidArgumentError } from './errors.ts'
import { describeValue } from './options.ts'

/** Data of a job or trigger: a plain object whose values survive a trip through JSON and between threads. */
export type JobDataMap = Readonly<Record<string, unknown>>

export const emptyJobDataMap: JobDataMap = Object.freeze({})

/** Keys with this prefix carry the scheduler's own notes (recovery, retry); jobs do not see or set them. */
export const reservedDataPrefix = 'QRTZ_'

/** Largest job data in bytes of UTF-8 JSON, unless the scheduler's `maxJobDataBytes` says otherwise. */
export const defaultMaxJobDataBytes = 1_048_576

/** A deep copy that shares nothing with the original. */
export function cloneJobData(data: JobDataMap): Record<string, unknown> {
  return data === emptyJobDataMap ? {} : structuredClone(data)
}

/** The job's entries with the trigger's over them, as a copy and without the scheduler's own notes. */
export function mergeJobData(jobData: JobDataMap, triggerData: JobDataMap): Record<string, unknown> {
  if (jobData === emptyJobDataMap && triggerData === emptyJobDataMap) return {}
  const merged: Record<string, unknown> = {}
  for (const [key, value] of Object.entries({ ...jobData, ...triggerData })) {
    if (!key.startsWith(reservedDataPrefix)) merged[key] = value
  }
  return structuredClone(merged)
}

/**
 * Refuses data that a store cannot keep or a thread cannot receive: functions, symbols, class instances, cycles,
 * `undefined`, numbers without a JSON form, dates, bigints, and anything too large. The error names the key.
 *
 * @throws InvalidArgumentError ERR_INVALID_JOB_DATA or ERR_JOB_DATA_TOO_LARGE
 */
export function validateJobData(
  owner: string,
  data: JobDataMap,
  maxBytes: number = defaultMaxJobDataBytes,
): void {
  if (data === emptyJobDataMap) return
  if (!isPlainObject(data)) {
    throw new InvalidArgumentError(
      'jobDataMap',
      `Job data of ${owner} must be a plain object, got ${describeValue(data)}.`,
      'ERR_INVALID_JOB_DATA',
    )
  }
  validateValue(owner, 'jobDataMap', data, [])
  const text = JSON.stringify(data)
  const bytes = Buffer.byteLength(text)
  if (bytes > maxBytes) {
    throw new InvalidArgumentError(
      'jobDataMap',
      `Job data of ${owner} takes ${bytes} bytes, more than the ${maxBytes} allowed; its largest entry is '${largestKey(data)}'. Store the bulk elsewhere and pass a reference, or raise maxJobDataBytes.`,
      'ERR_JOB_DATA_TOO_LARGE',
    )
  }
}

function validateValue(owner: string, path: string, value: unknown, ancestors: readonly object[]): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return
    throw refuse(owner, path, `the number ${String(value)}, which JSON cannot hold`, 'use null or a string')
  }
  if (typeof value !== 'object') {
    const remedy =
      typeof value === 'undefined'
        ? 'leave the key out or use null'
        : typeof value === 'bigint'
          ? 'use a string'
          : 'pass plain data'
    throw refuse(owner, path, `a value of type ${typeof value}`, remedy)
  }
  if (ancestors.includes(value)) throw refuse(owner, path, 'a reference back to itself', 'break the cycle')
  const inside = [...ancestors, value]
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      validateValue(owner, `${path}[${index}]`, value[index], inside)
    }
    return
  }
  if (!isPlainObject(value)) {
    const name = constructorName(value)
    const remedy = value instanceof Date ? 'use its ISO string or milliseconds' : 'use a plain object'
    throw refuse(owner, path, `an instance of ${name}`, remedy)
  }
  for (const key of Object.keys(value)) {
    if (path === 'jobDataMap' && key.startsWith(reservedDataPrefix)) continue
    validateValue(owner, `${path}.${key}`, value[key], inside)
  }
}

function refuse(owner: string, path: string, found: string, remedy: string): InvalidArgumentError {
  return new InvalidArgumentError(
    path,
    `Job data of ${owner} cannot be stored: '${path}' holds ${found}; ${remedy}.`,
    'ERR_INVALID_JOB_DATA',
  )
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function constructorName(value: object): string {
  const constructor: unknown = (value as { constructor?: unknown }).constructor
  return typeof constructor === 'function' ? constructor.name : 'an unknown class'
}

function largestKey(data: JobDataMap): string {
  let largest = ''
  let largestSize = -1
  for (const [key, value] of Object.entries(data)) {
    const size = JSON.stringify(value).length
    if (size > largestSize) {
      largest = key
      largestSize = size
    }
  }
  return largest
}
