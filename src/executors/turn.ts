import type { Clock } from '../time/clock.ts'

/** The longest that tasks run one after the other before timers and I/O have their turn. */
const turnMs = 5

/** For tasks that are shorter than this the clock is not read each time, because reading it takes as long. */
const quickMs = 0.05

const longestStride = 16

/**
 * How long tasks may run within one turn of the event loop. Tasks started by an alarm and tasks started by ended tasks
 * share the time of one turn: a settled promise calls back before any timer or I/O, so it must not get new time.
 */
export class Turn {
  readonly #clock: Clock
  #endMs = Number.NEGATIVE_INFINITY
  /** The time when it was last read. */
  nowMs = 0
  /** How many tasks run between two readings of the clock. */
  #stride = 1
  #left = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A new turn of the event loop has begun. Called from a timer or an immediate only. */
  begin(): void {
    this.nowMs = this.#clock.elapsedMs()
    this.#endMs = this.nowMs + turnMs
    this.#stride = 1
    this.#left = 1
  }

  /** Called from elsewhere, maybe within the last turn: reads the clock first. */
  resume(): void {
    this.#left = 0
  }

  /** Called before each task: false when the turn has lasted long enough. */
  goesOn(): boolean {
    if (this.#left-- > 0) return true
    const nowMs = this.#clock.elapsedMs()
    const quick = nowMs - this.nowMs <= quickMs * this.#stride
    this.#stride = quick ? Math.min(2 * this.#stride, longestStride) : 1
    this.#left = this.#stride - 1
    this.nowMs = nowMs
    return nowMs < this.#endMs
  }
}
