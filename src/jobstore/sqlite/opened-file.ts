import { statSync } from 'node:fs'
import { resolve } from 'node:path'

const gone = 'gone'

/** The file of a database. A process that has it open goes on in it when it is deleted or another one is put there. */
export class OpenedFile {
  readonly #path: string
  readonly #opened: string
  #last: string
  #isTold = false

  /** To be made while the file is there; without one, as for a database in memory, there is nothing to see. */
  constructor(path: string) {
    this.#path = resolve(path)
    this.#opened = identityOf(this.#path) ?? gone
    this.#last = this.#opened
  }

  /** True once, when the path no longer leads to it. */
  wasLost(): boolean {
    if (this.#isTold || this.#opened === gone) return false
    const before = this.#last
    this.#last = identityOf(this.#path) ?? this.#opened
    // Two looks have to agree: some file systems of networks change numbers of files as they like.
    this.#isTold = this.#last === before && this.#last !== this.#opened
    return this.#isTold
  }
}

/** Null when that cannot be seen now. */
function identityOf(path: string): string | null {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stats === undefined ? gone : `${stats.dev}:${stats.ino}`
  } catch {
    // What cannot be read fails by itself.
    return null
  }
}
