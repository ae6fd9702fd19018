import { type Clock, type ClockTimer, type EpochMs, timerDelayMaxMs } from '../../src/time/clock.ts'

interface SimTimer {
  readonly deadline: number
  readonly order: number
  readonly sequence: number
  readonly onFire: () => void
  cancelled: boolean
}

/**
 * A virtual clock for simulations: a hundred thousand timers a second, in an order that depends on nothing but the
 * code and the seed. Everything under it must be virtual: it waits for promises, not for I/O.
 *
 * Besides moving on it can do what clocks do to programs: jump, and stall (time passes while no timer fires, as when
 * the event loop is blocked or the process is suspended).
 */
export class SimClock implements Clock {
  #wallMs: EpochMs
  #monotonicMs = 0
  #sequence = 0
  readonly #heap: SimTimer[] = []
  readonly #immediates: SimTimer[] = []
  readonly #tieBreak: () => number

  /** `tieBreak` orders timers of one deadline; by default the one armed first fires first. */
  constructor(startMs: EpochMs, tieBreak: () => number = () => 0) {
    this.#wallMs = startMs
    this.#tieBreak = tieBreak
  }

  now(): EpochMs {
    return Math.floor(this.#wallMs)
  }

  elapsedMs(): number {
    return this.#monotonicMs
  }

  setTimer(delayMs: number, onFire: () => void): ClockTimer {
    const deadline = this.#monotonicMs + Math.min(Math.max(delayMs, 0), timerDelayMaxMs)
    const timer = this.#timer(deadline, this.#tieBreak(), onFire)
    push(this.#heap, timer)
    return cancelOf(timer)
  }

  setImmediate(onFire: () => void): ClockTimer {
    const timer = this.#timer(0, 0, onFire)
    this.#immediates.push(timer)
    return cancelOf(timer)
  }

  /** How many timers and immediates are armed. */
  get timerCount(): number {
    return [...this.#heap, ...this.#immediates].filter((timer) => !timer.cancelled).length
  }

  /** Resolves after `delayMs` of virtual time. */
  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.setTimer(delayMs, resolve)
    })
  }

  /** Moves the wall clock alone. */
  jump(ms: number): void {
    this.#wallMs += ms
  }

  /** Lets time pass without firing anything: what is due fires late, after the caller has returned. */
  stall(ms: number): void {
    this.#moveTo(this.#monotonicMs + ms)
  }

  /** Runs until `done` has settled, or throws when `limitMs` of virtual time pass first or nothing is left to run. */
  async runUntil(done: Promise<unknown>, limitMs: number): Promise<void> {
    const limit = this.#monotonicMs + limitMs
    const state = { isDone: false }
    const finish = (): void => {
      state.isDone = true
    }
    done.then(finish, finish)
    await settle()
    while (!state.isDone) {
      if (!this.#step(limit)) throw new Error(`The simulation hangs: no progress within ${limitMs} ms.`)
      await settle()
    }
    await done
  }

  /** Moves time forward, firing what comes due on the way. */
  async advance(ms: number): Promise<void> {
    const target = this.#monotonicMs + ms
    await settle()
    while (this.#step(target)) await settle()
    if (target > this.#monotonicMs) this.#moveTo(target)
  }

  /** Fires the next immediate or timer that is due by `limit`; false when there is none. */
  #step(limit: number): boolean {
    for (;;) {
      const immediate = this.#immediates.shift()
      if (immediate !== undefined) {
        if (immediate.cancelled) continue
        immediate.onFire()
        return true
      }
      const next = this.#heap[0]
      if (next === undefined || (next.deadline > limit && !next.cancelled)) return false
      pop(this.#heap)
      if (next.cancelled) continue
      next.cancelled = true
      if (next.deadline > this.#monotonicMs) this.#moveTo(next.deadline)
      next.onFire()
      return true
    }
  }

  #timer(deadline: number, order: number, onFire: () => void): SimTimer {
    return { deadline, order, sequence: this.#sequence++, onFire, cancelled: false }
  }

  #moveTo(monotonicMs: number): void {
    this.#wallMs += monotonicMs - this.#monotonicMs
    this.#monotonicMs = monotonicMs
  }
}

/** Node runs the tick queue when the queue of promises is empty: everything that could go on has gone on. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve)
  })
}

function cancelOf(timer: SimTimer): ClockTimer {
  return {
    cancel: () => {
      timer.cancelled = true
    },
  }
}

function isBefore(a: SimTimer, b: SimTimer): boolean {
  if (a.deadline !== b.deadline) return a.deadline < b.deadline
  return a.order === b.order ? a.sequence < b.sequence : a.order < b.order
}

function push(heap: SimTimer[], timer: SimTimer): void {
  let index = heap.length
  heap.push(timer)
  while (index > 0) {
    const parentIndex = (index - 1) >> 1
    const parent = heap[parentIndex]
    if (parent === undefined || !isBefore(timer, parent)) break
    heap[index] = parent
    heap[parentIndex] = timer
    index = parentIndex
  }
}

function pop(heap: SimTimer[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let index = 0
  for (;;) {
    let childIndex = 2 * index + 1
    let child = heap[childIndex]
    const right = heap[childIndex + 1]
    if (child === undefined) break
    if (right !== undefined && isBefore(right, child)) {
      childIndex++
      child = right
    }
    if (!isBefore(child, last)) break
    heap[index] = child
    index = childIndex
  }
  heap[index] = last
}
