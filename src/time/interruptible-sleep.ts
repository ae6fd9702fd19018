import type { Clock } from './clock.ts'

/** Sleeps that all end at once when their owner closes. */
export class InterruptibleSleep {
  readonly #clock: Clock
  readonly #wakers = new Set<() => void>()
  #isOver = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether any sleep is under way. */
  get areAny(): boolean {
    return this.#wakers.size > 0
  }

  /** True after that time or when woken, false when the owner closes or has closed. */
  sleep(ms: number): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(false)
    return new Promise((resolve) => {
      const wake = (): void => {
        timer.cancel()
        this.#wakers.delete(wake)
        resolve(!this.#isOver)
      }
      const timer = this.#clock.setTimer(ms, wake)
      this.#wakers.add(wake)
    })
  }

  /** Ends the sleeps that are under way, in their order. */
  wakeAll(): void {
    if (this.#wakers.size === 0) return
    for (const wake of [...this.#wakers]) wake()
  }

  /** Ends the sleep that has been under way for longest. */
  wakeFirst(): void {
    const [wake] = this.#wakers
    wake?.()
  }

  /** Ends all sleeps, present and future. */
  end(): void {
    this.#isOver = true
    this.wakeAll()
  }
}
