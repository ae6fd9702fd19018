import { checkName, checkObject, checkOptions, listOf } from '../core/arguments.ts'
import { emptyJobDataMap } from '../core/job-data-map.ts'
import { type JobKey, type TriggerKey, triggerKeyOf } from '../core/key.ts'
import type { Logger } from '../core/logger.ts'
import type { GroupMatcher } from '../core/matcher.ts'
import { requireInteger } from '../core/options.ts'
import { packageVersion } from '../core/version.ts'
import { checkJobSource } from '../jobs/define-job.ts'
import type { JobExecutionContext, JobSource } from '../jobs/job-definition.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { JobRegistry } from '../jobs/job-registry.ts'
import type { RemoteResult } from '../jobs/remote-job.ts'
import type {
  AddCalendarOptions,
  AddJobOptions,
  ChangeDefinitionsOptions,
  ExpectedJobOptions,
  ExpectedTriggerOptions,
  RescheduleOptions,
  ScheduledJob,
  ScheduleOptions,
  TriggerJobOptions,
} from '../jobs/schedule-options.ts'
import type { AuditNote } from '../jobstore/audit.ts'
import type { InterruptTarget, NodeOrder } from '../jobstore/cluster-view.ts'
import type { DefinitionChanges } from '../jobstore/definition-changes.ts'
import type { JobAndTriggers } from '../jobstore/job-and-triggers.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import type { ShardOverview } from '../jobstore/job-store-shards.ts'
import { changeDefinitions } from '../jobstore/step-by-step.ts'
import type { TriggerState } from '../jobstore/trigger-state.ts'
import type { SchedulerEvents } from '../listeners/events.ts'
import type { ListenerManager } from '../listeners/listener-manager.ts'
import { type Clock, type ClockTimer, timerDelayMaxMs } from '../time/clock.ts'
import { type Calendar, checkCalendar } from '../triggers/calendars/calendar.ts'
import type { Trigger } from '../triggers/trigger.ts'
import { AuditTrail } from './audit-trail.ts'
import { Cluster } from './cluster.ts'
import type { Declarations } from './declarations.ts'
import type { ExecutingJobs } from './executing-jobs.ts'
import type { Nameless } from './nameless.ts'
import type { Notifier } from './notifier.ts'
import type { QuartzSchedulerThread } from './quartz-scheduler-thread.ts'
import { ReadingScheduler } from './reading-scheduler.ts'
import type { Recorder } from './recorder.ts'
import { checkReference, type RemoteExecutions } from './remote-executions.ts'
import type { ScheduleChecks } from './schedule-checks.ts'
import type { ReconcileOptions, Reconciliation, ScheduleDefinition } from './schedule-definition.ts'
import type {
  FireInstance,
  PauseOptions,
  ResumeOptions,
  Scheduler,
  SchedulerCluster,
  SchedulerTransaction,
  SkippedFireTimes,
} from './scheduler.ts'
import {
  addCalendarOptions,
  checkAuditNote,
  checkShutdown,
  type ScheduleJobCall,
} from './scheduler-arguments.ts'
import type { SchedulerLifeCycle } from './scheduler-life-cycle.ts'
import type { SchedulerMetaData } from './scheduler-metadata.ts'
import type { ResolvedSchedulerOptions } from './scheduler-options.ts'
import { Scheduling } from './scheduling.ts'
import { silentObserver } from './scheduling-observer.ts'
import type { ShutdownOptions } from './shutdown-options.ts'
import { Steering } from './steering.ts'
import { tellingObserver } from './telling-observer.ts'
import type { TurnBudget } from './turn-budget.ts'
import { WallClockStarts } from './wall-clock-starts.ts'

export interface QuartzSchedulerParts {
  readonly options: ResolvedSchedulerOptions
  readonly registry: JobRegistry
  readonly lifeCycle: SchedulerLifeCycle
  readonly thread: QuartzSchedulerThread
  readonly checks: ScheduleChecks
  readonly notifier: Notifier
  readonly executing: ExecutingJobs
  readonly recorder: Recorder
  readonly remotes: RemoteExecutions
  readonly declarations: Declarations
  readonly nameless: Nameless
  readonly budget: TurnBudget
}

