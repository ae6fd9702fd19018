import type { JobStoreNotes, SharedNote } from '../../jobs/job-store-notes.ts'
import type { EpochMs } from '../../time/clock.ts'
import type { SqlTransactor } from './session/sql-transactor.ts'
import { readRoll } from './tables/nodes/scheduler-state-table.ts'

/** The notes of a store in a database. */
export class SqlNotes implements JobStoreNotes {
  readonly #transactor: () => SqlTransactor

  /** `transactor` throws while the store is not open. */
  constructor(transactor: () => SqlTransactor) {
    this.#transactor = transactor
  }

  async list(kind: string): Promise<readonly SharedNote[]> {
    return this.#transactor().read(({ notes }) => notes.list(kind))
  }

  async get(kind: string, name: string): Promise<SharedNote | null> {
    return this.#transactor().read(({ notes }) => notes.get(kind, name))
  }

  async put(kind: string, name: string, text: string, version: number | null): Promise<boolean> {
    return this.#transactor().run(({ session }) => session.notes.put(kind, name, text, version), {
      lock: 'rows',
    })
  }

  async delete(kind: string, name: string, version: number): Promise<boolean> {
    return this.#transactor().run(({ session }) => session.notes.delete(kind, name, version), {
      lock: 'rows',
    })
  }

  async now(): Promise<EpochMs> {
    return this.#transactor().read(function* ({ context, nodes }) {
      return readRoll((yield nodes.load(context.clock.now())).rows).nowMs
    })
  }
}
