/** A moment in the order of a {@link FiringLedger}. */
export type LedgerMark = number

/**
 * The claims and executions that the scheduler knows and that have not ended. Further ones of this node in the database
 * will never be ended by it, because the answer with them was lost.
 */
export class FiringLedger {
  readonly #ids = new Set<string>()
  /** Searches and firings that are not answered yet, by when they began. */
  readonly #open = new Set<LedgerMark>()
  #begun: LedgerMark = 0

  /** Runs what claims or fires, and notes the claims and executions of its answer. */
  async during<Answer>(
    search: () => Promise<Answer>,
    idsOf: (answer: Answer) => readonly string[],
  ): Promise<Answer> {
    const mark = ++this.#begun
    this.#open.add(mark)
    try {
      const answer = await search()
      for (const id of idsOf(answer)) this.#ids.add(id)
      return answer
    } finally {
      this.#open.delete(mark)
    }
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** Removes claims and executions that have ended or were released. */
  forget(ids: readonly string[]): void {
    for (const id of ids) this.#ids.delete(id)
  }

  mark(): LedgerMark {
    return this.#begun
  }

  /** Whether all that began before then has been answered, so that its result is noted here. */
  isCompleteUntil(mark: LedgerMark): boolean {
    return [...this.#open].every((begun) => begun > mark)
  }
}
