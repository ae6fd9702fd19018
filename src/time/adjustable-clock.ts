import type { Clock, ClockTimer, EpochMs } from './clock.ts'

/** Smaller differences are not worth a step. */
const smallestStepMs = 10

/**
 * A clock that can be put right by a better one. From the first adjustment on it runs on monotonic time: when somebody
 * sets the machine's clock, it does not follow. Until then it shows what the clock below shows.
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
   * The better clock is `aheadMs` ahead of this one, give or take the uncertainty. True when that made this one step;
   * what may be an error of measurement does not.
   */
  adjust(aheadMs: number, uncertaintyMs: number): boolean {
    const elapsedMs = this.#base.elapsedMs()
    const anchor = this.#anchor
    const wallMs = anchor === null ? this.#base.now() : anchor.wallMs + elapsedMs - anchor.elapsedMs
    const steps = Math.abs(aheadMs) >= Math.max(uncertaintyMs, smallestStepMs)
    this.#anchor = { wallMs: steps ? wallMs + aheadMs : wallMs, elapsedMs }
    return steps
  }
}
