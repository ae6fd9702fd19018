import type { MoreJobData } from '../core/job-data-type.ts'
import type { JobKey, TriggerKey } from '../core/key.ts'
import type { Logger } from '../core/logger.ts'
import type { GroupMatcher } from '../core/matcher.ts'
import type { JobExecutionContext, JobScheduler, JobSource } from '../jobs/job-definition.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { ResultTaker } from '../jobs/remote-job.ts'
import type {
  AddCalendarOptions,
  AddJobOptions,
  ChangeDefinitionsOptions,
  ExpectedJobOptions,
  ExpectedTriggerOptions,
  RescheduleOptions,
  TriggerJobOptions,
} from '../jobs/schedule-options.ts'
import type { AuditCursor, AuditEntry, AuditNote, AuditQuery } from '../jobstore/audit.ts'
import type { ExecutingJob, NodeChange, SchedulerNode } from '../jobstore/cluster-view.ts'
import type { DefinitionChanges } from '../jobstore/definition-changes.ts'
import type { ExecutionLogLine, ExecutionLogQuery } from '../jobstore/execution-log.ts'
import type { JobAndTriggers } from '../jobstore/job-and-triggers.ts'
import type { JobStatus, JobStatusQuery } from '../jobstore/job-status.ts'
import type { ShardOverview } from '../jobstore/job-store-shards.ts'
import type {
  Misfire,
  MisfireCountQuery,
  MisfireCounts,
  MisfireCursor,
  MisfireQuery,
} from '../jobstore/misfires.ts'
import type { PausedGroups } from '../jobstore/pauses.ts'
import type {
  ExecutionCursor,
  ExecutionDetails,
  ExecutionQuery,
  ExecutionSummary,
  FirePlace,
  GroupCount,
  JobQuery,
  JobSummary,
  NextTriggerQuery,
  Page,
  TriggerCounts,
  TriggerQuery,
  TriggerSummary,
} from '../jobstore/queries.ts'
import type { TriggerState } from '../jobstore/trigger-state.ts'
import type { SchedulerEvents } from '../listeners/events.ts'
import type { ListenerManager } from '../listeners/listener-manager.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { ReconcileOptions, Reconciliation, ScheduleDefinition } from './schedule-definition.ts'
import type { SchedulerMetaData } from './scheduler-metadata.ts'
import type { ShutdownOptions } from './shutdown-options.ts'

/**
 * The scheduling part of a scheduler, inside of a transaction of your own: what it does happens if and only if you
 * commit. Each call happens whole or not at all. No listener is called and no event is sent, because your transaction
 * may still roll back.
 */
export type SchedulerTransaction = Pick<
  Scheduler,
  | 'schedule'
  | 'scheduleJob'
  | 'scheduleJobs'
  | 'addJob'
  | 'rescheduleJob'
  | 'unscheduleJob'
  | 'unscheduleJobs'
  | 'deleteJob'
  | 'deleteJobs'
  | 'triggerJob'
  | 'runNow'
  | 'getJobDetail'
  | 'getTrigger'
  | 'getTriggersOfJob'
  | 'getTriggerState'
  | 'checkExists'
>

