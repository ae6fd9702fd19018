/**
 * Changes of the node's memory that follow from a transaction, made after its commit. The notes of an attempt that was
 * given up are dropped with it.
 */
export class CommitNotes {
  readonly #notes: (() => void)[] = []

  /** `remember` is called once, after the commit. */
  add(remember: () => void): void {
    this.#notes.push(remember)
  }

  apply(): void {
    for (const remember of this.#notes.splice(0)) remember()
  }
}
