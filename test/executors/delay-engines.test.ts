import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DelayHeap } from '../../src/executors/delay-heap.ts'
import type { DelayEngine, Delayed } from '../../src/executors/delayed.ts'
import { TimingWheel } from '../../src/executors/timing-wheel.ts'

interface Item extends Delayed {
  readonly name: string
}

const item = (name: string, sequence: number): Item => ({ name, sequence, queueIndex: -1 })

/** What an engine must do, kept in the simplest way: a list that is sorted whenever it is asked. */
class Model {
  readonly due = new Map<Item, number>()

  ordered(): Item[] {
    return [...this.due.keys()].sort(
      (a, b) => (this.due.get(a) ?? 0) - (this.due.get(b) ?? 0) || a.sequence - b.sequence,
    )
  }

  pollDue(nowMs: number): Item | null {
    const first = this.ordered()[0]
    if (first === undefined || (this.due.get(first) ?? 0) > nowMs) return null
    this.due.delete(first)
    return first
  }
}

type Step =
  | { readonly kind: 'insert'; readonly delayMs: number }
  | { readonly kind: 'remove'; readonly pick: number }
  | { readonly kind: 'rekey'; readonly pick: number; readonly delayMs: number }
  | { readonly kind: 'advance'; readonly ms: number }

// Few different delays, so that ties are common; some beyond a turn of the wheel, one before the present.
const delays = fc.oneof(fc.integer({ min: -1, max: 40 }), fc.constantFrom(500, 5_000, 3_155_760_000_000))
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('insert' as const), delayMs: delays }),
    fc.record({ kind: fc.constant('remove' as const), pick: fc.nat() }),
    fc.record({ kind: fc.constant('rekey' as const), pick: fc.nat(), delayMs: delays }),
    fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(0, 1, 3, 10, 200, 6_000) }),
  ),
  { maxLength: 200 },
)

/** Takes everything that is due from both, and compares. */
function comparePolls(engine: DelayEngine<Item>, model: Model, nowMs: number): void {
  for (;;) {
    const expected = model.pollDue(nowMs)
    expect(engine.peekDue(nowMs)).toBe(expected)
    expect(engine.pollDue(nowMs)).toBe(expected)
    if (expected === null) return
    expect(expected.queueIndex).toBe(-1)
  }
}

function pick(model: Model, number: number): Item | null {
  const items = [...model.due.keys()]
  return items[number % items.length] ?? null
}

/** Runs the steps on an engine and on the model; `tickMs` is how late the engine may be. */
function runSteps(engine: DelayEngine<Item>, tickMs: number, given: readonly Step[]): void {
  const model = new Model()
  let nowMs = 0
  let sequence = 0
  for (const step of given) {
    if (step.kind === 'insert') {
      const added = item('', sequence++)
      engine.insert(added, nowMs + step.delayMs, nowMs)
      model.due.set(added, nowMs + step.delayMs)
    } else if (step.kind === 'advance') {
      // To the end of a tick, where both have the same.
      nowMs = Math.ceil((nowMs + step.ms) / tickMs) * tickMs
      comparePolls(engine, model, nowMs)
    } else {
      const chosen = pick(model, step.pick)
      if (chosen === null) continue
      expect(engine.dueMs(chosen)).toBe(model.due.get(chosen))
      expect(engine.remove(chosen)).toBe(true)
      expect(engine.remove(chosen)).toBe(false)
      expect(chosen.queueIndex).toBe(-1)
      model.due.delete(chosen)
      if (step.kind === 'rekey') {
        engine.insert(chosen, nowMs + step.delayMs, nowMs)
        model.due.set(chosen, nowMs + step.delayMs)
      }
    }
    expect(engine.size).toBe(model.due.size)
  }
  expect(new Set(engine.toArray())).toEqual(new Set(model.due.keys()))
  expect(engine.clear()).toEqual(model.ordered())
  expect(engine.size).toBe(0)
}

const engines = [
  ['heap', () => new DelayHeap<Item>(), 1],
  ['wheel of 16 ticks of 1 ms', () => new TimingWheel<Item>(1, 16), 1],
  ['wheel of 8 ticks of 10 ms', () => new TimingWheel<Item>(10, 8), 10],
] as const

