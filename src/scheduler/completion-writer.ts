import { unawaited } from '../core/promises.ts'
import type { CompletionAnswer, JobCompletion, JobStore } from '../jobstore/job-store.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import { Gate } from '../time/gate.ts'
import { Waiters } from '../time/waiters.ts'
import { CompletionsGivenUp } from './completions-given-up.ts'
import { LockedCompletions } from './locked-completions.ts'
import type { Notifier } from './notifier.ts'
import { isRefusal, UnwrittenCompletions } from './unwritten-completions.ts'

interface Batch {
  readonly completions: JobCompletion[]
  readonly done: Promise<void>
  readonly resolve: () => void
  /** Resolves when the completions that the write left over are written or given up. */
  later: ReadonlyMap<JobCompletion, Promise<void>> | null
}

/** What became of the end of a firing that goes on elsewhere; `passedOver`: somebody else has ended it. */
export type AwaitedFate = 'ended' | 'passedOver' | 'givenUp'

/** One batch is being written, and the next one gathers, while the loop fires a third. */
const unwrittenBatchesMax = 2
const retryDelayMinMs = 20
const retryDelayMaxMs = 10_000
/**
 * How long executions may wait for a store that is back. One statement a second does no harm to a store that fails; all
 * completions that wait, which may be thousands, might.
 */
const probeMs = 1000
/** A series of failures is over when everything was written for so long. */
const quietMs = 60_000
/** When no end is written for so long, that is no short lock or pause any more. */
const inVainMaxMs = 5000
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
 * Tells the store about ended executions, many at a time: those that end together are written together, and while a
 * write is under way the next batch gathers. A failed write is tried again, each completion by itself, in rounds, so
 * that a completion that cannot be written holds up neither the others nor later batches. A completion that another
 * session's lock is in the way of is set aside. It counts as a backlog while no completion at all can be written, as
 * when a table is locked, and when there are very many. One that the store refuses while it takes others is set aside
 * as well, and counts when there are very many.
 */
export class CompletionWriter {
  readonly #store: JobStore
  readonly #clock: Clock
  readonly #notifier: Notifier
  readonly #retryGate: Gate
  readonly #backlogMax: number
  readonly #draining = new Waiters()
  readonly #locked: LockedCompletions
  readonly #givenUp: CompletionsGivenUp
  readonly #fates = new WeakMap<JobCompletion, AwaitedFate>()
  /** Completions that are not written yet. */
  #untold = 0
  readonly #unwritten = new UnwrittenCompletions()
  #gathering: Batch | null = null
  /** The write in progress; null while there is none. */
  #writing: Batch | null = null
  #writingSinceMs = 0
  #retrying = false
  /** Whether the next round is being waited for. */
  #isPausing = false
  #retryDelayMs = retryDelayMinMs
  /** When a batch failed last. */
  #failedMs = Number.NEGATIVE_INFINITY
  /** Whether the store has taken a completion since a failure was reported. */
  #hasWritten = true
  /** Whether it was reported that completions are unwritten. */
  #isReported = false
  /** Why a completion could not be written by itself the last time. */
  #lastError: unknown = null
  #lastChance = false
  #isAbandoned = false
  /** Is told of what ends after the store was closed; null before. */
  #onLate: ((completion: JobCompletion) => void) | null = null
  #unwrittenCount = 0
  /** Callers whose completion is not written, which wait for room. */
  readonly #room = new Waiters()
  /** Whether one of them may go on without room. */
  #letsOneGo = false
  /** When the first try failed or found all locked after the last one that wrote something; null without such a try. */
  #inVain: { readonly elapsedMs: number; readonly atMs: EpochMs } | null = null

