import type { IdGenerator } from '../core/ids.ts'
import type { JobDataMap } from '../core/job-data-map.ts'
import type { JobKey, TriggerKey } from '../core/key.ts'
import type { Logger } from '../core/logger.ts'
import type { GroupMatcher } from '../core/matcher.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { JobStoreNotes } from '../jobs/job-store-notes.ts'
import type {
  ExpectedJobOptions,
  ExpectedTriggerOptions,
  RescheduleOptions,
} from '../jobs/schedule-options.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import type { TriggerFamilies } from '../triggers/families/trigger-families.ts'
import { compareFireOrder, type Trigger } from '../triggers/trigger.ts'
import type { JobStoreAwaitedResults } from './awaited-results.ts'
import type { JobStoreChanges } from './change-watch.ts'
import type { JobStoreCluster, NodeReport } from './cluster-view.ts'
import type { DefinitionChanges, RemovedDefinitions } from './definition-changes.ts'
import type { ExecutionReport } from './execution-report.ts'
import type { FiringOnSchedule } from './fire-slot.ts'
import type { TriggerFiredBundle } from './fired-bundle.ts'
import type { JobAndTriggers } from './job-and-triggers.ts'
import type { JobStoreCapabilities } from './job-store-capabilities.ts'
import type { JobStoreRecords } from './job-store-records.ts'
import type { JobStoreShards } from './job-store-shards.ts'
import type { EndedPauses, PausedGroups, PauseNote, ResumeManner, SkippedFire } from './pauses.ts'
import type { PlannedJob, PutPlan, SetGeneration } from './planned-job.ts'
import type {
  ExecutionCursor,
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
  UnknownJobType,
} from './queries.ts'
import type { SchedulerSignaler } from './scheduler-signaler.ts'
import type { StoreLimits } from './store-limits.ts'
import type { StoreProbe } from './store-probe.ts'
import type { StoreShutdownOptions } from './store-shutdown-options.ts'
import type { TriggerState } from './trigger-state.ts'

/** What the scheduler gives a store at `initialize`. */
export interface JobStoreContext {
  readonly schedulerName: string
  readonly instanceId: string
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly logger: Logger
  readonly signaler: SchedulerSignaler
  /** A trigger later than this goes through its misfire policy. Milliseconds, at least 1. */
  readonly misfireThresholdMs: number
  /** Whether this node has the code of a job type; triggers of other types are left to other nodes. */
  readonly knowsJobType: (jobType: string) => boolean
  /**
   * How many items a firing has whose job is sharded by `items: 'remote'`: 1 to 1000, for the data of job and trigger.
   * Only reads, and never throws.
   */
  readonly remoteItems: (jobType: string, data: JobDataMap) => number
  /** How triggers are written down and read back. The scheduler hands over triggers of these families only. */
  readonly triggerFamilies: TriggerFamilies
  /** The job types that this node runs, for the list of the cluster's nodes. */
  readonly jobTypes: () => readonly string[]
  /** What else it tells the others about itself. */
  readonly nodeReport: () => NodeReport
  /** Told how long statements take; absent where nothing is measured. */
  readonly probe?: StoreProbe
}

export interface AcquireRequest {
  /** The first trigger of the batch is due at or before this instant. */
  readonly noLaterThanMs: EpochMs
  /** Most triggers to return, at least 1. */
  readonly maxCount: number
  /**
   * How much later than the first trigger of the batch (or than now, if that is later) the others may be due, also
   * past `noLaterThanMs`. Milliseconds, 0 or more.
   */
  readonly timeWindowMs: number
  /**
   * The store calls it between batches of misfired triggers. False: the store answers with what it has found, which may
   * be nothing although triggers are due. Default: true.
   */
  readonly isStillWanted?: () => boolean
}

/** What may be claimed or fired by one call. */
export interface AcquireAndFireRequest extends AcquireRequest {
  /** What the store may fire beyond `maxCount`; it need not. Default: nothing. */
  readonly beside?: FiringsBeside
}

