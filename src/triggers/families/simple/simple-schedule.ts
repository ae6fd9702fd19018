import type { EpochMs } from '../../../time/clock.ts'
import { instantMaxMs } from '../../invalid-trigger.ts'
import { repeatIndefinitely } from '../../trigger-fields.ts'

/** Fires at the start and then every interval: `repeatCount` more times, or for ever with -1. */
export interface SimpleSchedule {
  readonly startTimeMs: EpochMs
  /** Exclusive, but the start itself always counts. */
  readonly endTimeMs: EpochMs | null
  readonly repeatCount: number
  readonly repeatIntervalMs: number
}

/** The first fire strictly after `afterMs`, of a schedule that has fired `timesTriggered` times. */
export function simpleFireTimeAfter(
  schedule: SimpleSchedule,
  afterMs: EpochMs,
  timesTriggered: number,
): EpochMs | null {
  const { startTimeMs, endTimeMs, repeatCount, repeatIntervalMs } = schedule
  const isFinite = repeatCount !== repeatIndefinitely
  if (isFinite && timesTriggered > repeatCount) return null
  if (endTimeMs !== null && endTimeMs <= afterMs) return null
  if (afterMs < startTimeMs) return startTimeMs
  if (repeatCount === 0) return null
  const fireNumber = Math.floor((afterMs - startTimeMs) / repeatIntervalMs) + 1
  if (isFinite && fireNumber > repeatCount) return null
  const fireTimeMs = startTimeMs + fireNumber * repeatIntervalMs
  if (fireTimeMs > instantMaxMs) return null
  return endTimeMs !== null && fireTimeMs >= endTimeMs ? null : fireTimeMs
}

/** The last fire, or null when the schedule goes on for ever. */
export function simpleFinalFireTime(schedule: SimpleSchedule): EpochMs | null {
  const { startTimeMs, endTimeMs, repeatCount, repeatIntervalMs } = schedule
  if (repeatCount === 0) return startTimeMs
  const lastByCount =
    repeatCount === repeatIndefinitely
      ? Number.POSITIVE_INFINITY
      : startTimeMs + repeatCount * repeatIntervalMs
  if (endTimeMs === null || lastByCount < endTimeMs) return lastByCount > instantMaxMs ? null : lastByCount
  const repeatsBeforeEnd = Math.floor((endTimeMs - 1 - startTimeMs) / repeatIntervalMs)
  return startTimeMs + Math.max(0, repeatsBeforeEnd) * repeatIntervalMs
}

/** How many whole intervals lie between two instants. */
export function intervalsBetween(schedule: SimpleSchedule, fromMs: EpochMs, toMs: EpochMs): number {
  if (schedule.repeatIntervalMs < 1) return 0
  return Math.max(0, Math.floor((toMs - fromMs) / schedule.repeatIntervalMs))
}
