import { civilFromDays, dayMs, daysFromCivil, daysInMonth, epochDayOf, floorMod } from './civil.ts'
import type { EpochMs } from './clock.ts'
import type { TimeZone } from './zone.ts'

/**
 * The instant that a wall time means to a person: in a gap as much later as the gap is long (02:30 becomes 03:30), in
 * an overlap the first pass.
 */
export function instantOfWallTime(zone: TimeZone, localMs: number): EpochMs {
  const instantMs = zone.firstInstantAtOrAfter(localMs)
  return zone.toLocalMs(instantMs) === localMs ? instantMs : localMs - zone.offsetMsAt(instantMs - 1)
}

/** The first instant strictly after `afterMs` that shows a wall time of a series; `next` gives the series. */
export function nextWallTime(zone: TimeZone, afterMs: EpochMs, next: (localMs: number) => number): EpochMs {
  for (let fromMs = afterMs; ; ) {
    const { offsetMs, untilMs } = zone.segmentAt(fromMs)
    const instantMs = next(fromMs + offsetMs) - offsetMs
    if (instantMs < untilMs) return instantMs
    const shownMs = zone.toLocalMs(untilMs)
    if (next(shownMs - 1) === shownMs) return untilMs
    fromMs = untilMs
  }
}

/** The last instant at or before `atMs` at which the wall shows a multiple of the unit. */
export function evenWallTimeBefore(zone: TimeZone, atMs: EpochMs, unitMs: number): EpochMs {
  for (let fromMs = atMs; ; ) {
    const segment = zone.segmentAt(fromMs)
    const instantMs = fromMs - floorMod(fromMs + segment.offsetMs, unitMs)
    if (instantMs >= segment.fromMs) return instantMs
    fromMs = segment.fromMs - 1
  }
}

/** A wall time so many months later; a day that the month does not have becomes its last. */
export function plusMonths(localMs: number, months: number): number {
  const from = civilFromDays(epochDayOf(localMs))
  const monthIndex = from.year * 12 + from.month - 1 + months
  const year = Math.floor(monthIndex / 12)
  const month = monthIndex - year * 12 + 1
  const day = Math.min(from.day, daysInMonth(year, month))
  return daysFromCivil(year, month, day) * dayMs + floorMod(localMs, dayMs)
}