/** All nodes that share the data of a scheduler; this one alone where the store has no cluster. */
export interface SchedulerCluster {
  /**
   * Every node, failed ones until others have recovered them; complete once this scheduler was started. Where the store
   * has no cluster, none for a scheduler that has no threads and was never started: it is no node, and does not see the
   * one that fires.
   */
  nodes(): Promise<readonly SchedulerNode[]>
  /** The executions in flight on every node; where the store has no cluster, this scheduler's and remote ones. */
  executingJobs(): Promise<readonly ExecutingJob[]>
  /**
   * Has a node fire triggers, as its own `start()` does.
   *
   * Another node is asked by a message, which one with `listen: false` does not hear. What it reports says that it has
   * done so; the call waits for that for 3 s.
   *
   * @throws SchedulerError ERR_NOT_FOUND for an unknown node, ERR_NOT_SUPPORTED for a node of Java
   */
  start(instanceId: string): Promise<NodeChange>
  /** Has a node fire nothing until it is started; running jobs go on. It is asked as by {@link start}. */
  standby(instanceId: string): Promise<NodeChange>
  /**
   * Standby for a node whose process is to end: the node says that it drains, and its `executing` says how far it is.
   * This call does not wait for that. The node is asked as by {@link start}.
   */
  drain(instanceId: string): Promise<NodeChange>
  /**
   * Recovers the work of a node that has missed check-ins now, before the others do so by themselves, and takes it off
   * the list. Its process must have ended: one that lives runs its jobs beside those that are recovered, until its next
   * check-in tells it.
   *
   * @throws SchedulerError ERR_NOT_FOUND for an unknown node, ERR_NODE_ALIVE for one that checks in, as this one does
   */
  remove(instanceId: string): Promise<void>
  /**
   * Calls the listener soon after other nodes, or other processes on the same file, may have changed jobs, triggers,
   * calendars or pauses, also while this scheduler is not started. What they have changed it does not say. It may be
   * called when nothing has changed. It is not called for what this scheduler does, which has events; nor where the
   * store does not hear others: in memory, with `listen: false`, and for changes that Java nodes make.
   *
   * @returns what ends it
   */
  onChange(listener: () => void): () => void
}

export interface PauseOptions {
  /** Why, in at most 1000 characters. */
  readonly reason?: string
  /** Who, in at most 200 characters. */
  readonly by?: string
  /**
   * When it resumes by itself: an instant after now. A started scheduler resumes it, also when none was running at that
   * instant; within 10 s of it where the scheduler that was asked does not run any more. Then triggers go on that
   * no other pause holds: their own, that of their job, or that of a group. Default: it does not.
   */
  readonly until?: Date
}

export interface ResumeOptions {
  /**
   * Go on with the first fire time after now, whatever the misfire policy says: nothing that was missed is made up for.
   * Default false.
   */
  readonly withoutMissed?: boolean
}

/** The fire times of `skipNextFire`. */
export interface SkippedFireTimes {
  /** The one that was left out. */
  readonly skipped: Date
  /** The next one now; null when the trigger has none left. */
  readonly next: Date | null
}

/** Identity of one execution, as `context.fireInstanceId` gives it. */
export interface FireInstance {
  readonly fireInstanceId: string
}

/**
 * HOW: stores jobs and triggers and, once started, runs them.
 *
 * Every method checks what it is given and throws, or rejects with, an `InvalidArgumentError` that names the argument:
 * ERR_INVALID_ARGUMENT, or ERR_INVALID_OPTION for a field of an options object.
 *
 * A name in the place of a key is that of a job, or of a trigger, in the group `DEFAULT`.
 *
 * Operations on keys that do not exist answer `false`, `null` or an empty list (`NONE` for `getTriggerState`) and call
 * no listener. After `shutdown` every operation on data throws ERR_SCHEDULER_SHUTDOWN.
 */
export interface Scheduler extends JobScheduler, ResultTaker, AsyncDisposable {
  /** Fires triggers; true from `start` until `standby` or `shutdown`. */
  readonly isStarted: boolean
  /** Stands by: before the first `start` and after `standby`. */
  readonly isInStandbyMode: boolean
  /** `shutdown` has ended. */
  readonly isShutdown: boolean
  /** Of this process; awaited. */
  readonly listenerManager: ListenerManager
  /** Nothing waits for observers. */
  readonly events: SchedulerEvents
  /** All nodes that share this scheduler's data. */
  readonly cluster: SchedulerCluster
  /** Where it logs. */
  readonly logger: Logger
  /** About this instance. */
  getMetaData(): SchedulerMetaData

