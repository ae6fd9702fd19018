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

/**
 * The files of a database that is open. In WAL mode there are two beside the one that is named, and they belong to the
 * connections: SQLite deletes them when the last one is closed. Without the `-wal` file other processes see neither
 * what is in it nor the lease; without the `-shm` file their locks and those of this process do not meet.
 */
export class OpenedFiles {
  readonly #path: string
  readonly #file: OpenedFile
  #beside: ReadonlyMap<string, OpenedFile> = new Map()
  #connection = 0
  #isTold = false

  /**
   * To be made when the database has been read.
   *
   * @param connection the number of the connection that has read it
   */
  constructor(path: string, connection: number) {
    this.#path = path
    this.#file = new OpenedFile(path)
    this.#follow(connection)
  }

  /**
   * Once, the ending of the first file to which its path no longer leads; else null.
   *
   * @param connection the number of the one that has just read the database; null where none could
   */
  lostEnding(connection: number | null): string | null {
    if (this.#isTold) return null
    const lost = this.#file.wasLost() ? [''] : []
    if (connection !== null && connection === this.#connection) {
      for (const [ending, file] of this.#beside) if (file.wasLost()) lost.push(ending)
    } else if (connection !== null) {
      this.#follow(connection)
    }
    const [first = null] = lost
    this.#isTold = first !== null
    return first
  }

  #follow(connection: number): void {
    this.#connection = connection
    const endings = ['-wal', '-shm']
    this.#beside = new Map(endings.map((ending) => [ending, new OpenedFile(`${this.#path}${ending}`)]))
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
