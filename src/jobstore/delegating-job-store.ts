import type { JobKey, TriggerKey } from '../core/key.ts'
import type { GroupMatcher } from '../core/matcher.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { JobStoreNotes } from '../jobs/job-store-notes.ts'
import type {
  ExpectedJobOptions,
  ExpectedTriggerOptions,
  RescheduleOptions,
} from '../jobs/schedule-options.ts'
import type { EpochMs } from '../time/clock.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { JobStoreAwaitedResults } from './awaited-results.ts'
import type { JobStoreChanges } from './change-watch.ts'
import type { JobStoreCluster } from './cluster-view.ts'
import type { DefinitionChanges, RemovedDefinitions } from './definition-changes.ts'
import type { FireSlot, FiringOnSchedule } from './fire-slot.ts'
import type { TriggerFiredBundle } from './fired-bundle.ts'
import type { JobAndTriggers } from './job-and-triggers.ts'
import type {
  AcquiredAndFired,
  AcquiredTrigger,
  AcquireRequest,
  AddJobRequest,
  CompletionAnswer,
  JobCompletion,
  JobStore,
  JobStoreContext,
  JobStoreTransaction,
  TriggerFiredResult,
} from './job-store.ts'
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
import { changeDefinitions } from './step-by-step.ts'
import type { StoreShutdownOptions } from './store-shutdown-options.ts'
import type { TriggerState } from './trigger-state.ts'

/** The operations of a store: every method that returns a promise. */
export type JobStoreOperation = {
  [Name in keyof JobStore]-?: NonNullable<JobStore[Name]> extends (...args: never[]) => Promise<unknown>
    ? Name
    : never
}[keyof JobStore]

const noBatch: AcquiredAndFired = { fired: [], acquired: [] }

/**
 * A store that passes every operation on to another one: the base of stores that log, measure or fail on purpose.
 * Override `around` to do something at every operation, or a method to change one.
 */
