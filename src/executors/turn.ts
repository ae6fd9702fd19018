import type { Clock } from '../time/clock.ts'

/** The longest that tasks run one after the other before timers and I/O have their turn. */
const turnMs = 5

/** Tasks that take no longer than this are not worth a look at the clock each, which takes as long as they do. */
const quickMs = 0.05

const longestStride = 16

/** One turn of the event loop, in which due tasks run. */
export class Turn {
  readonly #clock: Clock
  readonly #endMs: number
  /** The time when it was last read. */
  nowMs: number
  /** How many tasks pass from one look at the clock to the next. */
  #stride = 1
  #left = 1

  constructor(clock: Clock) {
    this.#clock = clock
    this.nowMs = clock.elapsedMs()
    this.#endMs = this.nowMs + turnMs
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
