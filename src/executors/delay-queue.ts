import {
  type ArgumentCheck,
  checkBoolean,
  checkMethods,
  checkNumber,
  checkObject,
  checkOptions,
  checkThat,
} from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue } from '../core/options.ts'
import { type Clock, checkClock, systemClock } from '../time/clock.ts'
import { Alarm } from './alarm.ts'
import { DelayHeap } from './delay-heap.ts'
import type { DelayEngine, Delayed } from './delayed.ts'

export interface DelayQueueOptions {
  /** Where time comes from. Default: the system's. */
  readonly clock?: Clock
  /** Whether waiting for an item keeps the process alive. Default true. */
  readonly ref?: boolean
}

/** Checks of the options of both queues. */
export const delayQueueOptions: Readonly<Record<keyof DelayQueueOptions, ArgumentCheck>> = {
  clock: checkClock,
  ref: checkBoolean,
}

const checkArray = checkThat('an array', Array.isArray)
const checkSignal = checkMethods(
  'an AbortSignal',
  ['addEventListener', 'removeEventListener'],
  'A limit in milliseconds is for pollWithin.',
)

interface Waiter<Item> extends Delayed {
  readonly settle: (item: Item | null) => void
}

/**
 * A queue from which an item can be taken once its delay has passed, in the order in which items are due. One timer is
 * armed, for the next item, however many callers wait.
 */
export abstract class DelayQueue<Item extends Delayed> {
  readonly #engine: DelayEngine<Item>
  readonly #clock: Clock
  readonly #alarm: Alarm
  /** Callers that wait for an item, in the order in which they came. */
  readonly #waiters = new Set<Waiter<Item>>()
  /** Those callers that wait with a time limit. */
  readonly #deadlines = new DelayHeap<Waiter<Item>>()
  #sequence = 0

