import { checkData, checkOptions, listOf } from '../core/arguments.ts'
import { InvalidArgumentError, isBrokenRow, SchedulerError } from '../core/errors.ts'
import { emptyJobDataMap, triggeredByKey } from '../core/job-data-map.ts'
import {
  checkJobKey,
  checkKey,
  checkTriggerKey,
  isJobKey,
  type JobKey,
  jobKeyOf,
  type TriggerKey,
  triggerKeyOf,
} from '../core/key.ts'
import { KeySet } from '../core/key-set.ts'
import type { JobSource } from '../jobs/job-definition.ts'
import { checkJobDetail, type JobDetail } from '../jobs/job-detail.ts'
import type {
  AddJobOptions,
  ChangeDefinitionsOptions,
  ExpectedJobOptions,
  ExpectedTriggerOptions,
  ReplaceOptions,
  RescheduleOptions,
  ScheduledJob,
  ScheduleOptions,
  TriggerJobOptions,
} from '../jobs/schedule-options.ts'
import type { DefinitionChanges, RemovedDefinitions } from '../jobstore/definition-changes.ts'
import type { JobAndTriggers } from '../jobstore/job-and-triggers.ts'
import type { JobStoreTransaction } from '../jobstore/job-store.ts'
import { manualTriggerKey } from '../jobstore/manual-trigger.ts'
import type { TriggerState } from '../jobstore/trigger-state.ts'
import { TriggerBuilder } from '../triggers/families/trigger-builder.ts'
import { checkTrigger, type Trigger } from '../triggers/trigger.ts'
import type { Nameless } from './nameless.ts'
import { PlannedJobs } from './planned-jobs.ts'
import type { LeftOut, ScheduleChecks } from './schedule-checks.ts'
import type { SchedulerTransaction } from './scheduler.ts'
import {
  addJobOptions,
  checkDefinitionChanges,
  checkEntries,
  checkRescheduleOptions,
  checkScheduleJob,
  expectedJobOptions,
  expectedTriggerOptions,
  isTriggerCall,
  type ScheduleJobCall,
  triggerJobOptions,
} from './scheduler-arguments.ts'
import type { ResolvedSchedulerOptions } from './scheduler-options.ts'
import type { SchedulingObserver } from './scheduling-observer.ts'
import type { TurnBudget } from './turn-budget.ts'
import type { WallClockStarts } from './wall-clock-starts.ts'

export interface SchedulingParts {
  readonly store: JobStoreTransaction
  /** Stores one new trigger, with its job where that is new. */
  readonly storeOne: (entry: JobAndTriggers) => Promise<void>
  readonly checks: ScheduleChecks
  readonly options: ResolvedSchedulerOptions
  readonly budget: TurnBudget
  readonly nameless: Nameless
  readonly wallClockStarts: WallClockStarts
  /** @throws SchedulerError ERR_SCHEDULER_SHUTDOWN */
  readonly requireOpen: () => void
  readonly observer: SchedulingObserver
}

/** How many triggers are read at a time. */
const readAtOnce = 1000

/** What changes of definitions need of a store besides what a transaction has. */
export interface DefinitionStore {
  readonly change: (changes: DefinitionChanges) => Promise<RemovedDefinitions>
  readonly triggersOf: (keys: readonly TriggerKey[]) => Promise<readonly Trigger[]>
}

/** Stores and deletes jobs and triggers: checks the arguments, calls the store, then the observer. */
export class Scheduling implements SchedulerTransaction {
  readonly #store: JobStoreTransaction
  readonly #storeOne: SchedulingParts['storeOne']
  readonly #checks: ScheduleChecks
  readonly #options: ResolvedSchedulerOptions
  readonly #budget: TurnBudget
  readonly #nameless: Nameless
  readonly #wallClockStarts: WallClockStarts
  readonly #requireOpen: () => void
  readonly #observer: SchedulingObserver
  /** Of the short form. */
  readonly #planned: PlannedJobs

