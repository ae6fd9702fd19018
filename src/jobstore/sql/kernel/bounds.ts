import type { EpochMs } from '../../../time/clock.ts'

/** Which rows of a table are deleted: those from before an instant, and those at or before a place. */
export interface Bounds<Place> {
  readonly beforeMs: EpochMs
  readonly surplus: Place | null
}
