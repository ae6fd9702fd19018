import { secondMs } from '../../time/civil.ts'
import type { ZoneOffsets } from '../../time/zone-offsets.ts'
import type { CronSchedule } from './cron-schedule.ts'
import type { DstPolicy } from './dst-policy.ts'
import { localRunEnd } from './local-search.ts'

/**
 * The first second after an instant in which nothing fires. Runs of fires are stepped over while the zone's offset is
 * constant; near a change of offset each second is checked. Every run ends, because the years of an expression end; one
 * that goes on past `untilMs` is not followed further, and the answer lies past that, too.
 */
export function firstInvalidAfter(
  policy: DstPolicy,
  schedule: CronSchedule,
  zone: ZoneOffsets,
  afterMs: number,
  untilMs: number,
): number {
  let lastMs = Math.floor(afterMs / secondMs) * secondMs
  while (lastMs <= untilMs && policy.nextMs(schedule, zone, lastMs) === lastMs + secondMs) {
    lastMs += secondMs
    const segment = zone.segmentAt(lastMs)
    if (lastMs < segment.repeatUntilMs) continue
    const limitMs = segment.repeatFromMs + segment.offsetMs
    const runEndMs = Math.min(localRunEnd(schedule, lastMs + segment.offsetMs, limitMs), limitMs)
    lastMs = Math.max(lastMs, runEndMs - segment.offsetMs - secondMs)
  }
  return lastMs + secondMs
}
