import type { Clock, ClockTimer } from './clock.ts'

/**
 * A wait that others can end early. A wake-up that comes while the loop does not wait is kept, so a wake-up between
 * "decide to sleep" and "sleep" is not lost. One waiter at a time.
 */
export class Gate {
  readonly #clock: Clock
  #pending = false
  #release: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Ends the current wait, or the next one if there is no current one. */
  wake(): void {
    this.#pending = true
    this.#release?.()
  }

  /** Waits until woken or until `timeoutMs` has passed; returns true when it was woken. Consumes the wake-up. */
  async wait(timeoutMs: number): Promise<boolean> {
    if (!this.#pending) {
      await new Promise<void>((resolve) => {
        const timer: ClockTimer = this.#clock.setTimer(timeoutMs, () => {
          this.#release = null
          resolve()
        })
        this.#release = () => {
          this.#release = null
          timer.cancel()
          resolve()
        }
      })
    }
    const woken = this.#pending
    this.#pending = false
    return woken
  }
}
