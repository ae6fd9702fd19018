/** Lateness of many firings, counted per whole millisecond, so that it stays small however long a run is. */
export class Lateness {
  readonly #counts = new Map<number, number>()
  #size = 0

  add(latenessMs: number): void {
    const ms = Math.max(0, Math.round(latenessMs))
    this.#counts.set(ms, (this.#counts.get(ms) ?? 0) + 1)
    this.#size++
  }

  get size(): number {
    return this.#size
  }

  /** The lateness that a share (0 to 1) of the firings did not exceed (nearest rank); null when there was none. */
  percentileMs(share: number): number | null {
    const rank = Math.max(1, Math.ceil(share * this.#size))
    let seen = 0
    for (const [ms, times] of this.#sorted()) {
      seen += times
      if (seen >= rank) return ms
    }
    return null
  }

  /** The greatest lateness; null when there was none. */
  get maxMs(): number | null {
    return this.percentileMs(1)
  }

  /** All firings of several in one. */
  static merge(parts: Iterable<Lateness>): Lateness {
    const merged = new Lateness()
    for (const part of parts) {
      for (const [ms, times] of part.#counts) {
        merged.#counts.set(ms, (merged.#counts.get(ms) ?? 0) + times)
        merged.#size += times
      }
    }
    return merged
  }

  #sorted(): [number, number][] {
    return [...this.#counts].sort(([a], [b]) => a - b)
  }
}
