/**
 * What the node is to remember of a transaction, once that is committed. An attempt that was given up is forgotten with
 * its notes, so nothing is remembered twice, and nothing that has not happened.
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
