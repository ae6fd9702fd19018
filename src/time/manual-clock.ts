import { checkThat } from '../core/arguments.ts'
import { type Clock, type ClockTimer, type EpochMs, timerDelayMaxMs } from './clock.ts'

const checkStart = checkThat('a valid Date or a number of milliseconds', (value) =>
  Number.isFinite(value instanceof Date ? value.getTime() : value),
)
const checkStep = checkThat('a number of milliseconds', Number.isFinite)
const checkAdvance = checkThat(
  'a number of milliseconds that is not negative',
  (value) => Number.isFinite(value) && Number(value) >= 0,
  'Set the wall clock back with jump.',
)

// Taken when this module loads: test runners replace the global functions by ones that wait for their own fake time.
const { setImmediate: setRealImmediate, clearImmediate: clearRealImmediate } = globalThis

interface ArmedTimer {
  readonly deadline: number
  readonly sequence: number
  readonly onFire: () => void
}

/**
 * A clock that stands still until a test moves it, so that "three days later" is one line.
 *
 * `advance` moves both clocks and fires due timers in order of their deadlines; `jump` moves the wall clock alone, as
 * an operator or NTP would. After each timer the clock gives promises and immediates a few turns before it goes on.
 * Work that waits for anything else (a file, a server, a thread, a timer of Node.js) may not have ended by then; a
 * scheduler's `idle()` waits for it.
 */
export class ManualClock implements Clock {
  #wallMs: EpochMs
  #monotonicMs = 0
  #sequence = 0
  readonly #timers = new Set<ArmedTimer>()

  constructor(start: Date | EpochMs = Date.UTC(2026, 0, 1)) {
    checkStart('ManualClock', 'start', start)
    this.#wallMs = Number(start)
  }

  now(): EpochMs {
    return Math.floor(this.#wallMs)
  }

  elapsedMs(): number {
    return this.#monotonicMs
  }

  setTimer(delayMs: number, onFire: () => void): ClockTimer {
    // Whole milliseconds, as real timers count: the sum of fractions would end just before the target.
    const clamped = Math.ceil(Math.min(Math.max(delayMs, 0), timerDelayMaxMs))
    const timer: ArmedTimer = { deadline: this.#monotonicMs + clamped, sequence: this.#sequence++, onFire }
    this.#timers.add(timer)
    return { cancel: () => this.#timers.delete(timer) }
  }

  setImmediate(onFire: () => void): ClockTimer {
    const immediate = setRealImmediate(onFire)
    return {
      cancel: () => {
        clearRealImmediate(immediate)
      },
    }
  }

  /** How many timers are armed: zero after a clean shutdown. */
  get timerCount(): number {
    return this.#timers.size
  }

  /**
   * Moves time forward, firing timers that come due on the way; after each, promises and immediates have a few turns.
   *
   * @throws InvalidArgumentError ERR_INVALID_ARGUMENT for a number that is negative or not finite
   */
  async advance(ms: number): Promise<void> {
    checkAdvance('advance', 'ms', ms)
    const target = this.#monotonicMs + ms
    await this.settle()
    for (;;) {
      const next = this.#nextTimer()
      if (next === null || next.deadline > target) break
      this.#moveTo(next.deadline)
      this.#timers.delete(next)
      next.onFire()
      await this.settle()
    }
    this.#moveTo(target)
    await this.settle()
  }

  /** Moves to the next armed timer and fires it; false when none is armed. */
  async advanceToNextTimer(): Promise<boolean> {
    await this.settle()
    const next = this.#nextTimer()
    if (next === null) return false
    await this.advance(Math.max(0, next.deadline - this.#monotonicMs))
    return true
  }

  /** Moves the wall clock alone (forwards or, with a negative number, backwards); timers do not notice. */
  jump(ms: number): void {
    checkStep('jump', 'ms', ms)
    this.#wallMs += ms
  }

  /** Gives pending promises and immediates a few turns without moving time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) {
      await new Promise<void>((resolve) => setRealImmediate(resolve))
    }
  }

  #moveTo(monotonicMs: number): void {
    // Another call of `advance` may have moved it further meanwhile.
    const step = Math.max(0, monotonicMs - this.#monotonicMs)
    this.#monotonicMs += step
    this.#wallMs += step
  }

  #nextTimer(): ArmedTimer | null {
    let next: ArmedTimer | null = null
    for (const timer of this.#timers) {
      if (
        next === null ||
        timer.deadline < next.deadline ||
        (timer.deadline === next.deadline && timer.sequence < next.sequence)
      ) {
        next = timer
      }
    }
    return next
  }
}
