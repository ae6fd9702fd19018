import { createHash } from 'node:crypto'
import { isObject } from '../../core/options.ts'
import type { XxlJobRunPlace } from './admin-events.ts'

/** What a run that its scheduler remembers is reported under, by the group of those who may report it. */
export function referenceOf(group: string, logId: number): string {
  if (group === '') return `xxl-job:${logId}`
  // An AppName may be longer than a reference.
  return `xxl-job:${createHash('sha256').update(group).digest('hex').slice(0, 32)}:${logId}`
}

/** Where a run is, as it was written down. */
export interface RemotePlace extends XxlJobRunPlace {
  /** What the executor files the log of the run under. */
  readonly logDateTimeMs: number
}

/** @throws SyntaxError for what was not written down by a job of an admin */
export function placeOf(note: string): RemotePlace {
  return JSON.parse(note) as RemotePlace
}

/** The field of the line that an execution logs when its run is sent: its place. */
export const placeField = 'xxlJob'

/** Data of a trigger that go over what the job says, for a run that somebody asks for by hand. */
export const onceKeys = { param: 'xxlJob.param', address: 'xxlJob.address' } as const

/** The place in the fields of a line that an execution logged; null where there is none. */
export function loggedPlaceOf(fieldsText: string | null): RemotePlace | null {
  try {
    const fields: unknown = JSON.parse(fieldsText ?? 'null')
    const place: unknown = isObject(fields) ? Reflect.get(fields, placeField) : null
    return isPlace(place) ? place : null
  } catch {
    return null
  }
}

function isPlace(value: unknown): value is RemotePlace {
  if (!isObject(value)) return false
  const place: Partial<Record<keyof RemotePlace, unknown>> = value
  const numbers = [place.jobId, place.logId, place.logDateTimeMs]
  const texts = [place.appName, place.address]
  return (
    numbers.every((each) => Number.isSafeInteger(each)) && texts.every((each) => typeof each === 'string')
  )
}
