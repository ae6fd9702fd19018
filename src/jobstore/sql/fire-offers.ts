import type { EpochMs } from '../../time/clock.ts'

/** What a transaction made available to fire: the earliest instant, for the loops of all nodes. */
export class FireOffers {
  #triggersMs: EpochMs | null = null
  #roomsMs: EpochMs | null = null

  /** Something may fire at this instant that could not before; null is no news. */
  note(fireTimeMs: EpochMs | null): void {
    this.#triggersMs = earlier(this.#triggersMs, fireTimeMs)
  }

  /** The same of what waited only until there is room in its group. */
  noteRoom(fireTimeMs: EpochMs | null): void {
    this.#roomsMs = earlier(this.#roomsMs, fireTimeMs)
  }

  get earliestMs(): EpochMs | null {
    return earlier(this.#triggersMs, this.#roomsMs)
  }

  /** Without what only had no room. */
  get earliestTriggerMs(): EpochMs | null {
    return this.#triggersMs
  }
}

function earlier(one: EpochMs | null, other: EpochMs | null): EpochMs | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}
