import type { Logger } from '../core/logger.ts'
import type { AdjustableClock } from '../time/adjustable-clock.ts'
import { systemClock } from '../time/clock.ts'
import { startsNow } from '../triggers/starts-now.ts'
import type { Trigger } from '../triggers/trigger.ts'

export interface WallClockStartsParts {
  /** The scheduler's clock. */
  readonly clock: AdjustableClock
  /** Whether that is another clock than the machine's. */
  readonly hasOwnClock: boolean
  /** How far the machine's clock may be from the store's time. */
  readonly maxClockSkewMs: number
  readonly logger: Logger
}

/** Clocks that differ by less than this count as equal. */
const agreementMs = 60_000

/**
 * A builder without `{ clock }` reads "now" from the machine's clock. Where the store's time corrects that clock, the
 * start is corrected as well. Beside another clock it cannot be, so this warns once when a trigger starts "now" by the
 * machine's: it would fire at once or not for months. A start time counts as such when it lies between the start of the
 * process and now.
 */
export class WallClockStarts {
  readonly #parts: WallClockStartsParts
  #isTold = false

  constructor(parts: WallClockStartsParts) {
    this.#parts = parts
  }

  /** The trigger as it is to be scheduled. */
  corrected(trigger: Trigger): Trigger {
    const { clock, hasOwnClock, maxClockSkewMs } = this.#parts
    if (hasOwnClock || Math.abs(clock.offsetMs) <= maxClockSkewMs || !startsNow(trigger)) return trigger
    const start = new Date(trigger.startTimeMs + Math.round(clock.offsetMs))
    return trigger.getTriggerBuilder().startAt(start).build()
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
