import type { JobCompletion } from '../jobstore/job-store.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import { Waiters } from '../time/waiters.ts'
import type { LockedCompletions } from './locked-completions.ts'
import { isRefusal, type UnwrittenCompletions } from './unwritten-completions.ts'

/** One batch is being written, and the next one gathers, while the loop fires a third. */
const unwrittenBatchesMax = 2
/** When no end is written for so long, that is no short lock or pause any more. */
export const inVainMaxMs = 5000
/**
 * How many completions may be unwritten, with those that are locked or refused. It bounds memory only: a row that is
 * locked for an hour, or an end that the database never takes, must not stop other jobs.
 */
const heldMax = 10_000
/**
 * While a database that is there refuses every end, one execution a second goes on all the same, until so many times
 * the backlog are unwritten: each of those is tried in each round.
 */
const unprovenFactor = 10

/**
 * How many completions may be unwritten before executions wait for the store. With as many as there are slots, process
 * and database would take turns.
 */
export function backlogMaxOf(slots: number): number {
  return slots * unwrittenBatchesMax
}

/**
 * How many completions are not written, and whether executions wait for the store because of them. One that another
 * session's lock is in the way of counts while no completion at all can be written, as when a table is locked, and when
 * there are very many. One that the store refuses while it takes others counts when there are very many.
 */
export class CompletionBacklog {
  readonly #clock: Clock
  readonly #max: number
  readonly #locked: LockedCompletions
  readonly #unwritten: UnwrittenCompletions
  /** Completions that are not written yet. */
  #untold = 0
  readonly #draining = new Waiters()
  /** Callers whose completion is not written, which wait for room. */
  readonly #room = new Waiters()
  /** Whether one of them may go on without room. */
  #letsOneGo = false
  /** When the first try failed or found all locked after the last one that wrote something; null without such a try. */
  #inVain: { readonly elapsedMs: number; readonly atMs: EpochMs } | null = null

  constructor(max: number, clock: Clock, locked: LockedCompletions, unwritten: UnwrittenCompletions) {
    this.#max = max
    this.#clock = clock
    this.#locked = locked
    this.#unwritten = unwritten
  }

  get untold(): number {
    return this.#untold
  }

  added(): void {
    this.#untold++
  }

  /** So many are written or given up. */
  told(count: number): void {
    this.#untold -= count
    this.#room.wakeAll()
    if (this.#untold === 0) this.#draining.wakeAll()
  }

  /** Resolves when every completion is written, or after `timeoutMs`. */
  async drained(timeoutMs?: number): Promise<void> {
    if (this.#untold > 0) await this.#draining.wait(this.#clock, timeoutMs)
  }

  /** Whether so many are not written that executions wait for the store. */
  get isFull(): boolean {
    if (this.#untold <= this.#max) return false
    const unrefused = this.#untold - this.#unwritten.refusedCount
    if (unrefused - this.#locked.size > this.#max) return true
    if (this.#untold > Math.max(heldMax, this.#max)) return true
    return unrefused > this.#max && this.inVainSinceMs !== null
  }

  /** Resolves when, after the first try, the completion is written or there is room without it. */
  async room(completion: JobCompletion, firstTry: Promise<void>): Promise<void> {
    await firstTry
    while (this.isFull && (this.#locked.has(completion) || this.#unwritten.has(completion))) {
      if (this.#letsOneGo) {
        this.#letsOneGo = false
        return
      }
      await this.#room.wait(this.#clock)
    }
  }

  /** The store refuses one for good while it takes others. */
  setAside(): void {
    this.#room.wakeAll()
  }

  triedInVain(): void {
    this.#inVain ??= { elapsedMs: this.#clock.elapsedMs(), atMs: this.#clock.now() }
  }

  /** The store has taken a completion. Answers for how long it had taken none. */
  triedWell(): number {
    this.#letsOneGo = false
    if (this.#inVain === null) return 0
    const inVainMs = this.#clock.elapsedMs() - this.#inVain.elapsedMs
    this.#inVain = null
    this.#room.wakeAll()
    return inVainMs
  }

  /** A try that was to show whether the store is back has failed. */
  probeFailed(error: unknown): void {
    // It may be that only ends of some jobs are refused, and that one of another job would show it.
    this.#letsOneGo = isRefusal(error) && this.#untold <= this.#max * unprovenFactor
    if (this.#letsOneGo) this.#room.wakeAll()
  }

  /**
   * Since when no end can be written, by the wall clock; null while some can be, and for the first seconds. Ends of one
   * job alone may wait for a lock of its own rows, and say nothing about those of others.
   */
  get inVainSinceMs(): EpochMs | null {
    if (this.#inVain === null) return null
    if (this.#clock.elapsedMs() - this.#inVain.elapsedMs < inVainMaxMs) return null
    return this.#areOfSeveralJobs() ? this.#inVain.atMs : null
  }

  #areOfSeveralJobs(): boolean {
    let first: JobCompletion | null = null
    for (const completions of [this.#locked.all(), this.#unwritten.all()]) {
      for (const completion of completions) {
        first ??= completion
        if (!completion.jobDetail.key.equals(first.jobDetail.key)) return true
      }
    }
    return false
  }
}