export class DelegatingJobStore
  implements JobStore, Required<Omit<JobStore, 'acquireAndFire' | 'scheduleAndFire' | 'changeDefinitions'>>
{
  protected readonly inner: JobStore

  /** Present only when the inner store has it. */
  acquireAndFire?(request: AcquireRequest): Promise<AcquiredAndFired>
  /** Present only when the inner store has it. */
  scheduleAndFire?(entry: JobAndTriggers, slot: FireSlot): Promise<TriggerFiredBundle | null>

  /** Present only when the inner store has it. */
  changeDefinitions?(changes: DefinitionChanges): Promise<RemovedDefinitions>

  constructor(inner: JobStore) {
    this.inner = inner
    if (inner.changeDefinitions !== undefined && !('changeDefinitions' in this)) {
      this.changeDefinitions = (changes) =>
        this.around('changeDefinitions', () => changeDefinitions(inner, changes))
    }
    if (inner.acquireAndFire !== undefined && !('acquireAndFire' in this)) {
      this.acquireAndFire = (request) =>
        this.around('acquireAndFire', async () => inner.acquireAndFire?.(request) ?? noBatch)
    }
    if (inner.scheduleAndFire !== undefined && !('scheduleAndFire' in this)) {
      const store = inner as Required<FiringOnSchedule>
      this.scheduleAndFire = (entry, slot) =>
        this.around('scheduleAndFire', () => store.scheduleAndFire(entry, slot))
    }
  }

  get name(): string {
    return this.inner.name
  }
  get capabilities(): JobStoreCapabilities {
    return this.inner.capabilities
  }
  get cluster(): JobStoreCluster | null {
    return this.inner.cluster
  }
  get records(): JobStoreRecords | null {
    return this.inner.records
  }
  get jobGroupLimits(): ReadonlyMap<string, number> {
    return this.inner.jobGroupLimits
  }
  get notes(): JobStoreNotes | null {
    return this.inner.notes
  }
  get shards(): JobStoreShards | null {
    return this.inner.shards
  }
  get awaitedResults(): JobStoreAwaitedResults | null {
    return this.inner.awaitedResults
  }
  get changes(): JobStoreChanges | null {
    return this.inner.changes
  }

  /** Every operation goes through here; `proceed` carries it out on the inner store. */
  protected around<Answer>(_operation: JobStoreOperation, proceed: () => Promise<Answer>): Promise<Answer> {
    return proceed()
  }

  initialize(context: JobStoreContext): Promise<void> {
    return this.around('initialize', () => this.inner.initialize(context))
  }
  schedulerStarted(): Promise<void> {
    return this.around('schedulerStarted', () => this.inner.schedulerStarted())
  }
  shutdown(options?: StoreShutdownOptions): Promise<void> {
    return this.around('shutdown', () => this.inner.shutdown(options))
  }
  acquireRetryDelayMs(failures: number): number {
    return this.inner.acquireRetryDelayMs(failures)
  }

  /** Refuses nothing where the inner store keeps everything. */
  requireStorable(entry: JobAndTriggers): void {
    this.inner.requireStorable?.(entry)
  }
  scheduleJobs(entries: readonly JobAndTriggers[], options: { readonly replace: boolean }): Promise<void> {
    return this.around('scheduleJobs', () => this.inner.scheduleJobs(entries, options))
  }
  addJob(job: JobDetail, options: AddJobRequest): Promise<void> {
    return this.around('addJob', () => this.inner.addJob(job, options))
  }
  rescheduleTrigger(key: TriggerKey, trigger: Trigger, options?: RescheduleOptions): Promise<boolean> {
    return this.around('rescheduleTrigger', () => this.inner.rescheduleTrigger(key, trigger, options))
  }
  putPlanned(planned: PlannedJob): Promise<PutPlan> {
    return this.around('putPlanned', () => this.inner.putPlanned(planned))
  }
  deletePlanned(keys: readonly JobKey[], upTo: SetGeneration): Promise<readonly JobKey[]> {
    return this.around('deletePlanned', () => this.inner.deletePlanned(keys, upTo))
  }
  deleteJobs(keys: readonly JobKey[], options?: ExpectedJobOptions): Promise<readonly JobKey[]> {
    return this.around('deleteJobs', () => this.inner.deleteJobs(keys, options))
  }
  deleteTriggers(
    keys: readonly TriggerKey[],
    options?: ExpectedTriggerOptions,
  ): Promise<readonly TriggerKey[]> {
    return this.around('deleteTriggers', () => this.inner.deleteTriggers(keys, options))
  }
  clear(): Promise<void> {
    return this.around('clear', () => this.inner.clear())
  }

  getJob(key: JobKey): Promise<JobDetail | null> {
    return this.around('getJob', () => this.inner.getJob(key))
  }
  getJobs(keys: readonly JobKey[]): Promise<readonly JobDetail[]> {
    return this.around('getJobs', () => this.inner.getJobs(keys))
  }
  getTrigger(key: TriggerKey): Promise<Trigger | null> {
    return this.around('getTrigger', () => this.inner.getTrigger(key))
  }
  getTriggersOfJob(key: JobKey): Promise<readonly Trigger[]> {
    return this.around('getTriggersOfJob', () => this.inner.getTriggersOfJob(key))
  }
  queryJobs(query: JobQuery): Promise<Page<JobSummary, JobKey>> {
    return this.around('queryJobs', () => this.inner.queryJobs(query))
  }
  queryTriggers(query: TriggerQuery): Promise<Page<TriggerSummary, TriggerKey>> {
    return this.around('queryTriggers', () => this.inner.queryTriggers(query))
  }
  queryNextTriggers(query: NextTriggerQuery): Promise<Page<TriggerSummary, FirePlace>> {
    return this.around('queryNextTriggers', () => this.inner.queryNextTriggers(query))
  }
  getTriggers(keys: readonly TriggerKey[]): Promise<readonly Trigger[]> {
    return this.around('getTriggers', () => this.inner.getTriggers(keys))
  }
  getJobKeys(matcher: GroupMatcher): Promise<readonly JobKey[]> {
    return this.around('getJobKeys', () => this.inner.getJobKeys(matcher))
  }
  getTriggerKeys(matcher: GroupMatcher): Promise<readonly TriggerKey[]> {
    return this.around('getTriggerKeys', () => this.inner.getTriggerKeys(matcher))
  }
  getJobGroupNames(): Promise<readonly string[]> {
    return this.around('getJobGroupNames', () => this.inner.getJobGroupNames())
  }
  getTriggerGroupNames(): Promise<readonly string[]> {
    return this.around('getTriggerGroupNames', () => this.inner.getTriggerGroupNames())
  }
  getTriggerCounts(): Promise<TriggerCounts> {
    return this.around('getTriggerCounts', () => this.inner.getTriggerCounts())
  }
  getGroupCounts(of: 'jobs' | 'triggers'): Promise<readonly GroupCount[]> {
    return this.around('getGroupCounts', () => this.inner.getGroupCounts(of))
  }

  getTriggerState(key: TriggerKey): Promise<TriggerState> {
    return this.around('getTriggerState', () => this.inner.getTriggerState(key))
  }
  resetTriggerFromErrorState(key: TriggerKey): Promise<boolean> {
    return this.around('resetTriggerFromErrorState', () => this.inner.resetTriggerFromErrorState(key))
  }

  pauseTrigger(key: TriggerKey, note?: PauseNote): Promise<boolean> {
    return this.around('pauseTrigger', () => this.inner.pauseTrigger(key, note))
  }
  pauseTriggers(matcher: GroupMatcher, note?: PauseNote): Promise<readonly string[]> {
    return this.around('pauseTriggers', () => this.inner.pauseTriggers(matcher, note))
  }
  pauseJob(key: JobKey, note?: PauseNote): Promise<boolean> {
    return this.around('pauseJob', () => this.inner.pauseJob(key, note))
  }
  pauseJobs(matcher: GroupMatcher, note?: PauseNote): Promise<readonly string[]> {
    return this.around('pauseJobs', () => this.inner.pauseJobs(matcher, note))
  }
  pauseAll(note?: PauseNote): Promise<void> {
    return this.around('pauseAll', () => this.inner.pauseAll(note))
  }
  resumeTrigger(key: TriggerKey, manner?: ResumeManner): Promise<boolean> {
    return this.around('resumeTrigger', () => this.inner.resumeTrigger(key, manner))
  }
  resumeTriggers(matcher: GroupMatcher, manner?: ResumeManner): Promise<readonly string[]> {
    return this.around('resumeTriggers', () => this.inner.resumeTriggers(matcher, manner))
  }
  resumeJob(key: JobKey, manner?: ResumeManner): Promise<boolean> {
    return this.around('resumeJob', () => this.inner.resumeJob(key, manner))
  }
  resumeJobs(matcher: GroupMatcher, manner?: ResumeManner): Promise<readonly string[]> {
    return this.around('resumeJobs', () => this.inner.resumeJobs(matcher, manner))
  }
  resumeAll(manner?: ResumeManner): Promise<void> {
    return this.around('resumeAll', () => this.inner.resumeAll(manner))
  }
  endPauses(): Promise<EndedPauses> {
    return this.around('endPauses', () => this.inner.endPauses())
  }
  skipNextFire(key: TriggerKey, expectedMs: EpochMs | null): Promise<SkippedFire | null> {
    return this.around('skipNextFire', () => this.inner.skipNextFire(key, expectedMs))
  }
  getPausedGroups(): Promise<PausedGroups> {
    return this.around('getPausedGroups', () => this.inner.getPausedGroups())
  }

  addCalendar(
    name: string,
    calendar: Calendar,
    options: { readonly replace: boolean; readonly updateTriggers: boolean },
  ): Promise<void> {
    return this.around('addCalendar', () => this.inner.addCalendar(name, calendar, options))
  }
  deleteCalendar(name: string): Promise<boolean> {
    return this.around('deleteCalendar', () => this.inner.deleteCalendar(name))
  }
  getCalendar(name: string): Promise<Calendar | null> {
    return this.around('getCalendar', () => this.inner.getCalendar(name))
  }
  getCalendarNames(): Promise<readonly string[]> {
    return this.around('getCalendarNames', () => this.inner.getCalendarNames())
  }

  acquireNextTriggers(request: AcquireRequest): Promise<readonly AcquiredTrigger[]> {
    return this.around('acquireNextTriggers', () => this.inner.acquireNextTriggers(request))
  }
  releaseAcquiredTriggers(acquired: readonly AcquiredTrigger[]): Promise<readonly AcquiredTrigger[]> {
    return this.around('releaseAcquiredTriggers', () => this.inner.releaseAcquiredTriggers(acquired))
  }
  releaseAllAcquiredTriggers(): Promise<void> {
    return this.around('releaseAllAcquiredTriggers', () => this.inner.releaseAllAcquiredTriggers())
  }
  triggersFired(acquired: readonly AcquiredTrigger[]): Promise<readonly TriggerFiredResult[]> {
    return this.around('triggersFired', () => this.inner.triggersFired(acquired))
  }
  triggeredJobsComplete(completions: readonly JobCompletion[]): Promise<CompletionAnswer> {
    return this.around('triggeredJobsComplete', () => this.inner.triggeredJobsComplete(completions))
  }
  queryUnknownJobTypes(): Promise<readonly UnknownJobType[]> {
    return this.around('queryUnknownJobTypes', () => this.inner.queryUnknownJobTypes())
  }
  earliestDueMs(): Promise<EpochMs | null> {
    return this.around('earliestDueMs', () => this.inner.earliestDueMs())
  }
  queryExecutions(query: ExecutionQuery): Promise<Page<ExecutionSummary, ExecutionCursor>> {
    return this.around('queryExecutions', () => this.inner.queryExecutions(query))
  }
  joinTransaction(handle: object): JobStoreTransaction {
    return this.inner.joinTransaction(handle)
  }
}
