import { unawaited } from '../core/promises.ts'
import type { CompletionAnswer, JobCompletion, JobStore } from '../jobstore/job-store.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import { CompletionBacklog } from './completion-backlog.ts'
import { CompletionFailures } from './completion-failures.ts'
import { CompletionRetries } from './completion-retries.ts'
import { CompletionsGivenUp } from './completions-given-up.ts'
import { LockedCompletions } from './locked-completions.ts'
import type { Notifier } from './notifier.ts'
import { UnwrittenCompletions } from './unwritten-completions.ts'

interface Batch {
  readonly completions: JobCompletion[]
  readonly done: Promise<void>
  readonly resolve: () => void
  /** Resolves when the completions that the write left over are written or given up. */
  later: ReadonlyMap<JobCompletion, Promise<void>> | null
}

/** What became of the end of a firing that goes on elsewhere; `passedOver`: somebody else has ended it. */
export type AwaitedFate = 'ended' | 'passedOver' | 'givenUp'

/**
 * Tells the store about ended executions, many at a time: those that end together are written together, and while a
 * write is under way the next batch gathers. What a write leaves over is tried again apart from later batches, so that
 * a completion that cannot be written holds up neither the others nor those: each by itself when the store has failed,
 * together when other sessions' locks are in the way.
 */
export class CompletionWriter {
  readonly #store: JobStore
  readonly #clock: Clock
  readonly #failures: CompletionFailures
  readonly #locked: LockedCompletions
  readonly #unwritten = new UnwrittenCompletions()
  readonly #backlog: CompletionBacklog
  readonly #retries: CompletionRetries
  readonly #fates = new WeakMap<JobCompletion, AwaitedFate>()
  #gathering: Batch | null = null
  /** The write in progress; null while there is none. */
  #writing: Batch | null = null
  #writingSinceMs = 0
  /** Is told of what ends after the store was closed; null before. */
  #onLate: ((completion: JobCompletion) => void) | null = null
  #isAbandoned = false
  /** Completions that came too late, or were left when all was abandoned. */
  #leftCount = 0

  /** While more than `backlogMax` completions are not written, callers of `handOver` wait for the store. */
  constructor(store: JobStore, clock: Clock, notifier: Notifier, backlogMax: number) {
    this.#store = store
    this.#clock = clock
    const write = (completions: readonly JobCompletion[]) => this.#tellStore(completions)
    const failures = new CompletionFailures(clock, notifier)
    const unwritten = this.#unwritten
    const locked = new LockedCompletions({
      write,
      clock,
      onStopped: failures.stopped,
      onFailure: (completions, error) => this.#afterFailure(completions, error),
      onLong: failures.lockedForLong,
      onLongEnded: failures.lockedNoMore,
    })
    const backlog = new CompletionBacklog(backlogMax, clock, locked, unwritten)
    const givenUp = new CompletionsGivenUp(notifier)
    this.#failures = failures
    this.#locked = locked
    this.#backlog = backlog
    this.#retries = new CompletionRetries({ clock, write, unwritten, locked, givenUp, backlog, failures })
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
    return this.#backlog.isFull ? this.#backlog.room(completion, batch.done) : null
  }

  #enter(completion: JobCompletion): Batch {
    const batch = this.#gather()
    batch.completions.push(completion)
    this.#backlog.added()
    return batch
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
      unawaited(this.#write(), this.#failures.stopped)
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
        this.#failures.storeAnswered()
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
      this.#backlog.triedInVain()
      throw error
    }
    const { locked, passedOver } = answer
    if (locked.length === completions.length) this.#backlog.triedInVain()
    else this.#retries.storeTook(this.#backlog.triedWell())
    for (const completion of completions) {
      if (completion.isAwaited !== true || locked.includes(completion)) continue
      this.#fates.set(completion, passedOver.includes(completion) ? 'passedOver' : 'ended')
    }
    return locked
  }

  /** The error is null for those that are locked still when tries end. */
  #afterFailure(completions: readonly JobCompletion[], error: unknown): Map<JobCompletion, Promise<void>> {
    if (error !== null) this.#failures.batchFailed(error)
    return this.#retries.add(completions)
  }

  /** The batch is written, except for what is written later. */
  #settle(batch: Batch): void {
    const { completions, later, resolve } = batch
    this.#backlog.told(completions.length - (later?.size ?? 0))
    for (const written of later?.values() ?? []) {
      const told = written.then(() => {
        this.#backlog.told(1)
      })
      unawaited(told, this.#failures.stopped)
    }
    resolve()
  }

  /** Resolves when what is being written now, or goes next, is written, set aside, or given up. */
  async roundEnded(): Promise<void> {
    await (this.#gathering ?? this.#writing)?.done
  }

  /** Whether so many are not written that executions wait for the store. */
  get isFull(): boolean {
    return this.#backlog.isFull
  }

  /** Whether a completion is not written yet. */
  get isBehind(): boolean {
    return this.#backlog.untold > 0
  }

  /** Whether a completion could not be written, or the store has not answered for this long. */
  isStuck(afterMs: number): boolean {
    if (this.#unwritten.size > 0) return true
    return this.#writing !== null && this.#clock.elapsedMs() - this.#writingSinceMs >= afterMs
  }

  /** Since when no end can be written, by the wall clock; null while some can be, and for the first seconds. */
  get inVainSinceMs(): EpochMs | null {
    return this.#backlog.inVainSinceMs
  }

  /** Completions that were given up, or came too late, and are not in the store. */
  get unwrittenCount(): number {
    return this.#leftCount + this.#retries.givenUpCount
  }

  /** Resolves when every completion is written, or after `timeoutMs`. */
  drained(timeoutMs?: number): Promise<void> {
    return this.#backlog.drained(timeoutMs)
  }

  /** From now on a failed write is not tried again: the scheduler shuts down and cannot wait. */
  stopRetrying(): void {
    this.#retries.stopRetrying()
    this.#locked.stopRetrying()
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
    this.#leftCount++
    return true
  }

  /** Writes nothing more and waits for nothing. What is completed from now on resolves at once. */
  abandon(): void {
    // With those that are reported as given up below.
    this.#leftCount += this.#backlog.untold
    this.#isAbandoned = true
    this.stopRetrying()
    for (const batch of new Set([this.#writing, this.#gathering])) if (batch !== null) this.#settle(batch)
    this.#retries.abandon()
    this.#locked.abandon()
  }

  #hasBeenAbandoned(): boolean {
    return this.#isAbandoned
  }
}
