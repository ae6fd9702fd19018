import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../../time/clock.ts'
import { logBytes } from './log-growth.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { isDiskFull } from './sqlite-errors.ts'

/** How long the log is left alone after emptying it did not help: each call that is refused would copy it again. */
const leftAloneMs = 1_000

/**
 * Makes room on a full disk by emptying the log of a database. SQLite empties it after a commit that finds it large
 * enough; on a full disk no commit succeeds, so a log that has filled the disk itself would keep it full.
 */
export class FullDisk {
  readonly #clock: Clock
  readonly #filename: string
  /** Whether the connection is the store's own, and not one of the user. */
  readonly #isOwned: boolean
  #triedMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, { filename, isOwned }: { readonly filename: string; readonly isOwned: boolean }) {
    this.#clock = clock
    this.#filename = filename
    this.#isOwned = isOwned
  }

  /** Runs a transaction, and once more where it failed for want of room that the log could give. */
  withRoom<Answer>(database: SqliteDatabase, transaction: () => Answer): Answer {
    try {
      return transaction()
    } catch (error) {
      if (!isDiskFull(error) || !this.#emptiesLog(database)) throw error
      const answer = transaction()
      this.#triedMs = Number.NEGATIVE_INFINITY
      return answer
    }
  }

  #emptiesLog(database: SqliteDatabase): boolean {
    const nowMs = this.#clock.elapsedMs()
    if (nowMs - this.#triedMs < leftAloneMs || logBytes(this.#filename) === 0) return false
    try {
      if (!this.#isOwned && isLeftToUser(database)) return false
      this.#triedMs = nowMs
      // 1 where a reader is in the log. What could be copied has been, so a later commit begins the log anew.
      return Number(database.pragma('wal_checkpoint(TRUNCATE)', { simple: true })) === 0
    } catch {
      // The database itself has to grow for it. The caller gets the error of the transaction.
      return false
    }
  }
}

/** Whether the user has turned off that SQLite empties the log by itself, as for a tool that copies it. */
function isLeftToUser(database: SqliteDatabase): boolean {
  return Number(database.pragma('wal_autocheckpoint', { simple: true })) <= 0
}

const fewestPages = 100
const mostPages = 8_000

/**
 * After how many pages SQLite copies the log into the database. 8,000 are 32 MB with pages of 4 kB: commits one after
 * the other change the same pages of indexes, and each page is written into the file once for all of them. With
 * SQLite's own 1,000 a row of the history took twice as long. Where the disk has less than eight times that, the log
 * gets an eighth, for the database needs room too when it takes over what is in the log.
 */
export function checkpointPages(database: SqliteDatabase, filename: string): number {
  const pageBytes = Number(database.pragma('page_size', { simple: true }))
  return Math.min(mostPages, Math.max(fewestPages, Math.floor(freeBytes(filename) / 8 / pageBytes)))
}

function freeBytes(filename: string): number {
  try {
    const { bavail, bsize } = statfsSync(dirname(filename))
    return bavail * bsize
  } catch {
    // Some file systems, and runtimes, do not tell.
    return Number.POSITIVE_INFINITY
  }
}
