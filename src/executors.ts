/** `java.util.Timer` and `ScheduledExecutorService` for plain in-process timing, without a job store. */
export type { TypedEvents } from './core/typed-events.ts'
export type { DelayQueue, DelayQueueOptions } from './executors/delay-queue.ts'
export { DelayedWorkQueue } from './executors/delay-queue.ts'
export type { Delayed } from './executors/delayed.ts'
export { Executors } from './executors/executors.ts'
export { HashedWheelTimer, type HashedWheelTimerOptions } from './executors/hashed-wheel-timer.ts'
export { ScheduledExecutor } from './executors/scheduled-executor.ts'
export type { ScheduledExecutorEventMap } from './executors/scheduled-executor-events.ts'
export type {
  ScheduledExecutorOptions,
  ScheduledExecutorPolicies,
} from './executors/scheduled-executor-options.ts'
export type { ScheduledExecutorService } from './executors/scheduled-executor-service.ts'
export type { CancelOptions, ScheduledFuture } from './executors/scheduled-future.ts'
export { CancellationError } from './executors/scheduled-future.ts'
export type { Task, TaskContext, TaskFunction } from './executors/task.ts'
export { RejectedExecutionError } from './executors/termination.ts'
export { Timer, type TimerEventMap } from './executors/timer.ts'
export type { TimerOptions } from './executors/timer-options.ts'
export { TimerTask, type TimerTaskState } from './executors/timer-task.ts'
export {
  defineWorkerTask,
  type WorkerTaskDefinition,
  type WorkerTaskOptions,
} from './executors/worker-task.ts'
