import type { Worker } from 'node:worker_threads'
import type { Clock, ClockTimer } from '../time/clock.ts'
import type { WorkerExecution } from './worker-execution.ts'

/** How long a thread that is asked to end may take before it counts as stuck: native code cannot be stopped. */
export const exitTimeoutMs = 5_000

/** One thread, from its first lease to its real end. */
export class PoolThread {
  readonly id: number
  /** Resolves when the thread runs nothing any more, native code included. */
  readonly exited: Promise<void>
  /** Its executions, or those it had when it was asked to end. */
  executions: ReadonlyMap<number, WorkerExecution> = new Map()
  /** Armed when the thread is asked to end. */
  exitTimer: ClockTimer | null = null
  readonly #onExit: (() => void)[] = []
  #hasExited = false

  constructor(worker: Worker) {
    this.id = worker.threadId
    this.exited = new Promise((resolve) => {
      worker.once('exit', () => {
        this.#hasExited = true
        resolve()
        for (const onExit of this.#onExit.splice(0)) onExit()
      })
    })
  }

  /** Calls back when a thread that runs now has exited. */
  whenExited(onExit: () => void): void {
    this.#onExit.push(onExit)
  }

  get hasExited(): boolean {
    return this.#hasExited
  }
}

export interface RosterEvents {
  /** The thread was asked to end and has not exited within `exitTimeoutMs`. */
  stuck(thread: PoolThread): void
  /** A thread that was asked to end has exited. */
  exited(thread: PoolThread, options: { readonly wasStuck: boolean }): void
}

/**
 * The threads that really exist. Piscina forgets a thread when it asks it to end. A thread in native code exits when
 * that code returns, and counts here until then.
 */
export class ThreadRoster {
  readonly #clock: Clock
  readonly #events: RosterEvents
  readonly #threads = new Map<number, PoolThread>()
  readonly #ending = new Set<PoolThread>()

  constructor(clock: Clock, events: RosterEvents) {
    this.#clock = clock
    this.#events = events
  }

  /** How many threads have had a lease and were not asked to end. */
  get livingCount(): number {
    return this.#threads.size - this.#ending.size
  }

  /** How many threads were asked to end and have not yet. */
  get endingCount(): number {
    return this.#ending.size
  }

  /** How many of those count as stuck. */
  get stuckCount(): number {
    return [...this.#ending].filter(({ exitTimer }) => exitTimer === null).length
  }

  /** The thread behind a worker, which runs. */
  of(worker: Worker): PoolThread {
    const known = this.#threads.get(worker.threadId)
    if (known !== undefined) return known
    const thread = new PoolThread(worker)
    this.#threads.set(thread.id, thread)
    thread.whenExited(() => {
      this.#gone(thread)
    })
    return thread
  }

  /** A thread is asked to end. A thread that never had a lease is not in the roster. */
  ending(id: number): void {
    const thread = this.#threads.get(id)
    if (thread === undefined || thread.hasExited) return
    this.#ending.add(thread)
    thread.exitTimer = this.#clock.setTimer(
      exitTimeoutMs,
      () => {
        thread.exitTimer = null
        this.#events.stuck(thread)
      },
      { unref: true },
    )
  }

  /** Resolves when all threads that were asked to end by now have exited. */
  async ended(): Promise<void> {
    await Promise.all([...this.#ending].map(({ exited }) => exited))
  }

  #gone(thread: PoolThread): void {
    this.#threads.delete(thread.id)
    if (!this.#ending.delete(thread)) return
    const wasStuck = thread.exitTimer === null
    thread.exitTimer?.cancel()
    this.#events.exited(thread, { wasStuck })
  }
}
