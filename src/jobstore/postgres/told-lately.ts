/** What was told already, and is no news for a while. */
export class ToldLately {
  readonly #toldMs = new Map<string, number>()
  readonly #againMs: number
  readonly #elapsedMs: () => number

  /** What was told is news again after `againMs`; `elapsedMs` is monotonic time. */
  constructor(againMs: number, elapsedMs: () => number) {
    this.#againMs = againMs
    this.#elapsedMs = elapsedMs
  }

  /** Whether it is news; then it counts as told from now on. */
  isNews(what: string): boolean {
    const nowMs = this.#elapsedMs()
    for (const [told, atMs] of this.#toldMs) if (nowMs - atMs >= this.#againMs) this.#toldMs.delete(told)
    if (this.#toldMs.has(what)) return false
    this.#toldMs.set(what, nowMs)
    return true
  }
}
