import { orNull } from '../../core/arguments.ts'
import { describeValue } from '../../core/options.ts'
import type { EpochMs } from '../../time/clock.ts'
import { TimeZone } from '../../time/zone.ts'
import { type Calendar, type CalendarDefinition, checkCalendar } from './calendar.ts'
import { CalendarSearch } from './calendar-search.ts'
import { invalidCalendar, maxChainLength, requireCalendarOptions, tooLongChain } from './invalid-calendar.ts'

/** Options of every calendar. */
export interface CalendarOptions {
  /** IANA name of the zone in which days and times of day are read. Default: the zone of this process. */
  readonly timeZone?: string
  /** For people. Default: none. */
  readonly description?: string | null
  /** An instant is included only when this calendar includes it, too. Default: none. */
  readonly baseCalendar?: Calendar | null
}

const commonOptions: readonly string[] = ['timeZone', 'description', 'baseCalendar']

/** One calendar of a chain, its base left aside. */
interface Layer {
  includes(timeMs: EpochMs): boolean
  /** The first included instant strictly after `timeMs`; null when there is none up to the horizon. */
  nextAfter(timeMs: EpochMs, horizonMs: EpochMs): EpochMs | null
}

/** A stretch of time of which nothing is included, and how many questions it took to find that out. */
interface Barren {
  readonly fromMs: EpochMs
  readonly untilMs: EpochMs
  readonly questions: number
}

/** Stretches that took fewer questions are not worth remembering, where they end before the horizon. */
const leastQuestionsKept = 1000

/** The common part of the six calendars: zone, description and base calendar. */
export abstract class ZonedCalendar implements Calendar {
  abstract readonly type: string
  readonly description: string | null
  readonly baseCalendar: Calendar | null
  protected readonly zone: TimeZone
  readonly #chainLength: number
  /**
   * What the last search that found nothing has been through: calendars that contradict each other are asked once, and
   * not again for each trigger that names them.
   */
  #barren: Barren | null = null

  protected constructor(type: string, options: CalendarOptions, ownOptions: readonly string[]) {
    requireCalendarOptions(type, options)
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
    orNull(checkCalendar)(`Calendar '${type}'`, 'baseCalendar', baseCalendar, 'ERR_INVALID_CALENDAR')
    this.zone = options.timeZone === undefined ? TimeZone.system() : TimeZone.of(options.timeZone)
    this.description = description
    this.baseCalendar = baseCalendar
    this.#chainLength = baseCalendar instanceof ZonedCalendar ? baseCalendar.#chainLength + 1 : 1
    if (this.#chainLength > maxChainLength) throw tooLongChain(type, 'baseCalendar')
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
    return this.firstIncludedFrom(timeMs + 1, new CalendarSearch(timeMs))
  }

  /**
   * The first included instant at or after `fromMs`, or null when the search ends without one.
   *
   * @internal
   */
  firstIncludedFrom(fromMs: EpochMs, search: CalendarSearch): EpochMs | null {
    const known = this.#barrenAt(fromMs)
    const passed = known === null ? 0 : questionsBetween(known, fromMs)
    if (!search.mayPass(passed)) return null
    const layers = ZonedCalendar.#layersOf(this)
    let candidateMs = known === null ? fromMs : known.untilMs
    let questions = 0
    // In turn, until all agree: a layer that excludes the candidate names the next one.
    for (let index = 0, agreed = 0; agreed < layers.length; index = (index + 1) % layers.length) {
      const layer = layers[index]
      if (layer === undefined || !search.mayAsk()) {
        this.#keep(known, { fromMs, untilMs: candidateMs, questions }, { isAll: false })
        return null
      }
      questions++
      if (layer.includes(candidateMs)) {
        agreed++
        continue
      }
      const nextMs = layer.nextAfter(candidateMs, search.horizonMs)
      if (nextMs === null || nextMs > search.horizonMs) {
        // One question may have taken long.
        this.#keep(known, { fromMs, untilMs: search.horizonMs, questions }, { isAll: true })
        return null
      }
      candidateMs = nextMs
      agreed = 1
    }
    return candidateMs
  }

  #barrenAt(timeMs: EpochMs): Barren | null {
    const barren = this.#barren
    return barren !== null && barren.fromMs <= timeMs && timeMs < barren.untilMs ? barren : null
  }

  /** What was found out behind a known stretch makes that longer. */
  #keep(known: Barren | null, found: Barren, { isAll }: { readonly isAll: boolean }): void {
    const questions = found.questions + (known?.questions ?? 0)
    if ((!isAll && questions < leastQuestionsKept) || !this.#isUnchanging) return
    this.#barren = { fromMs: known?.fromMs ?? found.fromMs, untilMs: found.untilMs, questions }
  }

  /** A base of another make may answer otherwise another time. */
  get #isUnchanging(): boolean {
    let base: Calendar | null = this.baseCalendar
    while (base instanceof ZonedCalendar) base = base.baseCalendar
    return base === null
  }

  /** A calendar and its bases, each by itself; a base of a user's class counts with its own bases as one. */
  static #layersOf(top: Calendar): readonly Layer[] {
    const layers: Layer[] = []
    let base: Calendar | null = top
    while (base instanceof ZonedCalendar) {
      const calendar: ZonedCalendar = base
      layers.push({
        includes: (timeMs) => calendar.includes(timeMs),
        nextAfter: (timeMs, horizonMs) => calendar.nextOwnIncluded(timeMs, horizonMs),
      })
      base = calendar.baseCalendar
    }
    if (base === null) return layers
    const foreign: Calendar = base
    layers.push({
      includes: (timeMs) => foreign.isTimeIncluded(timeMs),
      nextAfter: (timeMs) => foreign.nextIncludedTime(timeMs),
    })
    return layers
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

/** How many questions a search from this instant on would take to get through the stretch. */
function questionsBetween({ fromMs, untilMs, questions }: Barren, startMs: EpochMs): number {
  return Math.floor((questions * (untilMs - startMs)) / (untilMs - fromMs))
}
