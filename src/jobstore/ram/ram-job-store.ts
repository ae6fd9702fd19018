import { SchedulerError } from '../../core/errors.ts'
import type { JobKey, TriggerKey } from '../../core/key.ts'
import type { GroupMatcher } from '../../core/matcher.ts'
import { refuseUnknownKeys } from '../../core/options.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type {
  ExpectedJobOptions,
  ExpectedTriggerOptions,
  RescheduleOptions,
} from '../../jobs/schedule-options.ts'
import type { EpochMs } from '../../time/clock.ts'
import { nextTurn } from '../../time/next-turn.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import type { JobStoreAwaitedResults } from '../awaited-results.ts'
import type { JobStoreCluster } from '../cluster-view.ts'
import type { DefinitionChanges, NamedCalendar, RemovedDefinitions } from '../definition-changes.ts'
import { asSeen } from '../ended-trigger.ts'
import type { JobAndTriggers } from '../job-and-triggers.ts'
import type {
  AcquiredTrigger,
  AcquireRequest,
  AddJobRequest,
  CompletionAnswer,
  JobCompletion,
  JobStore,
  JobStoreContext,
  JobStoreTransaction,
  TriggerFiredResult,
} from '../job-store.ts'
import type { JobStoreCapabilities } from '../job-store-capabilities.ts'
import type { JobStoreShards } from '../job-store-shards.ts'
import { MemoryNotes } from '../memory-notes.ts'
import {
  type EndedPauses,
  ordinaryResume,
  type PausedGroups,
  type PauseNote,
  type ResumeManner,
  type SkippedFire,
  silentPause,
} from '../pauses.ts'
import type { PlannedJob, PutPlan, SetGeneration } from '../planned-job.ts'
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
} from '../queries.ts'
import { type RecordOptions, recordOptionNames, resolveRecordOptions } from '../record-options.ts'
import { storeInUse } from '../refusals.ts'
import { generationInForce, scheduleSetNotes } from '../schedule-set-note.ts'
import { SignalBuffer } from '../signal-buffer.ts'
import { reportedTriggerState, type TriggerState } from '../trigger-state.ts'
import {
  addCalendar,
  deleteCalendar,
  type ForeseenUpdates,
  foresee,
  refuseTaken,
} from './calendar-changes.ts'
import { changeDefinitions } from './definition-changes.ts'
import { acquireTriggers, completeJobs, fireTriggers, releaseTriggers } from './firing.ts'
import { queryJobs, queryNextTriggers, queryTriggers, triggerCounts } from './listing.ts'
import { skipNextFire } from './misfires.ts'
import * as pausing from './pausing.ts'
import { deletePlanned, putPlanned } from './planning.ts'
import { RamData } from './ram-data.ts'
import { RamRecords } from './ram-records.ts'
import { RamSession } from './ram-session.ts'
import { addJob, deleteJobs, deleteTriggers, rescheduleTrigger, scheduleJobs } from './scheduling.ts'
import { RamShards } from './sharding.ts'
import { findUnknownJobTypes } from './unknown-job-types.ts'

/**
 * Keeps everything in the memory of the process, in a sorted tree: nothing survives the process, and one scheduler
 * uses it.
 *
 * Each operation happens in one turn of the event loop. Finding the next trigger among a million takes as long as among
 * a thousand, however many triggers a job has. Listings read all of the groups that they match.
 *
 * A trigger whose fire time cannot be computed (its calendar is missing or throws) goes to the ERROR state.
 */
export class RAMJobStore implements JobStore {
  readonly name: string = 'RAMJobStore'
  readonly capabilities: JobStoreCapabilities = {
    persistent: false,
    clustered: false,
    history: true,
    records: true,
    sharding: true,
    awaitedResults: true,
    changesDefinitions: true,
  }
  readonly cluster: JobStoreCluster | null = null
  readonly records: RamRecords
  readonly notes: MemoryNotes = new MemoryNotes()
  readonly shards: JobStoreShards
  readonly awaitedResults: JobStoreAwaitedResults
  readonly changes = null
  readonly jobGroupLimits: ReadonlyMap<string, number> = new Map()
  readonly #signals = new SignalBuffer()
  readonly #data = new RamData(this.#signals)
  #session: RamSession | null = null
  /** The name of the scheduler that has this store. */
  #owner: string | null = null

