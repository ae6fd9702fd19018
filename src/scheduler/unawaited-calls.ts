import type { Told } from './notifier.ts'

/**
 * Calls of listeners by work that others wait for, and so may the listeners: the work does not wait for them. They are
 * made in the order of the work, each one as soon as the one before it has been answered.
 */
export class UnawaitedCalls {
  /** Of the last call; null when all calls have been answered. */
  #last: Told = null
  #addedCount = 0
  #answeredCount = 0

  /** How many calls were added so far. */
  get addedCount(): number {
    return this.#addedCount
  }

  /** Whether the first `count` calls have been answered. */
  hasAnswered(count: number): boolean {
    return this.#answeredCount >= count
  }

  /** Resolves when the calls that were added so far have been answered; null when they have been. */
  get answered(): Told {
    return this.#last
  }

  readonly add = (call: () => Told): null => {
    const before = this.#last
    const told = before === null ? call() : callAfter(before, call)
    if (told === null) return null
    this.#addedCount++
    const answered = told.finally(() => {
      this.#answeredCount++
      if (this.#last === answered) this.#last = null
    })
    this.#last = answered
    return null
  }
}

async function callAfter(before: Promise<void>, call: () => Told): Promise<void> {
  await before
  await call()
}
