import { invariant } from '../../core/errors.ts'
import type { JobKey } from '../../core/key.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { isMadeByScheduler } from '../own-triggers.ts'
import type { SignalBuffer } from '../signal-buffer.ts'
import { groupsOfParts } from '../split-firing.ts'
import { nextTriggerState, type StoredTriggerState, type TriggerAction } from '../trigger-state.ts'
import { CalendarTable } from './calendar-table.ts'
import { FireQueue } from './fire-queue.ts'
import { KeyIndex } from './key-index.ts'
import { PausedGroups } from './paused-groups.ts'
import { Pauses } from './pauses.ts'
import { RamAwaitedResults } from './ram-awaited-results.ts'
import { JobRecord, Lane, type OwnState, TriggerRecord } from './records.ts'

/**
 * The data of the RAM store, and the changes that keep its parts consistent: a trigger is in the queue while it waits,
 * in the list of its job and among the users of its calendar.
 */
export class RamData {
  readonly jobs: KeyIndex<JobRecord> = new KeyIndex()
  readonly triggers: KeyIndex<TriggerRecord> = new KeyIndex()
  readonly queue: FireQueue = new FireQueue()
  readonly paused: PausedGroups = new PausedGroups()
  readonly pauses: Pauses = new Pauses()
  readonly calendars: CalendarTable = new CalendarTable()
  /** The triggers of executions in flight, by fire instance id; some may be deleted by now. */
  readonly executions: Map<string, TriggerRecord> = new Map<string, TriggerRecord>()
  readonly awaitedResults: RamAwaitedResults = new RamAwaitedResults(this.executions)
  /** Jobs that were deleted while they run: a new job of the same key waits for their executions. */
  readonly #departed = new KeyIndex<JobRecord>()
  /** Told of each job that is removed. */
  onJobRemoved: (key: JobKey) => void = () => {}
  readonly #signals: SignalBuffer

  constructor(signals: SignalBuffer) {
    this.#signals = signals
  }

  /** The state of a trigger with what its job adds to it. */
  stateOf(record: TriggerRecord): StoredTriggerState {
    return record.job.isBlocked ? (nextTriggerState(record.state, 'block') ?? record.state) : record.state
  }

  /** Moves a trigger as the transition table says; false when the action does nothing in its state. */
  apply(record: TriggerRecord, action: TriggerAction): boolean {
    const after = nextTriggerState(this.stateOf(record), action)
    if (after === null) return false
    this.#enter(record, withoutBlock(after))
    return true
  }

  claim(record: TriggerRecord, fireInstanceId: string, nowMs: number): void {
    this.apply(record, 'acquire')
    record.claim = fireInstanceId
    record.claimedMs = nowMs
  }

  /** Whether the trigger is still claimed by this claim. */
  holds(record: TriggerRecord | undefined, fireInstanceId: string): record is TriggerRecord {
    return record !== undefined && record.claim === fireInstanceId
  }

  /** Turns a claim into an execution; `fired` is the trigger after the firing. */
  beginExecution(record: TriggerRecord, fired: Trigger, fireInstanceId: string): void {
    const after = nextTriggerState(record.state, fired.nextFireTimeMs === null ? 'fireLast' : 'fire')
    invariant(after !== null, 'only an acquired trigger fires')
    // Counted first, so that the lane of a non-concurrent job stays closed while the claim ends.
    record.job.executions++
    this.executions.set(fireInstanceId, record)
    record.trigger = fired
    this.#enter(record, withoutBlock(after))
  }

  /** Ends a claim on a firing that is no execution itself; `fired` is the trigger after the firing. */
  endSplitClaim(record: TriggerRecord, fired: Trigger): void {
    const after = nextTriggerState(record.state, fired.nextFireTimeMs === null ? 'fireLast' : 'fire')
    invariant(after !== null, 'only an acquired trigger fires')
    record.trigger = fired
    this.#enter(record, withoutBlock(after))
    if (fired.nextFireTimeMs === null) this.removeTrigger(record)
  }

  endExecution(fireInstanceId: string, job: JobRecord, mayBeLate = false): void {
    this.executions.delete(fireInstanceId)
    this.awaitedResults.forget(fireInstanceId, mayBeLate)
    job.executions--
    if (job.executions > 0) return
    if (!job.isStored) this.#departed.delete(job.detail.key)
    this.queue.settle(job)
  }

  /** Replaces the value of a trigger and keeps its state. */
  changeTrigger(record: TriggerRecord, trigger: Trigger): void {
    const isQueued = record.state === 'WAITING'
    if (isQueued) this.queue.remove(record)
    record.trigger = trigger
    if (isQueued) this.queue.add(record)
  }

  putJob(detail: JobDetail): JobRecord {
    const stored = this.jobs.get(detail.key)
    if (stored !== undefined) {
      this.#replaceDetail(stored, detail)
      return stored
    }
    const departed = this.#departed.get(detail.key)
    const job = departed ?? new JobRecord(detail)
    if (departed !== undefined) this.#departed.delete(detail.key)
    job.isStored = true
    this.#replaceDetail(job, detail)
    this.jobs.add(detail.key, job)
    return job
  }

  removeJob(job: JobRecord): void {
    const { key } = job.detail
    for (const record of job.triggers()) this.removeTrigger(record)
    this.jobs.delete(key)
    this.pauses.forget({ scope: 'job', key })
    job.isStored = false
    job.shards = null
    this.onJobRemoved(key)
    if (job.executions > 0) this.#departed.add(key, job)
  }

