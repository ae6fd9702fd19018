import type { Clock, ClockTimer, EpochMs } from './clock.ts'

/** The clock does not step for smaller differences. */
const smallestStepMs = 10

/**
 * A clock that a store corrects with its own time. Until the first adjustment it shows what the clock below shows.
 * After it, it runs on monotonic time and does not follow changes of the machine's clock.
 */
export class AdjustableClock implements Clock {
  readonly #base: Clock
  #anchor: { readonly wallMs: number; readonly elapsedMs: number } | null = null

  constructor(base: Clock) {
    this.#base = base
  }

  now(): EpochMs {
    const anchor = this.#anchor
    if (anchor === null) return this.#base.now()
    return Math.floor(anchor.wallMs + this.#base.elapsedMs() - anchor.elapsedMs)
  }

  elapsedMs(): number {
    return this.#base.elapsedMs()
  }

  setTimer(delayMs: number, onFire: () => void, options?: { unref?: boolean }): ClockTimer {
    return this.#base.setTimer(delayMs, onFire, options)
  }

  setImmediate(onFire: () => void): ClockTimer {
    return this.#base.setImmediate(onFire)
  }

  /** How far this clock is ahead of the one below. */
  get offsetMs(): number {
    return this.now() - this.#base.now()
  }

  /**
   * The store's time is `aheadMs` ahead of this clock, give or take the uncertainty. Returns true when this clock made
   * a step; it makes none for a difference within the uncertainty.
   */
  adjust(aheadMs: number, uncertaintyMs: number): boolean {
    const elapsedMs = this.#base.elapsedMs()
    const anchor = this.#anchor
    const wallMs = anchor === null ? this.#base.now() : anchor.wallMs + elapsedMs - anchor.elapsedMs
    // Where the store waited before it looked, equal clocks differ by all of the uncertainty, and by what is rounded.
    const steps = Math.abs(aheadMs) >= uncertaintyMs + smallestStepMs
    this.#anchor = { wallMs: steps ? wallMs + aheadMs : wallMs, elapsedMs }
    return steps
  }
}
