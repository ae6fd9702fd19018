import { InvalidArgumentError, SchedulerError } from '../core/errors.ts'
import { emptyJobDataMap, type JobDataMap } from '../core/job-data-map.ts'
import type { TriggerKey } from '../core/key.ts'
import { JobKey } from '../core/key.ts'
import type { GroupMatcher } from '../core/matcher.ts'
import { requireInteger } from '../core/options.ts'
import { packageVersion } from '../core/version.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { JobExecutionContext } from '../jobs/job-execution-context.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import type {
  ExecutionCursor,
  ExecutionQuery,
  ExecutionSummary,
  JobQuery,
  JobSummary,
  Page,
  TriggerQuery,
  TriggerSummary,
} from '../jobstore/queries.ts'
import type { TriggerState } from '../jobstore/trigger-state.ts'
import type { SchedulerEvents } from '../listeners/events.ts'
import type { ListenerManager } from '../listeners/listener-manager.ts'
import { type Timer, timerDelayMaxMs } from '../time/clock.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import type { Trigger } from '../triggers/trigger.ts'
import { TriggerBuilder } from '../triggers/trigger-builder.ts'
import type { ExecutingJobs } from './executing-jobs.ts'
import type { Notifier, Told } from './notifier.ts'
import type { ScheduleChecks } from './schedule-checks.ts'
import type {
  AddCalendarOptions,
  AddJobOptions,
  FireInstance,
  JobAndTriggers,
  ReplaceOptions,
  Scheduler,
  ShutdownOptions,
} from './scheduler.ts'
import type { SchedulerEngine } from './scheduler-engine.ts'
import type { SchedulerMetaData } from './scheduler-metadata.ts'
import type { ResolvedSchedulerOptions } from './scheduler-options.ts'
import { TurnBudget } from './turn-budget.ts'

export interface QuartzSchedulerParts {
  readonly options: ResolvedSchedulerOptions
  readonly engine: SchedulerEngine
  readonly checks: ScheduleChecks
  readonly notifier: Notifier
  readonly executing: ExecutingJobs
}

/**
 * The scheduler: checks what it is asked, hands it to the store, wakes the loop and tells listeners. Life cycle and
 * the loop are the engine's.
 */
export class QuartzScheduler implements Scheduler {
  readonly context: Map<string, unknown> = new Map()
  readonly #options: ResolvedSchedulerOptions
  readonly #store: JobStore
  readonly #engine: SchedulerEngine
  readonly #checks: ScheduleChecks
  readonly #notifier: Notifier
  readonly #executing: ExecutingJobs
  readonly #budget: TurnBudget
  #delayedStart: Timer | null = null

