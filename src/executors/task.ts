import type { ScheduledFuture } from './scheduled-future.ts'
import type { WorkerTaskDefinition } from './worker-task.ts'

/** The context of one run of a task. */
export interface TaskContext {
  /** Aborts when the run is to end: its future was cancelled with `mayInterrupt`, or `shutdownNow` was called. */
  readonly signal: AbortSignal
  /** The task's own future: lets a periodic task end itself. */
  readonly future: ScheduledFuture<unknown>
}

/** A task on the event loop. Its slot is free again when the promise that it returns has settled. */
export type TaskFunction<T> = (context: TaskContext) => T | PromiseLike<T>

/** A function, or a module that runs in a worker thread. */
export type Task<T> = TaskFunction<T> | WorkerTaskDefinition<T>
