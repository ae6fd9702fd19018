import type { IdGenerator } from '../core/ids.ts'
import type { Clock, EpochMs } from '../time/clock.ts'

/**
 * How long the loop waits before it asks again for triggers that the store left due: doubled each time in a row, up to
 * `most`.
 */
const lookAgainMs = { first: 10, most: 1000 }
/** Looks at an instant that all nodes know are spread over this time, so that the nodes do not ask at once. */
const lookSpreadMs = 20

/** When the loop asks the store again because the store said so, and not because of a signal. */
export class LookAgain {
  readonly #clock: Clock
  readonly #ids: IdGenerator
  /** How many answers in a row left something due. */
  #inVain = 0

  constructor(clock: Clock, ids: IdGenerator) {
    this.#clock = clock
    this.#ids = ids
  }

  /**
   * The monotonic time of the next look; infinite when the answer gave no reason for one. Called once for each answer
   * of the store.
   */
  timeAfter(lookAgainAtMs: EpochMs | null): number {
    const elapsedMs = this.#clock.elapsedMs()
    const aheadMs = lookAgainAtMs === null ? Number.POSITIVE_INFINITY : lookAgainAtMs - this.#clock.now()
    if (aheadMs > 0) {
      this.#inVain = 0
      return elapsedMs + aheadMs + lookSpreadMs * this.#ids.random()
    }
    const delayMs = Math.min(lookAgainMs.most, lookAgainMs.first * 2 ** this.#inVain)
    this.#inVain++
    return elapsedMs + delayMs * (1 - 0.5 * this.#ids.random())
  }
}
