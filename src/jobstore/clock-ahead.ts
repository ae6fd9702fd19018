import type { EpochMs } from '../time/clock.ts'

/**
 * What is stored with an instant later than now by more than this is of a clock that was ahead and was set right since.
 * The clocks of nodes differ by far less.
 */
export const aheadMaxMs = 60_000

/** Whether a clock that was ahead gave this instant. */
export function isAhead(timeMs: EpochMs, nowMs: EpochMs): boolean {
  return timeMs - nowMs > aheadMaxMs
}
