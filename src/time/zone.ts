import { IANAZone } from 'luxon'
import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue, nearestName } from '../core/options.ts'
import { chunkMs, readSegments, type ZoneSegment } from './zone-transitions.ts'

/** A change of a zone's offset: the wall jumps forward when the offset grows, back when it shrinks. */
export interface ZoneTransition {
  /** First instant with the new offset. */
  readonly atMs: number
  readonly offsetBeforeMs: number
  readonly offsetAfterMs: number
}

const emptySegment: ZoneSegment = { fromMs: 0, untilMs: 0, offsetMs: 0, repeatFromMs: 0, repeatUntilMs: 0 }

/** How far a search for a neighbouring transition looks, in chunks: a little over twenty years. */
const transitionSearchChunks = 20

/**
 * A time zone by its IANA name. Offsets are computed once per zone and chunk of time and kept, so that reading one
 * costs a look-up. Instants are epoch milliseconds; local numbers are what the wall shows, counted as if it were UTC
 * (src/time/civil.ts reads their fields).
 */
export class TimeZone {
  static readonly #byName = new Map<string, TimeZone>()
  static #system: { readonly variable: string | undefined; readonly zone: TimeZone } | null = null

  /** The name as it was given. */
  readonly name: string
  readonly #zone: IANAZone
  readonly #chunks = new Map<number, readonly ZoneSegment[]>()
  /** The segment of the last answer, and the stretch of time for which it may be used again. */
  #recent: ZoneSegment = emptySegment
  #recentFromMs = 0
  #recentUntilMs = 0

  private constructor(name: string, zone: IANAZone) {
    this.name = name
    this.#zone = zone
  }

  /**
   * The zone of that name. Throws {@link InvalidArgumentError} (`ERR_UNKNOWN_TIME_ZONE`) when the zone data of this
   * process has no such zone.
   */
  static of(name: string): TimeZone {
    const known = TimeZone.#byName.get(name)
    if (known !== undefined) return known
    // A bare offset is a zone to some versions of Node and not to others: refuse it everywhere.
    const valid = typeof name === 'string' && /^[A-Za-z]/.test(name) && name.length <= 64
    const zone = valid ? IANAZone.create(name) : null
    if (zone?.isValid !== true) throw unknownZone(name)
    const made = new TimeZone(name, zone)
    TimeZone.#byName.set(name, made)
    return made
  }

  /** True when {@link TimeZone.of} takes the name. */
  static isKnown(name: string): boolean {
    try {
      TimeZone.of(name)
      return true
    } catch {
      return false
    }
  }

  /** The zone of this process (the TZ variable or the machine's setting), UTC when it has no name. */
  static system(): TimeZone {
    const variable = process.env['TZ']
    if (TimeZone.#system === null || TimeZone.#system.variable !== variable) {
      const name = new Intl.DateTimeFormat().resolvedOptions().timeZone
      TimeZone.#system = { variable, zone: TimeZone.of(TimeZone.isKnown(name) ? name : 'UTC') }
    }
    return TimeZone.#system.zone
  }

  /** Local minus UTC at that instant, in milliseconds. */
  offsetMsAt(epochMs: number): number {
    return this.segmentAt(epochMs).offsetMs
  }

  /** What the wall shows at that instant. */
  toLocalMs(epochMs: number): number {
    return epochMs + this.segmentAt(epochMs).offsetMs
  }

