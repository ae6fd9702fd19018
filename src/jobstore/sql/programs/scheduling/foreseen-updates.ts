import type { TriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import type { Calendar } from '../../../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import type { JobStoreContext } from '../../../job-store.ts'

/** What takes less long is computed again when it is stored. */
const slowMs = 0.2

interface Foreseen {
  readonly calendar: Calendar
  /** The trigger of which it was computed. */
  readonly before: string
  readonly after: Trigger
}

/**
 * What becomes of triggers under new calendars, where that takes long to compute: of a trigger to which a calendar
 * leaves little, a hundred years are searched.
 */
export class ForeseenUpdates {
  readonly #context: JobStoreContext
  readonly #slow = new KeyMap<TriggerKey, Foreseen>()

  constructor(context: JobStoreContext) {
    this.#context = context
  }

  /** Computes it, and keeps it where that took long. */
  foresee(trigger: Trigger, calendar: Calendar): void {
    const { clock } = this.#context
    const startMs = clock.elapsedMs()
    const after = this.#update(trigger, calendar, clock.now())
    if (clock.elapsedMs() - startMs < slowMs) return
    this.#slow.set(trigger.key, { calendar, before: this.#textOf(trigger), after })
  }

  /**
   * The trigger under the calendar: as it was foreseen, unless it has fired or was replaced since, or its time has
   * passed: one that is computed now may leave that out.
   */
  updated(trigger: Trigger, calendar: Calendar, nowMs: EpochMs): Trigger {
    const known = this.#slow.get(trigger.key)
    if (known?.calendar === calendar && known.before === this.#textOf(trigger)) {
      const { nextFireTimeMs } = known.after
      if (nextFireTimeMs === null || nextFireTimeMs > nowMs) return known.after
    }
    return this.#update(trigger, calendar, nowMs)
  }

  #update(trigger: Trigger, calendar: Calendar, nowMs: EpochMs): Trigger {
    return trigger.updateWithNewCalendar(calendar, nowMs, this.#context.misfireThresholdMs)
  }

  #textOf(trigger: Trigger): string {
    const { nextFireTimeMs, previousFireTimeMs, timesTriggered } = trigger
    const state = [nextFireTimeMs, previousFireTimeMs, timesTriggered]
    return JSON.stringify([this.#context.triggerFamilies.toJSON(trigger), state])
  }
}
