import type { Clock } from '../time/clock.ts'

/** The longest that tasks run one after the other before timers and I/O have their turn. */
const turnMs = 5

/** The same in tasks, because the clock of a test stands still. */
const turnTasks = 10_000

/** A turn of the event loop in which tasks run: many alarms may ring in it, one after the other. */
export class LoopTurn {
  endMs: number = Number.NEGATIVE_INFINITY
  /** How many tasks have begun in it. */
  #tasks = 0
  #isOpen = false
  /** Whose tasks may wait because a turn was over; the first one begins the next turn. */
  readonly #refused = new Set<Turn>()

  /** Answers whether it is a new one. */
  enter(clock: Clock, nowMs: number): boolean {
    if (this.#isOpen) return false
    this.#isOpen = true
    this.endMs = nowMs + turnMs
    this.#tasks = 0
    // After the timers and I/O of this turn.
    clock.setImmediate(() => {
      this.#isOpen = false
      this.#serveRefused(clock)
    })
    return true
  }

  /** Whether one more task may begin. */
  takes(nowMs: number): boolean {
    return nowMs < this.endMs && this.#tasks++ < turnTasks
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
  /** One task of the queue that begins a turn runs at least, however long it takes. */
  #isFirst = false

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
    this.#isFirst = this.#loopTurn.enter(this.#clock, this.nowMs)
  }

  /** Called from elsewhere, maybe within the last turn. */
  resume(): void {
    this.#isFirst = false
  }

  /** Called before each task: false when the turn has lasted long enough. */
  goesOn(): boolean {
    if (this.#isFirst) {
      this.#isFirst = false
      return true
    }
    this.nowMs = this.#clock.elapsedMs()
    if (this.#loopTurn.takes(this.nowMs)) return true
    this.#loopTurn.refuse(this)
    return false
  }
}
