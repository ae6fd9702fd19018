import type { Clock } from '../time/clock.ts'
import { nextTurn } from '../time/next-turn.ts'

/** How many steps of schedules one request follows at most, and for how long. */
const stepsMax = 50_000
const workMs = 500
/** How long it works before others have their turn. */
const turnMs = 3

/** Counts the work of one request. */
export class RequestWork {
  readonly #clock: Clock
  readonly #endMs: number
  #turnEndMs: number
  #left = stepsMax

  constructor(clock: Clock) {
    this.#clock = clock
    this.#endMs = clock.elapsedMs() + workMs
    this.#turnEndMs = clock.elapsedMs() + turnMs
  }

  /** False when there has been enough. */
  take(): boolean {
    this.#left--
    return !this.isOver()
  }

  isOver(): boolean {
    return this.#left <= 0 || this.#clock.elapsedMs() > this.#endMs
  }

  /** Lets others have their turn when this one has lasted long enough. */
  async breathe(): Promise<void> {
    if (this.#clock.elapsedMs() < this.#turnEndMs) return
    await nextTurn(this.#clock)
    this.#turnEndMs = this.#clock.elapsedMs() + turnMs
  }
}
