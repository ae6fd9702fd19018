import { unawaited } from '../core/promises.ts'
import type { JobCompletion } from '../jobstore/job-store.ts'
import type { Clock } from '../time/clock.ts'
import { Gate } from '../time/gate.ts'
import { type CompletionBacklog, inVainMaxMs } from './completion-backlog.ts'
import type { CompletionFailures } from './completion-failures.ts'
import type { CompletionsGivenUp } from './completions-given-up.ts'
import type { LockedCompletions, LockedCompletionsOptions } from './locked-completions.ts'
import type { UnwrittenCompletions } from './unwritten-completions.ts'

const retryDelayMinMs = 20
const retryDelayMaxMs = 10_000
/**
 * How long executions may wait for a store that is back. One statement a second does no harm to a store that fails; all
 * completions that wait, which may be thousands, might.
 */
const probeMs = 1000

export interface CompletionRetriesParts {
  readonly clock: Clock
  readonly write: LockedCompletionsOptions['write']
  readonly unwritten: UnwrittenCompletions
  readonly locked: LockedCompletions
  readonly givenUp: CompletionsGivenUp
  readonly backlog: CompletionBacklog
  readonly failures: CompletionFailures
}

/**
 * Tries again what the store has failed to write, each completion by itself, in rounds with longer and longer pauses
 * between them, until all is written, or is given up in a shutdown.
 */
export class CompletionRetries {
  readonly #parts: CompletionRetriesParts
  readonly #gate: Gate
  #isRetrying = false
  /** Whether the next round is being waited for. */
  #isPausing = false
  #delayMs = retryDelayMinMs
  /** Why a completion could not be written the last time. */
  #lastError: unknown = null
  #isLastChance = false
  #isAbandoned = false
  #givenUpCount = 0

  constructor(parts: CompletionRetriesParts) {
    this.#parts = parts
    this.#gate = new Gate(parts.clock)
  }

  /** Completions that were given up and reported. */
  get givenUpCount(): number {
    return this.#givenUpCount
  }

  /** Each promise resolves when its completion is written or given up. */
  add(completions: readonly JobCompletion[]): Map<JobCompletion, Promise<void>> {
    const { clock, failures, unwritten } = this.#parts
    const sinceMs = clock.elapsedMs()
    const alone = new Map(completions.map((each) => [each, unwritten.add(each, sinceMs)]))
    this.#delayMs = retryDelayMinMs
    if (this.#isRetrying) this.#gate.wake()
    else unawaited(this.#retry(), failures.stopped)
    return alone
  }

  /** The store has taken a completion, after it had taken none for so long. */
  storeTook(inVainMs: number): void {
    this.#parts.unwritten.storeTook()
    // The store is back. Where only one completion fails others are written all the time, and it is tried less often.
    if (this.#isPausing && inVainMs >= probeMs) this.#gate.wake()
  }

  /** From now on one more try is made of each; what fails then is given up. */
  stopRetrying(): void {
    this.#isLastChance = true
    this.#gate.wake()
  }

  /** Makes no further try and waits for none of them. */
  abandon(): void {
    const { givenUp, unwritten } = this.#parts
    this.#isAbandoned = true
    for (const completion of [...unwritten.all()]) unwritten.take(completion)()
    givenUp.report()
  }

  #hasBeenAbandoned(): boolean {
    return this.#isAbandoned
  }

  async #retry(): Promise<void> {
    const { clock, failures, givenUp, unwritten } = this.#parts
    this.#isRetrying = true
    for (;;) {
      for (const completion of unwritten.round(() => this.#isLastChance)) {
        if (this.#hasBeenAbandoned()) return
        await this.#tryAlone(completion)
      }
      if (unwritten.size === 0) break
      if (unwritten.isAnySince(clock.elapsedMs() - inVainMaxMs)) failures.lasts(this.#lastError)
      await this.#pause()
    }
    this.#givenUpCount += givenUp.report()
    this.#isRetrying = false
    if (!this.#isLastChance) failures.ended()
  }

  /** Waits for the next round, which comes early when the store takes a completion again. */
  async #pause(): Promise<void> {
    let leftMs = this.#delayMs
    this.#delayMs = Math.min(leftMs * 2, retryDelayMaxMs)
    while (leftMs > 0) {
      // Executions that wait for the store end no others, so no batch would show that it is back.
      const waitMs = this.#parts.backlog.isFull ? Math.min(leftMs, probeMs) : leftMs
      this.#isPausing = true
      const isWoken = await this.#gate.wait(waitMs)
      this.#isPausing = false
      leftMs -= waitMs
      if (isWoken || (leftMs > 0 && (await this.#probe()))) return
    }
  }

  /** Tries one completion. Answers whether it is written. */
  async #probe(): Promise<boolean> {
    const probed = this.#parts.unwritten.probe()
    if (probed === undefined || (await this.#tryAlone(probed))) return true
    this.#parts.backlog.probeFailed(this.#lastError)
    return false
  }

  /** False when the store has failed again. */
  async #tryAlone(completion: JobCompletion): Promise<boolean> {
    const { backlog, failures, givenUp, locked, unwritten, write } = this.#parts
    try {
      const stillLocked = await write([completion])
      if (this.#hasBeenAbandoned()) return true
      failures.storeAnswered()
      const resolve = unwritten.take(completion)
      if (stillLocked.length === 0) {
        resolve()
      } else if (this.#isLastChance) {
        givenUp.add({ completion, isLocked: true, error: null, resolve })
      } else {
        const dealtWith = locked.add(stillLocked).get(completion)
        if (dealtWith !== undefined) unawaited(dealtWith.then(resolve), failures.stopped)
      }
    } catch (error) {
      if (this.#hasBeenAbandoned()) return true
      this.#lastError = error
      if (!this.#isLastChance) {
        if (unwritten.failedAlone(completion, error)) backlog.setAside()
        return false
      }
      const resolve = unwritten.take(completion)
      // Its promise is resolved when it is reported that it was given up.
      givenUp.add({ completion, isLocked: false, error, resolve })
    }
    return true
  }
}
