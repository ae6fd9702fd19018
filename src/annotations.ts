/** Spring's `@Scheduled`, `TaskScheduler` and `ScheduledTaskRegistrar`, in one process or across a cluster. */

export type { ClusterScheduling, ClusterTask } from './annotations/cluster/cluster-scheduling.ts'
export {
  ConcurrentTaskScheduler,
  type ConcurrentTaskSchedulerOptions,
} from './annotations/concurrent-task-scheduler.ts'
export { CronTrigger, type CronTriggerOptions } from './annotations/cron-trigger.ts'
export type { DurationLike, TimeUnit } from './annotations/durations.ts'
export { enableScheduling } from './annotations/enable-scheduling.ts'
export { type ErrorHandler, logAndRethrow, logAndSuppress } from './annotations/error-handler.ts'
export type { Scheduling } from './annotations/local-scheduling.ts'
export { PeriodicTrigger, type PeriodicTriggerOptions } from './annotations/periodic-trigger.ts'
export type { PlaceholderResolver } from './annotations/placeholders.ts'
export {
  Scheduled,
  type ScheduledContext,
  type ScheduledDecorator,
  type ScheduledMethod,
  scheduled,
} from './annotations/scheduled.ts'
export type {
  CronScheduled,
  FixedDelayScheduled,
  FixedRateScheduled,
  ScheduledOptions,
} from './annotations/scheduled-options.ts'
export type { ScheduledTask, ScheduledTaskKind } from './annotations/scheduled-task.ts'
export {
  type PeriodicTaskOptions,
  ScheduledTaskRegistrar,
  type SchedulingConfigurer,
} from './annotations/scheduled-task-registrar.ts'
export type { ClusterSchedulingOptions, SchedulingOptions } from './annotations/scheduling-options.ts'
export type { TaskScheduler, TaskSchedulerEventMap } from './annotations/task-scheduler.ts'
export { TaskRejectedError } from './annotations/task-scheduler.ts'
export {
  ThreadPoolTaskScheduler,
  type ThreadPoolTaskSchedulerOptions,
} from './annotations/thread-pool-task-scheduler.ts'
export type { Trigger, TriggerContext } from './annotations/trigger.ts'
export type { TypedEvents } from './core/typed-events.ts'
export type { ScheduledFuture } from './executors/scheduled-future.ts'
export type { TaskContext, TaskFunction } from './executors/task.ts'
export type { DateTimeLike, InstantLike } from './time/instant.ts'
