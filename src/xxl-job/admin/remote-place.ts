import { createHash } from 'node:crypto'
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
