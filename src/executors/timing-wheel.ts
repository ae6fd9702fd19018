import { DelayHeap } from './delay-heap.ts'
import type { DelayEngine, Delayed } from './delayed.ts'

/** The items of one tick, with their times beside them. */
interface Slot<Item> {
  readonly items: Item[]
  readonly times: number[]
}

/**
 * Hashed timing wheel: an item waits in the slot of its tick, where adding and removing it cost the same however many
 * there are. A wheel holds one turn, so that all items of a slot are of one tick. When a tick has passed, what is left
 * in its slot goes on to a heap that puts it in order; so does, at once, what lies further ahead than one turn.
 *
 * In the wheel `queueIndex` is -2 - (position * slots + slot); in the heap it is the heap's.
 */
export class TimingWheel<Item extends Delayed> implements DelayEngine<Item> {
  readonly #tickMs: number
  readonly #slots: readonly Slot<Item>[]
  readonly #heap = new DelayHeap<Item>()
  #inSlots = 0
  /** Every tick before this one was walked. */
  #nextTick = 0
  /** No slot before this tick has items; Infinity when none has. */
  #firstTick = Number.POSITIVE_INFINITY

  constructor(tickMs: number, ticksPerWheel: number) {
    this.#tickMs = tickMs
    this.#slots = Array.from({ length: ticksPerWheel }, () => ({ items: [], times: [] }))
  }

  get size(): number {
    return this.#inSlots + this.#heap.size
  }

  insert(item: Item, dueMs: number, nowMs: number): void {
    this.#turnTo(nowMs)
    // A tick ends with its last instant, at which its items are due in time.
    const tick = Math.ceil(dueMs / this.#tickMs) - 1
    if (dueMs <= nowMs || tick < this.#nextTick || tick >= this.#nextTick + this.#slots.length) {
      this.#heap.insert(item, dueMs)
      return
    }
    const number = tick % this.#slots.length
    const { items, times } = this.#slots[number] as Slot<Item>
    item.queueIndex = -2 - (items.length * this.#slots.length + number)
    items.push(item)
    times.push(dueMs)
    this.#inSlots++
    if (tick < this.#firstTick) this.#firstTick = tick
  }

  remove(item: Item): boolean {
    if (item.queueIndex >= 0) return this.#heap.remove(item)
    const { slot, position } = this.#placeOf(item)
    if (slot === null) return false
    const last = slot.items.pop() as Item
    const lastTime = slot.times.pop() as number
    if (last !== item) {
      slot.items[position] = last
      slot.times[position] = lastTime
      last.queueIndex = item.queueIndex
    }
    item.queueIndex = -1
    this.#inSlots--
    if (this.#inSlots === 0) this.#firstTick = Number.POSITIVE_INFINITY
    return true
  }

  dueMs(item: Item): number | null {
    if (item.queueIndex >= 0) return this.#heap.dueMs(item)
    const { slot, position } = this.#placeOf(item)
    return slot === null ? null : (slot.times[position] as number)
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
    // A slot is looked at when its tick is over: one wake for all that are due in it.
    return Math.min(this.#heap.nextWakeMs(), (this.#firstTick + 1) * this.#tickMs)
  }

  toArray(): Item[] {
    return [...this.#heap.toArray(), ...this.#slots.flatMap(({ items }) => items)]
  }

  clear(): Item[] {
    for (const slot of this.#slots) this.#empty(slot)
    this.#firstTick = Number.POSITIVE_INFINITY
    return this.#heap.clear()
  }

  /** Walks every tick that has passed since the last time, however many those are. */
  #turnTo(nowMs: number): void {
    const nowTick = Math.floor(nowMs / this.#tickMs)
    if (nowTick <= this.#nextTick) return
    const turnEnd = this.#nextTick + this.#slots.length
    this.#nextTick = nowTick
    if (this.#firstTick >= nowTick) return
    // After a stall of more than a turn every slot has passed.
    for (let tick = this.#firstTick; tick < Math.min(nowTick, turnEnd); tick++)
      this.#empty(this.#slotOf(tick))
    this.#firstTick = this.#findFirstTick(turnEnd)
  }

  /** The first tick with items, of those that were within the turn. */
  #findFirstTick(turnEnd: number): number {
    if (this.#inSlots === 0) return Number.POSITIVE_INFINITY
    let tick = this.#nextTick
    while (tick < turnEnd && this.#slotOf(tick).items.length === 0) tick++
    return tick
  }

  #empty({ items, times }: Slot<Item>): void {
    this.#inSlots -= items.length
    items.forEach((item, position) => {
      this.#heap.insert(item, times[position] as number)
    })
    items.length = 0
    times.length = 0
  }

  #slotOf(tick: number): Slot<Item> {
    return this.#slots[tick % this.#slots.length] as Slot<Item>
  }

  #placeOf(item: Item): { slot: Slot<Item> | null; position: number } {
    const code = -2 - item.queueIndex
    const position = Math.floor(code / this.#slots.length)
    const slot = code < 0 ? undefined : this.#slots[code % this.#slots.length]
    return { slot: slot?.items[position] === item ? slot : null, position }
  }
}
