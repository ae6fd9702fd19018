import type { EpochMs } from '../../../time/clock.ts'

/** What a transaction made available to fire: the earliest instant, for the loops of all nodes. */
export class FireOffers {
  #triggersMs: EpochMs | null = null
  #roomsMs: EpochMs | null = null
  #rearmedMs: EpochMs | null = null

  /** Something may fire at this instant that could not before; null is no news. */
  note(fireTimeMs: EpochMs | null): void {
    this.#triggersMs = earlier(this.#triggersMs, fireTimeMs)
  }

  /** The same of what waited only until there is room in its group. */
  noteRoom(fireTimeMs: EpochMs | null): void {
    this.#roomsMs = earlier(this.#roomsMs, fireTimeMs)
  }

  /** The next instant of a trigger that fired: the node that fired it knows, and no other one needs to. */
  noteRearmed(fireTimeMs: EpochMs | null): void {
    this.#rearmedMs = earlier(this.#rearmedMs, fireTimeMs)
  }

  /** For the loops that are told. */
  get earliestMs(): EpochMs | null {
    return earlier(this.#triggersMs, this.#roomsMs)
  }

  /** For the searches of this node: with what is armed again, and without what only had no room. */
  get earliestTriggerMs(): EpochMs | null {
    return earlier(this.#triggersMs, this.#rearmedMs)
  }
}

function earlier(one: EpochMs | null, other: EpochMs | null): EpochMs | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}
