import type { Clock } from '../time/clock.ts'

/** The longest that operations of callers run before timers and I/O have their turn. */
const turnMs = 3

/**
 * Lets timers and I/O of the process run while a caller awaits one operation after the other. A store that answers
 * synchronously would keep such a caller in the microtask queue: storing a hundred thousand triggers would stall the
 * process.
 */
export class TurnBudget {
  readonly #clock: Clock
  /** When the first operation of this turn of the event loop came; null before it. */
  #turnStartMs: number | null = null
  #nextTurn: Promise<void> = Promise.resolve()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts an operation: null to go on at once, or what to wait for when the turn has lasted long enough. */
  spend(): Promise<void> | null {
    const nowMs = this.#clock.elapsedMs()
    if (this.#turnStartMs === null) {
      this.#turnStartMs = nowMs
      this.#nextTurn = new Promise((resolve) => {
        this.#clock.setImmediate(() => {
          this.#turnStartMs = null
          resolve()
        })
      })
      return null
    }
    return nowMs - this.#turnStartMs < turnMs ? null : this.#nextTurn
  }
}
