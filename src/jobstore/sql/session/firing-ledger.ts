/** A moment in the life of a {@link FiringLedger}. */
export type LedgerMark = number

/**
 * The claims and executions that the scheduler was told of and that have not ended. What the database has of this node
 * beyond them has no one to end it: the answer in which it would have been told was lost.
 */
export class FiringLedger {
  readonly #ids = new Set<string>()
  /** Searches whose answers are not known yet, by when they began. */
  readonly #open = new Set<LedgerMark>()
  #begun: LedgerMark = 0

  /** Runs a search for what is to fire, and notes what it answers. */
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

  /** They have ended, or were given back. */
  forget(ids: readonly string[]): void {
    for (const id of ids) this.#ids.delete(id)
  }

  mark(): LedgerMark {
    return this.#begun
  }

  /** Whether all that was searched for until then has been answered, so that what it found is noted here. */
  isCompleteUntil(mark: LedgerMark): boolean {
    return [...this.#open].every((begun) => begun > mark)
  }
}
