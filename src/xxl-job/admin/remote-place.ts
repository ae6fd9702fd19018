import type { XxlJobRunPlace } from './admin-events.ts'

/** What a run that its scheduler remembers is reported under. */
export function referenceOf(logId: number): string {
  return `xxl-job:${logId}`
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
