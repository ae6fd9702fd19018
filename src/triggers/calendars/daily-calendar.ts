import { describeValue } from '../../core/options.ts'
import { dayMs, floorMod } from '../../time/civil.ts'
import type { EpochMs } from '../../time/clock.ts'
import { calendarFields } from './calendar-fields.ts'
import { invalidCalendar } from './invalid-calendar.ts'
import { type CalendarOptions, ZonedCalendar } from './zoned-calendar.ts'

export interface DailyCalendarOptions extends CalendarOptions {
  /** First excluded time of day: `HH:MM`, `HH:MM:SS` or `HH:MM:SS:mmm`. */
  readonly rangeStart: string
  /** Last excluded time of day, not before the first: a range cannot cross midnight. */
  readonly rangeEnd: string
  /** True leaves out everything but the range. Default false. */
  readonly invertTimeRange?: boolean
}

/** Leaves out a range of every day by the wall clock, both ends included; or, inverted, everything else. */
export class DailyCalendar extends ZonedCalendar {
  readonly rangeStart: string
  readonly rangeEnd: string
  readonly invertTimeRange: boolean
  readonly #startMs: number
  readonly #endMs: number

  /** @throws InvalidArgumentError ERR_INVALID_CALENDAR, ERR_UNKNOWN_TIME_ZONE */
  constructor(options: DailyCalendarOptions) {
    super('daily', options, calendarFields.daily)
    const { rangeStart, rangeEnd, invertTimeRange = false } = options
    this.#startMs = requireTimeOfDayMs('rangeStart', rangeStart)
    this.#endMs = requireTimeOfDayMs('rangeEnd', rangeEnd)
    if (this.#endMs < this.#startMs) {
      throw invalidCalendar(
        'daily',
        'rangeEnd',
        `the range ends at ${rangeEnd}, before it starts at ${rangeStart}. ` +
          'For a range across midnight give the hours in between and set invertTimeRange.',
      )
    }
    if (typeof invertTimeRange !== 'boolean') {
      throw invalidCalendar('daily', 'invertTimeRange', `'invertTimeRange' must be true or false.`)
    }
    this.rangeStart = rangeStart
    this.rangeEnd = rangeEnd
    this.invertTimeRange = invertTimeRange
  }

  override get type(): 'daily' {
    return 'daily'
  }

  protected override includes(timeMs: EpochMs): boolean {
    return this.#includesTimeOfDay(floorMod(this.zone.toLocalMs(timeMs), dayMs))
  }

  protected override nextOwnIncluded(timeMs: EpochMs, horizonMs: EpochMs): EpochMs | null {
    if (!this.invertTimeRange && this.#endMs - this.#startMs === dayMs - 1) return null
    let instantMs = timeMs + 1
    while (instantMs <= horizonMs) {
      const segment = this.zone.segmentAt(instantMs)
      const timeOfDayMs = floorMod(instantMs + segment.offsetMs, dayMs)
      if (this.#includesTimeOfDay(timeOfDayMs)) return instantMs
      const boundaryMs = this.invertTimeRange ? this.#startMs : this.#endMs + 1
      const waitMs = boundaryMs > timeOfDayMs ? boundaryMs - timeOfDayMs : boundaryMs + dayMs - timeOfDayMs
      instantMs = Math.min(instantMs + waitMs, segment.untilMs)
    }
    return null
  }

  protected override ownFields(): Readonly<Record<string, unknown>> {
    return {
      rangeStart: this.rangeStart,
      rangeEnd: this.rangeEnd,
      ...(this.invertTimeRange ? { invertTimeRange: true } : {}),
    }
  }

  #includesTimeOfDay(timeOfDayMs: number): boolean {
    return (timeOfDayMs >= this.#startMs && timeOfDayMs <= this.#endMs) === this.invertTimeRange
  }
}

function requireTimeOfDayMs(field: string, value: unknown): number {
  const match =
    typeof value === 'string' ? /^(\d{1,2}):(\d{2})(?::(\d{2})(?::(\d{1,3}))?)?$/.exec(value) : null
  const [hour, minute, second, millisecond] = [1, 2, 3, 4].map((group) => Number(match?.[group] ?? 0))
  if (
    match === null ||
    hour === undefined ||
    minute === undefined ||
    second === undefined ||
    millisecond === undefined ||
    hour > 23 ||
    minute > 59 ||
    second > 59
  ) {
    throw invalidCalendar(
      'daily',
      field,
      `'${field}' must be a time of day such as '08:00' or '17:30:59:999', got ${describeValue(value)}.`,
    )
  }
  return ((hour * 60 + minute) * 60 + second) * 1000 + millisecond
}
