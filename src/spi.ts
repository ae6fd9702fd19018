/** The contracts of what a scheduler stands on: job stores, SQL dialects, thread pools and trigger families. */

export type {
  AwaitedResult,
  AwaitedResultOutcome,
  JobStoreAwaitedResults,
  LateFiring,
  OverdueResults,
  ResultsInFlight,
} from './jobstore/awaited-results.ts'
export type { JobStoreChanges } from './jobstore/change-watch.ts'
export type {
  InterruptTarget,
  JobStoreCluster,
  NodeOrder,
  NodeReport,
  NodeRequests,
} from './jobstore/cluster-view.ts'
export type { DefinitionChanges, NamedCalendar, RemovedDefinitions } from './jobstore/definition-changes.ts'
export {
  DelegatingJobStore,
  type JobStoreOperation,
} from './jobstore/delegating-job-store.ts'
export { asSeen } from './jobstore/ended-trigger.ts'
export type { ExecutionLogChunk, ExecutionProgress } from './jobstore/execution-log.ts'
export type { ExecutionReport, ExecutionTexts } from './jobstore/execution-report.ts'
export type { FireSlot, FiringOnSchedule } from './jobstore/fire-slot.ts'
export type { TriggerFiredBundle } from './jobstore/fired-bundle.ts'
export { type FiringPart, firingPartOf, withoutOwner } from './jobstore/firing-part.ts'
export type { JobAndTriggers } from './jobstore/job-and-triggers.ts'
export type { DayChange, EndedExecution, JobStatusChange } from './jobstore/job-status.ts'
export type {
  AcquireAndFireRequest,
  AcquiredAndFired,
  AcquiredTrigger,
  AcquireRequest,
  AddJobRequest,
  CompletionAnswer,
  FiringsBeside,
  JobCompletion,
  JobStore,
  JobStoreContext,
  JobStoreTransaction,
  TriggerFiredResult,
} from './jobstore/job-store.ts'
export type { JobStoreCapabilities } from './jobstore/job-store-capabilities.ts'
export type { ExecutionLogLimits, JobStoreRecords, RecordBatch } from './jobstore/job-store-records.ts'
export type { JobStoreShards } from './jobstore/job-store-shards.ts'
export type { LockHolder, LockWait } from './jobstore/lock-wait.ts'
export type { MissedFires } from './jobstore/missed-fires.ts'
export type { LostExecution, NodeRecovery } from './jobstore/node-recovery.ts'
export type { EndedPauses, PauseNote, PauseTarget, ResumeManner, SkippedFire } from './jobstore/pauses.ts'
export { dataAfterRun, type JobDataAndPlan } from './jobstore/planned-data.ts'
export {
  inPlaceOf,
  isDeclaredUpTo,
  type PlanChange,
  type PlanCircumstances,
  type PlannedJob,
  type PlanOutcome,
  type PutPlan,
  planChange,
  type Replacement,
  type SetGeneration,
  type StoredPlan,
} from './jobstore/planned-job.ts'
export type { UnknownJobType } from './jobstore/queries.ts'
export type {
  AuditOptions,
  ExecutionLogOptions,
  HistoryOptions,
  JobStatusOptions,
  MisfireOptions,
  RecordOptions,
} from './jobstore/record-options.ts'
export { generationInForce } from './jobstore/schedule-set-note.ts'
export type { SchedulerSignaler } from './jobstore/scheduler-signaler.ts'
export {
  endedSharding,
  isSplit,
  OpenFirings,
  type SplitFiring,
  type SplitRequest,
  shownFiring,
} from './jobstore/split-firing.ts'
export type {
  BoundColumn,
  ColumnSets,
  RowPlaces,
  RowSetType,
  SqlDialect,
} from './jobstore/sql/kernel/sql-dialect.ts'
export {
  RowsLockedError,
  type SqlRunner,
  type TransactionLock,
  type TransactionOptions,
} from './jobstore/sql/kernel/sql-runner.ts'
export {
  PendingReply,
  type RunsAtOnce,
  type SqlProgram,
  type SqlReply,
  type SqlRow,
  type SqlStatement,
  type SqlValue,
} from './jobstore/sql/kernel/statement.ts'
export type { MigrateMode } from './jobstore/sql/migrations/migrate.ts'
export type { SchemaDialect } from './jobstore/sql/migrations/schema-dialect.ts'
export {
  type SqlDatabase,
  type SqlDatabaseRunner,
  type SqlJobStoreOptions,
  sqlJobStore,
} from './jobstore/sql/sql-database.ts'
export type { JobDataEncoding } from './jobstore/sql/tables/encoding/job-data-text.ts'
export type { StoreLimits } from './jobstore/store-limits.ts'
export type { StoreShutdownOptions } from './jobstore/store-shutdown-options.ts'
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
  StuckThread,
  TaskSignal,
  ThreadPool,
  ThreadPoolContext,
  WorkerTaskHandlers,
} from './threadpool/thread-pool.ts'
export type { WorkerTask, WorkerTaskResult } from './threadpool/wire.ts'
export { TriggerFamilies } from './triggers/families/trigger-families.ts'
export { RecurringTrigger } from './triggers/recurring-trigger.ts'
export { compareFireOrder } from './triggers/trigger.ts'
export {
  type BooleanColumn,
  type IntegerColumn,
  type ScheduleColumn,
  type ScheduleRow,
  type ScheduleTable,
  type ScheduleValues,
  scheduleTables,
  type TextColumn,
  type TriggerFamily,
} from './triggers/trigger-family.ts'