/** Firings that need no thread, so that they may be fired beside those that a thread is free for. */
export interface FiringsBeside {
  /** Most such firings, at least 1. */
  readonly maxCount: number
  /** How many firings of this job type need no thread: the same number for as long as the call lasts. */
  readonly roomOf: (jobType: string) => number
}

/** A claim on one firing. */
export interface AcquiredTrigger {
  readonly trigger: Trigger
  readonly fireInstanceId: string
  /** The firing will be split into items, and is no execution itself. */
  readonly isSplit?: true
  /**
   * Its job allowed concurrent execution when the claim was made. A store need not lock the job before it looks up the
   * trigger, and so may read both with the claim.
   */
  readonly isConcurrent?: true
}

/** Claims in the order in which they fire: late triggers that ignore it may have been found behind others. */
export function inFireOrder(claims: AcquiredTrigger[]): AcquiredTrigger[] {
  return claims.sort((a, b) => compareFireOrder(a.trigger, b.trigger))
}

/** The batch of `acquireAndFire`: firings, and claims on triggers that are not due yet. */
export interface AcquiredAndFired {
  readonly fired: readonly TriggerFiredBundle[]
  readonly acquired: readonly AcquiredTrigger[]
  /**
   * When the loop should ask again without a signal, by the clock of the context. Now or earlier: due triggers were
   * left because another transaction had locked them. Later: other nodes will have fired what they have claimed by
   * then, a trigger will be due that is claimed only when it is due, or one that is left to other nodes need not be
   * any longer. Absent when there is no such reason, or due triggers were taken.
   */
  readonly lookAgainAtMs?: EpochMs
}

export type TriggerFiredResult =
  /** For a claim that was split, the firing of one of its items, under a fire instance id of its own. */
  | { readonly kind: 'fired'; readonly bundle: TriggerFiredBundle }
  /**
   * Paused, deleted, rescheduled or blocked since it was acquired; or left to other nodes, because this one does not
   * know the type that its job has by now; or put in error because its next fire time cannot be computed (its calendar
   * is missing, say): nothing to run and nothing to release. Or it was split into items, which triggers run that the
   * loop finds as any others.
   */
  | { readonly kind: 'gone' }
  /** This trigger could not be fired; the others of the batch are not affected. The claim is still held. */
  | { readonly kind: 'failed'; readonly error: Error }
  /** Another session holds a lock on what it takes, so it was passed over. The claim is still held: try again soon. */
  | { readonly kind: 'locked' }

export const completedExecutionInstructions = [
  'noop',
  'reExecuteJob',
  'setTriggerComplete',
  'deleteTrigger',
  'setAllJobTriggersComplete',
  'setTriggerError',
  'setAllJobTriggersError',
] as const
export type CompletedExecutionInstruction = (typeof completedExecutionInstructions)[number]

/** The end of one execution. */
export interface JobCompletion {
  readonly fireInstanceId: string
  readonly trigger: Trigger
  readonly jobDetail: JobDetail
  readonly instruction: CompletedExecutionInstruction
  /** What the run left in the data of `jobDetail`, to be stored as `dataAfterRun` says; null to change nothing. */
  readonly jobDataMap: JobDataMap | null
  /** A trigger that runs the job again after a failure, stored together with the completion. */
  readonly retryTrigger: Trigger | null
  /** The firing went on elsewhere: any node may complete it, and what was written down of it is deleted. */
  readonly isAwaited?: true
  /** The deadline ended it: its reference is kept for `takeLate`, because its result may still come. */
  readonly mayBeLate?: true
  /** Absent for an execution that never began. */
  readonly report?: ExecutionReport
}

/** How `addJob` treats the job of the same key. */
export interface AddJobRequest extends ExpectedJobOptions {
  readonly replace: boolean
}

