import { dayMs, secondMs } from '../../time/civil.ts'
import type { ZoneOffsets } from '../../time/zone-offsets.ts'
import type { CronSchedule } from './cron-schedule.ts'
import { localAtOrAfter, localAtOrBefore } from './local-search.ts'

export const cronDsts: readonly CronDst[] = ['vixie', 'quartz']

/**
 * How wall times become instants where a zone's wall clock jumps.
 *
 * - `vixie`: an expression that names times of day (second, minute and hour are values or lists) fires once for a time
 *   in a gap, at the first instant after the gap, and once in an overlap, at the first pass. One with a
 *   wildcard, range or step in second, minute or hour follows elapsed time: it fires in both passes of an overlap, and
 *   not additionally after a gap.
 * - `quartz`: what Java Quartz does. The smallest matching local time after the local time of the given instant; times
 *   in a gap are skipped; a repeated local time means its later instant.
 */
export type CronDst = 'vixie' | 'quartz'

/** The searches of one policy: the first fire after an instant, the last before one; infinite when there is none. */
export interface DstPolicy {
  nextMs(schedule: CronSchedule, zone: ZoneOffsets, afterMs: number): number
  previousMs(schedule: CronSchedule, zone: ZoneOffsets, beforeMs: number): number
}

/** Where a search begins or ends when the caller's instant is further out: no zone is that far from UTC. */
const searchMinMs = -2 * dayMs
const searchMaxMs = Date.UTC(2200, 0, 3)

export function dstPolicyOf(dst: CronDst, schedule: CronSchedule): DstPolicy {
  if (dst === 'quartz') return quartzPolicy
  return schedule.fixedTimes ? fixedTimesPolicy : elapsedTimePolicy
}

function clamp(epochMs: number): number {
  return Math.min(Math.max(epochMs, searchMinMs), searchMaxMs)
}

/** Fires at the last instant that shows a matching local time. */
const quartzPolicy: DstPolicy = {
  nextMs(schedule, zone, afterMs) {
    // From the next whole second, as Java: it may be the first of the second pass of an overlap.
    const startMs = (Math.floor(clamp(afterMs) / secondMs) + 1) * secondMs
    const segment = zone.segmentAt(startMs)
    let localMs = localAtOrAfter(schedule, startMs + segment.offsetMs)
    if (localMs - segment.offsetMs < segment.repeatFromMs) return localMs - segment.offsetMs
    while (localMs !== Number.POSITIVE_INFINITY) {
      const instantMs = zone.lastInstantOf(localMs)
      if (!Number.isNaN(instantMs)) return instantMs
      localMs = localAtOrAfter(schedule, zone.toLocalMs(zone.firstInstantAtOrAfter(localMs)))
    }
    return Number.POSITIVE_INFINITY
  },

  previousMs(schedule, zone, beforeMs) {
    const startMs = Math.ceil(clamp(beforeMs)) - 1
    const segment = zone.segmentAt(startMs)
    // In the first pass of an overlap nothing fires: its wall times fire in the second pass.
    const lastMs = Math.min(startMs, segment.repeatFromMs - 1)
    let localMs = localAtOrBefore(schedule, lastMs + segment.offsetMs)
    if (localMs - segment.offsetMs >= segment.fromMs) return localMs - segment.offsetMs
    while (localMs !== Number.NEGATIVE_INFINITY) {
      const instantMs = zone.lastInstantOf(localMs)
      if (!Number.isNaN(instantMs)) return instantMs
      localMs = localAtOrBefore(schedule, zone.toLocalMs(zone.firstInstantAtOrAfter(localMs) - 1))
    }
    return Number.NEGATIVE_INFINITY
  },
}

/** Fires at the first instant that shows a matching local time, or would if it were not in a gap. */
const fixedTimesPolicy: DstPolicy = {
  nextMs(schedule, zone, afterMs) {
    const startMs = Math.floor(clamp(afterMs))
    const segment = zone.segmentAt(startMs)
    // The second pass of an overlap shows only wall times that have fired.
    const fromMs = Math.max(startMs + 1, segment.repeatUntilMs)
    const localMs = localAtOrAfter(schedule, fromMs + segment.offsetMs)
    if (localMs - segment.offsetMs < segment.untilMs) return localMs - segment.offsetMs
    return localMs === Number.POSITIVE_INFINITY ? localMs : zone.firstInstantAtOrAfter(localMs)
  },

  previousMs(schedule, zone, beforeMs) {
    const startMs = Math.ceil(clamp(beforeMs)) - 1
    const segment = zone.segmentAt(startMs)
    const lastMs = Math.max(startMs, segment.repeatUntilMs - 1)
    const localMs = localAtOrBefore(schedule, lastMs + segment.offsetMs)
    if (localMs - segment.offsetMs >= segment.repeatUntilMs) return localMs - segment.offsetMs
    return localMs === Number.NEGATIVE_INFINITY ? localMs : zone.firstInstantAtOrAfter(localMs)
  },
}

/** Fires at every instant that shows a matching local time. */
const elapsedTimePolicy: DstPolicy = {
  nextMs(schedule, zone, afterMs) {
    let fromMs = Math.floor(clamp(afterMs)) + 1
    for (;;) {
      const segment = zone.segmentAt(fromMs)
      const localMs = localAtOrAfter(schedule, fromMs + segment.offsetMs)
      if (localMs - segment.offsetMs < segment.untilMs) return localMs - segment.offsetMs
      // A part of the first pass is over: the second pass may match before any later time does.
      if (fromMs > segment.repeatFromMs) fromMs = segment.untilMs
      else if (localMs === Number.POSITIVE_INFINITY) return localMs
      else fromMs = zone.firstInstantAtOrAfter(localMs)
    }
  },

  previousMs(schedule, zone, beforeMs) {
    let lastMs = Math.ceil(clamp(beforeMs)) - 1
    for (;;) {
      const segment = zone.segmentAt(lastMs)
      const localMs = localAtOrBefore(schedule, lastMs + segment.offsetMs)
      if (localMs - segment.offsetMs >= segment.fromMs) return localMs - segment.offsetMs
      if (lastMs + 1 < segment.repeatUntilMs) lastMs = segment.fromMs - 1
      else if (localMs === Number.NEGATIVE_INFINITY) return localMs
      else lastMs = lastShownAtOrBefore(zone, localMs)
    }
  },
}

/** The last instant that shows a local time; in a gap the last one before it. */
function lastShownAtOrBefore(zone: ZoneOffsets, localMs: number): number {
  const instantMs = zone.lastInstantOf(localMs)
  return Number.isNaN(instantMs) ? zone.firstInstantAtOrAfter(localMs) - 1 : instantMs
}