  constructor(parts: SchedulingParts) {
    this.#store = parts.store
    this.#storeOne = parts.storeOne
    this.#checks = parts.checks
    this.#options = parts.options
    this.#budget = parts.budget
    this.#nameless = parts.nameless
    this.#wallClockStarts = parts.wallClockStarts
    this.#requireOpen = parts.requireOpen
    this.#observer = parts.observer
    this.#planned = new PlannedJobs({ ...parts, open: () => this.#open() })
  }

  async schedule(job: JobSource | string, options: ScheduleOptions<object>): Promise<ScheduledJob> {
    return this.#planned.schedule(job, options)
  }

  async scheduleJob(...call: ScheduleJobCall): Promise<Date> {
    checkScheduleJob(call)
    this.#requireOpen()
    if (isTriggerCall(call)) return this.#scheduleTrigger(...call)
    const [jobDetail, given, options = {}] = call
    const entries = await this.#prepareAll(this.#checks, [{ job: jobDetail, triggers: [given].flat() }], {})
    const [entry] = entries
    const firstMs = earliest(entry?.triggers ?? [])
    if (entry === undefined || firstMs === null) {
      throw new InvalidArgumentError(
        'triggers',
        `scheduleJob got no trigger for job ${jobDetail.key.toString()}. Pass at least one, or use addJob.`,
      )
    }
    await this.#storeEntry(entry, options)
    await this.#tellStored(entries)
    return new Date(firstMs)
  }

  async scheduleJobs(entries: readonly JobAndTriggers[], options: AddJobOptions = {}): Promise<void> {
    checkEntries('scheduleJobs', 'entries', entries)
    checkOptions('scheduleJobs', options, addJobOptions)
    this.#requireOpen()
    const prepared = await this.#prepareAll(this.#checks, entries, options)
    await this.#open().scheduleJobs(prepared, { replace: options.replace ?? false })
    await this.#tellStored(prepared)
  }

