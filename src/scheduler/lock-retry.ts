const firstDelayMs = 20
const longestDelayMs = 250

/** When the loop or a writer tries again what another session's lock was in the way of. All times are monotonic. */
export class LockRetry {
  #delayMs = firstDelayMs
  #atMs = Number.POSITIVE_INFINITY

  /** When the next try is; infinite while nothing is locked. */
  get atMs(): number {
    return this.#atMs
  }

  /** Something more is locked: the next try is soon. */
  added(elapsedMs: number): void {
    this.#delayMs = firstDelayMs
    this.#atMs = Math.min(this.#atMs, elapsedMs + firstDelayMs)
  }

  /** A try has been made, after which the next one comes later. */
  tried(elapsedMs: number): void {
    this.#delayMs = Math.min(this.#delayMs * 2, longestDelayMs)
    this.#atMs = elapsedMs + this.#delayMs
  }

  /** Nothing is locked any more. */
  emptied(): void {
    this.#atMs = Number.POSITIVE_INFINITY
  }
}
