import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue } from '../core/options.ts'
import { isThenable } from '../core/promises.ts'
import { disarm } from '../core/thrown-value.ts'
import type { CancelOptions, ScheduledFuture } from '../executors/scheduled-future.ts'
import { CancellationError } from '../executors/scheduled-future.ts'
import type { TaskContext, TaskFunction } from '../executors/task.ts'
import type { Clock } from '../time/clock.ts'
import { TaskRejectedError } from './task-scheduler.ts'
import type { TaskTrigger, TaskTriggerContext } from './task-trigger.ts'

/** The longest wait before the wall clock is read again: setting the clock moves a run by this at most. */
const replanMs = 30_000

export interface TriggeredTaskParts {
  readonly task: TaskFunction<unknown>
  readonly trigger: TaskTrigger
  readonly clock: Clock
  /** Submits one run, or one wake-up to read the clock, which may be late without harm. @throws TaskRejectedError */
  readonly submit: (
    wake: TaskFunction<unknown>,
    delayMs: number,
    kind: 'run' | 'wake',
  ) => ScheduledFuture<unknown>
  /** Called when a wake-up waited for a slot until the task was due. */
  readonly onLate: (lateMs: number) => void
  /** Called when a run fails, which its error handler wanted, and no caller waits for the task's end. */
  readonly onUnheardError: (error: unknown) => void
  /** Called when the trigger throws, which ends the task. */
  readonly onTriggerError: (error: unknown) => void
  /** Called when the task will not run again. */
  readonly onEnd: (task: TriggeredTask) => void
}

/** A task that a trigger runs: submitted anew after the end of each run, so that runs never overlap. */
export class TriggeredTask implements ScheduledFuture<never> {
  readonly isPeriodic = true
  readonly #parts: TriggeredTaskParts
  #context: TaskTriggerContext
  #plannedMs = 0
  #current: ScheduledFuture<unknown> | null = null
  #state: 'active' | 'cancelled' | 'failed' | 'finished' = 'active'
  #error: unknown = null
  #settle: (() => void) | null = null
  #end: Promise<void> | null = null

  private constructor(parts: TriggeredTaskParts) {
    this.#parts = parts
    this.#context = {
      lastScheduledExecution: null,
      lastActualExecution: null,
      lastCompletion: null,
      clock: parts.clock,
    }
  }

  /** Null when the trigger gives no time. @throws TaskRejectedError */
  static start(parts: TriggeredTaskParts): TriggeredTask | null {
    const task = new TriggeredTask(parts)
    return task.#plan() ? task : null
  }

  get isDone(): boolean {
    return this.#state !== 'active'
  }
  get isCancelled(): boolean {
    return this.#state === 'cancelled'
  }

  /**
   * Never resolves while the trigger goes on; rejects when it is cancelled, fails, or the trigger has no next time.
   */
  async get(): Promise<never> {
    if (!this.isDone) {
      this.#end ??= new Promise((resolve) => {
        this.#settle = resolve
      })
      await this.#end
    }
    if (this.#state === 'failed') throw this.#error
    throw new CancellationError(this.isCancelled ? undefined : 'The trigger of the task has no next time.')
  }

  // biome-ignore lint/suspicious/noThenProperty: a future is awaited like a promise
  then<A = never, B = never>(
    onFulfilled?: ((value: never) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): PromiseLike<A | B> {
    return this.get().then(onFulfilled, onRejected)
  }

  cancel(options?: CancelOptions): boolean {
    if (this.isDone) return false
    this.#finish('cancelled')
    this.#current?.cancel(options)
    return true
  }

  getDelay(): number {
    return this.isDone ? 0 : this.#plannedMs - this.#parts.clock.now()
  }

  /** Asks the trigger for its next time and waits for it; false when there is none. */
  #plan(): boolean {
    const next: unknown = this.#parts.trigger.nextExecution(this.#context)
    if (next === null) return false
    if (!(next instanceof Date) || Number.isNaN(next.getTime())) throw noTime(next)
    this.#plannedMs = next.getTime()
    this.#wait()
    return true
  }

  #wait(): void {
    const leftMs = Math.max(0, this.#plannedMs - this.#parts.clock.now())
    const kind = leftMs > replanMs ? 'wake' : 'run'
    const delayMs = Math.min(leftMs, replanMs)
    const wakeMs = this.#parts.clock.elapsedMs() + delayMs
    const current = this.#parts.submit(
      (run) => this.#wake(run, kind === 'wake' ? wakeMs : null),
      delayMs,
      kind,
    )
    this.#current = current
    // A wake-up does not fail; the executor cancels it when it is shut down.
    current.then(undefined, () => {
      if (!this.isDone && this.#current === current) this.#finish('cancelled')
    })
  }

  /** `wakeMs`: when a wake-up was due, on the monotonic clock, which may have been for long. */
  #wake(run: TaskContext, wakeMs: number | null): void | PromiseLike<void> {
    const { clock, task, onLate } = this.#parts
    const startedMs = clock.now()
    if (startedMs < this.#plannedMs) {
      this.#goOn(() => {
        this.#wait()
      })
      return
    }
    const waitedMs = wakeMs === null ? 0 : clock.elapsedMs() - wakeMs
    if (waitedMs >= 1) onLate(Math.min(waitedMs, startedMs - this.#plannedMs))
    const ended = (): void => {
      this.#ranAt(startedMs)
    }
    const failed = (error: unknown): void => {
      this.#ranIntoError(run, error)
    }
    let answer: unknown
    try {
      answer = task({ signal: run.signal, future: this })
    } catch (error) {
      failed(error)
      return
    }
    // One that returns no promise frees its slot at once.
    if (isThenable(answer)) return answer.then(ended, failed)
    ended()
  }

  #ranAt(startedMs: number): void {
    const { clock } = this.#parts
    this.#context = {
      lastScheduledExecution: new Date(this.#plannedMs),
      lastActualExecution: new Date(startedMs),
      lastCompletion: new Date(clock.now()),
      clock,
    }
    this.#goOn(() => {
      if (!this.#plan()) this.#finish('finished')
    })
  }

  #ranIntoError(run: TaskContext, error: unknown): void {
    if (run.signal.aborted) {
      if (!this.isDone) this.#finish('cancelled')
      return
    }
    if (!this.isDone && this.#end === null) this.#parts.onUnheardError(error)
    this.#fail(error)
  }

  #goOn(next: () => void): void {
    if (this.isDone) return
    try {
      next()
    } catch (error) {
      // The scheduler was shut down while the task ran: the task is cancelled, as waiting tasks are.
      if (error instanceof TaskRejectedError) {
        this.#finish('cancelled')
        return
      }
      this.#parts.onTriggerError(error)
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    if (this.isDone) return
    this.#error = error
    this.#finish('failed')
  }

  #finish(state: 'cancelled' | 'failed' | 'finished'): void {
    this.#state = state
    this.#settle?.()
    this.#parts.onEnd(this)
  }
}

function noTime(answer: unknown): InvalidArgumentError {
  disarm(answer)
  return new InvalidArgumentError(
    'trigger',
    "The 'nextExecution' of a trigger must return a valid Date, or null when there is no next run, got " +
      `${describeValue(answer)}.`,
  )
}