/** What became of completions: those in neither list have ended their executions. */
export interface CompletionAnswer {
  /**
   * They were not written because another session has locked their rows, or because the store has failed to write them
   * after it had written others of the same call: the caller tries them again soon.
   */
  readonly locked: readonly JobCompletion[]
  /** They counted for nothing: their firings are not this scheduler's any more, or had ended before. */
  readonly passedOver: readonly JobCompletion[]
}

/**
 * The part of a store that can work inside of a transaction of the user's own. The store does not call the signaler for
 * it, because the transaction may roll back. When the transaction has ended, the store wakes the loop for triggers that
 * may fire.
 */
export type JobStoreTransaction = Pick<
  JobStore,
  | 'scheduleJobs'
  | 'addJob'
  | 'rescheduleTrigger'
  | 'putPlanned'
  | 'deleteJobs'
  | 'deleteTriggers'
  | 'getJob'
  | 'getTrigger'
  | 'getTriggersOfJob'
  | 'getTriggerState'
  | 'getCalendar'
>

/**
 * WHERE: keeps jobs, triggers and calendars, and says what fires next.
 *
 * Every method is asynchronous and takes and returns immutable values. Operations on unknown keys answer `false`,
 * `null` or an empty list. Each method is atomic: it happens whole or not at all. Lists are in no order unless one is
 * named. A method that the loop calls waits for no lock that another session may hold for long: it passes over locked
 * rows, and its answer says so. The conformance suite in `quartz-ts/testing` is the definition of what a store is.
 *
 * A job that forbids concurrent execution blocks its triggers exactly while an execution of its key is in flight,
 * whatever happened to the job or the triggers since it began. After an operation that may let a trigger fire earlier
 * than was known, the store calls the signaler's `schedulingChanged`, except for operations of the scheduler's own
 * loop.
 */
export interface JobStore extends FiringOnSchedule, StoreLimits {
  readonly name: string
  readonly capabilities: JobStoreCapabilities
  /** Null for a store that only one scheduler can use. */
  readonly cluster: JobStoreCluster | null
  /** Null for a store that remembers no more than the history. */
  readonly records: JobStoreRecords | null
  /** How many jobs of a group may be claimed or executing at once, by group; empty where no group has a limit. */
  readonly jobGroupLimits: ReadonlyMap<string, number>
  /** Small texts that nodes share; null for a store that keeps none. */
  readonly notes: JobStoreNotes | null
  /** Null for a store that does not split firings. */
  readonly shards: JobStoreShards | null
  /** Null for a store whose firings all end in the process that runs them. */
  readonly awaitedResults: JobStoreAwaitedResults | null
  /** Null for a store whose data no other process changes, or that is not told of it. */
  readonly changes: JobStoreChanges | null

  /**
   * Called before anything else, and again only after a `shutdown`.
   *
   * @throws JobPersistenceError ERR_STORE_IN_USE while another scheduler has this store
   */
  initialize(context: JobStoreContext): Promise<void>
  /** First start of the scheduler: recovery happens here. */
  schedulerStarted(): Promise<void>
  /** Frees all resources; harmless when called twice or before `initialize`. */
  shutdown(options?: StoreShutdownOptions): Promise<void>
  /** Milliseconds to wait after `failures` failed acquisitions in a row. */
  acquireRetryDelayMs(failures: number): number

