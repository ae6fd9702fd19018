import { dayMs, epochDayOf } from '../../time/civil.ts'
import type { EpochMs } from '../../time/clock.ts'
import { ZonedCalendar } from './zoned-calendar.ts'

/** A calendar that includes or excludes whole local days, counted from 1970-01-01. */
export abstract class DayCalendar extends ZonedCalendar {
  /** True when no day is left: searches end at once. */
  protected abstract readonly excludesEveryDay: boolean

  protected abstract isDayIncluded(epochDay: number): boolean

  protected override includes(timeMs: EpochMs): boolean {
    return this.isDayIncluded(epochDayOf(this.zone.toLocalMs(timeMs)))
  }

  protected override nextOwnIncluded(timeMs: EpochMs, horizonMs: EpochMs): EpochMs | null {
    if (this.excludesEveryDay) return null
    let instantMs = timeMs + 1
    while (instantMs <= horizonMs) {
      const segment = this.zone.segmentAt(instantMs)
      const day = epochDayOf(instantMs + segment.offsetMs)
      if (this.isDayIncluded(day)) return instantMs
      // A change of the zone's offset can bring a day back, or take one away.
      instantMs = Math.min(this.#nextIncludedDay(day, segment, horizonMs), segment.untilMs)
    }
    return null
  }

  /** Where the next included day begins, as far as the segment's offset holds. */
  #nextIncludedDay(
    day: number,
    segment: { readonly offsetMs: number; readonly untilMs: number },
    horizonMs: EpochMs,
  ): EpochMs {
    const limitMs = Math.min(segment.untilMs, horizonMs + 1)
    for (let next = day + 1; ; next++) {
      const instantMs = next * dayMs - segment.offsetMs
      if (instantMs >= limitMs || this.isDayIncluded(next)) return instantMs
    }
  }
}
