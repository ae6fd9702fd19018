import { type Clock, type ClockTimer, type EpochMs, setTimeLimit } from '../time/clock.ts'

/** When the store has not answered for so many steps, that is no short lock or pause any more. */
const stepMs = 1000
const stepsMax = 5
/** A step that took longer is no time in which the store was silent: the process was suspended or busy. */
const lateMs = stepMs / 2

/** How long a question may be unanswered before that is told. */
export const unansweredMaxMs: number = stepMs * stepsMax

export interface UnansweredParts {
  readonly clock: Clock
  /** A question has been unanswered for `unansweredMaxMs` in which this process ran. */
  readonly onLong: (what: string) => void
}

/**
 * A question to the store that may stay unanswered, as on a connection whose other end is gone: its limit is that of a
 * statement, and until then nothing fails. One question is open at a time.
 */
export class Unanswered {
  readonly #parts: UnansweredParts
  #what = ''
  #askedMs: EpochMs = 0
  #isLong = false
  #steps = 0
  #stepStartedMs = 0
  #timer: ClockTimer | null = null

  constructor(parts: UnansweredParts) {
    this.#parts = parts
  }

  /** Wall clock at which the open question was asked; null without one, and for its first seconds. */
  get sinceMs(): EpochMs | null {
    return this.#isLong ? this.#askedMs : null
  }

  /** `what` names the question. */
  ask(what: string): void {
    this.end()
    this.#what = what
    this.#askedMs = this.#parts.clock.now()
    this.#steps = 0
    this.#arm()
  }

  /** The store has answered, or failed to. */
  end(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#isLong = false
  }

  #arm(): void {
    const { clock } = this.#parts
    this.#stepStartedMs = clock.elapsedMs()
    this.#timer = setTimeLimit(clock, stepMs, this.#onStep, { unref: true })
  }

  readonly #onStep = (): void => {
    const { clock, onLong } = this.#parts
    if (clock.elapsedMs() - this.#stepStartedMs < stepMs + lateMs) this.#steps++
    if (this.#steps < stepsMax) {
      this.#arm()
      return
    }
    this.#timer = null
    this.#isLong = true
    onLong(this.#what)
  }
}
