import type { Logger } from '../core/logger.ts'
import { isThenable } from '../core/promises.ts'
import { disarm, logThrown } from '../core/thrown-value.ts'
import type { TypedEventEmitter } from '../core/typed-events.ts'
import type { Clock } from '../time/clock.ts'
import { Alarm } from './alarm.ts'
import type { DelayEngine } from './delayed.ts'
import { type FutureTask, PeriodicFutureTask, type TaskRun } from './future-task.ts'
import type { ScheduledExecutorEventMap } from './scheduled-executor-events.ts'
import { Turn } from './turn.ts'

export interface TaskLoopOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly events: TypedEventEmitter<ScheduledExecutorEventMap>
  readonly engine: DelayEngine<FutureTask>
  readonly ref: boolean
  readonly onError: 'stop' | 'continue'
  /** Most tasks at one time; may change. */
  readonly slots: () => number
  /** Whether a periodic task may run again. */
  readonly mayContinue: () => boolean
  /** Called when the last task may have ended. */
  readonly onIdle: () => void
}

/** Runs tasks when they are due and a slot is free. */
export class TaskLoop {
  readonly engine: DelayEngine<FutureTask>
  readonly #options: TaskLoopOptions
  readonly #alarm: Alarm
  readonly #turn: Turn
  /** True while tasks are started: tasks that they schedule are started in the same pass. */
  #starting = false
  /** How many tasks run. */
  #active = 0
  /** The task whose function is being called. */
  #calling: FutureTask | null = null
  /** Tasks whose promise has not settled. */
  readonly #pending = new Set<FutureTask>()
  /** Until when no slot was free: tasks that were due before then have waited for one. */
  #fullUntilMs = Number.NEGATIVE_INFINITY
  /** The first task of the queue, once `taskWaiting` was emitted for it. */
  #announced: FutureTask | null = null

