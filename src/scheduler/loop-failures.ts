import type { IdGenerator } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { logThrown } from '../core/thrown-value.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import type { Notifier } from './notifier.ts'
import { Unanswered, unansweredMaxMs } from './unanswered.ts'

/** The wait after a failure when the store does not say one. */
const wrongDelayMs = 1000

/** A failure that was reported is no news for so long. */
const quietMs = 60_000
/** A row of failures that lasts so long is news all the same. */
const longMs = 5000

export interface LoopFailuresParts {
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly logger: Logger
  readonly jobStore: JobStore
  readonly notifier: Notifier
  /** Aborted when the loop does not care for answers any more, failures included. */
  readonly abandonSignal: AbortSignal
}

/**
 * Failures of the store or the pool in a row, and how long the loop waits before it tries again: after the first
 * failure not at all, after each further one longer.
 */
export class LoopFailures {
  readonly #parts: LoopFailuresParts
  /** Null for a store in memory, which has no other end that could be silent. */
  readonly #unanswered: Unanswered | null
  #count = 0
  #retryAtMs = 0
  #inVainSinceMs: EpochMs | null = null
  /** When each failure that can come again and again was reported last, by its message. */
  readonly #reportedMs = new Map<string, number>()
  /** Since when the present row of failures lasts, and whether it was reported; null while nothing fails. */
  #row: { readonly sinceMs: number; isReported: boolean } | null = null
  /** Whether it was told that the store does not answer. */
  #isSilenceTold = false

  constructor(parts: LoopFailuresParts) {
    this.#parts = parts
    const { clock, jobStore } = parts
    this.#unanswered = jobStore.capabilities.persistent
      ? new Unanswered({ clock, onLong: this.#tellSilence })
      : null
  }

  /** The loop does not ask the store before this monotonic time. */
  get retryAtMs(): number {
    return this.#retryAtMs
  }

  /**
   * Since when what the loop tries is in vain, by the wall clock; null while its last try has succeeded. What the store
   * has not answered for some seconds is in vain from when it was asked.
   */
  get inVainSinceMs(): EpochMs | null {
    return this.#inVainSinceMs ?? this.#unanswered?.sinceMs ?? null
  }

  /** The loop asks the store, and waits for the answer. `what` names the question. */
  asks(what: string): void {
    this.#unanswered?.ask(what)
  }

  /** The store has answered or failed; the methods that say which one end the question as well. */
  asksNoMore(): void {
    this.#unanswered?.end()
  }

  /** Reports a failure once in a row of them, and once in rows that follow closely; the others are for debugging. */
  add(message: string, error: unknown): void {
    const { abandonSignal, clock } = this.#parts
    const askedMs = this.#unanswered?.sinceMs ?? null
    this.asksNoMore()
    if (abandonSignal.aborted) return
    this.#inVainSinceMs ??= askedMs ?? clock.now()
    this.#note(message, error, this.#isNews(message))
  }

  /**
   * Where some tries succeed and others fail, each row is short, and only the first one is news for a while. One that
   * lasts is.
   */
  #isNews(message: string): boolean {
    const nowMs = this.#parts.clock.elapsedMs()
    const reportedMs = this.#reportedMs.get(message) ?? Number.NEGATIVE_INFINITY
    const isNews =
      nowMs - reportedMs >= quietMs || (this.#row !== null && nowMs - this.#row.sinceMs >= longMs)
    if (isNews && this.#row?.isReported !== true) this.#reportedMs.set(message, nowMs)
    return isNews
  }

  /** The same for a single trigger: the store has answered, and others may fire. */
  addOfTrigger(message: string, error: unknown): void {
    this.#inVainSinceMs = null
    if (!this.#parts.abandonSignal.aborted) this.#note(message, error, true)
  }

  /** The store has done what the loop asked for; a row of failures ends only when nothing is left to fire. */
  answered(): void {
    this.asksNoMore()
    this.#inVainSinceMs = null
    if (!this.#isSilenceTold) return
    this.#isSilenceTold = false
    this.#parts.notifier.errorEnded('The job store answers what the loop asks again.')
  }

  /** Once in a series: a store that is silent for long may fail in between. */
  readonly #tellSilence = (what: string): void => {
    const { abandonSignal, notifier } = this.#parts
    if (this.#isSilenceTold || abandonSignal.aborted) return
    this.#isSilenceTold = true
    const seconds = unansweredMaxMs / 1000
    notifier.error(
      `The job store has not answered ${what} for ${seconds} seconds; nothing fires until it does.`,
      null,
    )
  }

  #note(message: string, error: unknown, isNews: boolean): void {
    const { clock, ids, logger, notifier } = this.#parts
    this.#count++
    const row = (this.#row ??= { sinceMs: clock.elapsedMs(), isReported: false })
    if (isNews && !row.isReported) {
      row.isReported = true
      notifier.error(message, error)
    } else logger.debug({ err: error, failures: this.#count }, message)
    if (this.#count > 1) this.#retryAtMs = clock.elapsedMs() + this.#delayMs() * (1 - 0.5 * ids.random())
  }

  /** What the store says. A store of another program may be wrong, and the loop goes on all the same. */
  #delayMs(): number {
    const { jobStore, logger } = this.#parts
    try {
      const delayMs = jobStore.acquireRetryDelayMs(this.#count)
      if (Number.isFinite(delayMs) && delayMs >= 0) return delayMs
      const fields = { delayMs: String(delayMs), usedMs: wrongDelayMs }
      logger.warn(fields, 'acquireRetryDelayMs of the job store answered no number of milliseconds.')
    } catch (error) {
      logThrown(logger, error, 'acquireRetryDelayMs of the job store has thrown.', { usedMs: wrongDelayMs })
    }
    return wrongDelayMs
  }

  /** The row of failures has ended, which the log says; a wait that has begun goes on. */
  end(): void {
    const failures = this.#count
    const isReported = this.#row?.isReported === true
    this.#count = 0
    this.#row = null
    this.#inVainSinceMs = null
    if (isReported) this.#parts.logger.info({ failures }, 'Triggers are searched and fired again.')
  }

  /** The wait is over: there is a sign that the next try succeeds. */
  endWait(): void {
    this.#retryAtMs = 0
  }

  /** Forgets failures and the wait. */
  clear(): void {
    this.#count = 0
    this.#row = null
    this.#reportedMs.clear()
    this.#inVainSinceMs = null
    this.#retryAtMs = 0
  }
}