  /**
   * Makes the code of more jobs known, as `jobs` of createScheduler does; all or none, also when the `connect` of a
   * remote job throws. Before the first `start` only, because a node publishes its job types when it starts.
   *
   * @throws SchedulerError ERR_SCHEDULER_STATE after the first start, ERR_SCHEDULER_SHUTDOWN
   * @throws InvalidArgumentError when a type is registered already
   */
  registerJobs(jobs: readonly JobSource[]): void
  /**
   * @throws SchedulerError ERR_SCHEDULER_SHUTDOWN when a shutdown has begun, ERR_DUPLICATE_INSTANCE_ID,
   *   ERR_MIXED_LOCKING, ERR_STORE_IN_USE, ERR_ENTRY_MISSING, ERR_WORKER_UNAVAILABLE when it has a worker job and a
   *   pool that runs none
   */
  start(): Promise<void>
  /**
   * Starts after `delayMs` (0 to 2,147,483,647, which is 24 days), unless started, put in standby or shut down by then;
   * a failure is a `schedulerError`.
   *
   * @throws InvalidArgumentError ERR_INVALID_ARGUMENT; ERR_SCHEDULER_SHUTDOWN
   */
  startDelayed(delayMs: number): void
  /**
   * Stops firing until the next `start`; running jobs go on. Triggers that it has claimed for the next seconds are
   * given back to the other nodes right after.
   *
   * @throws SchedulerError ERR_SCHEDULER_SHUTDOWN
   */
  standby(): Promise<void>
  /**
   * Resolves when this scheduler has nothing to do: it has fired all that is due by its clock and may fire here, each
   * execution has ended, and its end is written. For tests. One that was not started, stands by or has shut down fires
   * nothing, so only its running executions are waited for; a store that is away is waited for as well. A job must not
   * await it: it would wait for itself.
   */
  idle(): Promise<void>
  /**
   * Ends the scheduler for good: fires nothing more, then waits for running jobs if asked to, which may still use the
   * scheduler until then. Calling it again waits for the same end, with the first options, except that a limit of the
   * later call (`timeoutMs`, `interruptAfterMs`) counts where it ends earlier; a job that awaits it must not be waited
   * for.
   *
   * It ends whatever the store, listeners and plugins do: listeners of a step and each plugin have 10 seconds at most,
   * and its steps where those are less. Where it waits without a limit, it waits for jobs and for their ends to be
   * written for as long as that takes. Each other step of the store has 10 seconds once both are done, or 5 seconds
   * more than the store waits for locks where that is longer. Where it does not wait, or when the time to wait is over,
   * each step gets a second at most, or `timeoutMs` where that is less and it does not wait. A store that does not
   * answer in that time is cut off, and what could not be written is left to its recovery. The event
   * `shutdownIncomplete` says what was left, if anything; for a store that was cut off there
   * is also a `schedulerError`, ERR_SHUTDOWN_INCOMPLETE.
   *
   * @throws InvalidArgumentError ERR_INVALID_ARGUMENT or ERR_INVALID_OPTION for wrong options; never for anything else
   */
  shutdown(options?: ShutdownOptions): Promise<void>