  constructor(options: TaskLoopOptions) {
    this.#options = options
    this.engine = options.engine
    this.#turn = new Turn(options.clock, () => {
      this.#startDue()
    })
    this.#alarm = new Alarm({
      clock: options.clock,
      now: () => options.clock.elapsedMs(),
      onRing: () => {
        this.#turn.ring()
      },
      ref: options.ref,
    })
  }

  get activeCount(): number {
    return this.#active
  }

  get isIdle(): boolean {
    return this.#active === 0 && this.engine.size === 0
  }

  /** Aborts the signals of all running tasks. */
  interrupt(reason: unknown): void {
    this.#calling?.interrupt(reason)
    for (const future of this.#pending) future.interrupt(reason)
  }

  setRef(options: { readonly ref: boolean }): void {
    this.#alarm.setRef(options)
  }

  add(future: FutureTask, delayMs: number): void {
    const nowMs = this.#options.clock.elapsedMs()
    const dueMs = nowMs + delayMs
    if (future instanceof PeriodicFutureTask) future.dueMs = dueMs
    this.engine.insert(future, dueMs, nowMs)
    if (!this.#starting) this.#alarm.set(this.engine.nextWakeMs())
  }

  remove(future: FutureTask): void {
    if (!this.engine.remove(future)) return
    if (this.engine.size === 0) this.#alarm.set(Number.POSITIVE_INFINITY)
    this.#options.onIdle()
  }

  /** Called after each change: starts due tasks, as far as this turn of the event loop has time left. */
  wake(): void {
    if (this.#starting) return
    this.#turn.resume()
    this.#startDue()
  }

  /** As `wake`, but no task runs within the call. */
  wakeSoon(): void {
    if (!this.#starting) this.#watch(this.#options.clock.elapsedMs())
  }

  get #isFull(): boolean {
    return this.#active >= this.#options.slots()
  }

  #startDue(): void {
    this.#starting = true
    const { clock, events } = this.#options
    const turn = this.#turn
    while (!this.#isFull && turn.goesOn()) {
      if (events.has('taskWaiting')) this.#announceLate(turn.nowMs)
      const future = this.engine.pollDue(turn.nowMs)
      if (future === null) break
      if (future === this.#announced) this.#announced = null
      if (!future.isDone) this.#start(future)
    }
    this.#starting = false
    this.#watch(clock.elapsedMs())
    this.#options.onIdle()
  }

  #watch(nowMs: number): void {
    if (this.#isFull) {
      const head = this.#firstDue(nowMs)
      if (head !== null) {
        this.#announce(head, nowMs)
        // The end of a run is handled before any timer.
        this.#alarm.set(Number.POSITIVE_INFINITY)
        return
      }
    }
    this.#alarm.set(this.engine.nextWakeMs())
  }

  /** The first due task that was not cancelled. */
  #firstDue(nowMs: number): FutureTask | null {
    let head = this.engine.peekDue(nowMs)
    while (head?.isDone === true) {
      this.engine.remove(head)
      head = this.engine.peekDue(nowMs)
    }
    return head
  }

  /** Emits `taskWaiting` for a due task that became the first of the queue only now that a slot is free. */
  #announceLate(nowMs: number): void {
    const head = this.#firstDue(nowMs)
    if (head !== null && (this.engine.dueMs(head) ?? nowMs) < this.#fullUntilMs) this.#announce(head, nowMs)
  }

  #announce(future: FutureTask, nowMs: number): void {
    if (future === this.#announced) return
    this.#announced = future
    const lateMs = nowMs - (this.engine.dueMs(future) ?? nowMs)
    this.#options.events.emit('taskWaiting', { future, lateMs })
  }

  #start(future: FutureTask): void {
    this.#active++
    this.#calling = future
    let returned: unknown
    let later: boolean
    try {
      returned = future.start()
      later = isThenable(returned)
    } catch (error) {
      this.#calling = null
      this.#failed(future, error)
      return
    }
    this.#calling = null
    if (later) this.#await(future, returned)
    else this.#succeeded(future, returned)
  }

  #await(future: FutureTask, returned: unknown): void {
    this.#pending.add(future)
    Promise.resolve(returned).then(
      (value) => {
        this.#slotFree(future)
        this.#succeeded(future, value)
        this.wake()
      },
      (error: unknown) => {
        this.#slotFree(future)
        this.#failed(future, error)
        this.wake()
      },
    )
  }

  #slotFree(future: FutureTask): void {
    this.#pending.delete(future)
    if (this.#isFull) this.#fullUntilMs = this.#options.clock.elapsedMs()
  }

  #succeeded(future: FutureTask, value: unknown): void {
    this.#leave(future)
    if (future instanceof PeriodicFutureTask) this.#repeat(future)
    else if (!future.isDone) future.succeed(value)
  }

  #failed(future: FutureTask, error: unknown): void {
    disarm(error)
    const { name } = future.task
    const run = this.#leave(future)
    // A run that was asked to end may end by throwing: that is no failure to report.
    if (run?.aborted === true) {
      future.cancel()
      return
    }
    const runsAgain =
      !future.isDone &&
      future instanceof PeriodicFutureTask &&
      this.#options.onError === 'continue' &&
      this.#options.mayContinue()
    const task = name === '' ? {} : { task: name }
    const heard = !future.isDone && !runsAgain && future.fail(error)
    const { events, logger } = this.#options
    if (!heard && !events.has('taskFailed'))
      logThrown(logger, error, 'A scheduled task failed', { ...task, runsAgain })
    events.emit('taskFailed', { future, error, runsAgain })
    if (runsAgain) this.#repeat(future)
  }

  #repeat(future: PeriodicFutureTask): void {
    if (future.isDone) return
    const nowMs = this.#options.clock.elapsedMs()
    if (this.#options.mayContinue()) this.engine.insert(future, future.nextDueMs(nowMs), nowMs)
    else future.cancel()
  }

  #leave(future: FutureTask): TaskRun | null {
    this.#active--
    return future.ended()
  }
}
