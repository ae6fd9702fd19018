/** The public face of quartz-ts. */
export {
  CronExpressionError,
  type ErrorCode,
  errorCodes,
  InvalidArgumentError,
  JobExecutionError,
  JobPersistenceError,
  ObjectAlreadyExistsError,
  SchedulerError,
} from './core/errors.ts'
export type { IdGenerator } from './core/ids.ts'
export type { JobDataMap } from './core/job-data-map.ts'
export type { MoreJobData, RequiredKeys, Storable, StorableJobData } from './core/job-data-type.ts'
export type { JobLog, JobLogMethod } from './core/job-log.ts'
export {
  compareKeys,
  defaultGroup,
  JobKey,
  jobKey,
  type Key,
  recoveringJobsGroup,
  retryingJobsGroup,
  shardedJobsGroup,
  TriggerKey,
  triggerKey,
} from './core/key.ts'
export type { Logger } from './core/logger.ts'
export {
  and,
  everything,
  GroupMatcher,
  type KeyLike,
  keyEquals,
  type Matcher,
  type MatchOperator,
  matchOperators,
  NameMatcher,
  not,
  or,
} from './core/matcher.ts'
export type { TraceContext } from './core/trace-context.ts'
export type { TypedEvents } from './core/typed-events.ts'
export { type HealthCode, type HealthReason, type HealthReport, healthCodes } from './health/health-report.ts'
export {
  type HealthRule,
  noFiringLaterThan,
  type RuleCheck,
  successWithin,
} from './health/health-rules.ts'
export {
  type SchedulerHealth,
  type SchedulerHealthOptions,
  schedulerHealth,
} from './health/scheduler-health.ts'
export {
  type DecoratedClass,
  DisallowConcurrentExecution,
  PersistJobDataAfterExecution,
} from './jobs/decorators.ts'
export {
  type Dataflow,
  type DataflowJobOptions,
  type DataflowResult,
  defineDataflowJob,
} from './jobs/define-dataflow-job.ts'
export { defineJob, type JobOptions, type WithSchema } from './jobs/define-job.ts'
export { defineRemoteJob, type RemoteJobContext, type RemoteJobOptions } from './jobs/define-remote-job.ts'
export { defineWorkerJob, type WorkerJobOptions } from './jobs/define-worker-job.ts'
export { type ExecutionOf, isExecutionOf } from './jobs/execution-of.ts'
export { type FilledKeys, JobBuilder, type MissingJobData, type UnknownKeys } from './jobs/job-builder.ts'
export type {
  InlineJobDefinition,
  Job,
  JobClass,
  JobDefinition,
  JobDefinitionBase,
  JobExecutionContext,
  JobFactory,
  JobScheduler,
  JobSource,
  StorableData,
  StoredDataOf,
  WorkerJobDefinition,
  WorkerJobFunction,
} from './jobs/job-definition.ts'
export type { JobDetail, NodeAffinity } from './jobs/job-detail.ts'
export type { JobPlan } from './jobs/job-plan.ts'
export type { ExecutingJobDetail, JobRunContext } from './jobs/job-run-context.ts'
export type { JobStoreNotes, SharedNote } from './jobs/job-store-notes.ts'
export type {
  AwaitResultOptions,
  RemoteExecution,
  RemoteJobHooks,
  RemoteResult,
  ResultTaker,
} from './jobs/remote-job.ts'
export type { RetryBackoff, RetryOptions, RetryPolicy } from './jobs/retry-policy.ts'
export type {
  AddCalendarOptions,
  AddJobOptions,
  AtWhen,
  ChangeDefinitionsOptions,
  CronWhen,
  DailyWhen,
  EveryWhen,
  ExpectedJobOptions,
  ExpectedTriggerOptions,
  InWhen,
  KeyedSchedule,
  OneWhen,
  ReplaceOptions,
  RescheduleOptions,
  ScheduleData,
  ScheduledJob,
  ScheduleOptions,
  ScheduleSettings,
  ScheduleWhen,
  TriggerJobOptions,
  WhenName,
} from './jobs/schedule-options.ts'
export {
  type Shard,
  type Sharding,
  type ShardingOptions,
  type ShardStrategy,
  shardStrategies,
} from './jobs/sharding.ts'
export type { StandardSchema, StandardSchemaIssue, StandardSchemaResult } from './jobs/standard-schema.ts'
export {
  type AuditCursor,
  type AuditEntry,
  type AuditNote,
  type AuditOutcome,
  type AuditQuery,
  auditOutcomes,
} from './jobstore/audit.ts'
export type {
  ExecutingJob,
  ExecutingShard,
  NodeChange,
  NodeStatus,
  SchedulerNode,
} from './jobstore/cluster-view.ts'
export type { DefinitionChanges, NamedCalendar } from './jobstore/definition-changes.ts'
export {
  type ExecutionLogLevel,
  type ExecutionLogLine,
  type ExecutionLogQuery,
  executionLogLevels,
} from './jobstore/execution-log.ts'
export type { JobAndTriggers } from './jobstore/job-and-triggers.ts'
export type {
  JobDay,
  JobStatus,
  JobStatusQuery,
  OutcomeCounts,
} from './jobstore/job-status.ts'
export {
  type CompletedExecutionInstruction,
  completedExecutionInstructions,
} from './jobstore/job-store.ts'
export type {
  EndedSharding,
  ShardedFiring,
  ShardedItem,
  ShardOutcome,
  ShardOverview,
} from './jobstore/job-store-shards.ts'
export type { LockHolder } from './jobstore/lock-wait.ts'
export {
  type Misfire,
  type MisfireCause,
  type MisfireCountQuery,
  type MisfireCounts,
  type MisfireCursor,
  type MisfirePolicy,
  type MisfireQuery,
  misfireCauses,
  misfirePolicies,
} from './jobstore/misfires.ts'
export type { Pause, PausedGroup, PausedGroups, PauseScope } from './jobstore/pauses.ts'
export {
  type ExecutionCursor,
  type ExecutionDetails,
  type ExecutionOutcome,
  type ExecutionQuery,
  type ExecutionSummary,
  executionOutcomes,
  type FirePlace,
  type GroupCount,
  type JobQuery,
  type JobSummary,
  type NextTriggerQuery,
  type Page,
  type PageRequest,
  type ShardPlace,
  type TriggerConditions,
  type TriggerCounts,
  type TriggerQuery,
  type TriggerSummary,
} from './jobstore/queries.ts'
export { ramJobStore } from './jobstore/ram/ram-job-store.ts'
export type {
  AuditOptions,
  ExecutionLogOptions,
  HistoryOptions,
  JobStatusOptions,
  MisfireOptions,
  RecordOptions,
} from './jobstore/record-options.ts'
export type { StoreProbe } from './jobstore/store-probe.ts'
export { type TriggerState, triggerStates } from './jobstore/trigger-state.ts'
export type {
  InterruptReason,
  SchedulerEventMap,
  SchedulerEventName,
  SchedulerEvents,
} from './listeners/events.ts'
export type { JobListener } from './listeners/job-listener.ts'
export { ListenerManager } from './listeners/listener-manager.ts'
export type { SchedulerListener } from './listeners/scheduler-listener.ts'
export type { TriggerListener } from './listeners/trigger-listener.ts'
export { type FiringLogOptions, firingLogPlugin } from './plugins/firing-log-plugin.ts'
export { JobChainingJobListener, type JobChainLinkOptions } from './plugins/job-chaining-job-listener.ts'
export { type ShutdownHookOptions, shutdownHookPlugin } from './plugins/shutdown-hook-plugin.ts'
export { createScheduler, type SchedulerOptions } from './scheduler/create-scheduler.ts'
export { defineSchedule } from './scheduler/define-schedule.ts'
export type {
  ReconcileOptions,
  Reconciliation,
  ScheduleDefinition,
  ScheduleSet,
} from './scheduler/schedule-definition.ts'
export type {
  FireInstance,
  PauseOptions,
  ResumeOptions,
  Scheduler,
  SchedulerCluster,
  SchedulerTransaction,
  SkippedFireTimes,
} from './scheduler/scheduler.ts'
export { type SchedulerMetaData, summaryOfMetaData } from './scheduler/scheduler-metadata.ts'
export type { SchedulerBehaviour } from './scheduler/scheduler-options.ts'
export type { PluginContext, SchedulerPlugin } from './scheduler/scheduler-plugin.ts'
export type { JobRun, ProbeContext, SchedulerProbe, StoreCall } from './scheduler/scheduler-probe.ts'
export type { ShutdownOptions } from './scheduler/shutdown-options.ts'
export {
  type InProcessThreadPoolOptions,
  inProcessThreadPool,
  zeroSizeThreadPool,
} from './threadpool/in-process-thread-pool.ts'
export type { PiscinaThreadPoolOptions } from './threadpool/piscina-options.ts'
export { piscinaThreadPool } from './threadpool/piscina-thread-pool.ts'
export { DayOfWeek } from './time/civil.ts'
export { type Clock, type ClockTimer, type EpochMs, systemClock } from './time/clock.ts'
export {
  DateBuilder,
  type DateBuilderOptions,
  type DateUnit,
  dateUnits,
} from './time/date-builder.ts'
export type { DurationLike } from './time/duration-options.ts'
export { TimeZone, type ZoneTransition } from './time/zone.ts'
export type { ZoneOffsets } from './time/zone-offsets.ts'
export {
  AnnualCalendar,
  type AnnualCalendarOptions,
  type MonthDay,
} from './triggers/calendars/annual-calendar.ts'
export type { Calendar, CalendarDefinition } from './triggers/calendars/calendar.ts'
export { calendarFromJSON } from './triggers/calendars/calendar-json.ts'
export { CronCalendar, type CronCalendarOptions } from './triggers/calendars/cron-calendar.ts'
export { DailyCalendar, type DailyCalendarOptions } from './triggers/calendars/daily-calendar.ts'
export type { DayCalendar } from './triggers/calendars/day-calendar.ts'
export { HolidayCalendar, type HolidayCalendarOptions } from './triggers/calendars/holiday-calendar.ts'
export { MonthlyCalendar, type MonthlyCalendarOptions } from './triggers/calendars/monthly-calendar.ts'
export { WeeklyCalendar, type WeeklyCalendarOptions } from './triggers/calendars/weekly-calendar.ts'
export type { CalendarOptions, ZonedCalendar } from './triggers/calendars/zoned-calendar.ts'
export { type CronDialect, cronDialects } from './triggers/cron/cron-dialect.ts'
export { CronExpression } from './triggers/cron/cron-expression.ts'
export type { CronOptions, UnixCronOptions } from './triggers/cron/cron-reader.ts'
export type { CronFieldSummary, CronSummary } from './triggers/cron/cron-summary.ts'
export type { CronExpressionJson, CronTimes } from './triggers/cron/cron-times.ts'
export {
  type Crontab,
  type CrontabEntry,
  type CrontabOptions,
  type CrontabProblem,
  parseCrontab,
} from './triggers/cron/crontab.ts'
export type { CronDst } from './triggers/cron/dst-policy.ts'
export { parseUnixCron } from './triggers/cron/unix-cron.ts'
export {
  CronScheduleBuilder,
  CronTrigger,
  type CronTriggerFields,
} from './triggers/families/cron/cron-trigger.ts'
export {
  type DailyTimeIntervalUnit,
  dailyTimeIntervalUnits,
} from './triggers/families/daily/daily-time-interval-schedule.ts'
export {
  DailyTimeIntervalScheduleBuilder,
  DailyTimeIntervalTrigger,
  type DailyTimeIntervalTriggerFields,
} from './triggers/families/daily/daily-time-interval-trigger.ts'
export {
  type CalendarIntervalUnit,
  calendarIntervalUnits,
} from './triggers/families/interval/calendar-interval-schedule.ts'
export {
  CalendarIntervalScheduleBuilder,
  CalendarIntervalTrigger,
  type CalendarIntervalTriggerFields,
} from './triggers/families/interval/calendar-interval-trigger.ts'
export type { CommonJson, KeyJson, TriggerJson } from './triggers/families/plain-form.ts'
export {
  type IntervalParts,
  SimpleScheduleBuilder,
  type SimpleSeries,
  SimpleTrigger,
  type SimpleTriggerFields,
} from './triggers/families/simple/simple-trigger.ts'
export { TriggerBuilder } from './triggers/families/trigger-builder.ts'
export { triggerTypes } from './triggers/families/trigger-families.ts'
export { triggerFromJSON, triggerToJSON } from './triggers/families/trigger-json.ts'
export type {
  FluentTriggerBuilder,
  ScheduleBuilder,
  TriggerBuilderOptions,
} from './triggers/fluent-trigger-builder.ts'
export {
  type CalendarMisfireInstruction,
  calendarMisfireInstructions,
  type MisfireInstruction,
  type SimpleMisfireInstruction,
  simpleMisfireInstructions,
} from './triggers/misfire-instruction.ts'
export { RecurringTrigger } from './triggers/recurring-trigger.ts'
export { TimeOfDay } from './triggers/time-of-day.ts'
export { Trigger } from './triggers/trigger.ts'
export { type FireState, repeatIndefinitely, type TriggerFields } from './triggers/trigger-fields.ts'
export { TriggerUtils } from './triggers/trigger-utils.ts'
