import type { JobStoreNotes, SharedNote } from '../jobs/job-store-notes.ts'

/** Most notes of one kind that {@link JobStoreNotes.list} answers. */
export const notesMax = 1000

/** Notes in the memory of one process. */
export class MemoryNotes implements JobStoreNotes {
  readonly #kinds = new Map<string, Map<string, SharedNote>>()

  async list(kind: string): Promise<readonly SharedNote[]> {
    const notes = [...(this.#kinds.get(kind)?.values() ?? [])]
    return notes.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, notesMax)
  }

  async get(kind: string, name: string): Promise<SharedNote | null> {
    return this.#kinds.get(kind)?.get(name) ?? null
  }

  /** The text of a note now; null where there is none. */
  textOf(kind: string, name: string): string | null {
    return this.#kinds.get(kind)?.get(name)?.text ?? null
  }

  async put(kind: string, name: string, text: string, version: number | null): Promise<boolean> {
    const notes = this.#kinds.get(kind) ?? new Map<string, SharedNote>()
    const found = notes.get(name)
    if ((found?.version ?? null) !== version) return false
    this.#kinds.set(kind, notes.set(name, { name, text, version: (version ?? 0) + 1 }))
    return true
  }

  async delete(kind: string, name: string, version: number): Promise<boolean> {
    const notes = this.#kinds.get(kind)
    return notes?.get(name)?.version === version && notes.delete(name)
  }
}
