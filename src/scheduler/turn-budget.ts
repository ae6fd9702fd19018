import type { Clock } from '../time/clock.ts'

/** The longest that one caller keeps the process busy before timers and I/O have their turn. */
const turnMs = 4
/** The clock is looked at once in so many operations. */
const operationsPerLook = 8

/**
 * Lets the process breathe while a caller awaits one operation after the other: a store that answers at once would
 * keep such a loop in the microtask queue, and a hundred thousand new triggers would stall everything else.
 */
export class TurnBudget {
  readonly #clock: Clock
  #operations = 0
  #turnStartMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts an operation: null to go on at once, or what to wait for when the turn has lasted long enough. */
  spend(): Promise<void> | null {
    if (++this.#operations < operationsPerLook) return null
    this.#operations = 0
    const nowMs = this.#clock.elapsedMs()
    if (nowMs - this.#turnStartMs < turnMs) return null
    return this.#nextTurn()
  }

  async #nextTurn(): Promise<void> {
    await new Promise<void>((resolve) => this.#clock.setImmediate(resolve))
    this.#turnStartMs = this.#clock.elapsedMs()
  }
}
