import type { TriggerCounts, TriggerSummary } from '../jobstore/queries.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { Clock } from '../time/clock.ts'

/** What one look at a scheduler found. */
export interface Overview {
  readonly byState: TriggerCounts
  readonly next: readonly TriggerSummary[]
  readonly countedMs: number
}

/** How many of the triggers that fire next are in it. */
const nextShown = 20
/**
 * A look is used so many times as long as it took: however many pages ask, and however many triggers there are, looking
 * takes 2 % of the time at most.
 */
const restFactor = 50
const restMaxMs = 60_000

interface Look {
  readonly answer: Promise<Overview>
  /** By `elapsedMs` of the clock; infinite while it goes on. */
  untilMs: number
}

/** The overviews of schedulers, which open pages ask for all the time. */
export class Overviews {
  readonly #clock: Clock
  readonly #looks = new Map<Scheduler, Look>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  of(scheduler: Scheduler): Promise<Overview> {
    const startedMs = this.#clock.elapsedMs()
    const known = this.#looks.get(scheduler)
    if (known !== undefined && startedMs < known.untilMs) return known.answer
    const look: Look = { answer: this.#look(scheduler), untilMs: Number.POSITIVE_INFINITY }
    this.#looks.set(scheduler, look)
    const end = (factor: number): void => {
      const endedMs = this.#clock.elapsedMs()
      look.untilMs = endedMs + Math.min(restMaxMs, factor * (endedMs - startedMs))
    }
    look.answer.then(
      () => {
        end(restFactor)
      },
      () => {
        end(0)
      },
    )
    return look.answer
  }

  /** Something was changed by way of this server: who did it wants to see it. */
  forget(scheduler: Scheduler): void {
    this.#looks.delete(scheduler)
  }

  async #look(scheduler: Scheduler): Promise<Overview> {
    const countedMs = this.#clock.now()
    const byState = await scheduler.getTriggerCounts()
    const { items } = await scheduler.queryNextTriggers({ take: nextShown })
    return { byState, next: items, countedMs }
  }
}
