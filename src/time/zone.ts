import { IANAZone } from 'luxon'
import { ZoneNames } from './zone-names.ts'
import { ZoneOffsets } from './zone-offsets.ts'
import { chunkMs } from './zone-transitions.ts'

/** A change of a zone's offset: the wall jumps forward when the offset grows, back when it shrinks. */
export interface ZoneTransition {
  /** First instant with the new offset. */
  readonly atMs: number
  readonly offsetBeforeMs: number
  readonly offsetAfterMs: number
}

/** How far a search for a neighbouring transition looks, in chunks: a little over twenty years. */
const transitionSearchChunks = 20

/** A time zone by its IANA name, with luxon's offsets. */
export class TimeZone extends ZoneOffsets {
  static readonly #names = new ZoneNames((name) => new TimeZone(name, new IANAZone(name)))
  static #system: { readonly variable: string | undefined; readonly zone: TimeZone } | null = null

  private constructor(name: string, source: IANAZone) {
    super(name, source)
  }

  /**
   * The zone of that name, in any case of its letters. Throws `InvalidArgumentError` (`ERR_UNKNOWN_TIME_ZONE`) when the
   * zone data of this process has no such zone.
   */
  static of(name: string): TimeZone {
    return TimeZone.#names.of(name)
  }

  /** True when {@link TimeZone.of} takes the name. */
  static isKnown(name: string): boolean {
    return TimeZone.#names.isKnown(name)
  }

  /** The zone of this process (the TZ variable or the machine's setting), UTC when it has no name. */
  static system(): TimeZone {
    const variable = process.env['TZ']
    if (TimeZone.#system === null || TimeZone.#system.variable !== variable) {
      TimeZone.#system = { variable, zone: TimeZone.#names.ofMachine() }
    }
    return TimeZone.#system.zone
  }

  /** The instants at which the wall shows this, ascending: none in a gap, two in an overlap, else one. */
  instantsOf(localMs: number): readonly number[] {
    const instants: number[] = []
    for (const segment of this.chunkOf(localMs)) {
      const instantMs = localMs - segment.offsetMs
      if (instantMs >= segment.fromMs && instantMs < segment.untilMs) instants.push(instantMs)
    }
    return instants
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

  override toString(): string {
    return this.name
  }

  toJSON(): string {
    return this.name
  }

  #transitionsIn(index: number): readonly ZoneTransition[] {
    const segments = this.chunkAt(index)
    return segments.flatMap((segment, position) => {
      const before = segments[position - 1]
      const own = segment.fromMs >= index * chunkMs && segment.fromMs < (index + 1) * chunkMs
      if (before === undefined || !own) return []
      return [{ atMs: segment.fromMs, offsetBeforeMs: before.offsetMs, offsetAfterMs: segment.offsetMs }]
    })
  }
}
