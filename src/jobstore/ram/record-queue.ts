import { BTreeEx } from 'sorted-btree/extended/index.js'
import { TriggerKey } from '../../core/key.ts'
import type { EpochMs } from '../../time/clock.ts'
import { compareFireOrder, type Trigger } from '../../triggers/trigger.ts'

/** An item of the queue, ordered by its trigger. */
export interface Queued {
  readonly trigger: Trigger
}

/** Never compared, because no trigger has the priority of the probe. */
const anyKey = new TriggerKey('any', 'any')

/** Most records of the front, and how many of them move to the tree or come from it at a time. */
const frontMax = 64
const frontShift = 32

/**
 * Triggers in the order in which they fire: the first few in a list, the others in a sorted tree. Taking the next
 * triggers and putting them back, the most frequent operations, use the list only and take constant time.
 */
export class RecordQueue<Item extends Queued> {
  /**
   * The first triggers in reverse order, so that taking the next one moves nothing. All come before those of the tree.
   */
  readonly #front: Item[] = []
  readonly #rest: BTreeEx<Item, undefined> = new BTreeEx<Item, undefined>(undefined, compareRecords)

  first(): Item | null {
    if (this.#front.length === 0) this.#refill()
    return this.#front.at(-1) ?? null
  }

  /** The first one that is due after an instant, or null. */
  firstAfter(timeMs: EpochMs): Item | null {
    // Comes after all triggers that are due by then.
    const trigger = { nextFireTimeMs: timeMs, priority: Number.NEGATIVE_INFINITY, key: anyKey }
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- is compared and never kept
    const probe = { trigger } as Item
    return this.#front[this.#frontIndexOf(probe) - 1] ?? this.#rest.nextHigherKey(probe) ?? null
  }

  /** All records, in the order in which they fire. The queue must not change meanwhile. */
  *[Symbol.iterator](): Generator<Item, void, undefined> {
    for (let index = this.#front.length - 1; index >= 0; index--) yield this.#front[index] as Item
    yield* this.#rest.keys()
  }

  insert(record: Item): void {
    if (this.#isBehindFront(record)) {
      this.#rest.set(record, undefined)
      return
    }
    this.#front.splice(this.#frontIndexOf(record), 0, record)
    if (this.#front.length > frontMax) {
      for (const last of this.#front.splice(0, frontShift)) this.#rest.set(last, undefined)
    }
  }

  /** False when the record is not in the queue. */
  delete(record: Item): boolean {
    if (this.#front.at(-1) === record) {
      this.#front.pop()
      return true
    }
    const index = this.#frontIndexOf(record)
    if (this.#front[index] !== record) return this.#rest.delete(record)
    this.#front.splice(index, 1)
    return true
  }

  clear(): void {
    this.#front.length = 0
    this.#rest.clear()
  }

  #isBehindFront(record: Item): boolean {
    if (this.#rest.isEmpty && this.#front.length < frontMax) return false
    const lastOfFront = this.#front[0]
    return lastOfFront === undefined || compareRecords(record, lastOfFront) > 0
  }

  /** The index of a record in the front, or where it would be. */
  #frontIndexOf(record: Item): number {
    const front = this.#front
    let low = 0
    let high = front.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = front[middle]
      if (other !== undefined && compareRecords(other, record) > 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #refill(): void {
    const records: Item[] = []
    for (const record of this.#rest.keys()) {
      records.push(record)
      if (records.length === frontShift) break
    }
    const [first] = records
    const last = records.at(-1)
    if (first === undefined || last === undefined) return
    this.#rest.deleteRange(first, last, true)
    this.#front.push(...records.reverse())
  }
}

function compareRecords(a: Queued, b: Queued): number {
  return a === b ? 0 : compareFireOrder(a.trigger, b.trigger)
}
