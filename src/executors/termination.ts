import { SchedulerError } from '../core/errors.ts'
import type { Clock } from '../time/clock.ts'
import { Alarm } from './alarm.ts'

/** An executor or timer that was shut down takes no more tasks. */
export class RejectedExecutionError extends SchedulerError {
  constructor(message: string) {
    super('ERR_REJECTED_EXECUTION', message)
  }
}

/** The end of an executor, and the callers that wait for it. */
export class Termination {
  readonly #clock: Clock
  readonly #waiters = new Set<() => void>()
  #isReached = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isReached(): boolean {
    return this.#isReached
  }

  reach(): void {
    this.#isReached = true
    for (const told of this.#waiters) told()
    this.#waiters.clear()
  }

  /** Resolves with true once it is reached, or with false after `timeoutMs`. */
  async wait(timeoutMs: number): Promise<boolean> {
    if (this.#isReached || timeoutMs <= 0) return this.#isReached
    return new Promise((resolve) => {
      const now = (): number => this.#clock.elapsedMs()
      const reached = (): void => {
        alarm.set(Number.POSITIVE_INFINITY)
        resolve(true)
      }
      const onRing = (): void => {
        this.#waiters.delete(reached)
        resolve(false)
      }
      const alarm = new Alarm({ clock: this.#clock, now, onRing, ref: true })
      alarm.set(now() + timeoutMs)
      this.#waiters.add(reached)
    })
  }
}
