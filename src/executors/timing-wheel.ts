import { copyInto, DelayHeap } from './delay-heap.ts'
import type { DelayEngine, Delayed } from './delayed.ts'

/** Stands for no cell. */
const none = -1

/**
 * Hashed timing wheel: an item waits in the list of its tick, where adding and removing take constant time. The wheel
 * holds one turn, so that all items of a list are of one tick. When a tick has passed, the items left in its list move
 * to a heap, which orders them; items further ahead than one turn go to the heap at once.
 *
 * The lists are doubly linked, through cells of typed arrays: an item has a cell for as long as it is in the wheel. Its
 * `queueIndex` is then -2 - cell; in the heap it is the heap's.
 */
export class TimingWheel<Item extends Delayed> implements DelayEngine<Item> {
  readonly #tickMs: number
  /** The first cell of each list. */
  readonly #heads: Int32Array
  readonly #heap = new DelayHeap<Item>()
  /** By cell. */
  readonly #items: (Item | null)[] = []
  #times = new Float64Array(16)
  /** By cell: the next cell of its list or, for a free cell, the next free one. */
  #next = new Int32Array(16)
  /** By cell: the previous cell or, for the first of a list, -2 - the number of the list. */
  #previous = new Int32Array(16)
  #firstFree = none
  #inLists = 0
  /** Every tick before this one was walked. */
  #nextTick = 0
  /** No list before this tick has items; Infinity when none has. */
  #firstTick = Number.POSITIVE_INFINITY

  constructor(tickMs: number, ticksPerWheel: number) {
    this.#tickMs = tickMs
    this.#heads = new Int32Array(ticksPerWheel).fill(none)
  }

  get size(): number {
    return this.#inLists + this.#heap.size
  }

  insert(item: Item, dueMs: number, nowMs: number): void {
    this.#turnTo(nowMs)
    // A tick ends with its last instant, at which its items are due in time.
    const tick = Math.ceil(dueMs / this.#tickMs) - 1
    if (dueMs <= nowMs || tick < this.#nextTick || tick >= this.#nextTick + this.#heads.length) {
      this.#heap.insert(item, dueMs)
      return
    }
    const cell = this.#takeCell(item)
    item.queueIndex = -2 - cell
    this.#times[cell] = dueMs
    this.#link(cell, tick % this.#heads.length)
    if (tick < this.#firstTick) this.#firstTick = tick
  }

  remove(item: Item): boolean {
    if (item.queueIndex >= 0) return this.#heap.remove(item)
    const cell = this.#cellOf(item)
    if (cell === none) return false
    this.#unlink(cell)
    this.#freeCell(cell)
    item.queueIndex = -1
    if (this.#inLists === 0) this.#firstTick = Number.POSITIVE_INFINITY
    return true
  }

  dueMs(item: Item): number | null {
    if (item.queueIndex >= 0) return this.#heap.dueMs(item)
    const cell = this.#cellOf(item)
    return cell === none ? null : (this.#times[cell] as number)
  }

  peekDue(nowMs: number): Item | null {
    this.#turnTo(nowMs)
    return this.#heap.peekDue(nowMs)
  }

  pollDue(nowMs: number): Item | null {
    this.#turnTo(nowMs)
    return this.#heap.pollDue(nowMs)
  }

  nextWakeMs(): number {
    // A list is read when its tick is over: one wake-up for all items that are due in it.
    return Math.min(this.#heap.nextWakeMs(), (this.#firstTick + 1) * this.#tickMs)
  }

  toArray(): Item[] {
    return [...this.#heap.toArray(), ...this.#items.filter((item) => item !== null)]
  }

  clear(): Item[] {
    for (let list = 0; list < this.#heads.length; list++) this.#empty(list)
    this.#firstTick = Number.POSITIVE_INFINITY
    return this.#heap.clear()
  }

  /** Walks every tick that has passed since the last walk. */
  #turnTo(nowMs: number): void {
    const nowTick = Math.floor(nowMs / this.#tickMs)
    if (nowTick <= this.#nextTick) return
    const turnEnd = this.#nextTick + this.#heads.length
    this.#nextTick = nowTick
    if (this.#firstTick >= nowTick) return
    // After a stall of more than a turn every list has passed.
    const passedEnd = Math.min(nowTick, turnEnd)
    for (let tick = this.#firstTick; tick < passedEnd; tick++) this.#empty(tick % this.#heads.length)
    this.#firstTick = this.#findFirstTick(turnEnd)
  }

  /** The first tick with items, of those that were within the turn. */
  #findFirstTick(turnEnd: number): number {
    if (this.#inLists === 0) return Number.POSITIVE_INFINITY
    let tick = this.#nextTick
    while (tick < turnEnd && this.#heads[tick % this.#heads.length] === none) tick++
    return tick
  }

  /** Moves the items of a list to the heap. */
  #empty(list: number): void {
    let cell = this.#heads[list] as number
    this.#heads[list] = none
    while (cell !== none) {
      const next = this.#next[cell] as number
      const item = this.#items[cell] as Item
      this.#freeCell(cell)
      this.#heap.insert(item, this.#times[cell] as number)
      cell = next
    }
  }

  #link(cell: number, list: number): void {
    const second = this.#heads[list] as number
    this.#next[cell] = second
    this.#previous[cell] = -2 - list
    if (second !== none) this.#previous[second] = cell
    this.#heads[list] = cell
  }

  #unlink(cell: number): void {
    const next = this.#next[cell] as number
    const previous = this.#previous[cell] as number
    if (previous < 0) this.#heads[-2 - previous] = next
    else this.#next[previous] = next
    if (next !== none) this.#previous[next] = previous
  }

  #cellOf(item: Item): number {
    const cell = -2 - item.queueIndex
    return cell >= 0 && this.#items[cell] === item ? cell : none
  }

  #takeCell(item: Item): number {
    this.#inLists++
    const cell = this.#firstFree
    if (cell === none) {
      if (this.#items.length === this.#times.length) this.#grow()
      return this.#items.push(item) - 1
    }
    this.#firstFree = this.#next[cell] as number
    this.#items[cell] = item
    return cell
  }

  #freeCell(cell: number): void {
    this.#inLists--
    this.#items[cell] = null
    this.#next[cell] = this.#firstFree
    this.#firstFree = cell
  }

  #grow(): void {
    const capacity = Math.ceil(this.#times.length * 1.5)
    this.#times = copyInto(new Float64Array(capacity), this.#times)
    this.#next = copyInto(new Int32Array(capacity), this.#next)
    this.#previous = copyInto(new Int32Array(capacity), this.#previous)
  }
}