  /** Stores a trigger under its key, in its first state. Answers the job of the trigger that it replaced, or null. */
  putTrigger(trigger: Trigger, job: JobRecord): JobRecord | null {
    const state = this.#startingState(trigger, job)
    const replaced = this.triggers.get(trigger.key)
    if (state === 'PAUSED') this.pauses.forgetSpent(job)
    if (replaced !== undefined) this.removeTrigger(replaced)
    const record = new TriggerRecord(trigger, job, state)
    this.triggers.add(trigger.key, record)
    job.link(record)
    this.calendars.register(record)
    if (state === 'WAITING') this.queue.add(record)
    return replaced?.job ?? null
  }

  /** Replaces a trigger by another one of its job, which is paused exactly when the former one is. */
  replaceTrigger(record: TriggerRecord, trigger: Trigger): void {
    this.apply(record, 'release')
    const isBack = this.apply(record, 'reset') || this.apply(record, 'revive')
    this.calendars.unregister(record)
    this.changeTrigger(record, trigger)
    this.calendars.register(record)
    if (isBack) this.pauseAsGroupsSay(record)
  }

  /** Deletes a trigger and leaves its job alone. */
  removeTrigger(record: TriggerRecord): void {
    this.#enter(record, 'COMPLETE')
    this.triggers.delete(record.trigger.key)
    record.job.unlink(record)
    this.calendars.unregister(record)
  }

  /** Deletes a job that is not durable and has no trigger left. */
  removeIfOrphan(job: JobRecord): void {
    if (job.detail.durable || job.firstTrigger !== null || !job.isStored) return
    this.removeJob(job)
    this.#signals.add('jobDeleted', job.detail.key)
  }

  /**
   * The same for a job whose triggers have fired for the last time: a job that requests recovery stays until its
   * executions have ended, as in stores that can recover.
   */
  removeIfSpent(job: JobRecord): void {
    job.isSpent = job.firstTrigger === null && job.detail.requestsRecovery && job.executions > 0
    if (!job.isSpent) this.removeIfOrphan(job)
  }

  /** Pauses a trigger that has just left another state, when one of its groups is paused. */
  pauseAsGroupsSay(record: TriggerRecord): void {
    const { paused } = this
    if (!paused.areClear(record.trigger.key.group, record.job.detail.key.group)) this.apply(record, 'pause')
  }

  /** Deletes everything except the executions in flight, which still block jobs that forbid concurrent execution. */
  clear(): void {
    for (const job of [...this.jobs.values()]) this.removeJob(job)
    this.calendars.clear()
    this.paused.clear()
    this.pauses.clear()
  }

  /** Deletes everything. */
  dispose(): void {
    this.jobs.clear()
    this.triggers.clear()
    this.queue.clear()
    this.paused.clear()
    this.pauses.clear()
    this.calendars.clear()
    this.executions.clear()
    this.awaitedResults.clear()
    this.#departed.clear()
  }

  /** Deletes what is left to be run again of a job in whose place one of another type is stored. */
  #endFormerWork(job: JobRecord): void {
    for (const record of job.triggers()) {
      const { key } = record.trigger
      const isPart = groupsOfParts.includes(key.group) && record.state !== 'COMPLETE'
      if (isPart && isMadeByScheduler(record.trigger)) this.removeTrigger(record)
    }
    if (job.shards !== null) job.shards.open = null
  }

  #startingState(trigger: Trigger, job: JobRecord): OwnState {
    if (trigger.nextFireTimeMs === null) return 'COMPLETE'
    const { group } = trigger.key
    if (this.paused.everyNewTriggerGroup && !this.triggers.hasGroup(group)) {
      this.paused.triggerGroups.add(group)
    }
    return this.paused.areClear(group, job.detail.key.group) ? 'WAITING' : 'PAUSED'
  }

  #enter(record: TriggerRecord, state: OwnState): void {
    const before = record.state
    if (before === state) return
    const { job } = record
    if (state === 'PAUSED') this.pauses.forgetSpent(job)
    if (before === 'WAITING') {
      // Counted first, so that the lane of a non-concurrent job closes instead of offering the next trigger.
      if (state === 'ACQUIRED') job.claims++
      this.queue.remove(record)
    }
    record.state = state
    if (before === 'PAUSED') this.pauses.forget({ scope: 'trigger', key: record.trigger.key })
    if (before === 'ACQUIRED') {
      record.claim = null
      job.claims--
      this.queue.settle(job)
    }
    if (state === 'WAITING') this.queue.add(record)
  }

  /**
   * Replaces a job; its triggers move between lane and queue when the new job allows or forbids concurrent execution.
   */
  #replaceDetail(job: JobRecord, detail: JobDetail): void {
    const before = job.detail
    const forbids = detail.disallowConcurrentExecution
    const movesQueue = forbids !== (job.lane !== null) || before.jobType !== detail.jobType
    if (!movesQueue) {
      job.detail = detail
      return
    }
    for (const record of job.triggers()) this.apply(record, 'release')
    if (before.jobType !== detail.jobType) this.#endFormerWork(job)
    const waiting = job.triggers().filter((record) => record.state === 'WAITING')
    for (const record of waiting) this.queue.remove(record)
    job.detail = detail
    job.lane = forbids ? new Lane() : null
    for (const record of waiting) this.queue.add(record)
  }
}

function withoutBlock(state: StoredTriggerState): OwnState {
  switch (state) {
    case 'BLOCKED':
      return 'WAITING'
    case 'PAUSED_BLOCKED':
      return 'PAUSED'
    default:
      return state
  }
}