  /** Has `store` make changes, with the entries as they are to be stored. */
  async changeDefinitions(
    changes: Partial<DefinitionChanges>,
    options: ChangeDefinitionsOptions,
    store: DefinitionStore,
  ): Promise<void> {
    checkDefinitionChanges(changes, options)
    this.#requireOpen()
    const { calendars = [], removedTriggers = [], removedJobs = [], removedCalendars = [] } = changes
    const { keepsJobData = false } = changes
    const planned = new Map(calendars.map(({ name, calendar }) => [name, calendar]))
    // The new calendars are not stored yet.
    const checks = this.#checks.beforeWriting().over({
      getJob: (key) => this.#store.getJob(key),
      getCalendar: async (name) => planned.get(name) ?? this.#store.getCalendar(name),
    })
    const given = changes.entries ?? []
    const going = new KeySet(await this.#addedLate(given, store))
    const addOptions = { storeNonDurableWhileAwaitingScheduling: true }
    const entries = await this.#prepareAll(checks, given, addOptions, (key) => going.has(key))
    if (options.dryRun === true) return
    this.#requireOpen()
    const removals = { removedTriggers, removedJobs, removedCalendars }
    const removed = await store.change({ calendars, entries, keepsJobData, ...removals })
    await this.#tellStored(entries)
    for (const key of removed.removedTriggers) await this.#observer.jobUnscheduled(key)
    for (const key of removed.removedJobs) await this.#observer.jobDeleted(key)
    await this.#budget.spend()
  }

  /** Those that are not stored yet and began before the misfire threshold. */
  async #addedLate(
    entries: readonly JobAndTriggers[],
    { triggersOf }: Pick<DefinitionStore, 'triggersOf'>,
  ): Promise<readonly TriggerKey[]> {
    const { clock, misfireThresholdMs } = this.#options
    const lateMs = clock.now() - misfireThresholdMs
    const began = entries.flatMap(({ triggers }) =>
      triggers.filter(({ startTimeMs }) => startTimeMs <= lateMs),
    )
    const stored = new KeySet<TriggerKey>()
    for (let from = 0; from < began.length; from += readAtOnce) {
      const keys = began.slice(from, from + readAtOnce).map(({ key }) => key)
      for (const { key } of await triggersOf(keys)) stored.add(key)
    }
    return began.flatMap(({ key }) => (stored.has(key) ? [] : [key]))
  }

  /**
   * The entries as they are to be stored. Most need nothing to be awaited, and there may be a hundred thousand. What
   * `goesOn` leaves out the fire times that have passed, where others are left.
   */
  async #prepareAll(
    checks: ScheduleChecks,
    entries: readonly JobAndTriggers[],
    options: AddJobOptions,
    goesOn: (key: TriggerKey) => boolean = () => false,
  ): Promise<readonly JobAndTriggers[]> {
    const prepared: JobAndTriggers[] = []
    const passed: LeftOut = { nowMs: this.#options.clock.now(), keepsLast: false, keepsPassed: true }
    for (const entry of entries) {
      const job = entry.job === null ? null : checks.job(entry.job)
      if (job !== null) requireTriggersOf(job, entry.triggers, options)
      const triggers: Trigger[] = []
      for (const trigger of entry.triggers) {
        const owner = job ?? (await checks.existingJob(trigger.jobKey, `trigger ${trigger.key.toString()}`))
        const leftOut = goesOn(trigger.key) ? passed : null
        const checked = this.#checked(trigger, owner, { checks, leftOut })
        triggers.push(checked instanceof Promise ? await checked : checked)
        const turn = this.#budget.spend()
        if (turn !== null) await turn
      }
      prepared.push({ job, triggers })
    }
    return prepared
  }

  async #tellStored(entries: readonly JobAndTriggers[]): Promise<void> {
    for (const { job, triggers } of entries) {
      this.#nameless.note(job, triggers)
      if (job !== null) await this.#observer.jobAdded(job)
      for (const trigger of triggers) await this.#observer.jobScheduled(trigger)
    }
  }

  async addJob(jobDetail: JobDetail, options: AddJobOptions & ExpectedJobOptions = {}): Promise<void> {
    checkJobDetail('addJob', 'jobDetail', jobDetail)
    checkOptions('addJob', options, { ...addJobOptions, ...expectedJobOptions })
    this.#requireOpen()
    if (!jobDetail.durable && options.storeNonDurableWhileAwaitingScheduling !== true) {
      throw new SchedulerError(
        'ERR_JOB_NOT_DURABLE',
        `Job ${jobDetail.key.toString()} has no trigger and is not durable, so it would be deleted at once. ` +
          'Build it with storeDurably(), or pass { storeNonDurableWhileAwaitingScheduling: true }.',
      )
    }
    const job = this.#checks.job(jobDetail)
    const { replace = false, expected } = options
    await this.#open().addJob(job, { replace, ...(expected !== undefined && { expected }) })
    this.#nameless.note(job, [])
    await this.#observer.jobAdded(job)
    await this.#budget.spend()
  }

  async rescheduleJob(
    triggerKey: TriggerKey | string,
    trigger: Trigger,
    options: RescheduleOptions = {},
  ): Promise<Date | null> {
    const key = triggerKeyOf('rescheduleJob', 'triggerKey', triggerKey)
    checkTrigger('rescheduleJob', 'trigger', trigger)
    checkRescheduleOptions(key, trigger, options)
    this.#requireOpen()
    const old = await this.#store.getTrigger(key)
    if (old === null) return null
    const job = await this.#checks.existingJob(old.jobKey, `trigger ${key.toString()}`)
    const fresh = await this.#checked(trigger, job)
    if (!(await this.#open().rescheduleTrigger(key, fresh, options))) return null
    const replacement = options.goesOnFrom === undefined ? fresh : await this.#stored(fresh)
    await this.#observer.jobUnscheduled(key)
    await this.#observer.jobScheduled(replacement)
    await this.#budget.spend()
    return replacement.nextFireTime
  }

  /** As the store has made it; another caller may have deleted it since. */
  async #stored(trigger: Trigger): Promise<Trigger> {
    return (await this.#store.getTrigger(trigger.key)) ?? trigger
  }

  async unscheduleJob(
    triggerKey: TriggerKey | string,
    options: ExpectedTriggerOptions = {},
  ): Promise<boolean> {
    const key = triggerKeyOf('unscheduleJob', 'triggerKey', triggerKey)
    checkOptions('unscheduleJob', options, expectedTriggerOptions)
    return this.#unschedule([key], options)
  }

  async unscheduleJobs(triggerKeys: readonly TriggerKey[]): Promise<boolean> {
    listOf(checkTriggerKey)('unscheduleJobs', 'triggerKeys', triggerKeys)
    return this.#unschedule(triggerKeys)
  }

  async #unschedule(triggerKeys: readonly TriggerKey[], options?: ExpectedTriggerOptions): Promise<boolean> {
    const deleted = await this.#open().deleteTriggers(triggerKeys, options)
    for (const key of deleted) await this.#observer.jobUnscheduled(key)
    await this.#budget.spend()
    return deleted.length === triggerKeys.length
  }

  async deleteJob(jobKey: JobKey | string, options: ExpectedJobOptions = {}): Promise<boolean> {
    const key = jobKeyOf('deleteJob', 'jobKey', jobKey)
    checkOptions('deleteJob', options, expectedJobOptions)
    return this.#delete([key], options)
  }

  async deleteJobs(jobKeys: readonly JobKey[]): Promise<boolean> {
    listOf(checkJobKey)('deleteJobs', 'jobKeys', jobKeys)
    return this.#delete(jobKeys)
  }

  async #delete(jobKeys: readonly JobKey[], options?: ExpectedJobOptions): Promise<boolean> {
    const deleted = await this.#open().deleteJobs(jobKeys, options)
    for (const jobKey of deleted) {
      await this.#observer.jobDeleted(jobKey)
    }
    await this.#budget.spend()
    return deleted.length === jobKeys.length
  }

  async triggerJob(
    jobKey: JobKey | string,
    data: object = emptyJobDataMap,
    options: TriggerJobOptions = {},
  ): Promise<TriggerKey> {
    const key = jobKeyOf('triggerJob', 'jobKey', jobKey)
    checkData('triggerJob', 'data', data)
    checkOptions('triggerJob', options, triggerJobOptions)
    return this.#trigger('triggerJob', key, data, options)
  }

  async #trigger(
    method: string,
    jobKey: JobKey,
    data: object,
    options: TriggerJobOptions,
  ): Promise<TriggerKey> {
    this.#requireOpen()
    const job = await this.#checks.existingJob(jobKey, method)
    const { clock, ids } = this.#options
    const builder = TriggerBuilder.newTrigger({ clock })
      .withIdentity(manualTriggerKey(ids))
      .forJob(jobKey)
      .usingJobData({ ...data })
      .startAt(new Date(clock.now()))
    const checked = await this.#checks.trigger(builder.build(), job)
    // The note comes after the checks, which keep such keys for the scheduler.
    const prepared =
      options.by === undefined
        ? checked
        : builder
            .usingJobData({ ...data, [triggeredByKey]: options.by })
            .build()
            .computeFirstFireTime(null)
    this.#requireOpen()
    await this.#storeOne({ job: null, triggers: [prepared] })
    await this.#observer.jobScheduled(prepared)
    await this.#budget.spend()
    return prepared.key
  }

  async runNow(
    jobKey: JobKey | string,
    data: object = emptyJobDataMap,
    options: TriggerJobOptions = {},
  ): Promise<TriggerKey> {
    const key = jobKeyOf('runNow', 'jobKey', jobKey)
    checkData('runNow', 'data', data)
    checkOptions('runNow', options, triggerJobOptions)
    return this.#trigger('runNow', key, data, options)
  }

  async #scheduleTrigger(trigger: Trigger, options: ReplaceOptions = {}): Promise<Date> {
    const job = await this.#checks.existingJob(trigger.jobKey, `trigger ${trigger.key.toString()}`)
    const prepared = await this.#checked(trigger, job)
    await this.#storeEntry({ job: null, triggers: [prepared] }, options)
    this.#nameless.note(null, [prepared])
    await this.#observer.jobScheduled(prepared)
    await this.#budget.spend()
    return new Date(prepared.nextFireTimeMs ?? Number.NaN)
  }

  async #storeEntry(entry: JobAndTriggers, { replace = false }: ReplaceOptions): Promise<void> {
    // The checks may have taken until after the shutdown, when the store may be another scheduler's.
    const store = this.#open()
    if (!replace && entry.triggers.length === 1) await this.#storeOne(entry)
    else await store.scheduleJobs([entry], { replace })
  }

  #checked(
    trigger: Trigger,
    job: JobDetail,
    { checks = this.#checks, leftOut = null }: { checks?: ScheduleChecks; leftOut?: LeftOut | null } = {},
  ): Trigger | Promise<Trigger> {
    const checked = checks.trigger(this.#wallClockStarts.corrected(trigger), job, leftOut)
    if (checked instanceof Promise) return checked.then((each) => this.#noted(each))
    return this.#noted(checked)
  }

  #noted(trigger: Trigger): Trigger {
    this.#wallClockStarts.note(trigger)
    return trigger
  }

  async getJobDetail(jobKey: JobKey | string): Promise<JobDetail | null> {
    const key = jobKeyOf('getJobDetail', 'jobKey', jobKey)
    return this.#open().getJob(key)
  }
  async getTrigger(triggerKey: TriggerKey | string): Promise<Trigger | null> {
    const key = triggerKeyOf('getTrigger', 'triggerKey', triggerKey)
    return this.#open().getTrigger(key)
  }
  async getTriggersOfJob(jobKey: JobKey | string): Promise<readonly Trigger[]> {
    const key = jobKeyOf('getTriggersOfJob', 'jobKey', jobKey)
    return this.#open().getTriggersOfJob(key)
  }
  async getTriggerState(triggerKey: TriggerKey | string): Promise<TriggerState> {
    const key = triggerKeyOf('getTriggerState', 'triggerKey', triggerKey)
    return this.#open().getTriggerState(key)
  }
  async checkExists(key: JobKey | TriggerKey): Promise<boolean> {
    checkKey('checkExists', 'key', key)
    const store = this.#open()
    try {
      return (isJobKey(key) ? await store.getJob(key) : await store.getTrigger(key)) !== null
    } catch (error) {
      // What cannot be read is there.
      if (isBrokenRow(error)) return true
      throw error
    }
  }

  #open(): JobStoreTransaction {
    this.#requireOpen()
    return this.#store
  }
}

/** @throws SchedulerError ERR_JOB_NOT_DURABLE for a job that would be deleted at once */
function requireTriggersOf(
  job: JobDetail,
  triggers: readonly Trigger[],
  { storeNonDurableWhileAwaitingScheduling = false }: AddJobOptions,
): void {
  if (triggers.length > 0 || job.durable || storeNonDurableWhileAwaitingScheduling) return
  throw new SchedulerError(
    'ERR_JOB_NOT_DURABLE',
    `Job ${job.key.toString()} is not durable and comes without triggers. ` +
      'Pass a trigger, or build it with storeDurably().',
  )
}

function earliest(triggers: readonly Trigger[]): number | null {
  let first: number | null = null
  for (const { nextFireTimeMs } of triggers) {
    if (nextFireTimeMs !== null && (first === null || nextFireTimeMs < first)) first = nextFireTimeMs
  }
  return first
}
