import type { Clock, ClockTimer, EpochMs } from '../../time/clock.ts'
import type { SqliteDatabase } from './sqlite-database.ts'

/** How long after the last look the next one is, doubled up to the most: transactions are short or forgotten. */
const lookAfterMs = { first: 1, most: 250 }

/** Tells, when a connection of the user has left its transaction, what that may have made available to fire. */
export class AfterTransactions {
  readonly #clock: Clock
  readonly #onEnd: (earliestMs: EpochMs) => void
  /** What each connection did since it was last seen outside of a transaction. */
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
      // One that was closed has rolled back; to look in vain is harmless.
      if (database.open && database.inTransaction) continue
      this.#pending.delete(database)
      this.#onEnd(earliestMs)
    }
    if (this.#pending.size > 0) this.#lookLater()
  }
}
