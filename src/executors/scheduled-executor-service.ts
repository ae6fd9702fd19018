import type { TypedEvents } from '../core/typed-events.ts'
import type { ScheduledExecutorEventMap } from './scheduled-executor-events.ts'
import type { ScheduledFuture } from './scheduled-future.ts'
import type { Task } from './task.ts'

/** Runs tasks now, later, or periodically: the interface of every executor of this package. */
export interface ScheduledExecutorService extends AsyncDisposable {
  readonly events: TypedEvents<ScheduledExecutorEventMap>
  readonly isShutdown: boolean
  /** Shut down, and no task runs or waits any more. */
  readonly isTerminated: boolean
  /** How many tasks run now. */
  readonly activeCount: number
  /** How many tasks wait for their time or a slot; includes cancelled ones that were not removed yet. */
  readonly queueSize: number

  /**
   * Runs the task once, `delayMs` from now; a negative delay counts as 0.
   *
   * @throws RejectedExecutionError ERR_REJECTED_EXECUTION after shutdown
   * @throws InvalidArgumentError when a delay is no finite number, or a task neither a function nor a worker task
   */
  schedule<T>(task: Task<T>, delayMs: number): ScheduledFuture<T>
  /**
   * Runs the task at `initialDelayMs`, then every `periodMs` after that: a late run does not move the ones that follow,
   * and missed runs are made up. Runs never overlap.
   *
   * @throws as `schedule`, and InvalidArgumentError when the period is not above 0
   */
  scheduleAtFixedRate(task: Task<unknown>, initialDelayMs: number, periodMs: number): ScheduledFuture<never>
  /**
   * Runs the task at `initialDelayMs`, then each time `delayMs` after the end of the run before.
   *
   * @throws as `schedule`, and InvalidArgumentError when the delay is not above 0
   */
  scheduleWithFixedDelay(task: Task<unknown>, initialDelayMs: number, delayMs: number): ScheduledFuture<never>
  /** Runs the task soon; its failure is the event `taskFailed`. @throws as `schedule` */
  execute(task: Task<unknown>): void
  /** Runs the task soon. @throws as `schedule` */
  submit<T>(task: Task<T>): ScheduledFuture<T>
  /**
   * Runs all tasks and resolves with their futures, in this order, when all are done, also with failures.
   *
   * @throws as `schedule`
   */
  invokeAll<T>(tasks: Iterable<Task<T>>): Promise<ScheduledFuture<T>[]>
  /**
   * Runs all tasks, resolves with the result of the first to succeed, and cancels and interrupts the others.
   *
   * @throws SchedulerError ERR_NO_TASK_SUCCEEDED when all fail; its cause has their errors
   * @throws as `schedule`, and InvalidArgumentError when there is no task
   */
  invokeAny<T>(tasks: Iterable<Task<T>>): Promise<T>

  /** Takes no more tasks. Waiting tasks still run or are cancelled, as the policies say. */
  shutdown(): void
  /**
   * Takes no more tasks, interrupts running tasks and cancels waiting ones; answers those that waited, in order of
   * time. An interrupted task that throws is cancelled, not failed.
   */
  shutdownNow(): ScheduledFuture<unknown>[]
  /**
   * Resolves with true once the executor has terminated, or with false after `timeoutMs`. Default: no limit. After
   * `shutdown` the tasks that it waits for keep the process alive. A task of the executor that awaits it waits for
   * itself: give a time there.
   */
  awaitTermination(timeoutMs?: number): Promise<boolean>
  /** Keeps the process alive while tasks wait, as is the default. */
  ref(): this
  /** Lets the process end although tasks wait. */
  unref(): this
}
