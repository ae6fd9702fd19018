/** An item of a delay queue: an object with the two fields that the queue sets. */
export interface Delayed {
  /** Orders items of the same time: the lower goes first. */
  sequence: number
  /** Where the item is; -1 while it is in no queue. */
  queueIndex: number
}

/**
 * Keeps items by the time at which they are due. It reads no clock: its caller passes the time. The seam between the
 * heap and the wheel on one side and queues and executors on the other.
 */
export interface DelayEngine<Item extends Delayed> {
  readonly size: number
  /** Adds an item that is in no queue. */
  insert(item: Item, dueMs: number, nowMs: number): void
  /** Removes an item, wherever it is; false when it is not in it. */
  remove(item: Item): boolean
  /** When the item is due, or null when it is not in it. */
  dueMs(item: Item): number | null
  /** The first item by time, then sequence, if its time has come. */
  peekDue(nowMs: number): Item | null
  /** Removes that item. */
  pollDue(nowMs: number): Item | null
  /** When to ask again: no item is due before then; Infinity when there is no item. */
  nextWakeMs(): number
  /** All items, in no order. */
  toArray(): Item[]
  /** Removes all items and answers them in order. */
  clear(): Item[]
}
