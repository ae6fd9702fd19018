/** Contracts of what can be put under a scheduler: for those who write a job store, a pool or a trigger family. */

export type { InterruptTarget, JobStoreCluster } from './jobstore/cluster-view.ts'
export {
  DelegatingJobStore,
  type JobStoreOperation,
} from './jobstore/delegating-job-store.ts'
export type {
  AcquiredAndFired,
  AcquiredTrigger,
  AcquireRequest,
  ExecutionReport,
  JobCompletion,
  JobStore,
  JobStoreCapabilities,
  JobStoreContext,
  JobStoreTransaction,
  ScheduleEntry,
  SchedulerSignaler,
  StoreShutdownOptions,
  TriggerFiredBundle,
  TriggerFiredResult,
} from './jobstore/job-store.ts'
export type { UnknownJobType } from './jobstore/queries.ts'
export {
  type StateChanges,
  type StoredTriggerState,
  storedTriggerStates,
  type TriggerAction,
  triggerActions,
  triggerTransitions,
} from './jobstore/trigger-state.ts'
export type {
  Runnable,
  TaskSignal,
  ThreadPool,
  ThreadPoolContext,
  WorkerTaskHandlers,
} from './threadpool/thread-pool.ts'
export type { WorkerTask, WorkerTaskResult } from './threadpool/wire.ts'
export { TriggerFamilies } from './triggers/families/trigger-families.ts'
export { RecurringTrigger } from './triggers/recurring-trigger.ts'
export { compareFireOrder } from './triggers/trigger.ts'
export type {
  BooleanColumn,
  IntegerColumn,
  ScheduleColumn,
  ScheduleRow,
  ScheduleTable,
  ScheduleValues,
  TextColumn,
  TriggerFamily,
} from './triggers/trigger-family.ts'
