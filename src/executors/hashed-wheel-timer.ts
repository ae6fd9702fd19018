import { checkNumber, checkOptions } from '../core/arguments.ts'
import { requireInteger } from '../core/options.ts'
import { DelayQueue, type DelayQueueOptions, delayQueueOptions } from './delay-queue.ts'
import type { Delayed } from './delayed.ts'
import { TimingWheel } from './timing-wheel.ts'

/** Default of `tickMs`. */
const defaultTickMs = 10

/** Times `defaultTickMs` this makes a turn of 41 seconds. */
export const defaultTicksPerWheel = 4096

export interface HashedWheelTimerOptions extends DelayQueueOptions {
  /** How far the wheel turns at a time, and how late an item may become due. Milliseconds, 1 to 60,000, default 10. */
  readonly tickMs?: number
  /** Ticks in one turn; delays longer than a turn cost what they cost in a heap. 1 to 1,048,576, default 4,096. */
  readonly ticksPerWheel?: number
}

/**
 * The delay queue on a hashed timing wheel: for very many short delays, most of which are cancelled. Adding and
 * removing take constant time; an item becomes due up to one tick late and never early.
 */
export class HashedWheelTimer<Item extends Delayed> extends DelayQueue<Item> {
  /** @throws InvalidArgumentError ERR_INVALID_OPTION */
  constructor(options: HashedWheelTimerOptions = {}) {
    checkOptions('HashedWheelTimer', options, {
      ...delayQueueOptions,
      tickMs: checkNumber,
      ticksPerWheel: checkNumber,
    })
    super(
      new TimingWheel<Item>(
        requireTickMs('HashedWheelTimer', options.tickMs),
        requireInteger('HashedWheelTimer', 'ticksPerWheel', options.ticksPerWheel ?? defaultTicksPerWheel, {
          min: 1,
          max: 2 ** 20,
        }),
      ),
      options,
    )
  }
}

export function requireTickMs(what: string, tickMs: number | undefined): number {
  return requireInteger(what, 'tickMs', tickMs ?? defaultTickMs, { min: 1, max: 60_000 })
}
