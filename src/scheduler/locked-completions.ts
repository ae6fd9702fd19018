import { unawaited } from '../core/promises.ts'
import type { JobCompletion } from '../jobstore/job-store.ts'
import type { Clock } from '../time/clock.ts'
import { Gate } from '../time/gate.ts'
import { LockRetry } from './lock-retry.ts'

/** A lock that is held for longer is no short transaction of somebody else any more. */
const reportAfterMs = 5000

export interface LockedCompletionsOptions {
  /** Writes completions; answers those that are locked. */
  readonly write: (completions: readonly JobCompletion[]) => Promise<readonly JobCompletion[]>
  readonly clock: Clock
  /** Called with an error that ends the tries for good. */
  readonly onStopped: (error: unknown) => void
  /**
   * Takes over what the store has failed to write; the error is null for completions that are locked still when tries
   * end. Each promise settles when its completion is written or given up.
   */
  readonly onFailure: (
    completions: readonly JobCompletion[],
    error: unknown,
  ) => ReadonlyMap<JobCompletion, Promise<void>>
  /** Called once when one has been locked for long: the oldest, and how many are locked. */
  readonly onLong: (oldest: JobCompletion, count: number) => void
  /** Called once none is locked any more, after `onLong`. */
  readonly onLongEnded: () => void
}

interface Waiting {
  readonly sinceMs: number
  readonly resolve: () => void
}

/**
 * Completions that the store passed over because of locks of other sessions. They are tried again together, apart from
 * new completions: soon after one was added, then after longer and longer waits.
 */
export class LockedCompletions {
  readonly #write: LockedCompletionsOptions['write']
  readonly #clock: Clock
  readonly #gate: Gate
  readonly #onFailure: LockedCompletionsOptions['onFailure']
  readonly #onStopped: LockedCompletionsOptions['onStopped']
  readonly #onLong: LockedCompletionsOptions['onLong']
  readonly #onLongEnded: LockedCompletionsOptions['onLongEnded']
  /** The oldest comes first. */
  readonly #waiting = new Map<JobCompletion, Waiting>()
  readonly #retry = new LockRetry()
  #isReported = false
  #isTrying = false
  #isLastChance = false
  #isAbandoned = false

  constructor(options: LockedCompletionsOptions) {
    const { write, clock, onFailure, onLong, onLongEnded, onStopped } = options
    this.#onLong = onLong
    this.#onLongEnded = onLongEnded
    this.#onStopped = onStopped
    this.#write = write
    this.#clock = clock
    this.#gate = new Gate(clock)
    this.#onFailure = onFailure
  }

  get size(): number {
    return this.#waiting.size
  }
  all(): Iterable<JobCompletion> {
    return this.#waiting.keys()
  }
  has(completion: JobCompletion): boolean {
    return this.#waiting.has(completion)
  }

  /** Tries them until they are written; each promise resolves when its completion is written or given up. */
  add(completions: readonly JobCompletion[]): ReadonlyMap<JobCompletion, Promise<void>> {
    const dealtWith = new Map<JobCompletion, Promise<void>>()
    if (completions.length === 0) return dealtWith
    const sinceMs = this.#clock.elapsedMs()
    for (const completion of completions) {
      const promise = new Promise<void>((resolve) => {
        this.#waiting.set(completion, { sinceMs, resolve })
      })
      dealtWith.set(completion, promise)
    }
    this.#retry.added(sinceMs)
    if (this.#isTrying) this.#gate.wake()
    else unawaited(this.#try(), this.#onStopped)
    return dealtWith
  }

  /** From now on one more try is made; what is locked then is a failure. */
  stopRetrying(): void {
    this.#isLastChance = true
    this.#gate.wake()
  }

  /** Makes no further try and waits for none of them. */
  abandon(): void {
    this.#isAbandoned = true
    for (const completion of [...this.#waiting.keys()]) this.#take(completion)?.()
    this.#gate.wake()
  }

  #hasBeenAbandoned(): boolean {
    return this.#isAbandoned
  }

  async #try(): Promise<void> {
    this.#isTrying = true
    while (this.#waiting.size > 0) {
      const waitMs = this.#retry.atMs - this.#clock.elapsedMs()
      if (waitMs > 0 && !this.#isLastChance) {
        await this.#gate.wait(waitMs)
        continue
      }
      const tried = [...this.#waiting.keys()]
      try {
        const locked = await this.#write(tried)
        if (this.#hasBeenAbandoned()) return
        for (const completion of tried) if (!locked.includes(completion)) this.#take(completion)?.()
        if (this.#isLastChance) this.#handOver(locked, null)
        else this.#reportLong()
      } catch (error) {
        if (this.#hasBeenAbandoned()) return
        this.#handOver(tried, error)
      }
      this.#retry.tried(this.#clock.elapsedMs())
    }
    this.#retry.emptied()
    this.#isTrying = false
    if (!this.#isReported) return
    this.#isReported = false
    if (!this.#isLastChance) this.#onLongEnded()
  }

  #reportLong(): void {
    const [oldest] = this.#waiting
    if (oldest === undefined || this.#isReported) return
    const [completion, { sinceMs }] = oldest
    if (this.#clock.elapsedMs() - sinceMs < reportAfterMs) return
    this.#isReported = true
    this.#onLong(completion, this.#waiting.size)
  }

  #handOver(completions: readonly JobCompletion[], error: unknown): void {
    if (completions.length === 0) return
    const dealtWith = this.#onFailure(completions, error)
    for (const completion of completions) {
      const settled = dealtWith.get(completion)
      if (settled !== undefined) unawaited(settled.then(this.#take(completion)), this.#onStopped)
    }
  }

  #take(completion: JobCompletion): (() => void) | undefined {
    const resolve = this.#waiting.get(completion)?.resolve
    this.#waiting.delete(completion)
    return resolve
  }
}
