import type { Clock, ClockTimer } from './clock.ts'

/**
 * A wait that others can end early. A wake-up that comes while nobody waits is kept, so one that falls between
 * "decide to sleep" and "sleep" is not lost. One waiter at a time.
 */
export class Gate {
  readonly #clock: Clock
  #pending = false
  #release: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Ends the current wait, or the next one if nobody waits now. */
  wake(): void {
    this.#pending = true
    this.#release?.()
  }

  /** Forgets a kept wake-up: what it announced has been seen. */
  clear(): void {
    this.#pending = false
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
