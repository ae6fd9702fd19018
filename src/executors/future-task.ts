import { checkBoolean, checkOptions } from '../core/arguments.ts'
import type { Delayed } from './delayed.ts'
import type { CancelOptions, ScheduledFuture } from './scheduled-future.ts'
import { CancellationError } from './scheduled-future.ts'
import type { TaskContext, TaskFunction } from './task.ts'

/** The part of the executor that a future uses. */
export interface TaskOwner {
  cancelled(future: FutureTask): void
  delayOf(future: FutureTask): number
}

/** Numbers instead of names save memory: a hundred thousand futures may wait. */
const waiting = 0
const running = 1
const succeeded = 2
const failed = 3
const cancelled = 4

/** The promise of a future, made when a caller first waits for it. */
class Deferred {
  readonly promise: Promise<unknown>
  resolve!: (value: unknown) => void
  reject!: (error: unknown) => void

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }
}

/** The code of a task that will not run any more, so that its function can be garbage collected. */
const released: TaskFunction<unknown> = () => undefined

const cancelOptions = { mayInterrupt: checkBoolean }

/**
 * One scheduled task. Kept small, and its parts are made when they are first read: a program may have a hundred
 * thousand tasks that wait and are cancelled before they run.
 */
export class FutureTask<T = unknown> implements ScheduledFuture<T>, Delayed {
  sequence: number
  queueIndex = -1
  task: TaskFunction<unknown> = released
  readonly #owner: TaskOwner
  #state = waiting
  /** A Deferred while a caller waits; then the value or the error. */
  #outcome: unknown = undefined
  #run: TaskRun | null = null

  constructor(owner: TaskOwner, sequence: number) {
    this.#owner = owner
    this.sequence = sequence
  }

  get isPeriodic(): boolean {
    return false
  }
  get isDone(): boolean {
    return this.#state >= succeeded
  }
  get isCancelled(): boolean {
    return this.#state === cancelled
  }

  get(): Promise<T> {
    switch (this.#state) {
      case succeeded:
        return Promise.resolve(this.#outcome as T)
      case failed:
        // A task may throw a value that is no error; the future rejects with it as it is.
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the task's own rejection
        return Promise.reject(this.#outcome)
      case cancelled:
        return Promise.reject(new CancellationError())
      default:
        return this.#deferred().promise as Promise<T>
    }
  }

  // biome-ignore lint/suspicious/noThenProperty: a future is awaited like a promise
  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): PromiseLike<A | B> {
    return this.get().then(onFulfilled, onRejected)
  }

  cancel(options?: CancelOptions): boolean {
    checkOptions('cancel', options, cancelOptions)
    if (this.isDone) return false
    this.#settle(cancelled, undefined)?.reject(new CancellationError())
    this.#owner.cancelled(this)
    if (options?.mayInterrupt === true) this.interrupt(new CancellationError())
    return true
  }

  getDelay(): number {
    return this.#owner.delayOf(this)
  }

  /** Runs the task once more; null when it was cancelled. @throws what the task throws at once */
  start(): unknown {
    this.#state = running
    this.#run = new TaskRun(this)
    return this.task(this.#run)
  }

  /** Ends the run and answers it. */
  ended(): TaskRun | null {
    const run = this.#run
    this.#run = null
    if (this.#state === running) this.#state = waiting
    else this.task = released
    return run
  }

  /** Aborts the signal of a run in progress. */
  interrupt(reason: unknown): void {
    this.#run?.abort(reason)
  }

  succeed(value: unknown): void {
    this.#settle(succeeded, value)?.resolve(value)
  }

  /** True when a caller waited and its promise was rejected. */
  fail(error: unknown): boolean {
    const deferred = this.#settle(failed, error)
    deferred?.reject(error)
    return deferred !== null
  }

  #deferred(): Deferred {
    if (!(this.#outcome instanceof Deferred)) this.#outcome = new Deferred()
    return this.#outcome as Deferred
  }

  #settle(state: number, outcome: unknown): Deferred | null {
    const deferred = this.#outcome instanceof Deferred ? this.#outcome : null
    this.#state = state
    this.#outcome = outcome
    // The name of a task that runs is asked for when it fails.
    if (this.#run === null) this.task = released
    return deferred
  }
}

/** A task that runs again and again. */
export class PeriodicFutureTask extends FutureTask<never> {
  readonly kind: 'fixedRate' | 'fixedDelay'
  readonly periodMs: number
  /** For when the next run, or the one in progress, was planned. */
  dueMs = 0

  constructor(
    owner: TaskOwner,
    sequence: number,
    plan: {
      readonly kind: 'fixedRate' | 'fixedDelay'
      readonly periodMs: number
    },
  ) {
    super(owner, sequence)
    this.kind = plan.kind
    this.periodMs = plan.periodMs
  }

  override get isPeriodic(): boolean {
    return true
  }

  /** When the run after the one that just ended is due. */
  nextDueMs(nowMs: number): number {
    this.dueMs = (this.kind === 'fixedRate' ? this.dueMs : nowMs) + this.periodMs
    return this.dueMs
  }
}

/** The context of one run. The signal is made when the task reads it, which most tasks never do. */
export class TaskRun implements TaskContext {
  readonly future: FutureTask
  #controller: AbortController | null = null

  constructor(future: FutureTask) {
    this.future = future
  }

  get signal(): AbortSignal {
    return this.#abortController().signal
  }

  /** Whether the run was asked to end. */
  get aborted(): boolean {
    return this.#controller?.signal.aborted ?? false
  }

  abort(reason: unknown): void {
    this.#abortController().abort(reason)
  }

  #abortController(): AbortController {
    this.#controller ??= new AbortController()
    return this.#controller
  }
}
