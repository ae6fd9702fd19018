import type { Scheduler } from '../scheduler/scheduler.ts'
import type { Clock } from '../time/clock.ts'

/** A look is used so many times as long as it took: however many pages ask, looking takes about 1 % of the time. */
const restFactor = 100
/** What is shown is no older than this, and a look that takes seconds. */
const restMaxMs = 60_000

interface Look<Found> {
  readonly answer: Promise<Found>
  /** By `elapsedMs` of the clock; infinite while it goes on. */
  untilMs: number
}

/** What was found in schedulers, for what open pages ask for all the time. */
export class Looks<Found> {
  readonly #clock: Clock
  readonly #look: (scheduler: Scheduler) => Promise<Found>
  readonly #looks = new Map<Scheduler, Look<Found>>()

  readonly #restMinMs: number

  constructor(clock: Clock, look: (scheduler: Scheduler) => Promise<Found>, restMinMs = 0) {
    this.#clock = clock
    this.#look = look
    this.#restMinMs = restMinMs
  }

  of(scheduler: Scheduler): Promise<Found> {
    const startedMs = this.#clock.elapsedMs()
    const known = this.#looks.get(scheduler)
    if (known !== undefined && startedMs < known.untilMs) return known.answer
    const look: Look<Found> = { answer: this.#look(scheduler), untilMs: Number.POSITIVE_INFINITY }
    this.#looks.set(scheduler, look)
    look.answer.then(
      () => {
        const endedMs = this.#clock.elapsedMs()
        const restMs = Math.max(this.#restMinMs, restFactor * (endedMs - startedMs))
        look.untilMs = endedMs + Math.min(restMaxMs, restMs)
      },
      () => {
        look.untilMs = startedMs
      },
    )
    return look.answer
  }

  /** Something was changed by way of this server: who did it wants to see it. */
  forget(scheduler: Scheduler): void {
    this.#looks.delete(scheduler)
  }
}

/** For how many lengths of time answers are kept: those that were asked for last. */
const lengthsMax = 50

/** What was found in a time that ends now, by how long it is. */
export class LooksBack<Found> {
  readonly #clock: Clock
  readonly #look: (scheduler: Scheduler, fromMs: number, toMs: number) => Promise<Found>
  readonly #restMinMs: number
  readonly #byLength = new Map<number, Looks<Found>>()

  constructor(
    clock: Clock,
    look: (scheduler: Scheduler, fromMs: number, toMs: number) => Promise<Found>,
    restMinMs: number,
  ) {
    this.#clock = clock
    this.#look = look
    this.#restMinMs = restMinMs
  }

  of(scheduler: Scheduler, lengthMs: number): Promise<Found> {
    const look = (of: Scheduler): Promise<Found> => {
      const toMs = this.#clock.now()
      return this.#look(of, toMs - lengthMs, toMs)
    }
    const looks = this.#byLength.get(lengthMs) ?? new Looks(this.#clock, look, this.#restMinMs)
    this.#byLength.delete(lengthMs)
    this.#byLength.set(lengthMs, looks)
    const [oldest = 0] = this.#byLength.keys()
    if (this.#byLength.size > lengthsMax) this.#byLength.delete(oldest)
    return looks.of(scheduler)
  }
}
