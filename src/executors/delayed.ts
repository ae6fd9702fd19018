/** What a delay queue holds: anything with room for what the queue notes on it. */
export interface Delayed {
  /** Orders items of the same time: the lower goes first. */
  sequence: number
  /** Where the item is; -1 while it is in no queue. */
  queueIndex: number
}

/**
 * Keeps items by the time at which they are due. Reads no clock: whoever uses it says what time it is. The seam
 * between the heap and the wheel on one side and queues and executors on the other.
 */
export interface DelayEngine<Item extends Delayed> {
  readonly size: number
  /** Adds an item that is in no queue. */
  insert(item: Item, dueMs: number, nowMs: number): void
  /** Takes an item out, wherever it is; false when it is not here. */
  remove(item: Item): boolean
  /** When the item is due, or null when it is not here. */
  dueMs(item: Item): number | null
  /** The first item by time, then sequence, if its time has come. */
  peekDue(nowMs: number): Item | null
  /** Takes that item out. */
  pollDue(nowMs: number): Item | null
  /** When to ask again: nothing is to be had before then; Infinity when there is nothing at all. */
  nextWakeMs(): number
  /** All items, in no order. */
  toArray(): Item[]
  /** Takes all items out and answers them in order. */
  clear(): Item[]
}
