/** Spring's `@Scheduled`, `TaskScheduler` and `ScheduledTaskRegistrar`, in one process or across a cluster. */

export type { ClusterScheduling, ClusterTask } from './annotations/cluster/cluster-scheduling.ts'
export {
  ConcurrentTaskScheduler,
  type ConcurrentTaskSchedulerOptions,
} from './annotations/concurrent-task-scheduler.ts'
export { CronTaskTrigger, type CronTaskTriggerOptions } from './annotations/cron-task-trigger.ts'
export { enableScheduling } from './annotations/enable-scheduling.ts'
export { type ErrorHandler, logAndRethrow, logAndSuppress } from './annotations/error-handler.ts'
export type { Scheduling } from './annotations/local-scheduling.ts'
export { PeriodicTaskTrigger, type PeriodicTaskTriggerOptions } from './annotations/periodic-task-trigger.ts'
export type { PlaceholderResolver } from './annotations/placeholders.ts'
export {
  Scheduled,
  type ScheduledContext,
  type ScheduledDecorator,
  type ScheduledMethod,
  scheduled,
} from './annotations/scheduled.ts'
export { hasScheduledMethods } from './annotations/scheduled-methods.ts'
export type {
  CronScheduled,
  EveryScheduled,
  FixedDelayScheduled,
  FixedRateScheduled,
  PeriodicScheduled,
  ScheduledOptions,
} from './annotations/scheduled-options.ts'
export type { ScheduledTask, ScheduledTaskKind } from './annotations/scheduled-task.ts'
export {
  type PeriodicTaskOptions,
  ScheduledTaskRegistrar,
  type SchedulingConfigurer,
} from './annotations/scheduled-task-registrar.ts'
export type {
  ClusterSchedulingOptions,
  CommonScheduling,
  SchedulingOptions,
} from './annotations/scheduling-options.ts'
export type { TaskScheduler, TaskSchedulerEventMap } from './annotations/task-scheduler.ts'
export { TaskRejectedError } from './annotations/task-scheduler.ts'
export type { TaskTrigger, TaskTriggerContext } from './annotations/task-trigger.ts'
export {
  ThreadPoolTaskScheduler,
  type ThreadPoolTaskSchedulerOptions,
} from './annotations/thread-pool-task-scheduler.ts'
export type { TypedEvents } from './core/typed-events.ts'
export type { ScheduledFuture } from './executors/scheduled-future.ts'
export type { TaskContext, TaskFunction } from './executors/task.ts'
export { type DurationLike, type TimeUnit, timeUnits } from './time/duration-options.ts'
export type { DateTimeLike, InstantLike } from './time/instant.ts'
