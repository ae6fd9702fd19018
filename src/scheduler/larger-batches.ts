import type { TriggerFiredBundle } from '../jobstore/fired-bundle.ts'
import type { AcquireAndFireRequest } from '../jobstore/job-store.ts'

/** Places for firings that take no thread. */
export interface BesidePlaces {
  /** Keeps up to `most` of them for a job type, and answers how many: the same number until `releasePlaces`. */
  reservePlaces(jobType: string, most: number): number
  releasePlaces(): void
}

export interface LargerBatchesOptions {
  /** How many more triggers a batch may have whose jobs take no thread; 0 for none. */
  readonly maxBesideCount: number
  readonly places: BesidePlaces
}

/**
 * Batches that are larger than the pool while jobs are due that take no thread. Their places are reserved for as long
 * as a search lasts, so that what it has fired has one.
 */
export class LargerBatches {
  readonly #options: LargerBatchesOptions
  /** Whether what fired last took no threads. */
  #areDue = false

  constructor(options: LargerBatchesOptions) {
    this.#options = options
  }

  /**
   * For the next search. Nothing where jobs that take threads are due: a search that locks many rows leaves most of
   * those, and other nodes wait for them meanwhile.
   */
  next(): Pick<AcquireAndFireRequest, 'beside'> {
    const { maxBesideCount: maxCount, places } = this.#options
    if (!this.#areDue || maxCount === 0) return {}
    return { beside: { maxCount, roomOf: (jobType) => places.reservePlaces(jobType, maxCount) } }
  }

  /** To be called when the search has ended, before what it has fired is handed on. */
  end(fired: readonly TriggerFiredBundle[]): void {
    const { places } = this.#options
    if (fired.length > 0) {
      this.#areDue = fired.every(({ jobDetail }) => places.reservePlaces(jobDetail.jobType, 1) > 0)
    }
    places.releasePlaces()
  }
}
