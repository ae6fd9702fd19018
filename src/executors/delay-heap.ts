import type { DelayEngine, Delayed } from './delayed.ts'

/**
 * Binary heap in an array, ordered by time, then sequence. Every item knows its index, so that taking one out of the
 * middle costs O(log n). Times lie in an array of their own: comparing them does not touch the items.
 */
export class DelayHeap<Item extends Delayed> implements DelayEngine<Item> {
  readonly #items: Item[] = []
  readonly #growthFactor: number
  #times: Float64Array

  /** `initialCapacity` items have room at first; a full heap grows by `growthFactor`. */
  constructor(initialCapacity = 16, growthFactor = 1.5) {
    this.#times = new Float64Array(initialCapacity)
    this.#growthFactor = growthFactor
  }

  get size(): number {
    return this.#items.length
  }

  /** How many items have room. */
  get capacity(): number {
    return this.#times.length
  }

  insert(item: Item, dueMs: number): void {
    const index = this.#items.length
    if (index === this.#times.length) this.#grow()
    this.#items.push(item)
    this.#siftUp(index, item, dueMs)
  }

  remove(item: Item): boolean {
    if (!this.#holds(item)) return false
    this.#removeAt(item.queueIndex)
    return true
  }

  /** Gives an item that is here another time: one sift, where removing and adding it would take two. */
  rekey(item: Item, dueMs: number): void {
    this.#settle(item.queueIndex, item, dueMs)
  }

  dueMs(item: Item): number | null {
    return this.#holds(item) ? (this.#times[item.queueIndex] as number) : null
  }

  /** The first item, due or not. */
  peek(): Item | null {
    return this.#items[0] ?? null
  }

  peekDue(nowMs: number): Item | null {
    return this.#items.length > 0 && (this.#times[0] as number) <= nowMs ? (this.#items[0] as Item) : null
  }

  pollDue(nowMs: number): Item | null {
    const first = this.peekDue(nowMs)
    if (first !== null) this.#removeAt(0)
    return first
  }

  nextWakeMs(): number {
    return this.#items.length > 0 ? (this.#times[0] as number) : Number.POSITIVE_INFINITY
  }

  toArray(): Item[] {
    return [...this.#items]
  }

  clear(): Item[] {
    const times = this.#times
    const ordered = this.#items
      .splice(0)
      .sort(
        (a, b) =>
          (times[a.queueIndex] as number) - (times[b.queueIndex] as number) || a.sequence - b.sequence,
      )
    for (const item of ordered) item.queueIndex = -1
    return ordered
  }

  #holds(item: Item): boolean {
    return item.queueIndex >= 0 && this.#items[item.queueIndex] === item
  }

  #grow(): void {
    const times = new Float64Array(Math.ceil(this.#times.length * this.#growthFactor))
    times.set(this.#times)
    this.#times = times
  }

  /** Puts the last item into the gap. */
  #removeAt(index: number): void {
    const items = this.#items
    const removed = items[index] as Item
    const last = items.pop() as Item
    removed.queueIndex = -1
    if (last !== removed) this.#settle(index, last, this.#times[items.length] as number)
  }

  /** Places an item at an index or, where the order wants it, below or above. */
  #settle(index: number, item: Item, dueMs: number): void {
    const settled = this.#siftDown(index, item, dueMs)
    if (settled === index) this.#siftUp(index, item, dueMs)
  }

  #siftUp(start: number, item: Item, dueMs: number): void {
    const items = this.#items
    const times = this.#times
    let index = start
    while (index > 0) {
      const parent = (index - 1) >>> 1
      const parentTime = times[parent] as number
      const above = items[parent] as Item
      if (dueMs > parentTime || (dueMs === parentTime && item.sequence >= above.sequence)) break
      items[index] = above
      times[index] = parentTime
      above.queueIndex = index
      index = parent
    }
    items[index] = item
    times[index] = dueMs
    item.queueIndex = index
  }

  #siftDown(start: number, item: Item, dueMs: number): number {
    const items = this.#items
    const times = this.#times
    const size = items.length
    const firstLeaf = size >>> 1
    let index = start
    while (index < firstLeaf) {
      let child = 2 * index + 1
      let childTime = times[child] as number
      const right = child + 1
      if (right < size) {
        const rightTime = times[right] as number
        if (
          rightTime < childTime ||
          (rightTime === childTime && (items[right] as Item).sequence < (items[child] as Item).sequence)
        ) {
          child = right
          childTime = rightTime
        }
      }
      const below = items[child] as Item
      if (dueMs < childTime || (dueMs === childTime && item.sequence <= below.sequence)) break
      items[index] = below
      times[index] = childTime
      below.queueIndex = index
      index = child
    }
    items[index] = item
    times[index] = dueMs
    item.queueIndex = index
    return index
  }
}
