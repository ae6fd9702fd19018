import type { Clock } from '../time/clock.ts'

/** The longest that tasks run one after the other before timers and I/O have their turn. */
const turnMs = 5

/** For tasks that are shorter than this the clock is not read each time, because reading it takes as long. */
const quickMs = 0.05

const longestStride = 16

/** A turn of the event loop in which tasks run: many alarms may ring in it, one after the other. */
export class LoopTurn {
  endMs: number = Number.NEGATIVE_INFINITY
  #isOpen = false
  /** Whose tasks may wait because a turn was over; the first one begins the next turn. */
  readonly #refused = new Set<Turn>()

  /** Answers whether it is a new one. */
  enter(clock: Clock, nowMs: number): boolean {
    if (this.#isOpen) return false
    this.#isOpen = true
    this.endMs = nowMs + turnMs
    // After the timers and I/O of this turn.
    clock.setImmediate(() => {
      this.#isOpen = false
      this.#serveRefused(clock)
    })
    return true
  }

  /** Where no turn is open, the alarm of the executor opens one, if anything is due at all. */
  refuse(turn: Turn): void {
    if (this.#isOpen) this.#refused.add(turn)
  }

  /** Before any alarm rings, because that of an executor that is behind would ring first in each turn. */
  #serveRefused(clock: Clock): void {
    for (const turn of [...this.#refused]) {
      if (this.#isOpen && clock.elapsedMs() >= this.endMs) return
      this.#refused.delete(turn)
      turn.ring()
    }
  }
}

/** By clock, because each clock has its own event loop as far as tasks can tell. */
const turns = new WeakMap<Clock, LoopTurn>()

function turnOf(clock: Clock): LoopTurn {
  const known = turns.get(clock)
  if (known !== undefined) return known
  const turn = new LoopTurn()
  turns.set(clock, turn)
  return turn
}

/**
 * How long tasks may run within one turn of the event loop. Tasks started by an alarm and tasks started by ended tasks
 * share the time of one turn: a settled promise calls back before any timer or I/O, so it must not get new time. All
 * timers and executors of a clock share it, too: however many there are, each turn is as short as with one, and those
 * that it had no time for come first in the next one.
 */
export class Turn {
  readonly #clock: Clock
  readonly #loopTurn: LoopTurn
  /** Runs tasks that are due, while `goesOn`. */
  readonly #runDue: () => void
  /** The time when it was last read. */
  nowMs = 0
  /** How many tasks run between two readings of the clock. */
  #stride = 1
  #left = 0

  constructor(clock: Clock, runDue: () => void) {
    this.#clock = clock
    this.#runDue = runDue
    this.#loopTurn = turnOf(clock)
  }

  /** Called from a timer or an immediate only: the turn of the event loop may be a new one. */
  ring(): void {
    this.begin()
    this.#runDue()
  }

  /** Called by `ring`. */
  begin(): void {
    this.nowMs = this.#clock.elapsedMs()
    this.#stride = 1
    // One task of the queue that begins a turn runs at least, however long it takes.
    this.#left = this.#loopTurn.enter(this.#clock, this.nowMs) ? 1 : 0
  }

  /** Called from elsewhere, maybe within the last turn: reads the clock first. */
  resume(): void {
    this.#left = 0
  }

  /** Called before each task: false when the turn has lasted long enough. */
  goesOn(): boolean {
    if (this.#left-- > 0) return true
    const nowMs = this.#clock.elapsedMs()
    const quick = nowMs - this.nowMs <= quickMs * this.#stride
    this.#stride = quick ? Math.min(2 * this.#stride, longestStride) : 1
    this.#left = this.#stride - 1
    this.nowMs = nowMs
    if (nowMs < this.#loopTurn.endMs) return true
    this.#loopTurn.refuse(this)
    return false
  }
}
