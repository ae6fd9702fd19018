import { BTreeEx } from 'sorted-btree/extended/index.js'
import { TriggerKey } from '../../core/key.ts'
import type { EpochMs } from '../../time/clock.ts'
import { compareFireOrder, type Trigger } from '../../triggers/trigger.ts'

/** What a queue holds: something with a trigger that says when it fires. */
export interface Queued {
  readonly trigger: Trigger
}

/** Never compared: no trigger has the priority of what is looked for. */
const anyKey = new TriggerKey('any', 'any')

/** Most records of the front, and how many of them move to the tree or come from it at a time. */
const frontMax = 64
const frontShift = 32

/**
 * Triggers in the order in which they fire: a sorted tree, and before it the first few in a list. Taking the next
 * triggers and giving them back, which is what happens all day, stays in the list and costs the same whatever number
 * of triggers waits behind it.
 */
export class RecordQueue<Item extends Queued> {
  /** The first ones, the last of them first: taking the next one moves nothing. All come before those in the tree. */
  readonly #front: Item[] = []
  readonly #rest: BTreeEx<Item, undefined> = new BTreeEx<Item, undefined>(undefined, compareRecords)

  first(): Item | null {
    if (this.#front.length === 0) this.#refill()
    return this.#front.at(-1) ?? null
  }

  /** The first one that is due after an instant, or null. */
  firstAfter(timeMs: EpochMs): Item | null {
    // Stands behind all that are due by then.
    const trigger = { nextFireTimeMs: timeMs, priority: Number.NEGATIVE_INFINITY, key: anyKey }
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- is compared and never kept
    const probe = { trigger } as Item
    return this.#front[this.#frontIndexOf(probe) - 1] ?? this.#rest.nextHigherKey(probe) ?? null
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

  /** False when the record is not here. */
  delete(record: Item): boolean {
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

  /** Where a record is in the front, or would be. */
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
