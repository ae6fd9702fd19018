import { describeValue } from '../../core/options.ts'
import type { EpochMs } from '../../time/clock.ts'
import { TimeZone } from '../../time/zone.ts'
import { searchHorizonMs } from '../calendar-skip.ts'
import type { Calendar, CalendarDefinition } from './calendar.ts'
import { invalidCalendar } from './invalid-calendar.ts'

/** How often a calendar and its base may contradict each other before the answer is "never". */
const maxContradictions = 10_000

/** What every calendar may be given. */
export interface CalendarOptions {
  /** IANA name of the zone in which days and times of day are read. Default: the zone of this process. */
  readonly timeZone?: string
  /** For people. Default: none. */
  readonly description?: string | null
  /** An instant is included only when this calendar includes it, too. Default: none. */
  readonly baseCalendar?: Calendar | null
}

const commonOptions: readonly string[] = ['timeZone', 'description', 'baseCalendar']

/** What the six calendars share: zone, description, and standing on a base calendar. */
export abstract class ZonedCalendar implements Calendar {
  abstract readonly type: string
  readonly description: string | null
  readonly baseCalendar: Calendar | null
  protected readonly zone: TimeZone

  protected constructor(type: string, options: CalendarOptions, ownOptions: readonly string[]) {
    for (const field of Object.keys(options)) {
      if (!commonOptions.includes(field) && !ownOptions.includes(field)) {
        const known = [...ownOptions, ...commonOptions].join(', ')
        throw invalidCalendar(type, field, `unknown option '${field}'. Known: ${known}.`)
      }
    }
    const { description = null, baseCalendar = null } = options
    if (description !== null && typeof description !== 'string') {
      throw invalidCalendar(
        type,
        'description',
        `'description' must be text, got ${describeValue(description)}.`,
      )
    }
    this.zone = options.timeZone === undefined ? TimeZone.system() : TimeZone.of(options.timeZone)
    this.description = description
    this.baseCalendar = baseCalendar
  }

  /** IANA name of the zone in which days and times of day are read. */
  get timeZone(): string {
    return this.zone.name
  }

  isTimeIncluded(timeMs: EpochMs): boolean {
    if (!this.includes(timeMs)) return false
    return this.baseCalendar === null || this.baseCalendar.isTimeIncluded(timeMs)
  }

  nextIncludedTime(timeMs: EpochMs): EpochMs | null {
    const horizonMs = timeMs + searchHorizonMs
    const base = this.baseCalendar
    let afterMs = timeMs
    for (let tries = 0; tries < maxContradictions; tries++) {
      const ownMs = this.nextOwnIncluded(afterMs, horizonMs)
      if (ownMs === null || ownMs > horizonMs) return null
      if (base === null || base.isTimeIncluded(ownMs)) return ownMs
      const baseMs = base.nextIncludedTime(ownMs)
      if (baseMs === null || baseMs > horizonMs) return null
      if (this.includes(baseMs)) return baseMs
      afterMs = baseMs
    }
    return null
  }

  /** The plain form: `calendarFromJSON` makes an equal calendar of it. */
  toJSON(): CalendarDefinition {
    return {
      type: this.type,
      timeZone: this.timeZone,
      ...this.ownFields(),
      ...(this.description === null ? {} : { description: this.description }),
      ...(this.baseCalendar === null ? {} : { base: this.baseCalendar.toJSON() }),
    }
  }

  /** Whether this calendar, its base left aside, includes the instant. */
  protected abstract includes(timeMs: EpochMs): boolean

  /**
   * The first instant strictly after `timeMs` that this calendar, its base left aside, includes; null when there is
   * none up to the horizon.
   */
  protected abstract nextOwnIncluded(timeMs: EpochMs, horizonMs: EpochMs): EpochMs | null

  /** The family's own part of the plain form. */
  protected abstract ownFields(): Readonly<Record<string, unknown>>
}
