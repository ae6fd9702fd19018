/** Runs of one job: when each was planned. */
export class Runs {
  readonly planned: number[] = []
  /** When each began. */
  readonly #beganMs: number[] = []
  readonly #waiting = new Set<() => void>()

  note(plannedMs: number): void {
    this.planned.push(plannedMs)
    this.#beganMs.push(Date.now())
    for (const look of [...this.#waiting]) look()
  }

  /** Resolves when it has run so often for instants from one on. */
  reach(count: number, fromMs = Number.NEGATIVE_INFINITY): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.planned.filter((plannedMs) => plannedMs >= fromMs).length < count) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }

  more(count: number): Promise<void> {
    return this.reach(this.planned.length + count)
  }

  /** The longest time without a run between an instant and the last run. */
  longestPauseMs(sinceMs: number): number {
    const times = [sinceMs, ...this.#beganMs.filter((ms) => ms >= sinceMs)]
    return Math.max(...times.slice(1).map((ms, index) => ms - (times[index] ?? 0)))
  }

  /** How far apart the planned instants were; each planned once. */
  get gaps(): readonly number[] {
    return [...new Set(this.planned.slice(1).map((ms, index) => ms - (this.planned[index] ?? 0)))]
  }
}
