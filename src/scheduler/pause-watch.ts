import type { Logger } from '../core/logger.ts'
import { unawaited } from '../core/promises.ts'
import { logThrown } from '../core/thrown-value.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import type { PauseTarget } from '../jobstore/pauses.ts'
import type { Clock, ClockTimer, EpochMs } from '../time/clock.ts'
import type { Notifier } from './notifier.ts'

export interface PauseWatchParts {
  readonly jobStore: JobStore
  readonly clock: Clock
  readonly logger: Logger
  readonly notifier: Notifier
}

/** How often a started scheduler looks for pauses that are over, where others may pause in the same data. */
const lookIntervalMs = 10_000
/** The time between two looks that end nothing although something is over. */
const shortestMs = 1000

/**
 * Has pauses end by themselves: a started scheduler looks at its start, when the next pause that it knows of is over,
 * and now and then for those that others have made.
 */
export class PauseWatch {
  readonly #parts: PauseWatchParts
  #timer: ClockTimer | null = null
  #dueMs = Number.POSITIVE_INFINITY
  #looking: Promise<void> | null = null
  #isWatching = false

  constructor(parts: PauseWatchParts) {
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

  /** A pause ends then. */
  expect(untilMs: EpochMs): void {
    if (this.#isWatching && untilMs < this.#dueMs) this.#arm(untilMs - this.#parts.clock.now())
  }

  /** Resolves when no look is under way. */
  async settled(): Promise<void> {
    while (this.#looking !== null) await this.#looking
  }

  #look(): void {
    this.#disarm()
    if (this.#looking !== null) return
    const { logger } = this.#parts
    const looking = this.#endSome()
    this.#looking = looking
    unawaited(looking, (error) => {
      logThrown(logger, error, 'The look for pauses that are over has stopped.')
    })
  }

  async #endSome(): Promise<void> {
    const { clock, jobStore, logger } = this.#parts
    let nextMs: EpochMs | null = null
    let count = 0
    try {
      const found = await jobStore.endPauses()
      nextMs = found.nextMs
      count = found.ended.length
      for (const target of found.ended) await this.#tell(target)
    } catch (error) {
      // The loop reports a store that is away; here it is enough to look again.
      logThrown(logger, error, 'Pauses that are over could not be looked for.', {}, 'debug')
      nextMs = clock.now() + lookIntervalMs
    }
    this.#looking = null
    if (!this.#isWatching) return
    // A pause may have been made since the store was asked.
    const untilNextMs = Math.min(nextMs ?? Number.POSITIVE_INFINITY, this.#dueMs) - clock.now()
    // One that is over and could not be ended is not tried again at once.
    const delayMs = untilNextMs > 0 || count > 0 ? untilNextMs : shortestMs
    // No other node can pause what is in the memory of this process.
    const isAlone = !jobStore.capabilities.persistent
    if (!isAlone || delayMs < Number.POSITIVE_INFINITY) this.#arm(delayMs)
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

  async #tell(target: PauseTarget): Promise<void> {
    const { notifier } = this.#parts
    switch (target.scope) {
      case 'trigger': {
        const triggerKey = target.key
        await notifier.tell('triggerResumed', { triggerKey }, (l) => l.triggerResumed?.(triggerKey))
        return
      }
      case 'job': {
        const jobKey = target.key
        await notifier.tell('jobResumed', { jobKey }, (l) => l.jobResumed?.(jobKey))
        return
      }
      case 'triggerGroup': {
        const { group } = target
        await notifier.tell('triggersResumed', { group }, (l) => l.triggersResumed?.(group))
        return
      }
      case 'jobGroup': {
        const { group } = target
        await notifier.tell('jobsResumed', { group }, (l) => l.jobsResumed?.(group))
        return
      }
      case 'all':
        await notifier.tell('triggersResumed', { group: null }, (l) => l.triggersResumed?.(null))
    }
  }
}
