import type { CancelOptions, ScheduledFuture } from '../executors/scheduled-future.ts'
import type { TaskFunction } from '../executors/task.ts'
import type { Clock, ClockTimer, EpochMs } from '../time/clock.ts'
import { TaskRejectedError } from './task-scheduler.ts'

/** How often the wall clock is read: setting the clock moves a run that is further away. */
const lookAgainMs = 30_000

/** By how much the clocks may come apart before a task is submitted anew. */
const apartMs = 100

export type Submit<T> = (run: TaskFunction<T>, delayMs: number) => ScheduledFuture<T>

/** Runs tasks once, at instants of the wall clock, on an executor whose delays are of the monotonic clock. */
export class InstantTasks {
  readonly #clock: Clock
  readonly #waiting = new Set<Pick<InstantTask<unknown>, 'follow'>>()
  #timer: ClockTimer | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @throws TaskRejectedError */
  start<T>(run: TaskFunction<T>, instantMs: EpochMs, submit: Submit<T>): ScheduledFuture<T> {
    const delayMs = Math.max(0, instantMs - this.#clock.now())
    if (delayMs <= lookAgainMs) return submit(run, delayMs)
    const task = new InstantTask(run, instantMs, { clock: this.#clock, submit })
    this.#waiting.add(task)
    this.#watch()
    return task
  }

  /** The executor counts on from here, as it does for all of its tasks. */
  stop(): void {
    this.#waiting.clear()
    this.#timer?.cancel()
    this.#timer = null
  }

  #watch(): void {
    if (this.#timer !== null || this.#waiting.size === 0) return
    const look = (): void => {
      this.#timer = null
      for (const task of this.#waiting) if (!task.follow()) this.#waiting.delete(task)
      this.#watch()
    }
    this.#timer = this.#clock.setTimer(lookAgainMs, look, { unref: true })
  }
}

interface InstantTaskParts<T> {
  readonly clock: Clock
  readonly submit: Submit<T>
}

/** A task that waits on the executor, and is submitted anew when the wall clock was set or the machine has slept. */
class InstantTask<T> implements ScheduledFuture<T> {
  readonly isPeriodic = false
  readonly #run: TaskFunction<T>
  readonly #instantMs: EpochMs
  readonly #parts: InstantTaskParts<T>
  #current: ScheduledFuture<T>
  #hasBegun = false

  constructor(task: TaskFunction<T>, instantMs: EpochMs, parts: InstantTaskParts<T>) {
    this.#instantMs = instantMs
    this.#parts = parts
    this.#run = ({ signal }) => {
      this.#hasBegun = true
      return task({ signal, future: this })
    }
    this.#current = parts.submit(this.#run, this.#leftMs)
  }

  get isDone(): boolean {
    return this.#current.isDone
  }
  get isCancelled(): boolean {
    return this.#current.isCancelled
  }
  get #leftMs(): number {
    return Math.max(0, this.#instantMs - this.#parts.clock.now())
  }

  async get(): Promise<T> {
    for (;;) {
      const current = this.#current
      try {
        return await current
      } catch (error) {
        // One in whose place another one was submitted was cancelled.
        if (current === this.#current) throw error
      }
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
    return this.#current.cancel(options)
  }

  getDelay(): number {
    return this.#hasBegun || this.isDone ? 0 : this.#instantMs - this.#parts.clock.now()
  }

  /** Waits as long as it is by the wall clock; false when it does not wait any more, or can be moved no more. */
  follow(): boolean {
    const former = this.#current
    if (this.#hasBegun || former.isDone) return false
    const leftMs = this.#leftMs
    // One that is late waits for a slot.
    if (Math.abs(leftMs - Math.max(0, former.getDelay())) < apartMs) return true
    try {
      this.#current = this.#parts.submit(this.#run, leftMs)
    } catch (error) {
      // An executor that is shut down lets it wait as it does.
      if (error instanceof TaskRejectedError) return false
      throw error
    }
    former.cancel()
    return true
  }
}
