import type { Clock, ClockTimer } from './clock.ts'

/** Callers that wait for something to end, each with or without a time limit. */
export class Waiters {
  readonly #waiting = new Set<() => void>()

  /** Whether any caller waits. */
  get areAny(): boolean {
    return this.#waiting.size > 0
  }

  /** Resolves all waits. */
  wakeAll(): void {
    for (const wake of [...this.#waiting]) wake()
  }

  /** Resolves when woken, or after `timeoutMs`. */
  async wait(clock: Clock, timeoutMs?: number): Promise<void> {
    await new Promise<void>((resolve) => {
      let timer: ClockTimer | null = null
      const done = (): void => {
        timer?.cancel()
        this.#waiting.delete(done)
        resolve()
      }
      this.#waiting.add(done)
      if (timeoutMs !== undefined) timer = clock.setTimer(timeoutMs, done)
    })
  }
}