  /**
   * Makes a named set of schedules (at most 1,000) what is declared: adds, changes and removes, and touches nothing
   * that is not of this set. Any number of nodes may declare it at once. Beside live nodes that have declared it in a
   * newer form it changes nothing, so that a rolling deploy does not go back and forth.
   *
   * @throws InvalidArgumentError for a schedule without a key, or a key that is there twice; what `schedule` throws;
   *   ERR_JOB_PERSISTENCE while other nodes change the set: call again
   */
  reconcile(
    name: string,
    schedules: readonly ScheduleDefinition[],
    options?: ReconcileOptions,
  ): Promise<Reconciliation>
  /**
   * Stores many jobs with their triggers, all or none. A job without triggers must be durable.
   *
   * @throws as `scheduleJob`, and ERR_JOB_NOT_DURABLE
   */
  scheduleJobs(entries: readonly JobAndTriggers[], options?: AddJobOptions): Promise<void>
  /**
   * Stores calendars, then jobs and triggers, over what has their names and keys, and then deletes: all of it or
   * nothing, where the store has `changeDefinitions`, as those of this package do. A job needs no trigger. A trigger in
   * place of one of its job keeps the pause of that one, and goes on from where it was; where it has another start, it
   * begins there. One that is new and began longer ago than `misfireThresholdMs` goes on with its next time, where it
   * has one. Triggers that name a calendar that is replaced get their next fire times anew.
   *
   * @throws JobPersistenceError ERR_CALENDAR_IN_USE when a trigger names a removed calendar in the end; what
   *   `scheduleJobs` throws
   */
  changeDefinitions(changes: Partial<DefinitionChanges>, options?: ChangeDefinitionsOptions): Promise<void>
  /**
   * Stores a job without a trigger; it must be durable.
   *
   * @throws as `scheduleJob`, and ERR_JOB_NOT_DURABLE
   * @throws SchedulerError ERR_CHANGED_MEANWHILE when another job than `expected` is stored, or none
   */
  addJob(jobDetail: JobDetail, options?: AddJobOptions & ExpectedJobOptions): Promise<void>
  /**
   * Replaces a trigger by another one for the same job, which may have another key where it begins anew.
   *
   * @returns its next fire time, or null when there is no trigger `triggerKey`
   * @throws InvalidArgumentError ERR_INVALID_OPTION for `goesOnFrom` with another key; as `scheduleJob`
   * @throws SchedulerError ERR_CHANGED_MEANWHILE when another trigger than `expected` is stored
   */
  rescheduleJob(
    triggerKey: TriggerKey | string,
    trigger: Trigger,
    options?: RescheduleOptions,
  ): Promise<Date | null>
  /**
   * Deletes a trigger, and its job when that was its last one and the job is not durable.
   *
   * @throws SchedulerError ERR_CHANGED_MEANWHILE when another trigger than `expected` is stored
   */
  unscheduleJob(triggerKey: TriggerKey | string, options?: ExpectedTriggerOptions): Promise<boolean>
  /** True when all existed. */
  unscheduleJobs(triggerKeys: readonly TriggerKey[]): Promise<boolean>
  /**
   * Deletes a job and its triggers.
   *
   * @throws SchedulerError ERR_CHANGED_MEANWHILE when another job than `expected` is stored
   */
  deleteJob(jobKey: JobKey | string, options?: ExpectedJobOptions): Promise<boolean>
  /** True when all existed. */
  deleteJobs(jobKeys: readonly JobKey[]): Promise<boolean>
  /**
   * Runs a job once, now, whatever its triggers say; what is given goes over the job's own data. A key of `JobBuilder`,
   * and one made as `jobKey<Data>(name)`, has the type of the data. Where the group of the job, the trigger group
   * `DEFAULT` or everything is paused, the run waits: `getTriggerState` of the key says PAUSED until that is
   * resumed, or the key alone by `resumeTrigger`.
   *
   * @returns the key of the one-shot trigger made for it
   * @throws JobPersistenceError ERR_JOB_NOT_FOUND
   */
  triggerJob<Data extends object>(
    jobKey: JobKey<Data> | string,
    data?: NoInfer<MoreJobData<Data>>,
    options?: TriggerJobOptions,
  ): Promise<TriggerKey>
  /**
   * Schedules inside of a transaction that you began and will end: `handle` is a client of pg, or a better-sqlite3
   * database that is open on the store's file.
   *
   * @throws SchedulerError ERR_NOT_SUPPORTED when the store keeps its data elsewhere
   * @throws InvalidArgumentError when the handle does not fit; operations throw ERR_NO_TRANSACTION outside of one
   */
  withTransaction(handle: object): SchedulerTransaction
  /** Deletes all jobs, triggers and calendars. */
  clear(): Promise<void>