  /** While more than `backlogMax` completions are not written, callers of `hand` wait for the store. */
  constructor(store: JobStore, clock: Clock, notifier: Notifier, backlogMax: number) {
    this.#store = store
    this.#clock = clock
    this.#notifier = notifier
    this.#retryGate = new Gate(clock)
    this.#backlogMax = backlogMax
    this.#givenUp = new CompletionsGivenUp(notifier)
    this.#locked = new LockedCompletions({
      write: (completions) => this.#tellStore(completions),
      clock,
      onStopped: this.#stopped,
      onFailure: (completions, error) => this.#afterFailure(completions, error),
      onLong: this.#lockedForLong,
      onLongEnded: () => {
        notifier.errorEnded('The job store has been told of the executions whose rows were locked.')
      },
    })
  }

  /** Whether a completion could not be written, or the store has not answered for this long. */
  isStuck(afterMs: number): boolean {
    if (this.#unwritten.size > 0) return true
    return this.#writing !== null && this.#clock.elapsedMs() - this.#writingSinceMs >= afterMs
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

  /** Completions that were given up, or came too late, and are not in the store. */
  get unwrittenCount(): number {
    return this.#unwrittenCount
  }

  /** Writes nothing more and waits for nothing. What is completed from now on resolves at once. */
  abandon(): void {
    this.#unwrittenCount += this.#untold
    this.#isAbandoned = true
    this.stopRetrying()
    for (const batch of new Set([this.#writing, this.#gathering])) if (batch !== null) this.#settle(batch)
    for (const completion of [...this.#unwritten.all()]) this.#unwritten.take(completion)()
    // They are among those that are untold.
    this.#givenUp.report()
    this.#locked.abandon()
  }

  /** From now on nothing is written: the store is about to be closed. */
  close(onLate: (completion: JobCompletion) => void): void {
    this.#onLate = onLate
  }

  /** Whether a completion comes too late to be written. */
  #isTooLate(completion: JobCompletion): boolean {
    if (!this.#isAbandoned) {
      if (this.#onLate === null) return false
      this.#onLate(completion)
    }
    this.#unwrittenCount++
    return true
  }

  /** Resolves when the completion is written, or when it is given up because the scheduler shuts down. */
  async complete(completion: JobCompletion): Promise<void> {
    if (this.#isTooLate(completion)) return
    const batch = this.#enter(completion)
    await batch.done
    await batch.later?.get(completion)
  }

  /** The same for a firing that goes on elsewhere, which another caller or node may end; says whether this one did. */
  async completeAwaited(completion: JobCompletion): Promise<AwaitedFate> {
    await this.complete(completion)
    return this.#fates.get(completion) ?? 'givenUp'
  }

  /**
   * Null as long as the store keeps up, so that the next execution need not wait for this one's end; else what to wait
   * for.
   */
  handOver(completion: JobCompletion): Promise<void> | null {
    if (this.#isTooLate(completion)) return null
    const batch = this.#enter(completion)
    return this.isFull ? this.#held(batch, completion) : null
  }

  async #held(batch: Batch, completion: JobCompletion): Promise<void> {
    await batch.done
    while (this.isFull && (this.#locked.has(completion) || this.#unwritten.has(completion))) {
      if (this.#letsOneGo) {
        this.#letsOneGo = false
        return
      }
      await this.#room.wait(this.#clock)
    }
  }

  #enter(completion: JobCompletion): Batch {
    const batch = this.#gather()
    batch.completions.push(completion)
    this.#untold++
    return batch
  }

  /** The batch is written, except for what is written later. */
  #settle(batch: Batch): void {
    const { completions, later, resolve } = batch
    this.#told(completions.length - (later?.size ?? 0))
    for (const written of later?.values() ?? []) {
      const told = written.then(() => {
        this.#told(1)
      })
      unawaited(told, this.#stopped)
    }
    resolve()
  }

  #told(count: number): void {
    this.#untold -= count
    this.#room.wakeAll()
    if (this.#untold === 0) this.#draining.wakeAll()
  }

  /** Resolves when what is being written now, or goes next, is written, set aside, or given up. */
  async roundEnded(): Promise<void> {
    await (this.#gathering ?? this.#writing)?.done
  }

  /** Whether so many are not written that executions wait for the store. */
  get isFull(): boolean {
    if (this.#untold <= this.#backlogMax) return false
    const unrefused = this.#untold - this.#unwritten.refusedCount
    if (unrefused - this.#locked.size > this.#backlogMax) return true
    if (this.#untold > Math.max(heldMax, this.#backlogMax)) return true
    return unrefused > this.#backlogMax && this.inVainSinceMs !== null
  }

  /** Whether a completion is not written yet. */
  get isBehind(): boolean {
    return this.#untold > 0
  }

  /** Resolves when every completion is written, or after `timeoutMs`. */
  async drained(timeoutMs?: number): Promise<void> {
    if (this.#untold > 0) await this.#draining.wait(this.#clock, timeoutMs)
  }

  /** From now on a failed write is not tried again: the scheduler shuts down and cannot wait. */
  stopRetrying(): void {
    this.#lastChance = true
    this.#retryGate.wake()
    this.#locked.stopRetrying()
  }

  #hasBeenAbandoned(): boolean {
    return this.#isAbandoned
  }

  #gather(): Batch {
    if (this.#gathering !== null) return this.#gathering
    let resolve: () => void = () => {}
    const done = new Promise<void>((settle) => {
      resolve = settle
    })
    this.#gathering = { completions: [], done, resolve, later: null }
    if (this.#writing === null) {
      this.#writing = this.#gathering
      this.#writingSinceMs = this.#clock.elapsedMs()
      unawaited(this.#write(), this.#stopped)
    }
    return this.#gathering
  }

  async #write(): Promise<void> {
    // One turn of the microtask queue lets executions that end together gather.
    await Promise.resolve()
    for (let batch = this.#gathering; batch !== null && !this.#isAbandoned; batch = this.#gathering) {
      this.#gathering = null
      this.#writing = batch
      this.#writingSinceMs = this.#clock.elapsedMs()
      try {
        const locked = await this.#tellStore(batch.completions)
        if (this.#hasBeenAbandoned()) return
        this.#hasWritten = true
        batch.later = this.#locked.add(locked)
      } catch (error) {
        if (this.#hasBeenAbandoned()) return
        batch.later = this.#afterFailure(batch.completions, error)
      }
      this.#settle(batch)
    }
    this.#writing = null
  }

  /** Answers the completions that are locked. */
  async #tellStore(completions: readonly JobCompletion[]): Promise<readonly JobCompletion[]> {
    let answer: CompletionAnswer
    // Not in a function of its own: listeners are told before the next firing of the job begins.
    try {
      answer = await this.#store.triggeredJobsComplete(completions)
    } catch (error) {
      this.#triedInVain()
      throw error
    }
    const { locked, passedOver } = answer
    if (locked.length === completions.length) this.#triedInVain()
    else this.#triedWell()
    for (const completion of completions) {
      if (completion.isAwaited !== true || locked.includes(completion)) continue
      this.#fates.set(completion, passedOver.includes(completion) ? 'passedOver' : 'ended')
    }
    return locked
  }

  #triedInVain(): void {
    this.#inVain ??= { elapsedMs: this.#clock.elapsedMs(), atMs: this.#clock.now() }
  }

  #triedWell(): void {
    this.#unwritten.storeTook()
    this.#letsOneGo = false
    if (this.#inVain === null) return
    const inVainMs = this.#clock.elapsedMs() - this.#inVain.elapsedMs
    this.#inVain = null
    this.#room.wakeAll()
    // The store is back. Where only one completion fails others are written all the time, and it is tried less often.
    if (this.#isPausing && inVainMs >= probeMs) this.#retryGate.wake()
  }

  readonly #lockedForLong = ({ fireInstanceId, trigger }: JobCompletion, count: number): void => {
    const fire = `firing ${fireInstanceId} of trigger ${trigger.key.toString()}`
    const message =
      'The job store could not be told that executions ended, because another session holds a lock on their rows or ' +
      `on a table; trying again. Ends that wait: ${count}, the oldest of ${fire}.`
    this.#notifier.error(message, null)
  }

  #afterFailure(completions: readonly JobCompletion[], error: unknown): Map<JobCompletion, Promise<void>> {
    if (error !== null) this.#report(error)
    return this.#writeAlone(completions)
  }

  /**
   * Once in a series: while a store is away no batch is written, and on a disk that is nearly full each batch fails and
   * its completions are written one by one at once.
   */
  #report(error: unknown): void {
    const nowMs = this.#clock.elapsedMs()
    const isNews = this.#hasWritten && nowMs - this.#failedMs >= quietMs
    this.#failedMs = nowMs
    if (isNews) this.#sayUnwritten(error)
  }

  /**
   * A failure soon after another one is no news by itself, but one that lasts is. While executions wait for the store
   * no further batch fails, so that nothing else would report it.
   */
  #reportLong(error: unknown): void {
    if (this.#isReported) return
    if (this.#unwritten.isAnySince(this.#clock.elapsedMs() - inVainMaxMs)) this.#sayUnwritten(error)
  }

  #sayUnwritten(error: unknown): void {
    this.#hasWritten = false
    this.#isReported = true
    this.#notifier.error('The job store could not be told that executions ended; trying again.', error)
  }

  #writeAlone(completions: readonly JobCompletion[]): Map<JobCompletion, Promise<void>> {
    const sinceMs = this.#clock.elapsedMs()
    const alone = new Map(completions.map((each) => [each, this.#unwritten.add(each, sinceMs)]))
    this.#retryDelayMs = retryDelayMinMs
    if (this.#retrying) this.#retryGate.wake()
    else unawaited(this.#retry(), this.#stopped)
    return alone
  }

  async #retry(): Promise<void> {
    this.#retrying = true
    for (;;) {
      for (const completion of this.#unwritten.round(() => this.#lastChance)) {
        if (this.#hasBeenAbandoned()) return
        await this.#tryAlone(completion)
      }
      if (this.#unwritten.size === 0) break
      this.#reportLong(this.#lastError)
      await this.#pause()
    }
    this.#unwrittenCount += this.#givenUp.report()
    this.#retrying = false
    this.#sayWritten()
  }

  /** Waits for the next round, which comes early when the store takes a completion again. */
  async #pause(): Promise<void> {
    let leftMs = this.#retryDelayMs
    this.#retryDelayMs = Math.min(leftMs * 2, retryDelayMaxMs)
    while (leftMs > 0) {
      // Executions that wait for the store end no others, so no batch would show that it is back.
      const waitMs = this.isFull ? Math.min(leftMs, probeMs) : leftMs
      this.#isPausing = true
      const isWoken = await this.#retryGate.wait(waitMs)
      this.#isPausing = false
      leftMs -= waitMs
      if (isWoken || (leftMs > 0 && (await this.#probe()))) return
    }
  }

  /** Tries one completion. Answers whether it is written. */
  async #probe(): Promise<boolean> {
    const probed = this.#unwritten.probe()
    if (probed === undefined || (await this.#tryAlone(probed))) return true
    // It may be that only ends of some jobs are refused, and that one of another job would show it.
    this.#letsOneGo = isRefusal(this.#lastError) && this.#untold <= this.#backlogMax * unprovenFactor
    if (this.#letsOneGo) this.#room.wakeAll()
    return false
  }

  #sayWritten(): void {
    if (!this.#isReported || this.#lastChance) return
    this.#isReported = false
    this.#notifier.errorEnded('The job store has been told of the executions that had ended.')
  }

  readonly #stopped = (error: unknown): void => {
    this.#notifier.error('Telling the job store that executions ended has stopped.', error)
  }

  /** False when the store has failed again. */
  async #tryAlone(completion: JobCompletion): Promise<boolean> {
    try {
      const locked = await this.#tellStore([completion])
      if (this.#hasBeenAbandoned()) return true
      this.#hasWritten = true
      const resolve = this.#unwritten.take(completion)
      if (locked.length === 0) {
        resolve()
      } else if (this.#lastChance) {
        this.#givenUp.add({ completion, isLocked: true, error: null, resolve })
      } else {
        const dealtWith = this.#locked.add(locked).get(completion)
        if (dealtWith !== undefined) unawaited(dealtWith.then(resolve), this.#stopped)
      }
    } catch (error) {
      if (this.#hasBeenAbandoned()) return true
      this.#lastError = error
      if (!this.#lastChance) {
        if (this.#unwritten.failedAlone(completion, error)) this.#room.wakeAll()
        return false
      }
      const resolve = this.#unwritten.take(completion)
      // Its promise is resolved when it is reported that it was given up.
      this.#givenUp.add({ completion, isLocked: false, error, resolve })
    }
    return true
  }
}