  constructor(parts: QuartzSchedulerParts) {
    this.#options = parts.options
    this.#store = parts.options.jobStore
    this.#engine = parts.engine
    this.#checks = parts.checks
    this.#notifier = parts.notifier
    this.#executing = parts.executing
    this.#budget = new TurnBudget(parts.options.clock)
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
  get isStarted(): boolean {
    return this.#engine.state === 'started'
  }
  get isInStandbyMode(): boolean {
    return this.#engine.state === 'standby'
  }
  get isShutdown(): boolean {
    return this.#engine.state === 'shutdown'
  }

  getMetaData(): SchedulerMetaData {
    const { jobStore, threadPool } = this.#options
    const { runningSinceMs } = this.#engine
    return {
      schedulerName: this.schedulerName,
      schedulerInstanceId: this.schedulerInstanceId,
      version: packageVersion,
      started: this.isStarted,
      inStandbyMode: this.isInStandbyMode,
      shutdown: this.isShutdown,
      runningSince: runningSinceMs === null ? null : new Date(runningSinceMs),
      numberOfJobsExecuted: this.#executing.startedCount,
      jobStore: jobStore.name,
      jobStorePersistent: jobStore.capabilities.persistent,
      jobStoreClustered: jobStore.capabilities.clustered,
      threadPool: threadPool.name,
      threadPoolSize: threadPool.size,
    }
  }

  async start(): Promise<void> {
    this.#cancelDelayedStart()
    await this.#engine.start()
  }

  startDelayed(delayMs: number): void {
    requireInteger('startDelayed', 'delayMs', delayMs, { min: 0, max: timerDelayMaxMs })
    this.#engine.requireNotShutdown()
    this.#cancelDelayedStart()
    this.#delayedStart = this.#options.clock.setTimer(delayMs, () => {
      this.#delayedStart = null
      this.start().catch((error: unknown) => {
        this.#notifier.error('The delayed start failed.', error)
      })
    })
  }

  async standby(): Promise<void> {
    this.#cancelDelayedStart()
    await this.#engine.standby()
  }

  async shutdown(options: ShutdownOptions = {}): Promise<void> {
    if (options.timeoutMs !== undefined) {
      requireInteger('shutdown', 'timeoutMs', options.timeoutMs, { min: 0, max: timerDelayMaxMs })
    }
    this.#cancelDelayedStart()
    await this.#engine.shutdown(options)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown({ waitForJobsToComplete: true })
  }

  async scheduleJob(
    jobOrTrigger: JobDetail | Trigger,
    given?: Trigger | readonly Trigger[],
    options: ReplaceOptions = {},
  ): Promise<Date> {
    this.#engine.requireOpen()
    if (given === undefined) return this.#scheduleTrigger(jobOrTrigger as Trigger)
    const job = this.#checks.job(jobOrTrigger as JobDetail)
    const triggers = await this.#prepare(job, isTriggerList(given) ? given : [given])
    const firstMs = earliest(triggers)
    if (firstMs === null) {
      throw new InvalidArgumentError(
        'triggers',
        `scheduleJob got no trigger for job ${job.key.toString()}. Pass at least one, or use addJob.`,
      )
    }
    await this.#store.scheduleJobs([{ job, triggers }], { replace: options.replace ?? false })
    this.#engine.signal(firstMs)
    await this.#tellAdded(job)
    for (const trigger of triggers) await this.#tellScheduled(trigger)
    return new Date(firstMs)
  }

  async scheduleJobs(entries: readonly JobAndTriggers[], options: ReplaceOptions = {}): Promise<void> {
    this.#engine.requireOpen()
    const prepared: { job: JobDetail; triggers: readonly Trigger[] }[] = []
    for (const entry of entries) {
      const job = this.#checks.job(entry.job)
      prepared.push({ job, triggers: await this.#prepare(job, entry.triggers) })
    }
    await this.#store.scheduleJobs(prepared, { replace: options.replace ?? false })
    this.#engine.signal(null)
    for (const { job, triggers } of prepared) {
      await this.#tellAdded(job)
      for (const trigger of triggers) await this.#tellScheduled(trigger)
    }
  }

  async addJob(jobDetail: JobDetail, options: AddJobOptions = {}): Promise<void> {
    this.#engine.requireOpen()
    if (!jobDetail.durable && options.storeNonDurableWhileAwaitingScheduling !== true) {
      throw new SchedulerError(
        'ERR_JOB_NOT_DURABLE',
        `Job ${jobDetail.key.toString()} has no trigger and is not durable, so it would be deleted at once. ` +
          'Build it with storeDurably(), or pass { storeNonDurableWhileAwaitingScheduling: true }.',
      )
    }
    const job = this.#checks.job(jobDetail)
    await this.#store.addJob(job, { replace: options.replace ?? false })
    this.#engine.signal(null)
    await this.#tellAdded(job)
    await this.#budget.spend()
  }

  async rescheduleJob(triggerKey: TriggerKey, trigger: Trigger): Promise<Date | null> {
    this.#engine.requireOpen()
    const old = await this.#store.getTrigger(triggerKey)
    if (old === null) return null
    const job = await this.#checks.existingJob(old.jobKey, `trigger ${triggerKey.toString()}`)
    const replacement = await this.#checks.trigger(trigger, job)
    if (!(await this.#store.rescheduleTrigger(triggerKey, replacement))) return null
    this.#engine.signal(replacement.nextFireTimeMs)
    await this.#tellUnscheduled(triggerKey)
    await this.#tellScheduled(replacement)
    await this.#budget.spend()
    return replacement.nextFireTime
  }

  unscheduleJob(triggerKey: TriggerKey): Promise<boolean> {
    return this.unscheduleJobs([triggerKey])
  }

  async unscheduleJobs(triggerKeys: readonly TriggerKey[]): Promise<boolean> {
    this.#engine.requireOpen()
    const deleted = await this.#store.deleteTriggers(triggerKeys)
    if (deleted.length > 0) this.#engine.signal(null)
    for (const key of deleted) await this.#tellUnscheduled(key)
    await this.#budget.spend()
    return deleted.length === triggerKeys.length
  }

  deleteJob(jobKey: JobKey): Promise<boolean> {
    return this.deleteJobs([jobKey])
  }

  async deleteJobs(jobKeys: readonly JobKey[]): Promise<boolean> {
    this.#engine.requireOpen()
    const deleted = await this.#store.deleteJobs(jobKeys)
    if (deleted.length > 0) this.#engine.signal(null)
    for (const jobKey of deleted) {
      await this.#notifier.tell('jobDeleted', { jobKey }, (listener) => listener.jobDeleted?.(jobKey))
    }
    await this.#budget.spend()
    return deleted.length === jobKeys.length
  }

  async triggerJob(jobKey: JobKey, data: JobDataMap = emptyJobDataMap): Promise<TriggerKey> {
    this.#engine.requireOpen()
    const job = await this.#checks.existingJob(jobKey, 'triggerJob')
    const { clock, ids } = this.#options
    const trigger = TriggerBuilder.newTrigger({ clock })
      .withIdentity(`MT_${ids.uniqueName()}`)
      .forJob(jobKey)
      .usingJobData(data)
      .startAt(new Date(clock.now()))
      .build()
    const prepared = await this.#checks.trigger(trigger, job)
    await this.#store.scheduleJobs([{ job: null, triggers: [prepared] }], { replace: false })
    this.#engine.signal(prepared.nextFireTimeMs)
    await this.#tellScheduled(prepared)
    await this.#budget.spend()
    return prepared.key
  }

  async clear(): Promise<void> {
    this.#engine.requireOpen()
    await this.#store.clear()
    this.#engine.signal(null)
    await this.#notifier.tell('schedulingDataCleared', {}, (listener) => listener.schedulingDataCleared?.())
  }

  async pauseTrigger(triggerKey: TriggerKey): Promise<boolean> {
    const found = await this.#change((store) => store.pauseTrigger(triggerKey))
    if (found) {
      await this.#notifier.tell('triggerPaused', { triggerKey }, (l) => l.triggerPaused?.(triggerKey))
    }
    return found
  }

  async pauseTriggers(matcher: GroupMatcher): Promise<readonly string[]> {
    const groups = await this.#change((store) => store.pauseTriggers(matcher))
    for (const group of groups) {
      await this.#notifier.tell('triggersPaused', { group }, (l) => l.triggersPaused?.(group))
    }
    return groups
  }

  async pauseJob(jobKey: JobKey): Promise<boolean> {
    const found = await this.#change((store) => store.pauseJob(jobKey))
    if (found) await this.#notifier.tell('jobPaused', { jobKey }, (l) => l.jobPaused?.(jobKey))
    return found
  }

  async pauseJobs(matcher: GroupMatcher): Promise<readonly string[]> {
    const groups = await this.#change((store) => store.pauseJobs(matcher))
    for (const group of groups) {
      await this.#notifier.tell('jobsPaused', { group }, (l) => l.jobsPaused?.(group))
    }
    return groups
  }

  async pauseAll(): Promise<void> {
    await this.#change((store) => store.pauseAll())
    await this.#notifier.tell('triggersPaused', { group: null }, (l) => l.triggersPaused?.(null))
  }

  async resumeTrigger(triggerKey: TriggerKey): Promise<boolean> {
    const found = await this.#change((store) => store.resumeTrigger(triggerKey))
    if (found) {
      await this.#notifier.tell('triggerResumed', { triggerKey }, (l) => l.triggerResumed?.(triggerKey))
    }
    return found
  }

  async resumeTriggers(matcher: GroupMatcher): Promise<readonly string[]> {
    const groups = await this.#change((store) => store.resumeTriggers(matcher))
    for (const group of groups) {
      await this.#notifier.tell('triggersResumed', { group }, (l) => l.triggersResumed?.(group))
    }
    return groups
  }

  async resumeJob(jobKey: JobKey): Promise<boolean> {
    const found = await this.#change((store) => store.resumeJob(jobKey))
    if (found) await this.#notifier.tell('jobResumed', { jobKey }, (l) => l.jobResumed?.(jobKey))
    return found
  }

  async resumeJobs(matcher: GroupMatcher): Promise<readonly string[]> {
    const groups = await this.#change((store) => store.resumeJobs(matcher))
    for (const group of groups) {
      await this.#notifier.tell('jobsResumed', { group }, (l) => l.jobsResumed?.(group))
    }
    return groups
  }

  async resumeAll(): Promise<void> {
    await this.#change((store) => store.resumeAll())
    await this.#notifier.tell('triggersResumed', { group: null }, (l) => l.triggersResumed?.(null))
  }

  async getPausedTriggerGroups(): Promise<readonly string[]> {
    return this.#read().getPausedTriggerGroups()
  }
  async getPausedJobGroups(): Promise<readonly string[]> {
    return this.#read().getPausedJobGroups()
  }
  async getJobGroupNames(): Promise<readonly string[]> {
    return this.#read().getJobGroupNames()
  }
  async getTriggerGroupNames(): Promise<readonly string[]> {
    return this.#read().getTriggerGroupNames()
  }
  async getJobKeys(matcher: GroupMatcher): Promise<readonly JobKey[]> {
    return this.#read().getJobKeys(matcher)
  }
  async getTriggerKeys(matcher: GroupMatcher): Promise<readonly TriggerKey[]> {
    return this.#read().getTriggerKeys(matcher)
  }
  async queryJobs(query: JobQuery = {}): Promise<Page<JobSummary, JobKey>> {
    return this.#read().queryJobs(query)
  }
  async queryTriggers(query: TriggerQuery = {}): Promise<Page<TriggerSummary, TriggerKey>> {
    return this.#read().queryTriggers(query)
  }
  async getJobDetail(jobKey: JobKey): Promise<JobDetail | null> {
    return this.#read().getJob(jobKey)
  }
  async getTrigger(triggerKey: TriggerKey): Promise<Trigger | null> {
    return this.#read().getTrigger(triggerKey)
  }
  async getTriggersOfJob(jobKey: JobKey): Promise<readonly Trigger[]> {
    return this.#read().getTriggersOfJob(jobKey)
  }
  async checkExists(key: JobKey | TriggerKey): Promise<boolean> {
    const store = this.#read()
    if (key instanceof JobKey) return (await store.getJob(key)) !== null
    return (await store.getTrigger(key)) !== null
  }
  async getTriggerState(triggerKey: TriggerKey): Promise<TriggerState> {
    return this.#read().getTriggerState(triggerKey)
  }

  resetTriggerFromErrorState(triggerKey: TriggerKey): Promise<boolean> {
    return this.#change((store) => store.resetTriggerFromErrorState(triggerKey))
  }

  async addCalendar(name: string, calendar: Calendar, options: AddCalendarOptions = {}): Promise<void> {
    await this.#change((store) =>
      store.addCalendar(name, calendar, {
        replace: options.replace ?? false,
        updateTriggers: options.updateTriggers ?? false,
      }),
    )
  }
  deleteCalendar(name: string): Promise<boolean> {
    return this.#change((store) => store.deleteCalendar(name))
  }
  async getCalendar(name: string): Promise<Calendar | null> {
    return this.#read().getCalendar(name)
  }
  async getCalendarNames(): Promise<readonly string[]> {
    return this.#read().getCalendarNames()
  }

  async queryExecutions(query: ExecutionQuery = {}): Promise<Page<ExecutionSummary, ExecutionCursor>> {
    return this.#read().queryExecutions(query)
  }
  getCurrentlyExecutingJobs(): readonly JobExecutionContext[] {
    return this.#executing.all()
  }

  async interrupt(target: JobKey | FireInstance): Promise<boolean> {
    this.#engine.requireOpen()
    if (target instanceof JobKey) return this.#engine.interrupt(this.#executing.ofJob(target), 'interrupt')
    const context = this.#executing.get(target.fireInstanceId)
    return context !== null && this.#engine.interrupt([context], 'interrupt')
  }

  async #scheduleTrigger(trigger: Trigger): Promise<Date> {
    const job = await this.#checks.existingJob(trigger.jobKey, `trigger ${trigger.key.toString()}`)
    const prepared = await this.#checks.trigger(trigger, job)
    await this.#store.scheduleJobs([{ job: null, triggers: [prepared] }], { replace: false })
    this.#engine.signal(prepared.nextFireTimeMs)
    await this.#tellScheduled(prepared)
    await this.#budget.spend()
    return new Date(prepared.nextFireTimeMs ?? Number.NaN)
  }

  async #prepare(job: JobDetail, triggers: readonly Trigger[]): Promise<readonly Trigger[]> {
    if (triggers.length === 0 && !job.durable) {
      throw new SchedulerError(
        'ERR_JOB_NOT_DURABLE',
        `Job ${job.key.toString()} is not durable and comes without triggers. ` +
          'Pass a trigger, or build it with storeDurably().',
      )
    }
    const prepared: Trigger[] = []
    for (const trigger of triggers) {
      prepared.push(await this.#checks.trigger(trigger, job))
      await this.#budget.spend()
    }
    return prepared
  }

  #read(): JobStore {
    this.#engine.requireOpen()
    return this.#store
  }

  /** A change that may let something fire earlier or later: the loop looks again. */
  async #change<T>(change: (store: JobStore) => Promise<T>): Promise<T> {
    this.#engine.requireOpen()
    const answer = await change(this.#store)
    this.#engine.signal(null)
    await this.#budget.spend()
    return answer
  }

  #tellAdded(jobDetail: JobDetail): Told {
    return this.#notifier.tell('jobAdded', { jobDetail }, (listener) => listener.jobAdded?.(jobDetail))
  }
  #tellScheduled(trigger: Trigger): Told {
    return this.#notifier.tell('jobScheduled', { trigger }, (listener) => listener.jobScheduled?.(trigger))
  }
  #tellUnscheduled(triggerKey: TriggerKey): Told {
    return this.#notifier.tell('jobUnscheduled', { triggerKey }, (l) => l.jobUnscheduled?.(triggerKey))
  }

  #cancelDelayedStart(): void {
    this.#delayedStart?.cancel()
    this.#delayedStart = null
  }
}

function isTriggerList(given: Trigger | readonly Trigger[]): given is readonly Trigger[] {
  return Array.isArray(given)
}

function earliest(triggers: readonly Trigger[]): number | null {
  let first: number | null = null
  for (const { nextFireTimeMs } of triggers) {
    if (nextFireTimeMs !== null && (first === null || nextFireTimeMs < first)) first = nextFireTimeMs
  }
  return first
}