/**
 * The scheduler as its users see it: checks arguments, hands operations to the store and tells listeners. Starting and
 * ending are the life cycle's, firing is the loop's.
 */
export class QuartzScheduler extends ReadingScheduler implements Scheduler {
  readonly context: Map<string, unknown> = new Map()
  readonly #options: ResolvedSchedulerOptions
  readonly #store: JobStore
  readonly #lifeCycle: SchedulerLifeCycle
  readonly #checks: ScheduleChecks
  readonly #notifier: Notifier
  readonly #executing: ExecutingJobs
  readonly #remotes: RemoteExecutions
  readonly #budget: TurnBudget
  readonly #nameless: Nameless
  readonly #wallClockStarts: WallClockStarts
  readonly #scheduling: Scheduling
  readonly #declarations: Declarations
  readonly #cluster: Cluster
  readonly #audit: AuditTrail
  readonly #steering: Steering
  readonly #thread: QuartzSchedulerThread
  #delayedStart: ClockTimer | null = null

  constructor(parts: QuartzSchedulerParts) {
    super(() => this.#read())
    this.#options = parts.options
    this.#store = parts.options.jobStore
    this.#lifeCycle = parts.lifeCycle
    this.#checks = parts.checks
    this.#notifier = parts.notifier
    this.#executing = parts.executing
    this.#remotes = parts.remotes
    this.#budget = parts.budget
    this.#thread = parts.thread
    const { clock } = parts.options
    this.#wallClockStarts = new WallClockStarts(parts.options)
    this.#nameless = parts.nameless
    this.#audit = new AuditTrail({ ...parts.options, recorder: parts.recorder })
    const requireOpen = (): void => {
      this.#lifeCycle.requireOpen()
    }
    this.#cluster = new Cluster({
      store: this.#store,
      instanceId: parts.options.instanceId,
      executing: parts.executing,
      remotes: parts.remotes,
      notifier: parts.notifier,
      jobTypes: () => this.#lifeCycle.jobTypes,
      nodeReport: () => this.#lifeCycle.nodeReport,
      clock,
      carryOut: (order) => (order === 'drain' ? this.#drain() : this[order]()),
      isLookingOn: () => parts.options.threadPool.size === 0 && this.#lifeCycle.runningSinceMs === null,
      requireOpen,
    })
    this.#steering = new Steering({
      clock,
      notifier: this.#notifier,
      pauseWatch: this.#lifeCycle.pauseWatch,
      change: (change) => this.#change(change),
    })
    this.#scheduling = new Scheduling({
      store: this.#store,
      storeOne: (entry) => parts.thread.firstFirings.schedule(entry),
      checks: this.#checks,
      options: this.#options,
      budget: this.#budget,
      nameless: this.#nameless,
      wallClockStarts: this.#wallClockStarts,
      requireOpen,
      observer: tellingObserver(parts.notifier, parts.lifeCycle),
    })
    this.#declarations = parts.declarations
  }

  get schedulerName(): string {
    return this.#options.schedulerName
  }
  get schedulerInstanceId(): string {
    return this.#options.instanceId
  }
  get listenerManager(): ListenerManager {
    return this.#notifier.listeners
  }
  get events(): SchedulerEvents {
    return this.#notifier.events
  }
  get cluster(): SchedulerCluster {
    return this.#cluster
  }
  get clock(): Clock {
    return this.#options.clock
  }
  get logger(): Logger {
    return this.#options.logger
  }
  get isStarted(): boolean {
    return this.#lifeCycle.state === 'started'
  }
  get isInStandbyMode(): boolean {
    return this.#lifeCycle.state === 'standby'
  }
  get isShutdown(): boolean {
    return this.#lifeCycle.state === 'shutdown'
  }

  getMetaData(): SchedulerMetaData {
    const { jobStore, threadPool } = this.#options
    const { notEndingSinceMs, runningSinceMs } = this.#lifeCycle
    const { inVainSinceMs } = this.#thread
    return {
      schedulerName: this.schedulerName,
      schedulerInstanceId: this.schedulerInstanceId,
      version: packageVersion,
      isStarted: this.isStarted,
      isInStandbyMode: this.isInStandbyMode,
      isShutdown: this.isShutdown,
      runningSince: runningSinceMs === null ? null : new Date(runningSinceMs),
      notFiringSince: inVainSinceMs === null ? null : new Date(inVainSinceMs),
      notEndingSince: notEndingSinceMs === null ? null : new Date(notEndingSinceMs),
      numberOfJobsExecuted: this.#executing.startedCount,
      jobStore: jobStore.name,
      jobStorePersistent: jobStore.capabilities.persistent,
      jobStoreClustered: jobStore.capabilities.clustered,
      historyKeepsSuccesses: jobStore.records?.keeps('succeeded') === true,
      jobStatusIsKept: jobStore.records?.kinds.includes('statuses') === true,
      jobGroupLimits: Object.fromEntries(jobStore.jobGroupLimits),
      threadPool: threadPool.name,
      threadPoolSize: threadPool.size,
    }
  }

  registerJobs(jobs: readonly JobSource[]): void {
    listOf(checkJobSource)('registerJobs', 'jobs', jobs)
    this.#lifeCycle.registerJobs(jobs, () => {
      this.#remotes.connect(this)
    })
  }

  async start(): Promise<void> {
    this.#cancelDelayedStart()
    await this.#lifeCycle.start()
    await this.#declarations.started()
  }

  startDelayed(delayMs: number): void {
    requireInteger('startDelayed', 'delayMs', delayMs, {
      min: 0,
      max: timerDelayMaxMs,
      code: 'ERR_INVALID_ARGUMENT',
    })
    this.#lifeCycle.requireNotShutdown()
    this.#cancelDelayedStart()
    this.#lifeCycle.neverStarted.noteStart()
    this.#delayedStart = this.#options.clock.setTimer(delayMs, () => {
      this.#delayedStart = null
      this.start().catch((error: unknown) => {
        this.#notifier.error('The delayed start failed.', error)
      })
    })
  }

  async standby(): Promise<void> {
    this.#cancelDelayedStart()
    await this.#lifeCycle.standby()
  }

  /** Another node asks this one to start, to stand by or to drain. */
  ordered(order: NodeOrder): Promise<void> {
    return this.#cluster.ordered(order)
  }

  /** Another node asks this one to interrupt. */
  interruptAsked(target: InterruptTarget): Promise<void> {
    return this.#cluster.interruptAsked(target)
  }

  async #drain(): Promise<void> {
    this.#cancelDelayedStart()
    await this.#lifeCycle.drain()
  }

  idle(): Promise<void> {
    return this.#lifeCycle.idle()
  }

  async shutdown(options: ShutdownOptions = {}): Promise<void> {
    checkShutdown(options)
    this.#cancelDelayedStart()
    this.#declarations.end()
    await this.#lifeCycle.shutdown(options)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { disposeTimeoutMs } = this.#options
    await this.shutdown({ waitForJobsToComplete: true, interruptAfterMs: disposeTimeoutMs })
  }

  schedule(job: JobSource | string, options: ScheduleOptions<object>): Promise<ScheduledJob> {
    return this.#scheduling.schedule(job, options)
  }
  reconcile(
    name: string,
    schedules: readonly ScheduleDefinition[],
    options: ReconcileOptions = {},
  ): Promise<Reconciliation> {
    return this.#declarations.declareSet(name, schedules, options)
  }
  runNow(
    jobKey: JobKey | string,
    data: object = emptyJobDataMap,
    options: TriggerJobOptions = {},
  ): Promise<TriggerKey> {
    return this.#scheduling.runNow(jobKey, data, options)
  }
  scheduleJob(...call: ScheduleJobCall): Promise<Date> {
    return this.#scheduling.scheduleJob(...call)
  }
  scheduleJobs(entries: readonly JobAndTriggers[], options: AddJobOptions = {}): Promise<void> {
    return this.#scheduling.scheduleJobs(entries, options)
  }
  changeDefinitions(
    changes: Partial<DefinitionChanges>,
    options: ChangeDefinitionsOptions = {},
  ): Promise<void> {
    return this.#scheduling.changeDefinitions(changes, options, {
      change: (all) => changeDefinitions(this.#store, all),
      triggersOf: (keys) => this.#store.getTriggers(keys),
    })
  }
  addJob(jobDetail: JobDetail, options: AddJobOptions & ExpectedJobOptions = {}): Promise<void> {
    return this.#scheduling.addJob(jobDetail, options)
  }
  rescheduleJob(
    triggerKey: TriggerKey | string,
    trigger: Trigger,
    options: RescheduleOptions = {},
  ): Promise<Date | null> {
    return this.#scheduling.rescheduleJob(triggerKey, trigger, options)
  }
  unscheduleJob(triggerKey: TriggerKey | string, options: ExpectedTriggerOptions = {}): Promise<boolean> {
    return this.#scheduling.unscheduleJob(triggerKey, options)
  }
  unscheduleJobs(triggerKeys: readonly TriggerKey[]): Promise<boolean> {
    return this.#scheduling.unscheduleJobs(triggerKeys)
  }
  deleteJob(jobKey: JobKey | string, options: ExpectedJobOptions = {}): Promise<boolean> {
    return this.#scheduling.deleteJob(jobKey, options)
  }
  deleteJobs(jobKeys: readonly JobKey[]): Promise<boolean> {
    return this.#scheduling.deleteJobs(jobKeys)
  }
  triggerJob(
    jobKey: JobKey | string,
    data: object = emptyJobDataMap,
    options: TriggerJobOptions = {},
  ): Promise<TriggerKey> {
    return this.#scheduling.triggerJob(jobKey, data, options)
  }

  withTransaction(handle: object): SchedulerTransaction {
    checkObject('withTransaction', 'handle', handle)
    this.#lifeCycle.requireOpen()
    const store = this.#store.joinTransaction(handle)
    return new Scheduling({
      store,
      storeOne: (entry) => store.scheduleJobs([entry], { replace: false }),
      checks: this.#checks.over(store),
      options: this.#options,
      budget: this.#budget,
      nameless: this.#nameless,
      wallClockStarts: this.#wallClockStarts,
      requireOpen: () => {
        this.#lifeCycle.requireOpen()
      },
      observer: silentObserver,
    })
  }

  async clear(): Promise<void> {
    this.#lifeCycle.requireOpen()
    await this.#store.clear()
    this.#lifeCycle.neverStarted.noteCleared()
    await this.#notifier.tell('schedulingDataCleared', {}, (listener) => listener.schedulingDataCleared?.())
  }

  pauseTrigger(triggerKey: TriggerKey | string, options: PauseOptions = {}): Promise<boolean> {
    return this.#steering.pauseTrigger(triggerKey, options)
  }
  pauseTriggers(matcher: GroupMatcher, options: PauseOptions = {}): Promise<readonly string[]> {
    return this.#steering.pauseTriggers(matcher, options)
  }
  pauseJob(jobKey: JobKey | string, options: PauseOptions = {}): Promise<boolean> {
    return this.#steering.pauseJob(jobKey, options)
  }
  pauseJobs(matcher: GroupMatcher, options: PauseOptions = {}): Promise<readonly string[]> {
    return this.#steering.pauseJobs(matcher, options)
  }
  pauseAll(options: PauseOptions = {}): Promise<void> {
    return this.#steering.pauseAll(options)
  }
  resumeTrigger(triggerKey: TriggerKey | string, options: ResumeOptions = {}): Promise<boolean> {
    return this.#steering.resumeTrigger(triggerKey, options)
  }
  resumeTriggers(matcher: GroupMatcher, options: ResumeOptions = {}): Promise<readonly string[]> {
    return this.#steering.resumeTriggers(matcher, options)
  }
  resumeJob(jobKey: JobKey | string, options: ResumeOptions = {}): Promise<boolean> {
    return this.#steering.resumeJob(jobKey, options)
  }
  resumeJobs(matcher: GroupMatcher, options: ResumeOptions = {}): Promise<readonly string[]> {
    return this.#steering.resumeJobs(matcher, options)
  }
  resumeAll(options: ResumeOptions = {}): Promise<void> {
    return this.#steering.resumeAll(options)
  }
  skipNextFire(triggerKey: TriggerKey | string, expected?: Date): Promise<SkippedFireTimes | null> {
    return this.#steering.skipNextFire(triggerKey, expected)
  }
  disableShard(jobKey: JobKey | string, item: number): Promise<boolean> {
    return this.#steering.setShard('disableShard', jobKey, item, { enabled: false })
  }
  enableShard(jobKey: JobKey | string, item: number): Promise<boolean> {
    return this.#steering.setShard('enableShard', jobKey, item, { enabled: true })
  }
  async getShards(jobKey: JobKey | string): Promise<ShardOverview | null> {
    return this.#steering.getShards(jobKey, this.#read())
  }

  getJobDetail(jobKey: JobKey | string): Promise<JobDetail | null> {
    return this.#scheduling.getJobDetail(jobKey)
  }
  getTrigger(triggerKey: TriggerKey | string): Promise<Trigger | null> {
    return this.#scheduling.getTrigger(triggerKey)
  }
  getTriggersOfJob(jobKey: JobKey | string): Promise<readonly Trigger[]> {
    return this.#scheduling.getTriggersOfJob(jobKey)
  }
  checkExists(key: JobKey | TriggerKey): Promise<boolean> {
    return this.#scheduling.checkExists(key)
  }
  getTriggerState(triggerKey: TriggerKey | string): Promise<TriggerState> {
    return this.#scheduling.getTriggerState(triggerKey)
  }

  async resetTriggerFromErrorState(triggerKey: TriggerKey | string): Promise<boolean> {
    const key = triggerKeyOf('resetTriggerFromErrorState', 'triggerKey', triggerKey)
    return this.#change((store) => store.resetTriggerFromErrorState(key))
  }

  async addCalendar(name: string, calendar: Calendar, options: AddCalendarOptions = {}): Promise<void> {
    checkName('addCalendar', 'name', name)
    checkCalendar('addCalendar', 'calendar', calendar)
    checkOptions('addCalendar', options, addCalendarOptions)
    await this.#change((store) =>
      store.addCalendar(name, calendar, {
        replace: options.replace ?? false,
        updateTriggers: options.updateTriggers ?? false,
      }),
    )
  }
  async deleteCalendar(name: string): Promise<boolean> {
    checkName('deleteCalendar', 'name', name)
    return this.#change((store) => store.deleteCalendar(name))
  }
  recordAudit(note: AuditNote): void {
    checkAuditNote(note)
    this.#lifeCycle.requireOpen()
    this.#audit.note(note)
  }
  getCurrentlyExecutingJobs(): readonly JobExecutionContext[] {
    return this.#executing.running()
  }

  async awaitsResult(reference: string): Promise<boolean> {
    checkReference('awaitsResult', 'reference', reference)
    this.#lifeCycle.requireOpen()
    return this.#remotes.awaitsResult(reference)
  }
  async reportResult(reference: string, result: RemoteResult = {}): Promise<boolean> {
    checkReference('reportResult', 'reference', reference)
    this.#lifeCycle.requireOpen()
    return this.#remotes.reportResult(reference, result)
  }

  interrupt(target: JobKey | FireInstance): Promise<boolean> {
    return this.#cluster.interrupt(target)
  }

  #read(): JobStore {
    this.#lifeCycle.requireOpen()
    return this.#store
  }

  /** Changes data in the store, which wakes the loop when a trigger may fire earlier. */
  async #change<T>(change: (store: JobStore) => Promise<T>): Promise<T> {
    this.#lifeCycle.requireOpen()
    const answer = await change(this.#store)
    await this.#budget.spend()
    return answer
  }

  #cancelDelayedStart(): void {
    this.#delayedStart?.cancel()
    this.#delayedStart = null
  }
}
