import type { SqlTransactor } from './session/sql-transactor.ts'
import type { ResolvedHistoryOptions } from './tables/history/history-options.ts'

/** How often to look at most. */
const intervalMs = 60_000
/** How long a store runs before the first look, so that a process that runs one job does not pay for it. */
const firstMs = 10_000
/** How many rows one transaction deletes, so that it stays short. */
const rowsPerTransaction = 500

/** Keeps the history within its bounds. It has no timer: it looks now and then when executions end. */
export class HistoryPruner {
  readonly #transactor: SqlTransactor
  readonly #options: ResolvedHistoryOptions
  #lookedMs: number
  #pruning: Promise<void> | null = null
  #isClosed = false

  constructor(transactor: SqlTransactor, options: ResolvedHistoryOptions) {
    this.#transactor = transactor
    this.#options = options
    this.#lookedMs = transactor.session.context.clock.elapsedMs() + firstMs - intervalMs
  }

  /** Executions ended. Returns at once and never throws. */
  noteCompletions(): void {
    if (this.#pruning !== null || this.#isClosed || this.#options.record === 'off') return
    const elapsedMs = this.#transactor.session.context.clock.elapsedMs()
    if (elapsedMs - this.#lookedMs < intervalMs) return
    this.#lookedMs = elapsedMs
    this.#pruning = this.#prune()
  }

  /** Resolves when the work under way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pruning
  }

  async #prune(): Promise<void> {
    const { clock, signaler } = this.#transactor.session.context
    try {
      while ((await this.#pruneSome()) >= rowsPerTransaction && !this.#isClosed) {
        await new Promise<void>((resolve) => clock.setImmediate(resolve))
      }
    } catch (error) {
      signaler.storeError('The history of executions could not be pruned; it is tried again later.', error)
    }
    this.#pruning = null
  }

  #pruneSome(): Promise<number> {
    const { maxAgeMs, maxRows } = this.#options
    return this.#transactor.run(
      function* prune({ session: { history }, nowMs }) {
        const surplus = yield* history.surplus(maxRows)
        return yield* history.prune({ beforeMs: nowMs - maxAgeMs, surplus }, rowsPerTransaction)
      },
      { lock: 'none', tells: 'none' },
    )
  }
}