describe.each(engines)('%s', (_name, make, tickMs) => {
  it('E3, E8, E9: gives what is due by time, then sequence, under random inserts, removes and new times', () => {
    fc.assert(
      fc.property(steps, (given) => {
        runSteps(make(), tickMs, given)
      }),
      { seed: 4, numRuns: 300 },
    )
  })

  it('E19: keeps the order of a task in a hundred years and one that is over', () => {
    const engine = make()
    const [past, soon, far] = [item('past', 2), item('soon', 1), item('far', 0)]
    engine.insert(far, 1000 + 100 * 365.25 * 86_400_000, 1000)
    engine.insert(past, 999, 1000)
    engine.insert(soon, 1000 + 2 ** 31, 1000)
    expect(engine.pollDue(1000)).toBe(past)
    expect(engine.pollDue(1000)).toBeNull()
    expect(engine.clear().map(({ name }) => name)).toEqual(['soon', 'far'])
  })

  it('never gives an item early, and says when to ask for it', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 400, noNaN: true }), (delayMs) => {
        const engine = make()
        const only = item('only', 0)
        engine.insert(only, delayMs, 0)
        let nowMs = 0
        let asked = 0
        while (engine.pollDue(nowMs) === null) {
          expect(engine.nextWakeMs()).toBeGreaterThan(nowMs)
          nowMs = engine.nextWakeMs()
          asked++
        }
        expect(nowMs).toBeGreaterThanOrEqual(delayMs)
        expect(nowMs - delayMs).toBeLessThanOrEqual(tickMs)
        expect(asked).toBeLessThanOrEqual(2)
        expect(engine.nextWakeMs()).toBe(Number.POSITIVE_INFINITY)
      }),
      { seed: 4, numRuns: 300 },
    )
  })

  it('does not take an item of another engine for its own', () => {
    const [mine, other] = [make(), make()]
    const [a, b] = [item('a', 0), item('b', 0)]
    mine.insert(a, 5, 0)
    other.insert(b, 5, 0)
    expect(mine.remove(b)).toBe(false)
    expect(mine.dueMs(b)).toBeNull()
    expect(mine.remove(item('c', 0))).toBe(false)
    expect(other.remove(b)).toBe(true)
  })
})

describe('TimingWheel', () => {
  it('X16: walks every tick that passed while the loop stood still, more than a turn too, and loses nothing', () => {
    const wheel = new TimingWheel<Item>(10, 8)
    const items = Array.from({ length: 300 }, (_, index) => item(`${index}`, index))
    items.forEach((each, index) => {
      wheel.insert(each, index, 0)
    })
    const polled: Item[] = []
    for (let next = wheel.pollDue(5000); next !== null; next = wheel.pollDue(5000)) polled.push(next)
    expect(polled).toEqual(items)
  })

  it('takes what comes after a long rest into the slots again', () => {
    const wheel = new TimingWheel<Item>(10, 8)
    const late = item('late', 0)
    wheel.insert(late, 1_000_015, 1_000_000)
    expect(wheel.nextWakeMs()).toBe(1_000_020)
    expect(late.queueIndex).toBeLessThan(-1)
  })
})

describe('DelayHeap', () => {
  const heapOf = (times: readonly number[], heap = new DelayHeap<Item>()): DelayHeap<Item> => {
    times.forEach((time, index) => {
      heap.insert(item(`${time}`, index), time)
    })
    return heap
  }

  it('E8: starts with room for 16 and grows by 50 %', () => {
    const heap = new DelayHeap<Item>()
    const capacities = new Set([heap.capacity])
    for (let index = 0; index < 40; index++) {
      heap.insert(item('', index), index)
      capacities.add(heap.capacity)
    }
    expect([...capacities]).toEqual([16, 24, 36, 54])
  })

  it('T2: the one of Timer starts with room for 128 and doubles', () => {
    const heap = heapOf(
      Array.from({ length: 129 }, (_, index) => index),
      new DelayHeap(128, 2),
    )
    expect(heap.capacity).toBe(256)
  })

  it('T2, T3: no item is before its parent, and each knows its index, after every operation', () => {
    const time = fc.integer({ min: 0, max: 20 })
    const operation = fc.record({ what: fc.constantFrom('insert', 'remove', 'rekey'), pick: fc.nat(), time })
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 100 }), (operations) => {
        const heap = new DelayHeap<Item>()
        operations.forEach(({ what, pick: number, time: at }, index) => {
          const items = heap.toArray()
          const chosen = items[number % items.length]
          if (what === 'insert' || chosen === undefined) heap.insert(item('', index), at)
          else if (what === 'remove') heap.remove(chosen)
          else heap.rekey(chosen, at)
          expectHeap(heap)
        })
      }),
      { seed: 4, numRuns: 200 },
    )
  })

  /** Parents by the formula of an array that begins at 0, (n-1)/2, and of one that begins at 1, n/2. */
  function expectHeap(heap: DelayHeap<Item>): void {
    const items = heap.toArray()
    items.forEach((each, index) => {
      expect(heap.indexOf(each)).toBe(index)
      if (index === 0) return
      const parent = items[Math.floor((index - 1) / 2)]
      expect(items[Math.floor((index + 1) / 2) - 1]).toBe(parent)
      if (parent === undefined) expect.fail()
      const [dueMs, parentMs] = [heap.dueMs(each) ?? Number.NaN, heap.dueMs(parent) ?? Number.NaN]
      expect(parentMs < dueMs || (parentMs === dueMs && parent.sequence < each.sequence)).toBe(true)
    })
  }

  it('T2: gives the first another time in place', () => {
    const heap = heapOf([1, 5, 9])
    const first = heap.toArray()[0] ?? null
    if (first === null) expect.fail()
    heap.rekey(first, 7)
    expect(heap.clear().map(({ name }) => name)).toEqual(['5', '1', '9'])
  })

  it('E12: notes on every item that it is in no queue when it is cleared', () => {
    const heap = heapOf([3, 1, 2])
    expect(heap.clear().map(({ queueIndex }) => queueIndex)).toEqual([-1, -1, -1])
    expect(heap.nextWakeMs()).toBe(Number.POSITIVE_INFINITY)
  })
})
