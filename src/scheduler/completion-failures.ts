import type { JobCompletion } from '../jobstore/job-store.ts'
import type { Clock } from '../time/clock.ts'
import type { Notifier } from './notifier.ts'

/** A series of failures is over when everything was written for so long. */
const quietMs = 60_000

/** What is said of completions that are not written: each series of failures, and each long lock, once. */
export class CompletionFailures {
  readonly #clock: Clock
  readonly #notifier: Notifier
  /** When a batch failed last. */
  #failedMs = Number.NEGATIVE_INFINITY
  /** Whether the store has taken a completion since a failure was reported. */
  #hasWritten = true
  /** Whether it was reported that completions are unwritten. */
  #isReported = false

  constructor(clock: Clock, notifier: Notifier) {
    this.#clock = clock
    this.#notifier = notifier
  }

  /** The store has taken what it was told of, or has passed it over because of locks. */
  storeAnswered(): void {
    this.#hasWritten = true
  }

  /**
   * Reports a batch that failed, once in a series: while a store is away no batch is written, and on a disk that is
   * nearly full each batch fails and its completions are written one by one at once.
   */
  batchFailed(error: unknown): void {
    const nowMs = this.#clock.elapsedMs()
    const isNews = this.#hasWritten && nowMs - this.#failedMs >= quietMs
    this.#failedMs = nowMs
    if (isNews) this.#sayUnwritten(error)
  }

  /**
   * A failure soon after another one is no news by itself, but one that lasts is. While executions wait for the store
   * no further batch fails, so that nothing else would report it.
   */
  lasts(error: unknown): void {
    if (!this.#isReported) this.#sayUnwritten(error)
  }

  #sayUnwritten(error: unknown): void {
    this.#hasWritten = false
    this.#isReported = true
    this.#notifier.error('The job store could not be told that executions ended; trying again.', error)
  }

  /** All that had failed is written. */
  ended(): void {
    if (!this.#isReported) return
    this.#isReported = false
    this.#notifier.errorEnded('The job store has been told of the executions that had ended.')
  }

  readonly lockedForLong = ({ fireInstanceId, trigger }: JobCompletion, count: number): void => {
    const fire = `firing ${fireInstanceId} of trigger ${trigger.key.toString()}`
    const message =
      'The job store could not be told that executions ended, because another session holds a lock on their rows or ' +
      `on a table; trying again. Ends that wait: ${count}, the oldest of ${fire}.`
    this.#notifier.error(message, null)
  }

  readonly lockedNoMore = (): void => {
    this.#notifier.errorEnded('The job store has been told of the executions whose rows were locked.')
  }

  readonly stopped = (error: unknown): void => {
    this.#notifier.error('Telling the job store that executions ended has stopped.', error)
  }
}