  /**
   * Stores jobs and triggers, all or none. Triggers have their first fire time already; one that their calendar
   * excludes by now becomes the next one that it includes.
   *
   * @throws ObjectAlreadyExistsError without `replace`, when a job or trigger exists
   * @throws JobPersistenceError ERR_JOB_NOT_FOUND when a trigger names a job that is not there, ERR_CALENDAR_NOT_FOUND
   *   when it names a calendar that is not there
   * @throws SchedulerError ERR_TRIGGER_NEVER_FIRES when its calendar leaves a trigger no fire time
   */
  scheduleJobs(entries: readonly JobAndTriggers[], options: { readonly replace: boolean }): Promise<void>
  /**
   * Stores a job without a trigger.
   *
   * @throws ObjectAlreadyExistsError without `replace`, when it exists
   * @throws SchedulerError ERR_CHANGED_MEANWHILE when another job than `expected` is stored, or none
   */
  addJob(job: JobDetail, options: AddJobRequest): Promise<void>
  /**
   * Replaces a trigger by another one of the same job, which starts anew; false when there is no such trigger. With
   * `goesOnFrom` the new one, of the same key, takes its place as `inPlaceOf` says, in one step, and keeps its pause.
   *
   * @throws ObjectAlreadyExistsError when the new key is that of a third trigger
   * @throws JobPersistenceError ERR_JOB_KEY_MISMATCH when the new trigger names another job, ERR_CALENDAR_NOT_FOUND
   *   when it names a calendar that is not there
   * @throws SchedulerError ERR_TRIGGER_NEVER_FIRES when nothing is left of it where it goes on or under its calendar,
   *   ERR_CHANGED_MEANWHILE when another trigger than `expected` is stored
   */
  rescheduleTrigger(key: TriggerKey, trigger: Trigger, options?: RescheduleOptions): Promise<boolean>
  /**
   * Stores a declared job and its trigger over what has their keys, as `planChange` decides: in one step, so that
   * no firing and no completion comes between. A trigger that replaces another one keeps its pause, and what is known
   * of it. No later generation of the set comes into force meanwhile: its note is read behind a lock that writing it
   * takes as well.
   *
   * @throws ObjectAlreadyExistsError when a trigger of another job has the key
   * @throws JobPersistenceError ERR_OBJECT_ALREADY_EXISTS when the job belongs to another set of schedules
   */
  putPlanned(planned: PlannedJob): Promise<PutPlan>
  /**
   * Deletes jobs whose `plan` names this set with this generation or an earlier one, with their triggers: in one step,
   * so that no declaration comes between. Answers those: none when by the note of the set a later generation is in
   * force. A job that cannot be read stays.
   */
  deletePlanned(keys: readonly JobKey[], upTo: SetGeneration): Promise<readonly JobKey[]>
  /**
   * Deletes jobs with their triggers; answers those that existed.
   *
   * @throws SchedulerError ERR_CHANGED_MEANWHILE when `expected`, one of them, is stored in another way
   */
  deleteJobs(keys: readonly JobKey[], options?: ExpectedJobOptions): Promise<readonly JobKey[]>
  /**
   * Deletes triggers, and jobs that lose their last trigger and are not durable; answers those that existed.
   *
   * @throws SchedulerError ERR_CHANGED_MEANWHILE when `expected`, one of them, is stored with another definition
   */
  deleteTriggers(
    keys: readonly TriggerKey[],
    options?: ExpectedTriggerOptions,
  ): Promise<readonly TriggerKey[]>
  /** Deletes all jobs, triggers, calendars and remembered pauses. Executions in flight go on. */
  clear(): Promise<void>

  getJob(key: JobKey): Promise<JobDetail | null>
  /** Those that exist and can be read. */
  getJobs(keys: readonly JobKey[]): Promise<readonly JobDetail[]>
  /** As `asSeen` makes it, like all triggers and summaries that callers get. */
  getTrigger(key: TriggerKey): Promise<Trigger | null>
  getTriggersOfJob(key: JobKey): Promise<readonly Trigger[]>
  /** In order of keys, one page at a time. */
  queryJobs(query: JobQuery): Promise<Page<JobSummary, JobKey>>
  queryTriggers(query: TriggerQuery): Promise<Page<TriggerSummary, TriggerKey>>
  /** Triggers that are to fire, in order of fire time, priority (higher first) and key. */
  queryNextTriggers(query: NextTriggerQuery): Promise<Page<TriggerSummary, FirePlace>>
  /** Those that exist and can be read. */
  getTriggers(keys: readonly TriggerKey[]): Promise<readonly Trigger[]>
  getJobKeys(matcher: GroupMatcher): Promise<readonly JobKey[]>
  getTriggerKeys(matcher: GroupMatcher): Promise<readonly TriggerKey[]>
  getJobGroupNames(): Promise<readonly string[]>
  getTriggerGroupNames(): Promise<readonly string[]>
  getTriggerCounts(): Promise<TriggerCounts>
  getGroupCounts(of: 'jobs' | 'triggers'): Promise<readonly GroupCount[]>

