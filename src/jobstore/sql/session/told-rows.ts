import type { SchedulerSignaler } from '../../scheduler-signaler.ts'
import { BoundedCache } from '../tables/encoding/bounded-cache.ts'

/** How many rows are remembered. */
const rowsKept = 1000

/** What was reported of rows that listings leave out: a listing that is asked for again says nothing new. */
export class ToldRows {
  readonly #told = new BoundedCache<true>(rowsKept)
  readonly #signaler: SchedulerSignaler

  constructor(signaler: SchedulerSignaler) {
    this.#signaler = signaler
  }

  /** Reports those that were not reported before, or for another reason. A message names the row. */
  tell(faults: readonly Error[]): void {
    for (const error of faults) {
      if (this.#told.get(error.message) === true) continue
      this.#told.set(error.message, true)
      this.#signaler.storeError(error.message, error)
    }
  }
}
