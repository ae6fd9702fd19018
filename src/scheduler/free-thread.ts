import { unawaited } from '../core/promises.ts'
import type { ThreadPool } from '../threadpool/thread-pool.ts'
import type { Clock } from '../time/clock.ts'
import type { Gate } from '../time/gate.ts'

export interface FreeThreadParts {
  readonly clock: Clock
  readonly threadPool: ThreadPool
  /** Ends every wait. */
  readonly haltSignal: AbortSignal
  /** The gate of the loop: ends a wait that has an end of its own. */
  readonly gate: Gate
}

/** How the loop waits for a free thread. */
export class FreeThread {
  readonly #parts: FreeThreadParts
  /** The pool's answer, which opens the gate. The loop may wait for it several times. */
  #opening: Promise<number> | null = null

  constructor(parts: FreeThreadParts) {
    this.#parts = parts
  }

  /**
   * Answers how many threads are free; 0 once the loop is halted or the pool is shut down. Null when it is `untilMs`, a
   * monotonic time, or the loop was woken. With an infinite time nothing but a thread or the halt ends the wait.
   */
  nextUntil(untilMs: number): Promise<number | null> {
    return untilMs === Number.POSITIVE_INFINITY ? this.#next() : this.#nextOrWoken(untilMs)
  }

  #next(): Promise<number> {
    const { haltSignal, threadPool } = this.#parts
    return threadPool.blockForAvailableThreads(haltSignal)
  }

  async #nextOrWoken(untilMs: number): Promise<number | null> {
    const { clock, gate } = this.#parts
    const opening = this.#opening ?? this.#open()
    await gate.wait(Math.max(0, untilMs - clock.elapsedMs()))
    return this.#opening === null ? opening : null
  }

  #open(): Promise<number> {
    const opening = this.#next().finally(() => {
      this.#opening = null
      this.#parts.gate.wake()
    })
    this.#opening = opening
    // The wait under way passes a failure on. Without one, the loop meets the failure when it waits again.
    unawaited(opening, () => {})
    return opening
  }
}
