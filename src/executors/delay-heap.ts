import type { DelayEngine, Delayed } from './delayed.ts'

/**
 * Binary heap in an array, ordered by time, then sequence. The heap keeps the index of every item, so that removing one
 * from the middle costs O(log n).
 *
 * Sifting moves numbers in typed arrays, not the items: with a million items each step would else touch two objects
 * somewhere in memory. An item has a slot while it is in the heap (its `queueIndex`); the heap has the slots in order,
 * and `#indexes` has the place of each slot in the heap.
 */
export class DelayHeap<Item extends Delayed> implements DelayEngine<Item> {
  readonly #growthFactor: number
  #size = 0
  /** By index in the heap. */
  #times: Float64Array
  #slots: Int32Array
  /** By slot: the index in the heap or, of a free slot, the next free one, -1 for none. */
  #indexes: Int32Array
  /** By slot. */
  readonly #items: (Item | null)[] = []
  #firstFree = -1

  /** `initialCapacity` items have room at first; a full heap grows by `growthFactor`. */
  constructor(initialCapacity = 16, growthFactor = 1.5) {
    this.#times = new Float64Array(initialCapacity)
    this.#slots = new Int32Array(initialCapacity)
    this.#indexes = new Int32Array(initialCapacity)
    this.#growthFactor = growthFactor
  }

  get size(): number {
    return this.#size
  }

  /** How many items have room. */
  get capacity(): number {
    return this.#times.length
  }

  insert(item: Item, dueMs: number): void {
    if (this.#size === this.#times.length) this.#grow()
    const slot = this.#takeSlot(item)
    item.queueIndex = slot
    this.#siftUp(this.#size++, slot, dueMs)
  }

  remove(item: Item): boolean {
    if (!this.#holds(item)) return false
    this.#removeAt(this.#indexes[item.queueIndex] as number)
    return true
  }

  /** Changes the time of an item of the heap: one sift, where removing and adding it would take two. */
  rekey(item: Item, dueMs: number): void {
    this.#settle(this.#indexes[item.queueIndex] as number, item.queueIndex, dueMs)
  }

  dueMs(item: Item): number | null {
    return this.#holds(item) ? (this.#times[this.indexOf(item)] as number) : null
  }

  /** The index of an item of the heap; the first is at 0. */
  indexOf(item: Item): number {
    return this.#indexes[item.queueIndex] as number
  }

  peekDue(nowMs: number): Item | null {
    return this.#size > 0 && (this.#times[0] as number) <= nowMs ? this.#itemAt(0) : null
  }

  pollDue(nowMs: number): Item | null {
    const first = this.peekDue(nowMs)
    if (first !== null) this.#removeAt(0)
    return first
  }

  nextWakeMs(): number {
    return this.#size > 0 ? (this.#times[0] as number) : Number.POSITIVE_INFINITY
  }

  toArray(): Item[] {
    return Array.from({ length: this.#size }, (_, index) => this.#itemAt(index))
  }

  clear(): Item[] {
    const due = (item: Item): number => this.#times[this.indexOf(item)] as number
    const ordered = this.toArray().sort((a, b) => due(a) - due(b) || a.sequence - b.sequence)
    for (const item of ordered) item.queueIndex = -1
    this.#size = 0
    this.#items.length = 0
    this.#firstFree = -1
    return ordered
  }

  #holds(item: Item): boolean {
    return item.queueIndex >= 0 && this.#items[item.queueIndex] === item
  }

  #itemAt(index: number): Item {
    return this.#items[this.#slots[index] as number] as Item
  }

  #grow(): void {
    const capacity = Math.ceil(this.#times.length * this.#growthFactor)
    this.#times = copyInto(new Float64Array(capacity), this.#times)
    this.#slots = copyInto(new Int32Array(capacity), this.#slots)
    this.#indexes = copyInto(new Int32Array(capacity), this.#indexes)
  }

  #takeSlot(item: Item): number {
    const slot = this.#firstFree
    if (slot === -1) return this.#items.push(item) - 1
    this.#firstFree = this.#indexes[slot] as number
    this.#items[slot] = item
    return slot
  }

  /** Puts the last item into the gap. */
  #removeAt(index: number): void {
    const slot = this.#slots[index] as number
    const removed = this.#items[slot] as Item
    const last = --this.#size
    if (last !== index) this.#settle(index, this.#slots[last] as number, this.#times[last] as number)
    removed.queueIndex = -1
    this.#items[slot] = null
    this.#indexes[slot] = this.#firstFree
    this.#firstFree = slot
  }

  /** Places a slot at an index or, where the order wants it, below or above. */
  #settle(index: number, slot: number, dueMs: number): void {
    if (this.#siftDown(index, slot, dueMs) === index) this.#siftUp(index, slot, dueMs)
  }

  #siftUp(start: number, slot: number, dueMs: number): void {
    const times = this.#times
    const slots = this.#slots
    const indexes = this.#indexes
    let index = start
    while (index > 0) {
      const parent = (index - 1) >>> 1
      const parentTime = times[parent] as number
      if (dueMs > parentTime) break
      const above = slots[parent] as number
      if (dueMs === parentTime && !this.#comesBefore(slot, above)) break
      slots[index] = above
      times[index] = parentTime
      indexes[above] = index
      index = parent
    }
    slots[index] = slot
    times[index] = dueMs
    indexes[slot] = index
  }

  #siftDown(start: number, slot: number, dueMs: number): number {
    const size = this.#size
    const times = this.#times
    const slots = this.#slots
    const indexes = this.#indexes
    const firstLeaf = size >>> 1
    let index = start
    while (index < firstLeaf) {
      let child = 2 * index + 1
      let childTime = times[child] as number
      const right = child + 1
      if (right < size) {
        const rightTime = times[right] as number
        const tie = rightTime === childTime
        if (tie ? this.#comesBefore(slots[right] as number, slots[child] as number) : rightTime < childTime) {
          child = right
          childTime = rightTime
        }
      }
      if (dueMs < childTime) break
      const below = slots[child] as number
      if (dueMs === childTime && this.#comesBefore(slot, below)) break
      slots[index] = below
      times[index] = childTime
      indexes[below] = index
      index = child
    }
    slots[index] = slot
    times[index] = dueMs
    indexes[slot] = index
    return index
  }

  /** Of two items of the same time. */
  #comesBefore(slot: number, other: number): boolean {
    return (this.#items[slot] as Item).sequence < (this.#items[other] as Item).sequence
  }
}

/** Copies the numbers of a full array into a longer one. */
export function copyInto<Numbers extends Float64Array | Int32Array>(
  target: Numbers,
  source: Numbers,
): Numbers {
  target.set(source)
  return target
}
