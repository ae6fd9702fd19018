import type { Logger } from '../core/logger.ts'
import { unawaited } from '../core/promises.ts'
import { logThrown } from '../core/thrown-value.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import type { Clock, ClockTimer, EpochMs } from '../time/clock.ts'

export interface DueWatchParts {
  readonly jobStore: JobStore
  readonly clock: Clock
  readonly logger: Logger
  /** What is looked for, in the plural. */
  readonly what: string
  /** Ends what is due. */
  readonly look: () => Promise<Looked>
  /** When to look again after a look that failed. */
  readonly failed: Looked
  /** How long until the next look at the latest. Default {@link lookIntervalMs}. */
  readonly intervalMs?: () => number
}

/** When to look again. */
export interface Looked {
  /** When something is due next, as the store knows it; null when nothing is. */
  readonly nextMs: EpochMs | null
  /** After so long, when something is due already. */
  readonly whenDueMs: number
  /** After so long at the latest. */
  readonly atMostMs: number
}

/** How often a watch looks, where others write into the same data. */
export const lookIntervalMs = 10_000
/** The time between two looks of which the first has ended nothing. */
export const shortestMs = 1000

/**
 * Ends what a store keeps until an instant: looks at its start, at the next instant that it knows of, and now and then
 * for those of other nodes.
 */
export class DueWatch {
  readonly #parts: DueWatchParts
  #timer: ClockTimer | null = null
  #dueMs = Number.POSITIVE_INFINITY
  #looking: Promise<void> | null = null
  #isWatching = false

  constructor(parts: DueWatchParts) {
    this.#parts = parts
  }

  start(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    this.#look()
  }

  stop(): void {
    this.#isWatching = false
    this.#disarm()
  }

  /** Something is due then. */
  expect(dueMs: EpochMs): void {
    if (this.#isWatching && dueMs < this.#dueMs) this.#arm(dueMs - this.#parts.clock.now())
  }

  /** Resolves when no look is under way. */
  async settled(): Promise<void> {
    while (this.#looking !== null) await this.#looking
  }

  #look(): void {
    if (this.#looking !== null) {
      // The look under way may have asked the store too early for what is due now: another look follows it.
      this.#dueMs = Math.min(this.#dueMs, this.#parts.clock.now())
      return
    }
    this.#disarm()
    const { logger, what } = this.#parts
    const looking = this.#lookOnce()
    this.#looking = looking
    unawaited(looking, (error) => {
      logThrown(logger, error, `The look for ${what} has stopped.`)
    })
  }

  async #lookOnce(): Promise<void> {
    const { clock, failed, jobStore, logger, look, what } = this.#parts
    let looked = failed
    try {
      looked = await look()
    } catch (error) {
      // The loop reports a store that is away; here it is enough to look again.
      logThrown(logger, error, `The look for ${what} failed.`, {}, 'debug')
    }
    this.#looking = null
    if (!this.#isWatching) return
    // Something may have been stored since the store was asked.
    const untilNextMs = Math.min(looked.nextMs ?? Number.POSITIVE_INFINITY, this.#dueMs) - clock.now()
    const delayMs = Math.min(untilNextMs > 0 ? untilNextMs : looked.whenDueMs, looked.atMostMs)
    // No other node can write into the memory of this process.
    const isAlone = !jobStore.capabilities.persistent
    if (!isAlone || delayMs < Number.POSITIVE_INFINITY) this.#arm(delayMs)
  }

  /** Never later than the next look, so that a jump of the clock is noticed. */
  #arm(delayMs: number): void {
    const { clock, intervalMs } = this.#parts
    this.#timer?.cancel()
    const boundedMs = Math.max(0, Math.min(delayMs, intervalMs?.() ?? lookIntervalMs))
    this.#dueMs = clock.now() + boundedMs
    this.#timer = clock.setTimer(boundedMs, () => {
      this.#look()
    })
  }

  #disarm(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#dueMs = Number.POSITIVE_INFINITY
  }
}
