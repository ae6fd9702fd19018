import type { ScheduleEntry } from '../job-store.ts'
import { type ScheduleRequest, scheduleMany } from './scheduling.ts'
import type { SqlTransactor } from './sql-transactor.ts'

interface Call extends ScheduleRequest {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Most triggers that calls are put together for; a single call may have more. */
const triggersPerTransaction = 1000

/**
 * Stores what is scheduled, many calls at a time: while one transaction is under way the next calls gather and share
 * the following one, so that callers who come together pay for one commit together. Each call succeeds or is refused
 * for itself.
 */
export class ScheduleWriter {
  readonly #transactor: SqlTransactor
  #calls: Call[] = []
  #isWriting = false

  constructor(transactor: SqlTransactor) {
    this.#transactor = transactor
  }

  schedule(entries: readonly ScheduleEntry[], options: { readonly replace: boolean }): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#calls.push({ entries, replace: options.replace, resolve, reject })
      if (this.#isWriting) return
      this.#isWriting = true
      void this.#write()
    })
  }

  async #write(): Promise<void> {
    // One turn of the microtask queue lets calls that are made together gather.
    await Promise.resolve()
    for (let batch = this.#takeBatch(); batch.length > 0; batch = this.#takeBatch()) {
      await this.#store(batch)
    }
    this.#isWriting = false
  }

  #takeBatch(): Call[] {
    let triggers = 0
    const end = this.#calls.findIndex(({ entries }, index) => {
      for (const entry of entries) triggers += entry.triggers.length
      return index > 0 && triggers > triggersPerTransaction
    })
    const batch = end < 0 ? this.#calls : this.#calls.slice(0, end)
    this.#calls = end < 0 ? [] : this.#calls.slice(end)
    return batch
  }

  async #store(batch: readonly Call[]): Promise<void> {
    try {
      const outcomes = await this.#transactor.run((tx) => scheduleMany(tx, batch), { lock: 'shared' })
      for (const [index, call] of batch.entries()) {
        const refusal = outcomes[index] ?? null
        if (refusal === null) call.resolve()
        else call.reject(refusal)
      }
    } catch (error) {
      const [only] = batch
      if (batch.length === 1 && only !== undefined) {
        only.reject(error)
        return
      }
      // What one call holds may be what the database refuses: the others must not fail with it.
      for (const call of batch) await this.#store([call])
    }
  }
}
