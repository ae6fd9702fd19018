import { SchedulerError } from '../core/errors.ts'
import type { JobCompletion } from '../jobstore/job-store.ts'

interface Unwritten {
  readonly sinceMs: number
  readonly resolve: () => void
  /** How often the store had taken ends when it refused this one by itself for the first time; null before. */
  takenBefore: number | null
}

/** How many of those that the store refuses one round tries in vain. */
const refusedTriesMax = 3

/**
 * Completions that the store has failed to write. One that it refuses again and again, while it takes others, is set
 * aside: the reason is in that completion, or in a rule for the rows of its job, and not in the store.
 */
export class UnwrittenCompletions {
  /** The oldest comes first. */
  readonly #waiting = new Map<JobCompletion, Unwritten>()
  /** The one that was tried last comes last. */
  readonly #refused = new Map<JobCompletion, Unwritten>()
  #taken = 0
  #probes = 0

  get size(): number {
    return this.#waiting.size + this.#refused.size
  }
  /** How many are set aside. */
  get refusedCount(): number {
    return this.#refused.size
  }
  has(completion: JobCompletion): boolean {
    return this.#waiting.has(completion) || this.#refused.has(completion)
  }
  *all(): Iterable<JobCompletion> {
    yield* this.#waiting.keys()
    yield* this.#refused.keys()
  }

  /** Resolves when the completion is written or given up. */
  add(completion: JobCompletion, sinceMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(completion, { sinceMs, resolve, takenBefore: null })
    })
  }

  /** Removes one; answers what to call when it is dealt with. */
  take(completion: JobCompletion): () => void {
    const { resolve = () => {} } = this.#waiting.get(completion) ?? this.#refused.get(completion) ?? {}
    this.#waiting.delete(completion)
    this.#refused.delete(completion)
    return resolve
  }

  /** Whether one has been unwritten for so long. */
  isAnySince(ms: number): boolean {
    for (const [first] of [this.#waiting.values(), this.#refused.values()]) {
      if (first !== undefined && first.sinceMs <= ms) return true
    }
    return false
  }

  /** The store has taken an end. */
  storeTook(): void {
    this.#taken++
  }

  /** The store has refused one that was written by itself. Answers whether it is set aside from now on. */
  failedAlone(completion: JobCompletion, error: unknown): boolean {
    const unwritten = this.#waiting.get(completion)
    if (unwritten === undefined || isAway(error)) return false
    unwritten.takenBefore ??= this.#taken
    if (unwritten.takenBefore === this.#taken) return false
    this.#waiting.delete(completion)
    this.#refused.set(completion, unwritten)
    return true
  }

  /**
   * Those that a round tries, each when it is asked for: of those that are set aside some, as they may be thousands,
   * but all that the store takes again, or all in the last round.
   */
  *round(isLast: () => boolean): Iterable<JobCompletion> {
    let left = this.#refused.size
    yield* [...this.#waiting.keys()]
    for (let inVain = 0; left > 0 && (inVain < refusedTriesMax || isLast()); left--) {
      const [first] = this.#refused
      if (first === undefined) return
      const [completion, unwritten] = first
      yield completion
      if (!this.#refused.delete(completion)) continue
      this.#refused.set(completion, unwritten)
      inVain++
    }
  }

  /** One to try, another one each time, as it may be one that is never written. */
  probe(): JobCompletion | undefined {
    const unwritten = [...(this.#waiting.size > 0 ? this.#waiting : this.#refused).keys()]
    return unwritten[this.#probes++ % unwritten.length]
  }
}

function isAway(error: unknown): boolean {
  return SchedulerError.is(error) && error.code === 'ERR_DATABASE_UNAVAILABLE'
}

/** Whether a database that is there has refused what was written. */
export function isRefusal(error: unknown): boolean {
  return SchedulerError.is(error) && error.code === 'ERR_DATABASE'
}
