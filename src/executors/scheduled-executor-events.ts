import type { EventNames } from '../core/typed-events.ts'
import type { ScheduledFuture } from './scheduled-future.ts'
import type { Task } from './task.ts'

/** Every event of a `ScheduledExecutor` with its payload. */
export interface ScheduledExecutorEventMap {
  /** A run of a task failed. `runsAgain` tells whether the task runs again. */
  taskFailed: {
    readonly future: ScheduledFuture<unknown>
    readonly error: unknown
    readonly runsAgain: boolean
  }
  /** A task was refused, because the executor is shut down. */
  taskRejected: { readonly task: Task<unknown> }
  /** A task is due and starts late, because no slot is free. Sent once for each run. */
  taskWaiting: { readonly future: ScheduledFuture<unknown>; readonly lateMs: number }
  /** A worker task reported progress. */
  taskProgress: { readonly future: ScheduledFuture<unknown>; readonly value: unknown }
}

export const scheduledExecutorEventNames: EventNames<ScheduledExecutorEventMap> = {
  taskFailed: true,
  taskRejected: true,
  taskWaiting: true,
  taskProgress: true,
}