  getTriggerState(key: TriggerKey): Promise<TriggerState>
  /**
   * ERROR becomes WAITING, or PAUSED or BLOCKED as the trigger's groups and job say, or COMPLETE when it has no fire
   * time left; false in any other state.
   */
  resetTriggerFromErrorState(key: TriggerKey): Promise<boolean>

  /**
   * False when there is no such trigger. Here and in the methods below, what the note says is kept with the pause, in
   * the same transaction. Without a reason and an end, what is paused already keeps what is known of it.
   */
  pauseTrigger(key: TriggerKey, note?: PauseNote): Promise<boolean>
  /**
   * Pauses the triggers of all matching groups and remembers those groups, so that triggers stored later in them
   * start paused; answers the groups. The group that an `equals` matcher names is remembered also when it is empty.
   */
  pauseTriggers(matcher: GroupMatcher, note?: PauseNote): Promise<readonly string[]>
  /** Pauses every trigger that the job has now; false when there is no such job. */
  pauseJob(key: JobKey, note?: PauseNote): Promise<boolean>
  /** The same for job groups: triggers stored later for jobs of these groups start paused. */
  pauseJobs(matcher: GroupMatcher, note?: PauseNote): Promise<readonly string[]>
  /** Pauses and remembers every trigger group, and each new one until all groups are resumed. */
  pauseAll(note?: PauseNote): Promise<void>
  /**
   * Resumes one trigger, also when one of its groups is paused; the groups stay remembered. Here and in the methods
   * below, resumed triggers that are late go through their misfire policy, unless the manner says otherwise; and what
   * is known of their own pauses is forgotten.
   */
  resumeTrigger(key: TriggerKey, manner?: ResumeManner): Promise<boolean>
  /**
   * Forgets the matching groups, existing or remembered, and answers them. Their triggers go on unless their job
   * group is remembered.
   */
  resumeTriggers(matcher: GroupMatcher, manner?: ResumeManner): Promise<readonly string[]>
  /** Resumes every trigger of the job, also when one of their groups is paused; the groups stay remembered. */
  resumeJob(key: JobKey, manner?: ResumeManner): Promise<boolean>
  /** The same for job groups: triggers go on unless their own group is remembered. */
  resumeJobs(matcher: GroupMatcher, manner?: ResumeManner): Promise<readonly string[]>
  /** Forgets every group of both kinds and resumes every trigger. */
  resumeAll(manner?: ResumeManner): Promise<void>
  /**
   * Ends pauses whose time is over, the first ones first, a bounded number; each is ended by one node only. A trigger
   * goes on when no other pause holds it: its own, that of its job, or that of one of its groups. Late triggers go
   * through their misfire policy.
   */
  endPauses(): Promise<EndedPauses>
  /**
   * Moves a trigger on to the fire time after its next one; a claim on it ends. One that has none left is complete, or
   * stays paused. Null when no trigger, or one that has none, is complete or in error, and no fire time is expected.
   *
   * @param expectedMs the fire time that is to be left out, null for whichever is next
   * @throws SchedulerError ERR_CHANGED_MEANWHILE when another one or none is next; nothing is changed
   */
  skipNextFire(key: TriggerKey, expectedMs: EpochMs | null): Promise<SkippedFire | null>
  /** Remembered groups, those of `pauseAll` included, with what is known of their pauses. */
  getPausedGroups(): Promise<PausedGroups>

