/** For stores whose data others may change: other nodes, or other processes on the same file. */
export interface JobStoreChanges {
  /**
   * Calls the listener soon after others may have changed jobs, triggers, calendars or pauses, also for a scheduler
   * that was not started. It may be called when nothing has changed, and not at all while the store cannot hear others.
   *
   * @returns what ends it
   */
  watch(listener: () => void): () => void
}

/** Those who are told that others may have changed something. */
export class ChangeListeners {
  readonly #listeners = new Set<{ readonly listener: () => void }>()

  add(listener: () => void): () => void {
    const entry = { listener }
    this.#listeners.add(entry)
    return () => {
      this.#listeners.delete(entry)
    }
  }

  tell(): void {
    for (const { listener } of [...this.#listeners]) listener()
  }
}
