import { unawaited } from '../core/promises.ts'
import type { JobCompletion } from '../jobstore/job-store.ts'
import type { Clock } from '../time/clock.ts'
import { Gate } from '../time/gate.ts'
import { LockRetry } from './lock-retry.ts'

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
  readonly #waiting = new Map<JobCompletion, () => void>()
  readonly #retry = new LockRetry()
  #isTrying = false
  #isLastChance = false
  #isAbandoned = false

  constructor({ write, clock, onFailure, onStopped }: LockedCompletionsOptions) {
    this.#onStopped = onStopped
    this.#write = write
    this.#clock = clock
    this.#gate = new Gate(clock)
    this.#onFailure = onFailure
  }

  get size(): number {
    return this.#waiting.size
  }
  has(completion: JobCompletion): boolean {
    return this.#waiting.has(completion)
  }

  /** Tries them until they are written; each promise resolves when its completion is written or given up. */
  add(completions: readonly JobCompletion[]): ReadonlyMap<JobCompletion, Promise<void>> {
    const dealtWith = new Map<JobCompletion, Promise<void>>()
    if (completions.length === 0) return dealtWith
    for (const completion of completions) {
      const promise = new Promise<void>((resolve) => {
        this.#waiting.set(completion, resolve)
      })
      dealtWith.set(completion, promise)
    }
    this.#retry.added(this.#clock.elapsedMs())
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
      } catch (error) {
        if (this.#hasBeenAbandoned()) return
        this.#handOver(tried, error)
      }
      this.#retry.tried(this.#clock.elapsedMs())
    }
    this.#retry.emptied()
    this.#isTrying = false
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
    const resolve = this.#waiting.get(completion)
    this.#waiting.delete(completion)
    return resolve
  }
}
