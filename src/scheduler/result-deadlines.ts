import type { Logger } from '../core/logger.ts'
import { unawaited } from '../core/promises.ts'
import { logThrown } from '../core/thrown-value.ts'
import type { AwaitedResult } from '../jobstore/awaited-results.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import type { Clock, ClockTimer, EpochMs } from '../time/clock.ts'

export interface ResultDeadlinesParts {
  readonly jobStore: JobStore
  readonly clock: Clock
  readonly logger: Logger
  /** Whether there can be firings that go on elsewhere. */
  readonly isWanted: () => boolean
  readonly endLate: (awaited: AwaitedResult) => Promise<void>
}

/** How often a started scheduler looks for deadlines that have passed, where others write into the same data. */
const lookIntervalMs = 10_000
/** The time between two looks that end nothing although a deadline has passed. */
const shortestMs = 1000

/**
 * Ends firings that go on elsewhere and whose deadline has passed: a started scheduler looks at its start, at the next
 * deadline that it knows of, and now and then for those of other nodes. Several nodes may find the same one; the store
 * lets one of them end it.
 */
export class ResultDeadlines {
  readonly #parts: ResultDeadlinesParts
  #timer: ClockTimer | null = null
  #dueMs = Number.POSITIVE_INFINITY
  #looking: Promise<void> | null = null
  #isWatching = false

  constructor(parts: ResultDeadlinesParts) {
    this.#parts = parts
  }

  start(): void {
    if (this.#isWatching || !this.#parts.isWanted()) return
    this.#isWatching = true
    this.#look()
  }

  stop(): void {
    this.#isWatching = false
    this.#disarm()
  }

  /** A deadline passes then. */
  expect(deadlineMs: EpochMs): void {
    if (this.#isWatching && deadlineMs < this.#dueMs) this.#arm(deadlineMs - this.#parts.clock.now())
  }

  /** Resolves when no look is under way. */
  async settled(): Promise<void> {
    while (this.#looking !== null) await this.#looking
  }

  #look(): void {
    this.#disarm()
    if (this.#looking !== null) return
    const looking = this.#endSome()
    this.#looking = looking
    unawaited(looking, (error) => {
      logThrown(this.#parts.logger, error, 'The look for results that are overdue has stopped.')
    })
  }

  async #endSome(): Promise<void> {
    const { clock, endLate, jobStore, logger } = this.#parts
    let nextMs: EpochMs | null = null
    let delayMs = lookIntervalMs
    try {
      const found = await jobStore.awaitedResults?.overdue(clock.now())
      const overdue = found?.overdue ?? []
      nextMs = found?.nextMs ?? null
      const ends = await Promise.allSettled(overdue.map((awaited) => endLate(awaited)))
      for (const end of ends) if (end.status === 'rejected') throw end.reason
      // More may be overdue than one answer holds.
      if (overdue.length > 0) delayMs = shortestMs
    } catch (error) {
      // The loop reports a store that is away; here it is enough to look again.
      logThrown(logger, error, 'Results that are overdue could not be looked for.', {}, 'debug')
      delayMs = shortestMs
    }
    this.#looking = null
    if (!this.#isWatching) return
    // A deadline may have come up since the store was asked.
    const untilNextMs = Math.min(nextMs ?? Number.POSITIVE_INFINITY, this.#dueMs) - clock.now()
    const isAlone = !jobStore.capabilities.persistent && delayMs === lookIntervalMs
    const boundedMs = Math.min(Math.max(untilNextMs, 0), isAlone ? Number.POSITIVE_INFINITY : delayMs)
    if (boundedMs < Number.POSITIVE_INFINITY) this.#arm(boundedMs)
  }

  /** Never later than the next look, so that a jump of the clock is noticed. */
  #arm(delayMs: number): void {
    const { clock } = this.#parts
    this.#timer?.cancel()
    const boundedMs = Math.max(0, Math.min(delayMs, lookIntervalMs))
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
