import { unawaited } from '../../core/promises.ts'
import type { Clock, ClockTimer } from '../../time/clock.ts'

const askEveryMs = 15_000

export interface PermissionQuestions {
  /** May take as long as it likes, and fail. */
  readonly isPermitted: () => Promise<boolean>
  /** Called once, when the answer is no or there is none in time; with what was thrown when it failed. */
  readonly onGone: (failure?: { readonly error: unknown }) => void
}

/**
 * Asks every 15 seconds whether a stream may go on, one question at a time. Who answers may be code of the host, which
 * hangs or fails: a request would get no events then, so the stream gets none either.
 */
export class PermissionWatch {
  readonly #clock: Clock
  readonly #questions: PermissionQuestions
  #timer: ClockTimer
  #hasEnded = false

  constructor(clock: Clock, questions: PermissionQuestions) {
    this.#clock = clock
    this.#questions = questions
    this.#timer = this.#after(askEveryMs, () => {
      this.#ask()
    })
  }

  stop(): void {
    this.#hasEnded = true
    this.#timer.cancel()
  }

  #ask(): void {
    this.#timer = this.#after(askEveryMs, () => {
      this.#gone()
    })
    const { isPermitted } = this.#questions
    unawaited(
      isPermitted().then((isStill) => {
        this.#answered(isStill)
      }),
      (error) => {
        this.#gone({ error })
      },
    )
  }

  #answered(isStill: boolean): void {
    if (this.#hasEnded) return
    this.#timer.cancel()
    if (!isStill) {
      this.#gone()
      return
    }
    this.#timer = this.#after(askEveryMs, () => {
      this.#ask()
    })
  }

  #gone(failure?: { readonly error: unknown }): void {
    if (this.#hasEnded) return
    this.stop()
    this.#questions.onGone(failure)
  }

  #after(delayMs: number, onFire: () => void): ClockTimer {
    return this.#clock.setTimer(delayMs, onFire, { unref: true })
  }
}