  constructor(options: RecordOptions = {}) {
    refuseUnknownKeys('ramJobStore', options, recordOptionNames)
    // An execution takes more than a kilobyte of the heap.
    const records = resolveRecordOptions('ramJobStore', options, 10_000)
    this.shards = new RamShards(this.#data)
    this.awaitedResults = this.#data.awaitedResults
    this.records = new RamRecords(this.#data, records, () => this.#require().context)
  }

  async initialize(context: JobStoreContext): Promise<void> {
    if (this.#owner !== null) throw storeInUse(this.name, this.#owner)
    this.#owner = context.schedulerName
    this.#session = new RamSession(this.#data, this.#signals, context, this.records)
  }
  async schedulerStarted(): Promise<void> {}
  async shutdown(): Promise<void> {
    this.#owner = null
    this.#data.dispose()
  }
  /** 20 milliseconds after one or two failures in a row, twice as long after each further one, at most 10 seconds. */
  acquireRetryDelayMs(failures: number): number {
    return Math.min(20 * 2 ** Math.max(0, failures - 2), 10_000)
  }

  async scheduleJobs(
    entries: readonly JobAndTriggers[],
    options: { readonly replace: boolean },
  ): Promise<void> {
    const session = this.#require()
    scheduleJobs(this.#data, entries, { replace: options.replace, nowMs: session.now() })
    this.#tell(session)
  }
  async addJob(job: JobDetail, options: AddJobRequest): Promise<void> {
    const session = this.#require()
    addJob(this.#data, job, options)
    this.#tell(session)
  }
  async rescheduleTrigger(key: TriggerKey, trigger: Trigger, options?: RescheduleOptions): Promise<boolean> {
    const session = this.#require()
    const { clock, triggerFamilies: families } = session.context
    const parts = { ...options, nowMs: clock.now(), families }
    return this.#tell(session, rescheduleTrigger(this.#data, key, trigger, parts))
  }
  async putPlanned(planned: PlannedJob): Promise<PutPlan> {
    const session = this.#require()
    const circumstances = { nowMs: session.context.clock.now(), inForce: this.#inForce(planned.job.plan.set) }
    return this.#tell(session, putPlanned(this.#data, planned, circumstances))
  }
  async deletePlanned(keys: readonly JobKey[], upTo: SetGeneration): Promise<readonly JobKey[]> {
    const session = this.#require()
    return this.#tell(
      session,
      this.#inForce(upTo.set) > upTo.generation ? [] : deletePlanned(this.#data, keys, upTo),
    )
  }
  async deleteJobs(keys: readonly JobKey[], options?: ExpectedJobOptions): Promise<readonly JobKey[]> {
    const session = this.#require()
    return this.#tell(session, deleteJobs(this.#data, keys, options))
  }
  async deleteTriggers(
    keys: readonly TriggerKey[],
    options?: ExpectedTriggerOptions,
  ): Promise<readonly TriggerKey[]> {
    const session = this.#require()
    return this.#tell(session, deleteTriggers(session, keys, options))
  }
  async clear(): Promise<void> {
    const session = this.#require()
    this.#data.clear()
    this.#tell(session)
  }

  async getJob(key: JobKey): Promise<JobDetail | null> {
    return this.#data.jobs.get(key)?.detail ?? null
  }
  async getJobs(keys: readonly JobKey[]): Promise<readonly JobDetail[]> {
    return keys.flatMap((key) => this.#data.jobs.get(key)?.detail ?? [])
  }
  async getTrigger(key: TriggerKey): Promise<Trigger | null> {
    const record = this.#data.triggers.get(key)
    return record === undefined ? null : asSeen(record.trigger, record.state)
  }
  async getTriggersOfJob(key: JobKey): Promise<readonly Trigger[]> {
    const records = this.#data.jobs.get(key)?.triggers() ?? []
    return records.map(({ trigger, state }) => asSeen(trigger, state))
  }
  async queryJobs(query: JobQuery): Promise<Page<JobSummary, JobKey>> {
    return queryJobs(this.#data, query)
  }
  async queryTriggers(query: TriggerQuery): Promise<Page<TriggerSummary, TriggerKey>> {
    return queryTriggers(this.#data, query)
  }
  async queryNextTriggers(query: NextTriggerQuery): Promise<Page<TriggerSummary, FirePlace>> {
    return queryNextTriggers(this.#data, query)
  }
  async getTriggers(keys: readonly TriggerKey[]): Promise<readonly Trigger[]> {
    return keys.flatMap((key) => {
      const record = this.#data.triggers.get(key)
      return record === undefined ? [] : [asSeen(record.trigger, record.state)]
    })
  }
  async getTriggerCounts(): Promise<TriggerCounts> {
    return triggerCounts(this.#data)
  }
  async getGroupCounts(of: 'jobs' | 'triggers'): Promise<readonly GroupCount[]> {
    return this.#data[of].groupCounts()
  }
  async getJobKeys(matcher: GroupMatcher): Promise<readonly JobKey[]> {
    return Array.from(this.#data.jobs.values(matcher), (job) => job.detail.key)
  }
  async getTriggerKeys(matcher: GroupMatcher): Promise<readonly TriggerKey[]> {
    return Array.from(this.#data.triggers.values(matcher), (record) => record.trigger.key)
  }
  async getJobGroupNames(): Promise<readonly string[]> {
    return this.#data.jobs.groups()
  }
  async getTriggerGroupNames(): Promise<readonly string[]> {
    return this.#data.triggers.groups()
  }

  async getTriggerState(key: TriggerKey): Promise<TriggerState> {
    const record = this.#data.triggers.get(key)
    return record === undefined ? 'NONE' : reportedTriggerState(this.#data.stateOf(record))
  }
  async resetTriggerFromErrorState(key: TriggerKey): Promise<boolean> {
    const session = this.#require()
    const record = this.#data.triggers.get(key)
    if (record === undefined || !this.#data.apply(record, 'reset')) return false
    if (record.trigger.nextFireTimeMs === null) this.#data.apply(record, 'complete')
    this.#data.pauseAsGroupsSay(record)
    return this.#tell(session, true)
  }

  async pauseTrigger(key: TriggerKey, note: PauseNote = silentPause): Promise<boolean> {
    const session = this.#require()
    return this.#tell(session, pausing.pauseTrigger(session, key, note))
  }
  async pauseTriggers(matcher: GroupMatcher, note: PauseNote = silentPause): Promise<readonly string[]> {
    const session = this.#require()
    return this.#tell(session, pausing.pauseTriggers(session, matcher, note))
  }
  async pauseJob(key: JobKey, note: PauseNote = silentPause): Promise<boolean> {
    const session = this.#require()
    return this.#tell(session, pausing.pauseJob(session, key, note))
  }
  async pauseJobs(matcher: GroupMatcher, note: PauseNote = silentPause): Promise<readonly string[]> {
    const session = this.#require()
    return this.#tell(session, pausing.pauseJobs(session, matcher, note))
  }
  async pauseAll(note: PauseNote = silentPause): Promise<void> {
    const session = this.#require()
    pausing.pauseAll(session, note)
    this.#tell(session)
  }
  async resumeTrigger(key: TriggerKey, manner: ResumeManner = ordinaryResume): Promise<boolean> {
    const session = this.#require()
    return this.#tell(session, pausing.resumeTrigger(session, key, manner))
  }
  async resumeTriggers(
    matcher: GroupMatcher,
    manner: ResumeManner = ordinaryResume,
  ): Promise<readonly string[]> {
    const session = this.#require()
    return this.#tell(session, pausing.resumeTriggers(session, matcher, manner))
  }
  async resumeJob(key: JobKey, manner: ResumeManner = ordinaryResume): Promise<boolean> {
    const session = this.#require()
    return this.#tell(session, pausing.resumeJob(session, key, manner))
  }
  async resumeJobs(matcher: GroupMatcher, manner: ResumeManner = ordinaryResume): Promise<readonly string[]> {
    const session = this.#require()
    return this.#tell(session, pausing.resumeJobs(session, matcher, manner))
  }
  async resumeAll(manner: ResumeManner = ordinaryResume): Promise<void> {
    const session = this.#require()
    pausing.resumeAll(session, manner)
    this.#tell(session)
  }
  async endPauses(): Promise<EndedPauses> {
    const session = this.#require()
    return this.#tell(session, pausing.endPauses(session))
  }
  async skipNextFire(key: TriggerKey, expectedMs: EpochMs | null): Promise<SkippedFire | null> {
    const session = this.#require()
    return this.#tell(session, skipNextFire(session, key, expectedMs))
  }
  async getPausedGroups(): Promise<PausedGroups> {
    return pausing.pausedGroups(this.#data)
  }

  async addCalendar(
    name: string,
    calendar: Calendar,
    options: { readonly replace: boolean; readonly updateTriggers: boolean },
  ): Promise<void> {
    const session = this.#require()
    refuseTaken(this.#data, name, options)
    const calendars = options.updateTriggers ? [{ name, calendar }] : []
    await this.#withForeseen(session, calendars, (foreseen) => {
      addCalendar(session, name, calendar, { ...options, foreseen })
      this.#tell(session)
    })
  }
  async deleteCalendar(name: string): Promise<boolean> {
    return deleteCalendar(this.#data, name)
  }
  async changeDefinitions(changes: DefinitionChanges): Promise<RemovedDefinitions> {
    const session = this.#require()
    return this.#withForeseen(session, changes.calendars, (foreseen) =>
      this.#tell(session, changeDefinitions(session, changes, foreseen)),
    )
  }
  async getCalendar(name: string): Promise<Calendar | null> {
    return this.#data.calendars.calendars.get(name) ?? null
  }
  async getCalendarNames(): Promise<readonly string[]> {
    return [...this.#data.calendars.calendars.keys()]
  }

  async acquireNextTriggers(request: AcquireRequest): Promise<readonly AcquiredTrigger[]> {
    const session = this.#require()
    for (;;) {
      const acquired = acquireTriggers(session, request)
      this.#tellNothingNew(session)
      if (acquired !== null) return acquired
      if (request.isStillWanted?.() === false) return []
      await nextTurn(session.context.clock)
    }
  }
  async releaseAcquiredTriggers(acquired: readonly AcquiredTrigger[]): Promise<readonly AcquiredTrigger[]> {
    const session = this.#require()
    releaseTriggers(session, acquired)
    this.#tellNothingNew(session)
    return []
  }
  async releaseAllAcquiredTriggers(): Promise<void> {
    const session = this.#require()
    for (const record of session.data.triggers.values()) session.data.apply(record, 'release')
    this.#tellNothingNew(session)
  }
  async triggersFired(acquired: readonly AcquiredTrigger[]): Promise<readonly TriggerFiredResult[]> {
    const session = this.#require()
    const results = fireTriggers(session, acquired)
    // The triggers of items that are due now.
    if (acquired.some(({ isSplit }) => isSplit === true)) this.#tell(session)
    else this.#tellNothingNew(session)
    return results
  }
  async triggeredJobsComplete(completions: readonly JobCompletion[]): Promise<CompletionAnswer> {
    const session = this.#require()
    const passedOver = completeJobs(session, completions)
    this.records.prune()
    this.#tell(session)
    return { locked: [], passedOver }
  }
  async queryUnknownJobTypes(): Promise<readonly UnknownJobType[]> {
    return findUnknownJobTypes(this.#require())
  }
  async earliestDueMs(): Promise<EpochMs | null> {
    const { clock } = this.#require().context
    const dueMs = this.#data.queue.earliestMs()
    return dueMs === null || dueMs > clock.now() ? null : dueMs
  }
  async queryExecutions(query: ExecutionQuery): Promise<Page<ExecutionSummary, ExecutionCursor>> {
    return this.records.history.query(query)
  }
  joinTransaction(): JobStoreTransaction {
    throw new SchedulerError(
      'ERR_NOT_SUPPORTED',
      `${this.name} keeps jobs in memory, so they cannot be part of a database transaction. ` +
        'Use the SQLite or the PostgreSQL job store.',
    )
  }

  #require(): RamSession {
    if (this.#session === null) {
      throw new SchedulerError(
        'ERR_SCHEDULER_STATE',
        'The job store is not initialized: call initialize first.',
      )
    }
    return this.#session
  }

  /** The generation of a set of schedules that is in force; 0 for none. */
  #inForce(set: string | null): number {
    return set === null ? 0 : generationInForce(this.notes.textOf(scheduleSetNotes, set))
  }

  /** Stores at once where no trigger names the calendars, and else when others have had their turns. */
  async #withForeseen<Answer>(
    session: RamSession,
    named: readonly NamedCalendar[],
    store: (foreseen: ForeseenUpdates) => Answer,
  ): Promise<Answer> {
    const calendars = new Map(named.map(({ name, calendar }) => [name, calendar]))
    const foreseen: ForeseenUpdates = new Map()
    const turns = foresee(session, calendars, foreseen)
    while (turns.next().done !== true) await nextTurn(session.context.clock)
    return store(foreseen)
  }

  /** Signals what an operation did, and when it let a trigger fire earlier. */
  #tell<Answer>(session: RamSession, answer?: Answer): Answer {
    const earliestMs = this.#data.queue.takeEarliestMs()
    if (earliestMs !== null) this.#signals.add('schedulingChanged', earliestMs)
    this.#signals.flush(session.context.signaler)
    return answer as Answer
  }

  /** The same for operations of the scheduler's own loop, which looks at the queue again without a signal. */
  #tellNothingNew(session: RamSession): void {
    this.#data.queue.takeEarliestMs()
    this.#signals.flush(session.context.signaler)
  }
}

/**
 * A job store in memory: the fastest, and its data are lost with the process.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION
 */
export function ramJobStore(options: RecordOptions = {}): JobStore {
  return new RAMJobStore(options)
}
