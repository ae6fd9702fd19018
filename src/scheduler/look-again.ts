import type { IdGenerator } from '../core/ids.ts'
import type { Clock, EpochMs } from '../time/clock.ts'

/** How long to wait before a look for what the store left due, doubled by each further one in a row up to the most. */
const lookAgainMs = { first: 10, most: 1000 }
/** Looks for what other nodes may have left are spread over this time, so that nodes do not ask in step. */
const lookSpreadMs = 20

/** When to ask the store again because it said so, and not because something was signalled. */
export class LookAgain {
  readonly #clock: Clock
  readonly #ids: IdGenerator
  /** How many answers in a row left something due. */
  #inVain = 0

  constructor(clock: Clock, ids: IdGenerator) {
    this.#clock = clock
    this.#ids = ids
  }

  /** The monotonic time; infinite when the answer gave no reason to. To be called once for each answer, as it comes. */
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
