import { refuseNew } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { isObject } from '../core/options.ts'
import { chunkMs, type OffsetSource, readSegments, type ZoneSegment } from './zone-transitions.ts'

const emptySegment: ZoneSegment = { fromMs: 0, untilMs: 0, offsetMs: 0, repeatFromMs: 0, repeatUntilMs: 0 }

/**
 * The offsets of a time zone. They are computed once per chunk of time and kept, so that reading one costs a
 * look-up. Instants are epoch milliseconds; local numbers are what the wall shows, counted as if it were UTC
 * (src/time/civil.ts reads their fields).
 */
export abstract class ZoneOffsets {
  /** The IANA name, in the spelling of the zone data. */
  readonly name: string
  readonly #source: OffsetSource
  /** What was read of it, by the number of the chunk. */
  readonly #chunks = new Map<number, readonly ZoneSegment[]>()
  /** The segment of the last answer, and the stretch of time for which it may be used again. */
  #recent: ZoneSegment = emptySegment
  #recentFromMs = 0
  #recentUntilMs = 0

  /** @internal */
  protected constructor(name: string, source: OffsetSource) {
    if (!isObject(source)) refuseNew('TimeZone', 'source', source, 'TimeZone.of(name)')
    this.name = name
    this.#source = source
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
   *
   * @internal
   */
  segmentAt(epochMs: number): ZoneSegment {
    if (epochMs >= this.#recentFromMs && epochMs < this.#recentUntilMs) return this.#recent
    const index = Math.floor(epochMs / chunkMs)
    for (const segment of this.chunkAt(index)) {
      if (epochMs >= segment.untilMs) continue
      this.#recent = segment
      this.#recentFromMs = Math.max(segment.fromMs, index * chunkMs)
      this.#recentUntilMs = Math.min(segment.untilMs, (index + 1) * chunkMs)
      return segment
    }
    throw new InvalidArgumentError('epochMs', `An instant must be a number of milliseconds, got ${epochMs}.`)
  }

  /** The instant at which the wall first shows this; in a gap the first instant after the gap. */
  firstInstantAtOrAfter(localMs: number): number {
    for (const segment of this.chunkOf(localMs)) {
      const instantMs = localMs - segment.offsetMs
      if (instantMs < segment.untilMs) return Math.max(instantMs, segment.fromMs)
    }
    return Number.NaN
  }

  /** The instant at which the wall last shows this, or NaN in a gap. */
  lastInstantOf(localMs: number): number {
    let lastMs = Number.NaN
    for (const segment of this.chunkOf(localMs)) {
      const instantMs = localMs - segment.offsetMs
      if (instantMs >= segment.fromMs && instantMs < segment.untilMs) lastMs = instantMs
    }
    return lastMs
  }

  /**
   * The chunk that knows every instant at which the wall could show a local number.
   *
   * @internal
   */
  protected chunkOf(localMs: number): readonly ZoneSegment[] {
    return this.chunkAt(Math.floor(localMs / chunkMs))
  }

  /** @internal */
  protected chunkAt(index: number): readonly ZoneSegment[] {
    const known = this.#chunks.get(index)
    if (known !== undefined) return known
    if (!Number.isFinite(index)) return []
    const made = readSegments(this.#source, index)
    this.#chunks.set(index, made)
    return made
  }
}