  /**
   * The stretch of constant offset round an instant. It is the same object for the same stretch, cut where the zone's
   * data was read in pieces, at least three days from the instant.
   */
  segmentAt(epochMs: number): ZoneSegment {
    if (epochMs >= this.#recentFromMs && epochMs < this.#recentUntilMs) return this.#recent
    const index = Math.floor(epochMs / chunkMs)
    for (const segment of this.#chunkAt(index)) {
      if (epochMs >= segment.untilMs) continue
      this.#recent = segment
      this.#recentFromMs = Math.max(segment.fromMs, index * chunkMs)
      this.#recentUntilMs = Math.min(segment.untilMs, (index + 1) * chunkMs)
      return segment
    }
    throw new InvalidArgumentError('epochMs', `An instant must be a number of milliseconds, got ${epochMs}.`)
  }

  /** The instants at which the wall shows this, ascending: none in a gap, two in an overlap, else one. */
  instantsOf(localMs: number): readonly number[] {
    const instants: number[] = []
    for (const segment of this.#chunkOf(localMs)) {
      const instantMs = localMs - segment.offsetMs
      if (instantMs >= segment.fromMs && instantMs < segment.untilMs) instants.push(instantMs)
    }
    return instants
  }

  /** The instant at which the wall first shows this; in a gap the first instant after the gap. */
  firstInstantAtOrAfter(localMs: number): number {
    for (const segment of this.#chunkOf(localMs)) {
      const instantMs = localMs - segment.offsetMs
      if (instantMs < segment.untilMs) return Math.max(instantMs, segment.fromMs)
    }
    return Number.NaN
  }

  /** The instant at which the wall last shows this, or NaN in a gap. */
  lastInstantOf(localMs: number): number {
    let lastMs = Number.NaN
    for (const segment of this.#chunkOf(localMs)) {
      const instantMs = localMs - segment.offsetMs
      if (instantMs >= segment.fromMs && instantMs < segment.untilMs) lastMs = instantMs
    }
    return lastMs
  }

  /** The first change of offset after an instant, or null when there is none within twenty years. */
  nextTransition(epochMs: number): ZoneTransition | null {
    const index = Math.floor(epochMs / chunkMs)
    for (let ahead = 0; ahead < transitionSearchChunks; ahead++) {
      const found = this.#transitionsIn(index + ahead).find((transition) => transition.atMs > epochMs)
      if (found !== undefined) return found
    }
    return null
  }

  /** The last change of offset before an instant, or null when there is none within twenty years. */
  previousTransition(epochMs: number): ZoneTransition | null {
    const index = Math.floor(epochMs / chunkMs)
    for (let back = 0; back < transitionSearchChunks; back++) {
      const found = this.#transitionsIn(index - back).findLast((transition) => transition.atMs < epochMs)
      if (found !== undefined) return found
    }
    return null
  }

  toString(): string {
    return this.name
  }

  toJSON(): string {
    return this.name
  }

  #transitionsIn(index: number): readonly ZoneTransition[] {
    const segments = this.#chunkAt(index)
    return segments.flatMap((segment, position) => {
      const before = segments[position - 1]
      const own = segment.fromMs >= index * chunkMs && segment.fromMs < (index + 1) * chunkMs
      if (before === undefined || !own) return []
      return [{ atMs: segment.fromMs, offsetBeforeMs: before.offsetMs, offsetAfterMs: segment.offsetMs }]
    })
  }

  /** The chunk that knows every instant at which the wall could show a local number. */
  #chunkOf(localMs: number): readonly ZoneSegment[] {
    return this.#chunkAt(Math.floor(localMs / chunkMs))
  }

  #chunkAt(index: number): readonly ZoneSegment[] {
    const known = this.#chunks.get(index)
    if (known !== undefined) return known
    if (!Number.isFinite(index)) return []
    const made = readSegments(this.#zone, index)
    this.#chunks.set(index, made)
    return made
  }
}

function unknownZone(name: unknown): InvalidArgumentError {
  const nearest =
    typeof name === 'string' && name.length <= 64
      ? nearestName(name, Intl.supportedValuesOf('timeZone'))
      : null
  const remedy =
    nearest === null ? `Use an IANA name such as 'Europe/Paris' or 'UTC'.` : `Did you mean '${nearest}'?`
  return new InvalidArgumentError(
    'timeZone',
    `Unknown time zone ${describeValue(name)}. ${remedy}`,
    'ERR_UNKNOWN_TIME_ZONE',
  )
}
