import type { Logger } from '../core/logger.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import type { Trigger } from '../triggers/trigger.ts'

export interface WallClockStartsParts {
  /** The scheduler's clock. */
  readonly clock: Clock
  /** Whether that is another clock than the machine's. */
  readonly hasOwnClock: boolean
  readonly logger: Logger
}

/** Clocks that differ by less than this count as equal. */
const agreementMs = 60_000

/**
 * Warns once when a trigger starts "now" by the machine's clock beside a scheduler that goes by another one: a builder
 * without `{ clock }` took the time from the wrong place, and the trigger fires at once or not for months. A start
 * time counts as such when it lies between the start of the process and now.
 */
export class WallClockStarts {
  readonly #parts: WallClockStartsParts
  #isTold = false

  constructor(parts: WallClockStartsParts) {
    this.#parts = parts
  }

  note(trigger: Trigger): void {
    const { clock, hasOwnClock, logger } = this.#parts
    if (!hasOwnClock || this.#isTold) return
    const wallMs = systemClock.now()
    const nowMs = clock.now()
    const threadStartMs = wallMs - Math.ceil(systemClock.elapsedMs())
    if (Math.abs(nowMs - wallMs) < agreementMs) return
    if (trigger.startTimeMs < threadStartMs || trigger.startTimeMs > wallMs) return
    this.#isTold = true
    logger.warn(
      {},
      `Trigger ${trigger.key.toString()} starts at ${trigger.startTime.toISOString()}, which is now by the machine's ` +
        `clock; by that of this scheduler it is ${new Date(nowMs).toISOString()}. Give the builder the same clock: ` +
        'TriggerBuilder.newTrigger({ clock }).',
    )
  }
}
