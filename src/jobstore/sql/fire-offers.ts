import type { EpochMs } from '../../time/clock.ts'

/** What a transaction made available to fire: the earliest instant, for the loops of all nodes. */
export class FireOffers {
  #earliestMs: EpochMs | null = null

  /** Something may fire at this instant that could not before; null is no news. */
  note(fireTimeMs: EpochMs | null): void {
    if (fireTimeMs === null) return
    if (this.#earliestMs === null || fireTimeMs < this.#earliestMs) this.#earliestMs = fireTimeMs
  }

  get earliestMs(): EpochMs | null {
    return this.#earliestMs
  }
}
