import { SchedulerError } from '../../core/errors.ts'
import { unawaited } from '../../core/promises.ts'
import type { Clock } from '../../time/clock.ts'
import { settledWithin } from '../../time/settled-within.ts'

/** How many changes of one thing may wait behind the one that is under way. */
export const waitingMax = 20
/** A change that has not begun by then is refused: the one before it waits for a store that is away. */
export const waitMaxMs = 30_000

interface Line {
  /** Settles when the last change of the line has ended. */
  last: Promise<void>
  /** How many changes are under way, wait, or have given up behind one that is still under way. */
  count: number
}

/**
 * Has changes of one thing made one after the other: what a change has looked at before it stores something must still
 * be so when it stores it. Changes of different things go on at once.
 */
export class Turns {
  readonly #clock: Clock
  readonly #lines = new Map<string, Line>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * @param thing the name of what is changed
   * @throws SchedulerError ERR_RATE_LIMITED when too many wait for their turn, or this one has waited for too long
   */
  async take<Answer>(thing: string, change: () => Promise<Answer>): Promise<Answer> {
    const line = this.#lines.get(thing) ?? { last: Promise.resolve(), count: 0 }
    if (line.count > waitingMax) throw tooMany(`${waitingMax} other changes of it wait already`)
    const before = line.last
    let end = (): void => {}
    const turn = new Promise<void>((resolve) => {
      end = resolve
    })
    // Who gives up keeps the place: those behind must still not begin before the one that is under way has ended.
    line.last = before.then(() => turn)
    line.count++
    this.#lines.set(thing, line)
    unawaited(
      line.last.then(() => {
        line.count--
        if (line.count === 0) this.#lines.delete(thing)
      }),
      () => {},
    )
    try {
      if (line.count > 1 && !(await settledWithin(this.#clock, waitMaxMs, before))) {
        throw tooMany(`another change of it has been under way for ${waitMaxMs / 1000} s`)
      }
      return await change()
    } finally {
      end()
    }
  }
}

function tooMany(why: string): SchedulerError {
  return new SchedulerError('ERR_RATE_LIMITED', `Nothing was changed: ${why}.`)
}
