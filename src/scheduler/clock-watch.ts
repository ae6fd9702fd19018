import type { Logger } from '../core/logger.ts'
import type { Clock } from '../time/clock.ts'

/** What sets clocks right step by step goes less far between two looks. */
const smallestMs = 5000

/** Warns when the clock was set back: what is planned then waits until the clock has reached its time once more. */
export class ClockWatch {
  readonly #clock: Clock
  readonly #logger: Logger
  /** The wall clock less the monotonic one at the last look; null before the first. */
  #differenceMs: number | null = null

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock
    this.#logger = logger
  }

  look(): void {
    const differenceMs = this.#clock.now() - this.#clock.elapsedMs()
    const setBackMs = Math.round((this.#differenceMs ?? differenceMs) - differenceMs)
    this.#differenceMs = differenceMs
    if (setBackMs < smallestMs) return
    this.#logger.warn(
      { setBackMs },
      'The clock was set back. Triggers that are planned fire when it has reached their times, so they come later by ' +
        'as much.',
    )
  }
}
