import type { InvalidArgumentError } from '../core/errors.ts'
import type { JobStoreNotes } from '../jobs/job-store-notes.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import { MemoryNotes, notesMax } from '../jobstore/memory-notes.ts'

/** How often a node starts again because others change a record at the same time. */
export const attemptsMax = 50

export interface DeclarationNotesParts {
  readonly kind: string
  /** The store; throws once the scheduler has been shut down. */
  readonly open: () => JobStore
  /** So many are enough for what programs declare, and a list of notes has no more. */
  readonly tooMany: (name: string) => InvalidArgumentError
}

/** A note that was looked for; null where there is none. */
export interface FoundNote {
  readonly text: string | null
  readonly noteVersion: number | null
}

/** The records of what programs declare, of one kind, which the nodes of a store share. */
export class DeclarationNotes {
  readonly #parts: DeclarationNotesParts
  readonly #own = new MemoryNotes()

  constructor(parts: DeclarationNotesParts) {
    this.#parts = parts
  }

  async read(name: string): Promise<FoundNote> {
    const { kind, tooMany } = this.#parts
    const notes = this.#notes()
    const note = await notes.get(kind, name)
    if (note !== null) return { text: note.text, noteVersion: note.version }
    if ((await notes.list(kind)).length >= notesMax) throw tooMany(name)
    return { text: null, noteVersion: null }
  }

  /** False when another node has changed it since it was read. */
  write(name: string, text: string, { noteVersion }: FoundNote): Promise<boolean> {
    return this.#notes().put(this.#parts.kind, name, text, noteVersion)
  }

  #notes(): JobStoreNotes {
    return this.#parts.open().notes ?? this.#own
  }

  /** The instance ids of live nodes; null where this is the only one. */
  async liveNodes(): Promise<ReadonlySet<string> | null> {
    const { cluster } = this.#parts.open()
    if (cluster === null) return null
    const nodes = await cluster.nodes()
    return new Set(nodes.filter(({ state }) => state !== 'failed').map(({ instanceId }) => instanceId))
  }
}
