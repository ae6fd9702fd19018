import { type ArgumentCheck, checkMethods } from '../core/arguments.ts'

/** An instant: milliseconds since the epoch on the wall clock. Listings have these, events have Dates. */
export type EpochMs = number

export interface ClockTimer {
  /** Stops the timer; harmless when it has fired already. */
  cancel(): void
}

/**
 * The one source of time. Nothing else in the library reads a clock or arms a timer, so a test that holds the clock
 * holds all of time (`ManualClock` in `quartz-ts/testing`).
 */
export interface Clock {
  /** Wall clock; may jump either way, so never subtract two readings to measure. */
  now(): EpochMs
  /** Monotonic milliseconds; only differences mean anything. */
  elapsedMs(): number
  /**
   * Calls `onFire` once after `delayMs` of monotonic time. Delays are clamped to [0, 2^31-1]: a caller that waits
   * longer plans again when it wakes.
   */
  setTimer(delayMs: number, onFire: () => void, options?: { unref?: boolean }): ClockTimer
  /** Calls `onFire` after pending I/O and timers had their turn: yields the event loop. */
  setImmediate(onFire: () => void): ClockTimer
}

export const checkClock: ArgumentCheck = checkMethods(
  'a Clock',
  ['now', 'elapsedMs', 'setTimer', 'setImmediate'],
  'Leave it out for the clock of the system, or use a ManualClock of quartz-ts/testing.',
)

/** The longest delay that Node's timers keep; a longer one would fire at once. */
export const timerDelayMaxMs: number = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsedMs: () => performance.now(),
  setTimer(delayMs, onFire, options) {
    const timer = setTimeout(onFire, Math.min(Math.max(delayMs, 0), timerDelayMaxMs))
    if (options?.unref === true) timer.unref()
    return {
      cancel: () => {
        clearTimeout(timer)
      },
    }
  },
  setImmediate(onFire) {
    const immediate = setImmediate(onFire)
    return {
      cancel: () => {
        clearImmediate(immediate)
      },
    }
  },
}

/**
 * A time limit for what waits for another thread, a file or the network. When the event loop was busy, timers come
 * before the messages that came in meanwhile: these are handled first, because what was to be in time may have been.
 */
export function setTimeLimit(
  clock: Clock,
  limitMs: number,
  onExceeded: () => void,
  options?: { unref?: boolean },
): ClockTimer {
  let timer = clock.setTimer(
    limitMs,
    () => {
      timer = clock.setImmediate(onExceeded)
    },
    options,
  )
  return {
    cancel: () => {
      timer.cancel()
    },
  }
}

/** Monotonic milliseconds, the same in every thread of the process; `elapsedMs` of a clock is each thread's own. */
export function processElapsedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** As `clock.setTimer`, for delays of any length: past 24.8 days the timer is armed again as often as it takes. */
export function setLongTimer(clock: Clock, delayMs: number, onFire: () => void): ClockTimer {
  const endMs = clock.elapsedMs() + delayMs
  const arm = (leftMs: number): ClockTimer =>
    clock.setTimer(leftMs, () => {
      const stillMs = endMs - clock.elapsedMs()
      if (leftMs > timerDelayMaxMs && stillMs > 0) timer = arm(stillMs)
      else onFire()
    })
  let timer = arm(delayMs)
  return {
    cancel: () => {
      timer.cancel()
    },
  }
}
