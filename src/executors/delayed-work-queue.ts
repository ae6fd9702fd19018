import { checkOptions } from '../core/arguments.ts'
import { DelayHeap } from './delay-heap.ts'
import { DelayQueue, type DelayQueueOptions, delayQueueOptions } from './delay-queue.ts'
import type { Delayed } from './delayed.ts'

/** The delay queue on a binary heap: for any delays. Adding and removing cost O(log n). */
export class DelayedWorkQueue<Item extends Delayed> extends DelayQueue<Item> {
  /** @throws InvalidArgumentError ERR_INVALID_OPTION */
  constructor(options: DelayQueueOptions = {}) {
    checkOptions('DelayedWorkQueue', options, delayQueueOptions)
    super(new DelayHeap<Item>(), options)
  }
}