  /**
   * With `updateTriggers` the triggers that name the calendar get their fire times anew: claims on them end, pauses and
   * errors stay, and a trigger that had no fire time left under the old calendar goes on.
   *
   * @throws ObjectAlreadyExistsError without `replace`, when the name is taken
   */
  addCalendar(
    name: string,
    calendar: Calendar,
    options: { readonly replace: boolean; readonly updateTriggers: boolean },
  ): Promise<void>
  /**
   * False when there is no such calendar.
   *
   * @throws JobPersistenceError ERR_CALENDAR_IN_USE while a trigger names it
   */
  deleteCalendar(name: string): Promise<boolean>
  /**
   * Makes many changes in one step, as if one call came after the other; optional. Without it the scheduler makes the
   * calls one after the other, and an error ends them half way.
   *
   * @throws JobPersistenceError ERR_JOB_NOT_FOUND when a trigger names a job that is not there, ERR_CALENDAR_NOT_FOUND
   *   when it names a calendar that is not there, ERR_CALENDAR_IN_USE when a trigger then names a removed calendar
   * @throws SchedulerError ERR_TRIGGER_NEVER_FIRES when nothing is left of a trigger under its calendar
   */
  changeDefinitions?(changes: DefinitionChanges): Promise<RemovedDefinitions>
  getCalendar(name: string): Promise<Calendar | null>
  getCalendarNames(): Promise<readonly string[]>

  /**
   * Claims triggers that are due, in order of fire time, priority (higher first) and key. Late triggers go through
   * their misfire policy first. A batch holds at most one trigger of a job that forbids concurrent execution.
   */
  acquireNextTriggers(request: AcquireRequest): Promise<readonly AcquiredTrigger[]>
  /**
   * Acquires triggers and fires those that are due by now, in one step with one commit. For stores where a step is
   * expensive; optional. Triggers that are not due yet are claimed; due ones may be claimed only, too.
   */
  acquireAndFire?(request: AcquireAndFireRequest): Promise<AcquiredAndFired>
  /**
   * Releases claims unfired. Claims that this scheduler does not hold any more are passed over. Answers claims that are
   * still held because another session has locked their rows: the caller tries again soon.
   */
  releaseAcquiredTriggers(acquired: readonly AcquiredTrigger[]): Promise<readonly AcquiredTrigger[]>
  /**
   * Releases every claim that this scheduler holds: for when the answer to an acquisition was lost, so that the loop
   * does not know its claims. The store itself releases later the claims whose rows another session has locked.
   */
  releaseAllAcquiredTriggers(): Promise<void>
  /** Marks claims as fired; the answer has one result per claim, in the same order. */
  triggersFired(acquired: readonly AcquiredTrigger[]): Promise<readonly TriggerFiredResult[]>
  /**
   * Ends executions. A completion whose firing is not this scheduler's any more is passed over; an instruction about a
   * trigger that is gone by now, or belongs to another job, does nothing. Of several completions of one firing, also
   * on different nodes, one ends it, and the others are passed over: of a firing that goes on elsewhere, the scheduler
   * whose completion has ended it calls the listeners. It tries locked ones again soon, and lets no other wait for
   * them.
   */
  triggeredJobsComplete(completions: readonly JobCompletion[]): Promise<CompletionAnswer>

  /**
   * Job types that this node has no code for and whose waiting triggers are due by now, as far as they are among the
   * first 10,000 that are due; at most 100 types.
   */
  queryUnknownJobTypes(): Promise<readonly UnknownJobType[]>
  /**
   * The planned instant of the trigger that is due for the longest time and may fire; null when none is due. Triggers
   * that are claimed, paused, or blocked by an execution of their job do not count.
   */
  earliestDueMs(): Promise<EpochMs | null>
  /** Executions that ended, those that began last first; empty for a store that keeps no history. */
  queryExecutions(query: ExecutionQuery): Promise<Page<ExecutionSummary, ExecutionCursor>>

  /**
   * Works inside of the transaction that a database handle is in; which handles fit is up to the store. Each operation
   * happens whole or not at all, and leaves the transaction usable when it fails, as far as the database allows.
   *
   * @throws SchedulerError ERR_NOT_SUPPORTED from a store without `sharedTransactions`
   * @throws InvalidArgumentError when the handle is none
   */
  joinTransaction(handle: object): JobStoreTransaction
}
