import { statSync } from 'node:fs'

/** SQLite begins the log anew at about 32 MB or less, unless it cannot. */
const tellBytes = 256 * 1024 * 1024
/** Below it whatever kept the log is over: SQLite has cut the file since. */
const overBytes = tellBytes / 2

/**
 * The size of the `-wal` file of a database. SQLite copies the log into the database, and begins it anew, only up to
 * where the oldest reader is: while a connection anywhere keeps a transaction open, the file grows with each commit.
 */
export class LogGrowth {
  readonly #filename: string
  #isTold = false

  constructor(filename: string) {
    this.#filename = filename
  }

  /** How large the file is, once each time that it has grown too large; else null. */
  tooLarge(): number | null {
    const bytes = logBytes(this.#filename)
    if (bytes < overBytes) this.#isTold = false
    if (bytes <= tellBytes || this.#isTold) return null
    this.#isTold = true
    return bytes
  }
}

/** The size of the log of a database; 0 for one that has none. */
export function logBytes(filename: string): number {
  try {
    return statSync(`${filename}-wal`, { throwIfNoEntry: false })?.size ?? 0
  } catch {
    // What cannot be read fails by itself.
    return 0
  }
}