  /**
   * Pauses a trigger. Here and in the methods below, `options` say who pauses, why and until when; listings show it
   * with what is paused. What is paused already keeps what was said before when there is neither a reason nor an end.
   */
  pauseTrigger(triggerKey: TriggerKey | string, options?: PauseOptions): Promise<boolean>
  /** Pauses matching groups, and triggers stored in them later; answers the groups. */
  pauseTriggers(matcher: GroupMatcher, options?: PauseOptions): Promise<readonly string[]>
  /** Pauses the triggers that a job has now. */
  pauseJob(jobKey: JobKey | string, options?: PauseOptions): Promise<boolean>
  /** The same for the triggers of jobs in matching groups; answers the groups. */
  pauseJobs(matcher: GroupMatcher, options?: PauseOptions): Promise<readonly string[]>
  /** Pauses all triggers, and those stored later. */
  pauseAll(options?: PauseOptions): Promise<void>
  /** Resumes a trigger. Here and in the methods below, what it missed goes through its misfire policy by default. */
  resumeTrigger(triggerKey: TriggerKey | string, options?: ResumeOptions): Promise<boolean>
  /** Those of matching groups, but for triggers whose job's group is paused; answers the groups. */
  resumeTriggers(matcher: GroupMatcher, options?: ResumeOptions): Promise<readonly string[]>
  /** Resumes the triggers of a job. */
  resumeJob(jobKey: JobKey | string, options?: ResumeOptions): Promise<boolean>
  /** The triggers of jobs in matching groups, but for those whose own group is paused; answers the groups. */
  resumeJobs(matcher: GroupMatcher, options?: ResumeOptions): Promise<readonly string[]>
  resumeAll(options?: ResumeOptions): Promise<void>
  /**
   * Leaves out the next fire of a trigger: the one after it becomes the next. A trigger that has none left is complete;
   * one that is paused stays paused, and is complete when it is resumed.
   *
   * @param expected the fire time that is to be left out. Default: whichever is next
   * @returns both fire times; without `expected`, null when there is no such trigger, or it is complete or in ERROR
   * @throws SchedulerError ERR_CHANGED_MEANWHILE when another fire time than `expected`, or none, is next, also because
   *   the trigger is gone; nothing is left out
   */
  skipNextFire(triggerKey: TriggerKey | string, expected?: Date): Promise<SkippedFireTimes | null>
  /**
   * Turns an item of a sharded job off, from its next firing on; what runs goes on. It stays off, also when the job is
   * replaced, until `enableShard`. It may be one that the job has later only. False when there is no such job.
   *
   * @throws SchedulerError ERR_NOT_SUPPORTED when the store does not split firings
   */
  disableShard(jobKey: JobKey | string, item: number): Promise<boolean>
  /** Turns an item on again, from the next firing on. False when there is no such job. */
  enableShard(jobKey: JobKey | string, item: number): Promise<boolean>
  /**
   * The firings of a sharded job that have not ended, with the owner and the state of each item, and the items that are
   * turned off; null when there is no such job.
   *
   * @throws SchedulerError ERR_NOT_SUPPORTED when the store does not split firings
   */
  getShards(jobKey: JobKey | string): Promise<ShardOverview | null>
  /** Their names. */
  getPausedTriggerGroups(): Promise<readonly string[]>
  /** Their names. */
  getPausedJobGroups(): Promise<readonly string[]>
  /** The paused groups of both kinds, each with who paused it, why and until when. */
  getPausedGroups(): Promise<PausedGroups>

  getJobGroupNames(): Promise<readonly string[]>
  /** Of groups that hold a trigger. */
  getTriggerGroupNames(): Promise<readonly string[]>
  /** In matching groups. */
  getJobKeys(matcher: GroupMatcher): Promise<readonly JobKey[]>
  /** In matching groups. */
  getTriggerKeys(matcher: GroupMatcher): Promise<readonly TriggerKey[]>
  /** Jobs without their data, in order of keys, a page at a time. */
  queryJobs(query?: JobQuery): Promise<Page<JobSummary, JobKey>>
  /** The same for triggers. */
  queryTriggers(query?: TriggerQuery): Promise<Page<TriggerSummary, TriggerKey>>
  /** Triggers that are to fire, in the order in which they fire, a page at a time. */
  queryNextTriggers(query?: NextTriggerQuery): Promise<Page<TriggerSummary, FirePlace>>
  /** Those of at most 1000 jobs that exist and can be read, in no order. */
  getJobDetails(jobKeys: readonly JobKey[]): Promise<readonly JobDetail[]>
  /** Those of at most 1000 triggers that exist and can be read, in no order. */
  getTriggers(triggerKeys: readonly TriggerKey[]): Promise<readonly Trigger[]>
  /** By state. */
  getTriggerCounts(): Promise<TriggerCounts>
  /** The groups that hold something, by name, with how much it is. */
  getGroupCounts(of: 'jobs' | 'triggers'): Promise<readonly GroupCount[]>
  /** All triggers of a job. */
  getTriggersOfJob(jobKey: JobKey | string): Promise<readonly Trigger[]>
  /**
   * The planned instant of the trigger that is due for the longest time and has not fired, whatever node is to fire it;
   * null when none is due. A trigger that is paused, or whose job runs and forbids a second run, does not count.
   */
  getEarliestDueTime(): Promise<Date | null>
  /** `NONE` when there is no such trigger. */
  getTriggerState(triggerKey: TriggerKey | string): Promise<TriggerState>
  /** Lets a trigger in the ERROR state fire again, at its next time if it has one; false in any other state. */
  resetTriggerFromErrorState(triggerKey: TriggerKey | string): Promise<boolean>

