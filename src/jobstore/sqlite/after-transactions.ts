import type { Clock, ClockTimer, EpochMs } from '../../time/clock.ts'
import type { SqliteDatabase } from './sqlite-database.ts'

/**
 * The wait between two looks, doubled each time up to `most`: a transaction that is not short has probably been
 * forgotten.
 */
const lookAfterMs = { first: 1, most: 250 }

/** Wakes the loop when a connection of the user has left its transaction, for the triggers that may fire. */
export class AfterTransactions {
  readonly #clock: Clock
  readonly #onEnd: (earliestMs: EpochMs) => void
  /** The earliest fire time of each connection's transaction. */
  readonly #pending = new Map<SqliteDatabase, EpochMs>()
  #timer: ClockTimer | null = null
  #delayMs = lookAfterMs.first
  #isStopped = false

  constructor(clock: Clock, onEnd: (earliestMs: EpochMs) => void) {
    this.#clock = clock
    this.#onEnd = onEnd
  }

  note(database: SqliteDatabase, earliestMs: EpochMs): void {
    if (this.#isStopped) return
    this.#pending.set(database, Math.min(earliestMs, this.#pending.get(database) ?? earliestMs))
    this.#timer?.cancel()
    this.#delayMs = lookAfterMs.first
    this.#lookLater()
  }

  stop(): void {
    this.#isStopped = true
    this.#pending.clear()
    this.#timer?.cancel()
  }

  #lookLater(): void {
    this.#timer = this.#clock.setTimer(
      this.#delayMs,
      () => {
        this.#look()
      },
      { unref: true },
    )
    this.#delayMs = Math.min(2 * this.#delayMs, lookAfterMs.most)
  }

  #look(): void {
    this.#timer = null
    for (const [database, earliestMs] of [...this.#pending]) {
      // A connection that was closed has rolled back; waking the loop for nothing is harmless.
      if (database.open && database.inTransaction) continue
      this.#pending.delete(database)
      this.#onEnd(earliestMs)
    }
    if (this.#pending.size > 0) this.#lookLater()
  }
}
