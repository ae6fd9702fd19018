import type { CancelOptions, ScheduledFuture } from '../executors/scheduled-future.ts'
import type { TaskFunction } from '../executors/task.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import type { TaskScheduler } from './task-scheduler.ts'

/** How a task was registered. */
export type ScheduledTaskKind = 'trigger' | 'cron' | 'fixedRate' | 'fixedDelay' | 'oneTime'

/** A registered task: waits for a scheduler, is scheduled, or has ended. */
export class ScheduledTask {
  readonly name: string
  readonly kind: ScheduledTaskKind
  readonly #start: (scheduler: TaskScheduler) => ScheduledFuture<unknown> | null
  #clock: Clock = systemClock
  /** Undefined until there is a scheduler; null for a trigger that never fires. */
  #future: ScheduledFuture<unknown> | null | undefined = undefined
  #isCancelled = false

  /** @internal */
  constructor(
    kind: ScheduledTaskKind,
    task: TaskFunction<unknown>,
    start: (scheduler: TaskScheduler) => ScheduledFuture<unknown> | null,
  ) {
    this.kind = kind
    this.name = task.name === '' ? 'task' : task.name
    this.#start = start
  }

  /** Whether a scheduler has it. */
  get isScheduled(): boolean {
    return this.#future !== undefined
  }
  get isCancelled(): boolean {
    return this.#isCancelled || this.#future?.isCancelled === true
  }
  /** Whether it will not run (again). */
  get isDone(): boolean {
    return this.#isCancelled || this.#future === null || this.#future?.isDone === true
  }

  /** When it runs next; null while it runs, before it is scheduled and when it is done. */
  nextExecution(): Date | null {
    const delayMs = this.isDone ? 0 : (this.#future?.getDelay() ?? 0)
    return delayMs > 0 ? new Date(this.#clock.now() + delayMs) : null
  }

  /** Keeps the task from running (again); false when it is done already. */
  cancel(options?: CancelOptions): boolean {
    if (this.isDone) return false
    this.#isCancelled = true
    this.#future?.cancel(options)
    return true
  }

  /** @internal */
  start(scheduler: TaskScheduler): void {
    if (this.isDone || this.isScheduled) return
    this.#clock = scheduler.clock
    this.#future = this.#start(scheduler)
  }
}