  /**
   * @throws ObjectAlreadyExistsError without `replace`, when the name is taken
   * @throws InvalidArgumentError ERR_INVALID_CALENDAR when a database cannot keep it, as one of your own class
   */
  addCalendar(name: string, calendar: Calendar, options?: AddCalendarOptions): Promise<void>
  /** @throws JobPersistenceError ERR_CALENDAR_IN_USE while a trigger names it */
  deleteCalendar(name: string): Promise<boolean>
  /** Null when there is none. */
  getCalendar(name: string): Promise<Calendar | null>
  /** Of all that are stored. */
  getCalendarNames(): Promise<readonly string[]>

  /**
   * Executions that ended, on any node, as far as the store remembers them (its option `history`); those that fired
   * (`fireTimeMs`) last first, a page at a time.
   */
  queryExecutions(query?: ExecutionQuery): Promise<Page<ExecutionSummary, ExecutionCursor>>
  /** An execution of the history with its data, result, progress and attempts; null when it is not in it. */
  getExecution(fireInstanceId: string): Promise<ExecutionDetails | null>
  /**
   * What an execution logged with `context.log`, running or ended, in order, a page at a time. Written about once a
   * second; empty for a store that does not keep it.
   */
  queryExecutionLog(
    fireInstanceId: string,
    query?: ExecutionLogQuery,
  ): Promise<Page<ExecutionLogLine, number>>
  /**
   * Planned instants that did not become runs, and why, those that were noticed last first, a page at a time. Written
   * about once a second; empty for a store that does not keep them.
   */
  queryMisfires(query?: MisfireQuery): Promise<Page<Misfire, MisfireCursor>>
  /**
   * How much was missed, in numbers; of the newest 100,000 rows at most. Nothing for a store that does not keep them.
   */
  getMisfireCounts(query?: MisfireCountQuery): Promise<MisfireCounts>
  /**
   * How jobs are doing, whether or not their executions are in the history; in order of keys, a page at a time. Written
   * about once a second; empty for a store that does not keep it.
   */
  queryJobStatus(query?: JobStatusQuery): Promise<Page<JobStatus, JobKey>>
  /**
   * How one job is doing, with the counts of all days that are kept; null for a job of which nothing is known. A job
   * that was deleted keeps its status until it is too old.
   */
  getJobStatus(jobKey: JobKey | string): Promise<JobStatus | null>
  /**
   * Notes who did what, for `queryAudit`: a server does it for each request that changes something, a host does it for
   * its own. Returns at once, and is written about once a second and at the shutdown. What was refused or failed is
   * counted: one entry an hour for each kind, see {@link AuditEntry}.
   *
   * @throws InvalidArgumentError for what is no note
   */
  recordAudit(note: AuditNote): void
  /**
   * Who did what, on any node, as far as the store remembers it (its option `audit`); the newest first, a page at a
   * time. Empty for a store that does not keep it.
   */
  queryAudit(query?: AuditQuery): Promise<Page<AuditEntry, AuditCursor>>
  /**
   * The executions whose job runs on this instance now: from when listeners were told that it is to run until they were
   * told that it has. So a listener that is asked for a veto finds the others of the job, and not the one it is asked
   * about.
   */
  getCurrentlyExecutingJobs(): readonly JobExecutionContext[]
  /**
   * Asks executions of a job, or one execution, to stop, on whatever node they run; false when none of them runs. A
   * node that does not listen to others (`listen: false`) is not reached. Where the store fails, what runs in this
   * process is asked all the same: true then, with a `schedulerError`.
   */
  interrupt(target: JobKey | FireInstance): Promise<boolean>
}
