import type { Clock } from '../time/clock.ts'

/** The longest that tasks run one after the other before timers and I/O have their turn. */
const turnMs = 5

/** Tasks that take no longer than this are not worth a look at the clock each, which takes as long as they do. */
const quickMs = 0.05

const longestStride = 16

/**
 * How long tasks may run within one turn of the event loop. What an alarm starts and what ended tasks start in the same
 * turn share it: a promise that settles calls back before any timer or I/O, so it must not bring time of its own.
 */
export class Turn {
  readonly #clock: Clock
  #endMs = Number.NEGATIVE_INFINITY
  /** The time when it was last read. */
  nowMs = 0
  /** How many tasks pass from one look at the clock to the next. */
  #stride = 1
  #left = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The event loop has come round: only what a timer or an immediate calls may say so. */
  begin(): void {
    this.nowMs = this.#clock.elapsedMs()
    this.#endMs = this.nowMs + turnMs
    this.#stride = 1
    this.#left = 1
  }

  /** Something else than the event loop calls, maybe within the turn that began last: the clock is read first. */
  resume(): void {
    this.#left = 0
  }

  /** Asked before each task: false when the turn has lasted long enough. */
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
