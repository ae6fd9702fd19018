import { type Clock, type ClockTimer, timerDelayMaxMs } from '../time/clock.ts'

export interface AlarmOptions {
  readonly clock: Clock
  /** Reads the time that the alarm goes by. */
  readonly now: () => number
  /** Called when the time has come, never before. */
  readonly onRing: () => void
  /** Whether the alarm keeps the process alive while it is set. */
  readonly ref: boolean
  /** The longest sleep before the time is read again. Default: as long as a timer can be. */
  readonly longestSleepMs?: number
}

/**
 * One timer for the earliest of many times, however far ahead. It is armed again only when that time moves nearer; when
 * it moves away, the timer fires once for nothing.
 */
export class Alarm {
  readonly #options: AlarmOptions
  readonly #longestSleepMs: number
  #ref: boolean
  #atMs = Number.POSITIVE_INFINITY
  /** The time for which the timer is armed; Infinity when it is not. */
  #armedForMs = Number.POSITIVE_INFINITY
  #timer: ClockTimer | null = null

  constructor(options: AlarmOptions) {
    this.#options = options
    this.#longestSleepMs = options.longestSleepMs ?? timerDelayMaxMs
    this.#ref = options.ref
  }

  /** Rings at that time, at once if it is over, and not at the time that was set before. Infinity: never. */
  set(atMs: number): void {
    this.#atMs = atMs
    if (atMs === Number.POSITIVE_INFINITY) this.#disarm()
    else if (atMs < this.#armedForMs) this.#arm()
  }

  /** Whether it keeps the process alive while it is set. */
  setRef(options: { readonly ref: boolean }): void {
    if (this.#ref === options.ref) return
    this.#ref = options.ref
    if (this.#timer !== null) this.#arm()
  }

  #arm(): void {
    this.#disarm()
    const { clock, now } = this.#options
    const delayMs = this.#atMs - now()
    this.#armedForMs = this.#atMs
    // Timers count whole milliseconds; a fraction less would fire too early and have to be armed again.
    this.#timer =
      delayMs > 0
        ? clock.setTimer(Math.ceil(Math.min(delayMs, this.#longestSleepMs)), this.#wake, {
            unref: !this.#ref,
          })
        : clock.setImmediate(this.#wake)
  }

  #disarm(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#armedForMs = Number.POSITIVE_INFINITY
  }

  readonly #wake = (): void => {
    this.#timer = null
    this.#armedForMs = Number.POSITIVE_INFINITY
    if (this.#options.now() < this.#atMs) {
      this.#arm()
      return
    }
    this.#atMs = Number.POSITIVE_INFINITY
    this.#options.onRing()
  }
}