  /** @internal */
  protected constructor(engine: DelayEngine<Item>, options: DelayQueueOptions) {
    this.#engine = engine
    const clock = options.clock ?? systemClock
    this.#clock = clock
    this.#alarm = new Alarm({
      clock,
      now: () => clock.elapsedMs(),
      onRing: () => {
        this.#serve()
      },
      ref: options.ref ?? true,
    })
  }

  /** How many items are in the queue, due or not. */
  get size(): number {
    return this.#engine.size
  }

  /**
   * Adds an item that can be taken `delayMs` from now. Items of the same time are taken in the order in which they
   * came.
   *
   * @throws InvalidArgumentError when the delay is no finite number, the item is in a queue already, or it has no
   * `queueIndex`
   */
  offer(item: Item, delayMs: number): void {
    if (!Number.isFinite(delayMs)) {
      throw new InvalidArgumentError(
        'delayMs',
        `'delayMs' must be a finite number of milliseconds, got ${describeValue(delayMs)}.`,
      )
    }
    checkObject('offer', 'item', item)
    if (typeof item.queueIndex !== 'number') {
      throw new InvalidArgumentError(
        'item',
        "offer: the item needs the notes of its queue: 'sequence: 0' and 'queueIndex: -1'.",
      )
    }
    if (item.queueIndex !== -1) {
      throw new InvalidArgumentError('item', 'The item is in a queue already; remove it there first.')
    }
    item.sequence = this.#sequence++
    const nowMs = this.#clock.elapsedMs()
    this.#engine.insert(item, nowMs + delayMs, nowMs)
    if (this.#waiters.size > 0) this.#serve()
  }

  /** Takes the first item if it is due; null when none is. */
  poll(): Item | null {
    return this.#engine.pollDue(this.#clock.elapsedMs())
  }

  /**
   * Waits for an item, `timeoutMs` at most; null when none came due. Rejects with the signal's reason when it aborts.
   */
  async pollWithin(timeoutMs: number, signal?: AbortSignal): Promise<Item | null> {
    checkNumber('pollWithin', 'timeoutMs', timeoutMs)
    if (signal !== undefined) checkSignal('pollWithin', 'signal', signal)
    return this.#wait(this.#clock.elapsedMs() + timeoutMs, signal)
  }

  /** Waits for an item. Rejects with the signal's reason when it aborts. */
  async take(signal?: AbortSignal): Promise<Item> {
    if (signal !== undefined) checkSignal('take', 'signal', signal)
    return (await this.#wait(Number.POSITIVE_INFINITY, signal)) as Item
  }

  /** Removes an item, due or not; false when it is not in the queue. */
  remove(item: Item): boolean {
    checkObject('remove', 'item', item)
    const removed = this.#engine.remove(item)
    if (removed && this.#waiters.size > 0) this.#serve()
    return removed
  }

  /** Milliseconds until the item is due, negative when it is late; null when it is not in the queue. */
  getDelay(item: Item): number | null {
    checkObject('getDelay', 'item', item)
    const dueMs = this.#engine.dueMs(item)
    return dueMs === null ? null : dueMs - this.#clock.elapsedMs()
  }

  /** Moves due items to the end of an array, `maxItems` at most; answers how many. Default: all that are due. */
  drainTo(target: Item[], maxItems: number = Number.POSITIVE_INFINITY): number {
    checkArray('drainTo', 'target', target)
    checkNumber('drainTo', 'maxItems', maxItems)
    const nowMs = this.#clock.elapsedMs()
    let drained = 0
    while (drained < maxItems) {
      const item = this.#engine.pollDue(nowMs)
      if (item === null) break
      target.push(item)
      drained++
    }
    return drained
  }

  /** Takes all items out, due or not, and answers them in the order of their times. */
  clear(): Item[] {
    const items = this.#engine.clear()
    if (this.#waiters.size > 0) this.#serve()
    return items
  }

  #wait(deadlineMs: number, signal: AbortSignal | undefined): Promise<Item | null> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error)
        return
      }
      const aborted = (): void => {
        this.#dismiss(waiter)
        reject(signal?.reason as Error)
        this.#serve()
      }
      const waiter: Waiter<Item> = {
        sequence: this.#sequence++,
        queueIndex: -1,
        settle: (item) => {
          signal?.removeEventListener('abort', aborted)
          this.#dismiss(waiter)
          resolve(item)
        },
      }
      signal?.addEventListener('abort', aborted, { once: true })
      this.#waiters.add(waiter)
      if (deadlineMs < Number.POSITIVE_INFINITY) this.#deadlines.insert(waiter, deadlineMs)
      this.#serve()
    })
  }

  #dismiss(waiter: Waiter<Item>): void {
    this.#waiters.delete(waiter)
    this.#deadlines.remove(waiter)
  }

  /**
   * Gives due items to the callers that came first, ends the waits whose time is over, and sets the alarm for the next.
   */
  #serve(): void {
    const nowMs = this.#clock.elapsedMs()
    for (const waiter of this.#waiters) {
      const item = this.#engine.pollDue(nowMs)
      if (item === null) break
      waiter.settle(item)
    }
    for (;;) {
      const late = this.#deadlines.peekDue(nowMs)
      if (late === null) break
      late.settle(null)
    }
    const hasNoWaiter = this.#waiters.size === 0
    this.#alarm.set(
      hasNoWaiter
        ? Number.POSITIVE_INFINITY
        : Math.min(this.#engine.nextWakeMs(), this.#deadlines.nextWakeMs()),
    )
  }
}

/** The delay queue on a binary heap: for any delays. Adding and removing cost O(log n). */
export class DelayedWorkQueue<Item extends Delayed> extends DelayQueue<Item> {
  /** @throws InvalidArgumentError ERR_INVALID_OPTION */
  constructor(options: DelayQueueOptions = {}) {
    checkOptions('DelayedWorkQueue', options, delayQueueOptions)
    super(new DelayHeap<Item>(), options)
  }
}
