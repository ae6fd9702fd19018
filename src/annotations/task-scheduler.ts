import { type ArgumentCheck, checkThat, hasMethods } from '../core/arguments.ts'
import { SchedulerError } from '../core/errors.ts'
import type { TypedEvents } from '../core/typed-events.ts'
import type { ScheduledFuture } from '../executors/scheduled-future.ts'
import type { TaskFunction } from '../executors/task.ts'
import type { Clock } from '../time/clock.ts'
import type { DurationLike } from '../time/duration-options.ts'
import type { InstantLike } from '../time/instant.ts'
import type { TaskTrigger } from './task-trigger.ts'

/** A task scheduler did not take a task: it is shut down, or its executor refused. */
export class TaskRejectedError extends SchedulerError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_TASK_REJECTED', message, options)
  }
}

/** Every event of a `TaskScheduler` with its payload. */
export interface TaskSchedulerEventMap {
  /** A run of a task failed; the error handler is called next. `runsAgain` says whether the task may run again. */
  taskFailed: { readonly task: string; readonly error: unknown; readonly runsAgain: boolean }
  /** A task is due and waits, because no slot is free. */
  taskWaiting: { readonly task: string; readonly lateMs: number }
}

/** Runs functions at instants, at a fixed rate, with a fixed delay, or at the times of a trigger. */
export interface TaskScheduler {
  readonly events: TypedEvents<TaskSchedulerEventMap>
  /** The clock of instants and triggers. */
  readonly clock: Clock
  /**
   * Runs the task at the times of the trigger, which is asked after the end of each run; null when it never runs.
   *
   * @throws TaskRejectedError ERR_TASK_REJECTED after shutdown
   */
  schedule(task: TaskFunction<unknown>, trigger: TaskTrigger): ScheduledFuture<never> | null
  /**
   * Runs the task once, at an instant; at once when that is past. A number is epoch milliseconds, no delay as
   * in `ScheduledExecutor`: in 5 s is `clock.now() + 5000`. When the clock is set or the machine sleeps, a run that is
   * further ahead than 30 s moves with its instant, within as long.
   *
   * @throws TaskRejectedError ERR_TASK_REJECTED after shutdown
   * @throws InvalidArgumentError ERR_INVALID_ARGUMENT for what is no instant
   */
  schedule<T>(task: TaskFunction<T>, startTime: InstantLike): ScheduledFuture<T>
  /**
   * Runs the task every `period`, from now or from an instant on (no delay); missed runs are made up, runs never
   * overlap. Setting the clock moves no runs, the first one included.
   *
   * @throws as `schedule`, and InvalidArgumentError ERR_INVALID_OPTION for a period below 1 ms
   */
  scheduleAtFixedRate(task: TaskFunction<unknown>, period: DurationLike): ScheduledFuture<never>
  scheduleAtFixedRate(
    task: TaskFunction<unknown>,
    startTime: InstantLike,
    period: DurationLike,
  ): ScheduledFuture<never>
  /** Runs the task now or from an instant on, and again each time `delay` after the end of a run. @throws as above */
  scheduleWithFixedDelay(task: TaskFunction<unknown>, delay: DurationLike): ScheduledFuture<never>
  scheduleWithFixedDelay(
    task: TaskFunction<unknown>,
    startTime: InstantLike,
    delay: DurationLike,
  ): ScheduledFuture<never>
}

/** An executor has these methods, too, but no clock. */
export const checkTaskScheduler: ArgumentCheck = checkThat(
  'a TaskScheduler',
  (value) =>
    hasMethods(value, ['schedule', 'scheduleAtFixedRate', 'scheduleWithFixedDelay']) &&
    hasMethods(Reflect.get(Object(value), 'clock'), ['now']),
  'Make one with new ThreadPoolTaskScheduler(), or of an executor with new ConcurrentTaskScheduler(executor).',
)
